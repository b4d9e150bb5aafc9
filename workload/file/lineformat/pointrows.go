package lineformat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// PointRows reads rows of line protocol. A line whose head and fields are in the same order as in
// the lines before is read in one pass; any other line is cut first.
type PointRows struct {
	guesser
	lines  *PointLines // nil: the caller passes lines
	heads  *Heads
	shapes []shape // per table

	marks Marks
	order []int // fields of the row at hand
	text  []byte
	key   []byte
	tags  []Pair
}

// shape is the order of the fields in the lines of a table.
type shape struct {
	fields []fieldKey
	at     []int // per field of the table, its place in fields
}

// fieldKey is how a field begins in a line.
type fieldKey struct {
	text  string // with its equals sign
	field int
	of    series.Type
}

// NewPointRows returns the rows of lines. Without lines, the caller passes them to Line.
func NewPointRows(lines *PointLines, heads *Heads) *PointRows {
	p := &PointRows{lines: lines, heads: heads, shapes: make([]shape, len(heads.tables))}
	for i, t := range heads.tables {
		s := &p.shapes[i]
		s.fields, s.at = make([]fieldKey, len(t.Fields)), make([]int, len(t.Fields))
		for field := range t.Fields {
			s.fields[field], s.at[field] = fieldKey{escapedKey(t.Fields[field].Name), field, t.Fields[field].Type}, field
		}
	}
	return p
}

var keyEscapes = strings.NewReplacer(",", `\,`, " ", `\ `, "=", `\=`)

// escapedKey returns the text with which lines begin a field, or one that no line contains if there
// are several.
func escapedKey(name string) string {
	if strings.Contains(name, `\`) {
		return "\n"
	}
	return keyEscapes.Replace(name) + "="
}

// reorder puts fields first, in their order.
func (s *shape) reorder(first []int) {
	before := slices.Clone(s.fields)
	clear(s.fields)
	for i, field := range first {
		s.fields[i] = before[s.at[field]]
		before[s.at[field]].field = -1
	}
	at := len(first)
	for _, f := range before {
		if f.field >= 0 {
			s.fields[at] = f
			at++
		}
	}
	for i, f := range s.fields {
		s.at[f.field] = i
	}
}

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (p *PointRows) Next(f *input.Filler) error {
	for {
		line, err := p.lines.next()
		if err != nil {
			return err
		}
		full, ok := p.fast(f, line)
		if !ok {
			cut, found, err := p.lines.cut(line)
			if err == nil && found {
				full, err = p.point(f, cut)
			}
			if err != nil {
				return err
			}
		}
		if full {
			return nil
		}
	}
}

// Line adds the row of a line, which has no end, to the filler. Comments and empty lines are errors.
func (p *PointRows) Line(f *input.Filler, line []byte) error {
	if _, ok := p.fast(f, line); ok {
		return nil
	}
	cut, err := cutPoint(line)
	if err == nil {
		_, err = p.point(f, cut)
	}
	return err
}

// fast adds a line whose head is known and whose fields are in the order of the lines before. For
// any other line ok is false, and the filler is at the same row as before.
func (p *PointRows) fast(f *input.Filler, line []byte) (full, ok bool) {
	h, at := p.begin(line)
	if h == nil || h.table == nil || len(f.Null) > 0 {
		return false, false
	}
	f.BeginSeries(h.table)
	s, columns, row, width := &p.shapes[h.table.Place], f.Run.Columns, f.Row, int(h.width)
	keys := s.fields
	next := 0 // place in the shape
	for more := true; more; {
		var field int
		var of series.Type
		rest := line[at:]
		if next < len(keys) && len(rest) > len(keys[next].text) && string(rest[:len(keys[next].text)]) == keys[next].text {
			key := &keys[next]
			field, of = key.field, key.of
			at += len(key.text)
			next++
		} else {
			length := 0
			if field, length = otherField(f, rest); length == 0 {
				return false, false
			}
			at += length
			if field >= 0 {
				if s.at[field] < next {
					return false, false
				}
				omit(f, keys[next:s.at[field]], width)
				next, of = s.at[field]+1, keys[s.at[field]].of
			}
		}
		if field >= width {
			return false, false
		}
		begin := at
		switch of {
		case series.Int:
			n := uint64(0)
			for ; at < len(line); at++ {
				d := line[at] - '0'
				if d > 9 {
					break
				}
				n = n*10 + uint64(d)
			}
			if at == begin || at > begin+18 || at == len(line) || line[at] != 'i' {
				at = endOfValue(line, begin)
				v, whole := number.Int(line[begin:max(begin, at-1)])
				if !whole || line[at-1] != 'i' {
					return false, false
				}
				n, at = uint64(v), at-1
			}
			columns[field].Ints[row] = int64(n)
			at++ // the i
		case series.Float:
			at = endOfValue(line, begin)
			v, decimal := number.Float(line[begin:at])
			if !decimal || line[begin] == '+' {
				return false, false
			}
			columns[field].Floats[row] = v
		default:
			if at, ok = p.value(f, field, line, begin); !ok {
				return false, false
			}
		}
		if at >= len(line) || line[at] != ',' && line[at] != ' ' {
			return false, false
		}
		more = line[at] == ','
		at++
	}
	time, err := f.Time(input.TimeOfPoints, line[at:])
	if err != nil {
		return false, false
	}
	omit(f, keys[next:], width)
	p.follow(h)
	return f.FinishSeries(h.series, time), true
}

// begin returns the head of a line, and where its fields begin; nil: it is not known.
func (p *PointRows) begin(line []byte) (h *head, fields int) {
	if h = p.guess(); h != nil && len(line) >= len(h.text) && string(line[:len(h.text)]) == h.text {
		return h, len(h.text)
	}
	// A blank after a backslash ends no known head.
	at := bytes.IndexByte(line, ' ') + 1
	if g := p.heads.generated; g != nil && at > 0 {
		at += g.numericLength(line[:at-1], line[at:])
	}
	return p.heads.find(line[:at]), at
}

// otherField finds the field that a text begins with, instead of the expected one; -1: it is not loaded. The
// length of its key is 0 if the line has to be cut.
func otherField(f *input.Filler, text []byte) (field, length int) {
	for i, b := range text {
		switch b {
		case ',', ' ', '\\':
			return 0, 0
		case '=':
			field, known := f.Table.FieldAt[string(text[:i])]
			switch {
			case i == 0, !known && f.Generated:
				return 0, 0
			case !known:
				field = -1
			}
			return field, i + 1
		}
	}
	return 0, 0
}

// omit says that the row does not have the fields.
func omit(f *input.Filler, fields []fieldKey, width int) {
	for i := range fields {
		if fields[i].field < width {
			f.Omit(fields[i].field)
		}
	}
}

// endOfValue returns where a value without quotes and backslashes ends.
func endOfValue(line []byte, at int) int {
	for at < len(line) && line[at] != ',' && line[at] != ' ' {
		at++
	}
	return at
}

// value reads the value at a place of a line, and returns where it ends; ok is false if it is
// malformed or has to be cut.
func (p *PointRows) value(f *input.Filler, field int, line []byte, at int) (end int, ok bool) {
	if at < len(line) && line[at] == '"' {
		length := endOfQuotes(line[at:])
		if length < 0 {
			return at, false
		}
		end = at + length
	} else if end = endOfValue(line, at); end == at {
		return at, false
	} else {
		for _, b := range line[at:end] {
			if b == '\\' || b == '=' || b == '"' {
				return at, false
			}
		}
	}
	return end, field < 0 || p.set(f, field, line[at:end]) == nil
}

// point adds a line that was cut.
func (p *PointRows) point(f *input.Filler, cut Point) (full bool, err error) {
	h, fields, err := p.head(f, cut)
	if err != nil {
		return false, err
	}
	if h.table == nil {
		f.Ignored++
		return false, nil
	}
	f.BeginSeries(h.table)
	if err := p.fields(f, h, fields); err != nil {
		return false, err
	}
	time, err := f.Time(input.TimeOfPoints, cut.Time)
	if err != nil {
		return false, err
	}
	return f.FinishSeries(h.series, time), nil
}

// head finds out what a measurement with tags is. It returns the fields behind them.
func (p *PointRows) head(f *input.Filler, cut Point) (*head, []byte, error) {
	p.key = append(append(p.key[:0], cut.Head...), ' ')
	fields := cut.Fields
	if g := p.heads.generated; g != nil {
		switch n := g.numericLength(cut.Head, fields); {
		case n < len(fields):
			p.key, fields = append(p.key, fields[:n]...), fields[n:]
		case fields[n-1] == ',':
			return nil, nil, errComma
		default: // there are no other fields
			p.key, fields = append(append(p.key, fields...), ','), nil
		}
	}
	h := p.heads.find(p.key)
	if h == nil {
		var err error
		if h, err = p.newHead(f, cut.Head); err != nil {
			return nil, nil, err
		}
	}
	p.follow(h)
	return h, fields, nil
}

// newHead adds a head, whose text is the key at hand.
func (p *PointRows) newHead(f *input.Filler, text []byte) (*head, error) {
	if p.heads.generated != nil {
		return p.heads.resolve(p.key, text)
	}
	measurement, tags, err := CutHead(text, p.tags[:0])
	p.tags = tags
	if err != nil {
		return nil, err
	}
	p.text = PlainMeasurement(p.text[:0], measurement)
	t := p.heads.index.ByName[string(p.text)]
	if t == nil {
		return p.heads.add(p.key, rows{}), nil
	}
	f.Finder.Begin(t)
	for _, tag := range tags {
		p.text = PlainText(p.text[:0], tag.Key)
		if at, ok := t.TagAt[string(p.text)]; ok {
			p.text = PlainText(p.text[:0], tag.Value)
			if err := f.Tag(at, p.text); err != nil {
				return nil, err
			}
		}
	}
	found, err := f.Series()
	if err != nil {
		return nil, err
	}
	return p.heads.add(p.key, rows{table: t, series: found, width: int32(len(t.Fields))}), nil
}

// fields sets the fields of the row at hand, and learns their order.
func (p *PointRows) fields(f *input.Filler, h *head, rest []byte) error {
	t := f.Table
	s := &p.shapes[t.Place]
	p.marks.Begin(len(t.Fields))
	p.order = p.order[:0]
	last, sorted := -1, true
	for len(rest) > 0 {
		var of Pair
		var err error
		if of, rest, err = CutField(rest); err != nil {
			return err
		}
		p.text = PlainText(p.text[:0], of.Key)
		at, known := t.FieldAt[string(p.text)]
		switch {
		case !known && f.Generated:
			return mismatch("table %s has no field %q in this dataset; check the flags that say what generated the file", t.Name, of.Key)
		case !known:
			continue
		case at >= int(h.width):
			return mismatch("the series has no field %q in this dataset: it has %d fields; check the flags that say what generated the file", of.Key, h.width)
		case p.marks.Has(at):
			return input.DuplicateError("line", "field", of.Key)
		}
		if err := p.set(f, at, of.Value); err != nil {
			return err
		}
		p.marks.Set(at)
		p.order = append(p.order, at)
		sorted, last = sorted && s.at[at] > last, s.at[at]
	}
	for at := range int(h.width) {
		if !p.marks.Has(at) {
			f.Omit(at)
		}
	}
	if !sorted {
		s.reorder(p.order)
	}
	return nil
}

// set sets a field of the row at hand to a value as the line has it.
func (p *PointRows) set(f *input.Filler, field int, value []byte) error {
	of := &f.Table.Fields[field]
	text, quoted, kind := value, value[0] == '"', series.Text
	if quoted {
		p.text = Unquote(p.text[:0], value)
		text = p.text
	} else {
		found, digits, err := ValueType(value)
		if err != nil {
			return fmt.Errorf("column %s: %w", of.Name, err)
		}
		if kind = found; kind == series.Int {
			text = digits
		}
	}
	if f.Generated {
		if problem := wrongKind(of.Type, kind); problem != "" {
			return fmt.Errorf("column %s: %q is not %s; %s", of.Name, value[:min(len(value), input.MaxShown)], problem, input.CorrectLine)
		}
		if of.Type == series.Date {
			f.Run.Columns[field].Ints[f.Row], _ = number.Int(text)
			return nil
		}
	}
	return f.Field(field, text, quoted)
}

// wrongKind describes the values of a field of a generated dataset unless a value is of their kind,
// as ValueType has it; Text stands for a quoted one.
func wrongKind(of, kind series.Type) string {
	switch {
	case of == series.Bool && kind != series.Bool:
		return "a boolean such as t"
	case of.Textual() && kind != series.Text:
		return `a string such as "a"`
	case !of.UsesInts() && kind != series.Float:
		return "a decimal number"
	case of.UsesInts() && of != series.Bool && !of.Textual() && kind != series.Int:
		return "an integer such as 1i"
	}
	return ""
}

// Place returns the place of the row at hand, without the file.
func (p *PointRows) Place() input.Error { return input.Error{Line: p.lines.Line} }
