package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
)

const (
	// scoutRows is the rows of a scout's chunks.
	scoutRows = 10_000
	// scoutBytes bounds their text, of rows with very many fields.
	scoutBytes = 16 << 20
	// headBytes is how much of a stream is looked at, and kept in memory, to
	// learn its schema.
	headBytes = 32 << 20
	// streamSeries bounds the series of a stream, whose number must be known
	// before all of them have been seen. Databases keep a few bits for each.
	streamSeries = 1 << 24
)

// scout gathers the schema of a source. It reads a row into marks first, and
// learns from it only when it is whole.
type scout struct {
	source  *Source
	catalog *catalog
	parser  *parser // for its guesses
	marks   []mark
	seen    map[string]bool   // names of the row at hand
	widened map[*table][]bool // timescaledb: fields that are floats somewhere
	filled  map[*table][]bool // likewise: that have values somewhere
}

// mark is a field of a row: its name and the type of its value.
type mark struct {
	name []byte
	kind series.Type // 0: no value
}

// learn passes over the source, or the head of a stream, and returns its
// catalog. whole reports whether it saw all rows; rows is their number, without
// those that are bad.
func learn(ctx context.Context, s *Source, skip int64, progress func(rows int)) (c *catalog, rows int64, whole bool, err error) {
	l, err := s.Lines()
	if err != nil {
		return nil, 0, false, err
	}
	from := l.from
	l.most = scoutBytes
	defer func() {
		if !s.ReadsOnce() || err != nil {
			from.close()
		}
	}()
	x := &scout{source: s, catalog: newCatalog(s.format, nil), seen: map[string]bool{}, widened: map[*table][]bool{}, filled: map[*table][]bool{}}
	x.catalog.learning = true
	if s.format == TimescaleDB {
		if err := x.header(); err != nil {
			return nil, 0, false, err
		}
	}
	var kept *keptPieces
	if s.ReadsOnce() {
		kept = &keptPieces{from: from}
		l.from = kept
	}
	var chunk Chunk
	p := newParser(s, x.catalog)
	x.parser = p
	p.row = func(_ *parser, text []byte) (int, error) { return x.row(text) }
	if s.format == TimescaleDB {
		p.row = func(_ *parser, text []byte) (int, error) { return x.rowTimescaleDB(text) }
	}
	var nothing series.Batch
	bytes := int64(0)
	for kept == nil || bytes < headBytes {
		if err := ctx.Err(); err != nil {
			return nil, 0, false, err
		}
		err := l.next(&chunk, scoutRows)
		if errors.Is(err, io.EOF) {
			whole = true
			break
		} else if err != nil {
			return nil, 0, false, err
		}
		p.chunk(&chunk, &nothing, skip)
		if skip -= int64(len(p.bad)); skip < 0 {
			return nil, 0, false, p.bad[len(p.bad)-1]
		}
		rows += int64(chunk.Rows - len(p.bad))
		bytes += chunk.Bytes()
		progress(chunk.Rows)
	}
	chunk.Release()
	if kept != nil {
		s.kept, s.read = kept.again(), false
	}
	x.conclude()
	x.catalog.most = streamSeries
	if kept == nil || whole {
		x.catalog.most = x.catalog.tags.count()
	}
	return x.catalog, rows, whole, nil
}

// row reads a row of influx format.
func (x *scout) row(text []byte) (int, error) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return 0, errShort
	}
	return end + 1, x.influx(text[:end])
}

func (x *scout) influx(line []byte) error {
	b := x.parser.guess(line)
	space := 0
	if b != nil {
		space = len(b.text) - 1
	} else if space = bytes.IndexByte(line, ' '); space <= 0 {
		return errors.New("no space between tags and fields")
	}
	var expected *learnedField
	if b == nil {
		b = x.catalog.find(line[:space+1])
	}
	if b != nil {
		x.parser.follow(b)
		expected = b.table.learned.first()
	}
	known := b != nil // the row has the expected fields and no others
	x.marks = x.marks[:0]
	at := space + 1
	for {
		var name []byte
		rest := line[at:]
		expects := expected != nil && len(rest) > len(expected.Name) &&
			string(rest[:len(expected.Name)]) == expected.Name && rest[len(expected.Name)] == '='
		if expects {
			name = rest[:len(expected.Name)]
		} else {
			is := bytes.IndexByte(rest, '=')
			if is <= 0 || bytes.ContainsAny(rest[:is], " ,") {
				return fmt.Errorf("%q is no field=value", short(rest))
			}
			name, known = rest[:is], false
		}
		at += len(name) + 1
		begin := at
		for at < len(line) && line[at] != ',' && line[at] != ' ' {
			at++
		}
		if at == len(line) {
			return errors.New("no time after the fields")
		}
		value := line[begin:at]
		kind := series.Float
		if n := len(value); n > 0 && value[n-1] == 'i' {
			kind, value = series.Int, value[:n-1]
		}
		switch _, ok := number.Bool(value); {
		case ok:
			kind = series.Bool
		case len(value) > 0 && value[0] == '"':
			return fmt.Errorf("field %s: %q is a string, which is only read of a dataset that tsmark knows; give the flags that say what generated the file", name, short(bytes.Trim(value, `"`)))
		case !numberOf(kind, value):
			return fmt.Errorf("field %s: %q is neither an integer such as 1i nor a decimal number nor a boolean such as t", name, short(value))
		}
		known = known && kind == expected.Type
		if expected != nil {
			expected = expected.next
		}
		x.marks = append(x.marks, mark{name, kind})
		at++
		if line[at-1] == ' ' {
			break
		}
	}
	if err := x.time(line[at:]); err != nil {
		return err
	}
	if known {
		return nil // fields that it leaves out are no news either
	}
	head := line[:space]
	comma := bytes.IndexByte(head, ',')
	if comma < 0 {
		comma = space
	}
	if t := x.catalog.table(head[:comma]); t != nil {
		if err := x.agree(t); err != nil {
			return err
		}
	} else if err := x.twice(); err != nil {
		return err
	}
	if b == nil {
		var err error
		if b, err = x.catalog.resolve(line[:space+1], head[:comma], line[comma:space], -1); err != nil {
			return err
		}
	}
	x.extend(b.table)
	return nil
}

func numberOf(kind series.Type, text []byte) (ok bool) {
	if kind == series.Int {
		_, ok = number.Int(text)
	} else {
		_, ok = number.Float(text)
	}
	return ok
}

func (x *scout) time(text []byte) error {
	_, err := x.parser.timeOf(text)
	return err
}

// agree returns what the row contradicts in a table.
func (x *scout) agree(t *table) error {
	for _, m := range x.marks {
		if f := t.learned.named[string(m.name)]; f != nil && f.Type != m.kind {
			return fmt.Errorf("field %s is of type %s, where earlier rows have %s", m.name, m.kind, f.Type)
		}
	}
	return x.twice()
}

// twice returns which field the row has twice.
func (x *scout) twice() error {
	clear(x.seen)
	for _, m := range x.marks {
		if x.seen[string(m.name)] {
			return fmt.Errorf("field %q is there twice", m.name)
		}
		x.seen[string(m.name)] = true
	}
	return nil
}

// extend adds the row's fields to the table where it does not have them, each
// behind the one that it follows in the row: rows leave fields out, but have
// them in one order.
func (x *scout) extend(t *table) {
	at := &t.learned.begin
	for _, m := range x.marks {
		f := t.learned.named[string(m.name)]
		if f == nil {
			f = &learnedField{Field: series.Field{Name: string(m.name), Type: m.kind}, next: at.next}
			at.next, t.learned.named[f.Name] = f, f
		}
		at = f
	}
}

// fieldList is the fields of a table while rows may still add some, anywhere
// among them and any number: a list, since a slice would be moved for each.
type fieldList struct {
	begin learnedField // before the first one
	named map[string]*learnedField
}

type learnedField struct {
	series.Field
	next *learnedField
}

func newFieldList() *fieldList { return &fieldList{named: make(map[string]*learnedField)} }

// first returns the first field; nil: there is none.
func (l *fieldList) first() *learnedField {
	if l == nil {
		return nil
	}
	return l.begin.next
}

// header learns what the header of timescaledb format says.
func (x *scout) header() error {
	lines := bytes.Split(bytes.TrimRight(x.source.header, "\r\n"), newline)
	bad := func(line int, problem string) error {
		return &LineError{Source: x.source.name, Line: int64(line + 1), Text: lines[line], Problem: problem}
	}
	var tags []series.Tag
	for _, tag := range bytes.Split(lines[0], []byte{','})[1:] {
		key, kind, ok := bytes.Cut(tag, []byte{' '})
		if !ok || len(key) == 0 {
			return bad(0, fmt.Sprintf("the tag %q of the header has no type", tag))
		}
		var t series.Tag
		t.Key = string(key)
		switch string(kind) {
		case "string":
		case "float32", "float64", "int", "int64":
			t.Type = series.Float
		default:
			return bad(0, fmt.Sprintf("the header gives tag %q the type %q; tsmark knows string and float32", key, kind))
		}
		tags = append(tags, t)
	}
	for i, line := range lines[1:] {
		names := bytes.Split(bytes.TrimRight(line, "\r"), []byte{','})
		if len(names) < 2 || slices.ContainsFunc(names, func(n []byte) bool { return len(n) == 0 }) {
			return bad(i+1, "the header's line is no table and its fields")
		}
		t := &series.Table{Name: string(names[0]), Tags: slices.Clone(tags)}
		clear(x.seen)
		for _, n := range names[1:] {
			if x.seen[string(n)] {
				return bad(i+1, fmt.Sprintf("the header has field %q twice", n))
			}
			x.seen[string(n)] = true
			t.Fields = append(t.Fields, series.Field{Name: string(n), Type: series.Int})
		}
		if x.catalog.tables[t.Name] != nil {
			return bad(i+1, fmt.Sprintf("the header has table %q twice", t.Name))
		}
		w := newTable(t)
		x.catalog.add(w)
		x.widened[w], x.filled[w] = make([]bool, len(t.Fields)), make([]bool, len(t.Fields))
	}
	return nil
}

// rowTimescaleDB reads a row of timescaledb format.
func (x *scout) rowTimescaleDB(text []byte) (int, error) {
	first := bytes.IndexByte(text, '\n') + 1
	switch {
	case first == 0:
		return 0, errShort
	case !bytes.HasPrefix(text, []byte("tags")):
		return first, errors.New("a row begins with a line of tags")
	}
	end := bytes.IndexByte(text[first:], '\n')
	if end < 0 {
		return 0, errShort
	}
	line := text[first : first+end]
	if bytes.HasPrefix(line, []byte("tags,")) {
		return first, errors.New("no line of values after these tags")
	}
	if err := x.timescaleDB(text, first, line); err != nil {
		return first + end + 1, err
	}
	return first + end + 1, nil
}

// timescaleDB reads the values of a row, whose tags are the first bytes of
// text.
func (x *scout) timescaleDB(text []byte, first int, line []byte) error {
	comma := bytes.IndexByte(line, ',')
	if comma <= 0 {
		return &valuesError{errors.New("no table and time before the values")}
	}
	name, rest := line[:comma], line[comma+1:]
	at := bytes.IndexByte(rest, ',')
	if at < 0 {
		return &valuesError{errors.New("no values after the time")}
	}
	if err := x.time(rest[:at]); err != nil {
		return &valuesError{err}
	}
	x.marks = x.marks[:0]
	for at < len(rest) {
		at++
		begin := at
		for at < len(rest) && rest[at] != ',' {
			at++
		}
		value, kind := rest[begin:at], series.Type(0)
		switch {
		case begin == at:
		case numberOf(series.Int, value):
			kind = series.Int
		case numberOf(series.Float, value):
			kind = series.Float
		default:
			return &valuesError{fmt.Errorf("%q is no number", short(value))}
		}
		x.marks = append(x.marks, mark{kind: kind})
	}
	key := text[:first+comma+1]
	b := x.parser.guess(key)
	if b == nil {
		if b = x.catalog.find(key); b != nil {
			x.parser.follow(b)
		}
	}
	if b == nil {
		if x.catalog.table(name) == nil {
			return &valuesError{fmt.Errorf("the header has no table %q", short(name))}
		}
		var err error
		if b, err = x.catalog.resolve(key, name, text[len("tags"):first-1], len(x.marks)); err != nil {
			return err
		}
	}
	if len(x.marks) != b.width {
		return &valuesError{fmt.Errorf("%d values, where other rows of the series have %d: a line was cut", len(x.marks), b.width)}
	}
	widened, filled := x.widened[b.table], x.filled[b.table]
	for i, m := range x.marks {
		widened[i] = widened[i] || m.kind == series.Float
		filled[i] = filled[i] || m.kind != 0
	}
	return nil
}

// conclude makes the catalog what parsing needs, now that all is known.
func (x *scout) conclude() {
	c := x.catalog
	c.learning = false
	for _, t := range c.order {
		for f := t.learned.first(); f != nil; f = f.next {
			t.Fields = append(t.Fields, f.Field)
		}
		for i := range t.Fields {
			// What has no value might as well be a float.
			if c.format == TimescaleDB && (x.widened[t][i] || !x.filled[t][i]) {
				t.Fields[i].Type = series.Float
			}
		}
		for i := range t.Tags {
			t.Tags[i].Values = tagValues{c.tags, "," + t.Tags[i].Key + "="}
		}
		*t = *newTable(t.Table)
		// The numeric tags of influx format are fields here.
	}
	if c.format == Influx {
		for _, b := range c.begins {
			b.width = len(b.table.Fields)
		}
	}
}
