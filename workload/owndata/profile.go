package owndata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// maxDistinct is how many different values of a column are remembered, and
// maxDistinctBytes of how many bytes together.
const (
	maxDistinct      = 10_000
	maxDistinctBytes = 16 << 20
)

// profile is what the columns of a table, or of a file, look like.
type profile struct {
	name    string
	rows    int64
	columns []*columnProfile
	byName  map[string]*columnProfile
}

func newProfile(name string) *profile {
	return &profile{name: name, byName: make(map[string]*columnProfile)}
}

// column returns the named column, a new one if need be.
func (p *profile) column(name string) *columnProfile {
	if c := p.byName[name]; c != nil {
		return c
	}
	c := &columnProfile{name: name, lookup: texts.NewLookup(), least: math.MaxInt64, most: math.MinInt64, shortest: math.MaxInt}
	c.distinct.Reset()
	p.columns, p.byName[name] = append(p.columns, c), c
	return c
}

// columnProfile is what the values of a column look like.
type columnProfile struct {
	name   string
	tag    bool // line protocol says so
	values int64
	typed  series.Type // that the format says; 0: values are text
	unit   int64       // of times that are typed

	// What not all values are.
	noInt, noFloat, noBool, noTime, noDate, noText, noUTF8 bool

	least, most       int64 // of integers
	shortest, longest int
	zoneless          int64 // times without a zone

	distinct texts.List
	lookup   *texts.Lookup
	many     bool // more than are remembered
}

// add looks at a value.
func (c *columnProfile) add(text []byte, times *clock) {
	c.values++
	if !c.noInt {
		n, ok := number.Int(text)
		if leading := len(text) > 1 && text[0] == '0'; ok && !leading {
			c.least, c.most = min(c.least, n), max(c.most, n)
		} else {
			c.noInt = true
			// A number such as a station's 0123 would lose its zero.
			c.noFloat = c.noFloat || ok && leading
		}
	}
	if !c.noFloat {
		_, ok := number.Float(text)
		c.noFloat = !ok
	}
	if !c.noBool {
		_, ok := number.Bool(text)
		c.noBool = !ok
	}
	if !c.noTime {
		before := times.zoneless
		_, err := times.text(text)
		c.noTime = err != nil
		c.zoneless += times.zoneless - before
	}
	c.noDate = c.noDate || c.noTime || len(text) != len("2006-01-02")
	c.shortest, c.longest = min(c.shortest, len(text)), max(c.longest, len(text))
	if !c.noText {
		_, ok := series.ParseText(text)
		c.noText = !ok
	}
	c.noUTF8 = c.noUTF8 || c.noText && !utf8.Valid(text)
	c.remember(text)
}

func (c *columnProfile) remember(text []byte) {
	if c.many {
		return
	}
	if _, err := c.lookup.Code(&c.distinct, text); err != nil || c.distinct.Len() > maxDistinct || len(c.distinct.Bytes) > maxDistinctBytes {
		c.many = true
		c.distinct, c.lookup = texts.List{}, nil
	}
}

// merge adds what is known of the same column of another file.
func (c *columnProfile) merge(other *columnProfile) {
	c.tag = c.tag || other.tag
	if other.values == 0 && other.typed == 0 && !other.tag {
		return
	}
	if c.typed != 0 || other.typed != 0 {
		c.typed = merged(c.typed, other.typed)
	}
	c.values += other.values
	c.zoneless += other.zoneless
	c.noInt, c.noFloat, c.noBool = c.noInt || other.noInt, c.noFloat || other.noFloat, c.noBool || other.noBool
	c.noTime, c.noDate, c.noText, c.noUTF8 = c.noTime || other.noTime, c.noDate || other.noDate, c.noText || other.noText, c.noUTF8 || other.noUTF8
	c.least, c.most = min(c.least, other.least), max(c.most, other.most)
	c.shortest, c.longest = min(c.shortest, other.shortest), max(c.longest, other.longest)
	if other.many {
		c.many = true
		return
	}
	for i := range int32(other.distinct.Len()) {
		c.remember(other.distinct.At(i))
	}
}

// merged is the type that holds values of both; 0 stands for no values.
func merged(a, b series.Type) series.Type {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == b, a == 0:
		return b
	case a == series.Int && b == series.Int32:
		return series.Int
	case a == series.Timestamp && b == series.Date:
		return series.Timestamp
	case a.Numeric() && b.Numeric():
		return series.Float
	}
	return series.Text
}

// kind is the type that the column's values have as a field. Texts of digits that the
// format says are texts stay such: they are names rather than amounts.
func (c *columnProfile) kind() (series.Type, int) {
	switch {
	case c.typed != 0 && c.typed != series.Text:
		return c.typed, 0
	case c.values == 0:
		return 0, 0
	case !c.noInt && c.typed == 0:
		return series.Int, 0
	case !c.noFloat && c.noInt:
		return series.Float, 0
	case !c.noBool && c.typed == 0:
		return series.Bool, 0
	case !c.noDate:
		return series.Date, 0
	case !c.noTime:
		return series.Timestamp, 0
	case !c.noText && c.shortest == c.longest && c.longest <= series.MaxText:
		return series.Text, c.longest
	}
	return series.Text, 0
}

// profiler looks at files.
type profiler struct {
	layout   *layout
	times    clock
	progress func(rows int)
	ctx      context.Context
}

// profilePiece is how many rows are looked at between two looks at the context.
const profilePiece = 10_000

// count counts a row, and reports some of them.
func (p *profiler) count(of *profile) error {
	of.rows++
	if of.rows%profilePiece == 0 {
		p.progress(profilePiece)
		return p.ctx.Err()
	}
	return nil
}

// file looks at all rows of a file. Of line protocol it returns a profile of each
// measurement, of other formats one.
func (p *profiler) file(f inputFile) ([]*profile, error) {
	one := newProfile(withoutExtension(f.name))
	at := func(line int64, err error) error {
		if errors.Is(err, io.EOF) || p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		return &Error{File: f.name, Line: line, Err: err}
	}
	if p.layout.format == formatParquet || p.layout.format == formatArrow {
		return []*profile{one}, p.records(f, one)
	}
	in, err := open(f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	switch p.layout.format {
	case formatPoints:
		lines := newLineReader(in)
		all, err := p.points(lines)
		return all, at(lines.line, err)
	case formatObjects:
		o := newObjects(newLineReader(in))
		for err == nil {
			err = o.next(func(name, value []byte, kind jsontext.Kind) error {
				if !p.absent(value) {
					c := one.byName[string(name)]
					if c == nil {
						c = one.column(string(name))
					}
					if c.add(value, &p.times); kind == '"' {
						c.typed = series.Text
					}
				}
				return nil
			})
			if err == nil {
				err = p.count(one)
			}
		}
		return []*profile{one}, at(o.lines.line, err)
	}
	records, columns, err := openCSV(in, p.layout.delimiter, p.layout.columns)
	if err != nil {
		return nil, &Error{File: f.name, Line: 1, Err: err}
	}
	for _, name := range columns {
		one.column(name)
	}
	for {
		cells, err := records.next()
		if err == nil && len(cells) != len(columns) {
			err = errColumns(len(cells), len(columns))
		}
		if err != nil {
			return []*profile{one}, at(records.lines.line, err)
		}
		for i, cell := range cells {
			if cell = trim(cell); !p.absent(cell) {
				one.columns[i].add(cell, &p.times)
			}
		}
		if err := p.count(one); err != nil {
			return nil, err
		}
	}
}

func (p *profiler) absent(text []byte) bool {
	return len(text) == 0 || p.layout.null != "" && string(text) == p.layout.null
}

// timeOfPoints is the name that the time of line protocol has among columns.
const timeOfPoints = "time"

// points looks at line protocol. Its error is io.EOF at the end.
func (p *profiler) points(lines *lineReader) ([]*profile, error) {
	var all []*profile
	byHead := make(map[string]*profile)
	byName := make(map[string]*profile)
	var text []byte
	for {
		cut, err := nextPoint(lines)
		if err != nil {
			return all, err
		}
		of := byHead[string(cut.head)]
		if of == nil {
			end := indexPlain(cut.head, ',')
			rest := []byte(nil)
			if end < 0 {
				end = len(cut.head)
			} else {
				rest = cut.head[end+1:]
			}
			name := string(plainText(nil, cut.head[:end]))
			if of = byName[name]; of == nil {
				of = newProfile(name)
				byName[name], all = of, append(all, of)
			}
			for len(rest) > 0 {
				var key, value []byte
				if key, value, rest, err = cutPair(rest); err != nil {
					return all, err
				}
				c := of.column(string(plainText(nil, key)))
				c.tag = true
				c.remember(plainText(nil, value))
			}
			if len(byHead) < maxDistinct*10 { // others are cut anew each time
				byHead[string(cut.head)] = of
			}
		}
		for rest := cut.fields; len(rest) > 0; {
			var key, value []byte
			if key, value, rest, err = cutPair(rest); err != nil {
				return all, err
			}
			text = plainText(text[:0], key)
			c := of.byName[string(text)]
			if c == nil {
				c = of.column(string(text))
			}
			if value[0] == '"' {
				if text = unquoted(text[:0], value); len(text) > 0 {
					c.typed = merged(c.typed, series.Text)
					c.add(text, &p.times)
				}
				continue
			}
			kind, digits := valueType(value)
			c.typed = merged(c.typed, kind)
			c.values++
			if kind == series.Int {
				if n, ok := number.Int(digits); ok {
					c.least, c.most = min(c.least, n), max(c.most, n)
				} else {
					return all, fmt.Errorf("%s: %q is no integer of 64 bits", c.name, value)
				}
			}
		}
		time := of.column(timeOfPoints)
		if n, ok := number.Int(cut.time); ok {
			time.values++
			time.typed = series.Int
			time.least, time.most = min(time.least, n), max(time.most, n)
		} else {
			return all, fmt.Errorf("the time %q is no integer", cut.time[:min(len(cut.time), shown)])
		}
		if err := p.count(of); err != nil {
			return all, err
		}
	}
}

// records looks at a file of record batches: at its types, at the values of texts, and
// at integers, which may be times.
func (p *profiler) records(f inputFile, one *profile) (err error) {
	source, closer, err := openRecords(f, p.layout.format, nil)
	if err != nil {
		return err
	}
	defer closer.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s is damaged: %v", f.name, r)
		}
	}()
	schema, err := source.schema()
	if err != nil {
		return err
	}
	for _, field := range schema.Fields() {
		c := one.column(field.Name)
		c.typed, c.unit = columnType(field.Type)
		if zone, ok := field.Type.(*arrow.TimestampType); ok && zone.TimeZone == "" {
			c.zoneless = -1 // all there are
		}
	}
	reader := recordFile{}
	for {
		batch, group, row, err := source.next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return &Error{File: f.name, RowGroup: group, Row: row, Err: err}
		}
		for i := range int(batch.NumCols()) {
			c, column := one.column(batch.ColumnName(i)), batch.Column(i)
			switch a := column.(type) {
			case *array.Int64:
				c.values += int64(a.Len() - a.NullN())
				for row, v := range a.Values() {
					if !a.IsNull(row) {
						c.least, c.most = min(c.least, v), max(c.most, v)
					}
				}
				continue
			}
			if !textual(column.DataType()) {
				c.values += int64(column.Len() - column.NullN())
				continue
			}
			for row := range column.Len() {
				if column.IsNull(row) {
					continue
				}
				text, err := reader.textOf(column, row)
				if err != nil {
					return err
				}
				if !p.absent(text) {
					c.add(text, &p.times)
				}
			}
		}
		one.rows += batch.NumRows()
		p.progress(int(batch.NumRows()))
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	for _, c := range one.columns {
		if c.zoneless < 0 {
			c.zoneless = c.values
		}
	}
	return nil
}
