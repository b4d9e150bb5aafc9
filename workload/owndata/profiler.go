package owndata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tsmark/tsmark/internal/number"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/delimited"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/file/lineformat"
	"github.com/tsmark/tsmark/workload/file/object"
	"github.com/tsmark/tsmark/workload/file/sample"
)

// profiler looks at files.
type profiler struct {
	layout   *layout
	times    input.Clock
	columns  int // of all tables
	tables   int
	text     []byte
	layoutOf *input.Clock // for the layout of times in the settings, if they do not name the time column; nil: none
	at       input.Error  // where the values stand that are looked at
	progress func(rows int)
	ctx      context.Context
	bad      badRows // of CSV

	commaCells, pointCells int64 // cells of CSV whose decimals have a comma, or a point
	firstComma             large
}

func newProfiler(ctx context.Context, l *layout, progress func(rows int)) *profiler {
	p := &profiler{layout: l, progress: progress, ctx: ctx}
	if c, err := input.NewClock(l.timeFormat); err == nil && c.Layout != "" && l.time == "" {
		p.layoutOf = c
	}
	return p
}

// profilePiece is the number of rows between two checks of the context.
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
func (p *profiler) file(f input.File) ([]*profile, error) {
	one := newProfile(input.WithoutExtension(f.Name), f.Name)
	p.at = input.Error{File: f.Name}
	at := func(line int64, err error) error {
		if errors.Is(err, io.EOF) || p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		return &input.Error{File: f.Name, Line: line, Err: err}
	}
	if p.layout.columnar() {
		return []*profile{one}, p.records(f, one)
	}
	in, err := input.Open(f)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if sample.Reads(p.layout.format) {
		source := sample.Open(p.layout.format, in)
		all, err := p.samples(source)
		return all, at(source.Line(), err)
	}
	switch p.layout.format {
	case input.FormatPoints:
		lines := lineformat.NewPointLines(in)
		all, err := p.points(lines)
		return all, at(lines.Line, err)
	case input.FormatPaired:
		lines, err := lineformat.NewPairedLines(in)
		if err != nil {
			return nil, at(lines.Line, err)
		}
		all, err := p.profilePairs(lines)
		return all, at(lines.Line, err)
	case input.FormatObjects:
		o := object.NewReader(input.NewLineReader(in))
		objects := make(map[string]string) // members that are objects, with the place of the first
		for err == nil {
			err = o.Next(func(name, value []byte, kind jsontext.Kind) error {
				p.at.Line = o.Lines.Line
				c := one.byName[string(name)]
				if kind == '{' { // its members are columns
					p.object(objects, string(name), c)
					return nil
				}
				if c == nil {
					if err := p.addColumn(one, name); err != nil {
						return err
					}
					c = one.column(string(name))
				}
				if c.row == one.rows+1 {
					return input.DuplicateError("object", "member", name)
				}
				c.row = one.rows + 1
				p.member(c, value, kind)
				if place, ok := objects[c.name]; ok && c.values > 0 && c.left == "" {
					c.left = "it has an object in " + place
				}
				return nil
			})
			if err == nil {
				err = p.count(one)
			}
		}
		return []*profile{one}, at(o.Lines.Line, err)
	}
	records, columns, err := delimited.Open(in, p.layout.delimiter, p.layout.columns)
	if err != nil {
		return nil, &input.Error{File: f.Name, Line: 1, Err: err}
	}
	for _, name := range columns {
		if err := p.addColumn(one, []byte(name)); err != nil {
			return nil, &input.Error{File: f.Name, Line: 1, Err: err}
		}
		one.column(name)
	}
	for {
		cells, err := records.Next()
		if err != nil {
			return []*profile{one}, at(records.Lines.Line, err)
		}
		if len(cells) != len(columns) {
			if p.bad.add(at(records.Lines.Line, delimited.WidthError(len(cells), columns))) {
				continue // the survey finds it again, among other malformed rows
			}
			return nil, p.bad.err(nil)
		}
		p.bad.read++
		p.at.Line = records.Lines.Line
		for i, cell := range cells {
			c, whole := one.columns[i], len(cell)
			if cell = input.TrimBlanks(cell); !p.absent(cell) {
				c.blanks = c.blanks || len(cell) < whole
				c.add(p.decimal(cell), p)
			} else if len(cell) == 0 && records.Quotes(i) {
				c.addEmpty()
			}
		}
		if err := p.count(one); err != nil {
			return nil, err
		}
	}
}

// object looks at a member of a JSON object that is an object, and may be another value elsewhere.
func (p *profiler) object(objects map[string]string, name string, c *columnProfile) {
	if _, known := objects[name]; !known && len(objects) < input.MaxAllColumns {
		objects[name] = p.at.Place()
	}
	if c != nil && c.values > 0 && c.left == "" {
		c.left = "it has an object in " + p.at.Place()
	}
}

// member looks at a member of a JSON object.
func (p *profiler) member(c *columnProfile, value []byte, kind jsontext.Kind) {
	switch {
	case kind == 'n':
	case object.IsNested(kind):
		if c.left == "" {
			c.left = fmt.Sprintf("it has an array in %s", p.at.Place())
		}
	case !p.absent(value):
		if c.add(value, p); kind == '"' {
			c.quoted++
		}
	case len(value) == 0:
		c.addEmpty()
	}
}

func (p *profiler) absent(text []byte) bool {
	return len(text) == 0 || p.layout.null != "" && string(text) == p.layout.null
}

// points looks at line protocol. Its error is io.EOF at the end.
func (p *profiler) points(lines *lineformat.PointLines) ([]*profile, error) {
	var all []*profile
	byHead := make(map[string]*profile)
	byName := make(map[string]*profile)
	var text []byte
	var tags []lineformat.Pair
	for {
		cut, err := lines.Next()
		if err != nil {
			return all, err
		}
		p.at.Line = lines.Line
		of := byHead[string(cut.Head)]
		if of == nil {
			var measurement []byte
			if measurement, tags, err = lineformat.CutHead(cut.Head, tags[:0]); err != nil {
				return all, err
			}
			text = lineformat.PlainMeasurement(text[:0], measurement)
			if of = byName[string(text)]; of == nil {
				if of, err = p.addTable(text); err != nil {
					return all, err
				}
				byName[of.name], all = of, append(all, of)
			}
			for _, tag := range tags {
				text, p.text = lineformat.PlainText(text[:0], tag.Key), lineformat.PlainText(p.text[:0], tag.Value)
				if err := p.addTag(of, text, p.text); err != nil {
					return all, err
				}
			}
			if len(byHead) < maxDistinct*10 { // further heads are parsed every time
				byHead[string(cut.Head)] = of
			}
		}
		for rest := cut.Fields; len(rest) > 0; {
			var field lineformat.Pair
			if field, rest, err = lineformat.CutField(rest); err != nil {
				return all, err
			}
			text = lineformat.PlainText(text[:0], field.Key)
			c := of.byName[string(text)]
			if c == nil {
				if err := p.addColumn(of, text); err != nil {
					return all, err
				}
				c = of.column(string(text))
			}
			if c.row == of.rows+1 {
				return all, input.DuplicateError("line", "field", field.Key)
			}
			c.row = of.rows + 1
			if err := p.pointField(c, field.Value); err != nil {
				return all, fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		if err := p.lineTime(of, cut.Time); err != nil {
			return all, err
		}
	}
}

// lineTime looks at the time of a line, which ends a row.
func (p *profiler) lineTime(of *profile, text []byte) error {
	n, ok := number.Int(text)
	if !ok {
		return fmt.Errorf("the time %q is not an integer of 64 bits; %s", text[:min(len(text), input.MaxShown)], input.CorrectLine)
	}
	of.time.values++
	of.time.integer(n)
	return p.count(of)
}

// pointField looks at the value of a field of line protocol.
func (p *profiler) pointField(c *columnProfile, value []byte) error {
	if value[0] == '"' {
		p.text = lineformat.Unquote(p.text[:0], value)
		p.textField(c, series.Text, p.text)
		return nil
	}
	kind, digits, err := lineformat.ValueType(value)
	if err != nil {
		return err
	}
	return p.typedField(c, kind, digits)
}

// textField looks at a text, or a time in a text.
func (p *profiler) textField(c *columnProfile, kind series.Type, text []byte) {
	c.point(kind, &p.at)
	if len(text) == 0 {
		c.addEmpty()
	} else if !p.absent(text) {
		c.add(text, p)
	}
}

// typedField looks at a value whose format says that it is an integer, a float or a boolean.
func (p *profiler) typedField(c *columnProfile, kind series.Type, value []byte) error {
	ok := true
	switch kind {
	case series.Int:
		if n, whole := number.Int(value); whole {
			c.integer(n)
			break
		}
		kind = series.Float // since it exceeds signed 64 bits
		if v, _ := number.Float(value); c.rounded == nil && rounds(value, v) {
			c.rounded = &large{string(value), p.at}
		}
		ok = input.WholeText(value)
	case series.Float:
		var v float64
		if v, ok = number.Float(value); ok {
			c.round(value, v, &p.at)
		} else if p.layout.format != input.FormatPoints {
			_, ok = number.NotFinite(value)
		}
	case series.Bool:
		_, ok = number.Bool(value)
	}
	if !ok {
		return fmt.Errorf("%q is not a number, a boolean or a text in quotes; %s", value[:min(len(value), input.MaxShown)], input.CorrectLine)
	}
	c.point(kind, &p.at)
	c.values++
	return nil
}

// point takes the type that a value of line protocol has into account.
func (c *columnProfile) point(kind series.Type, at *input.Error) {
	if kind != series.Text && (c.typed == series.Text || input.MergeTypes(c.typed, kind) == series.Text) {
		c.bare = input.MergeTypes(c.bare, kind)
	}
	if c.hasType(kind) {
		return
	}
	c.addType(kind, at.Place())
	both := input.MergeTypes(c.typed, kind)
	if both == series.Text && c.typed != 0 && c.typed != series.Text {
		c.bare = input.MergeTypes(c.bare, c.typed)
	}
	c.typed = both
}

// profilePairs looks at a file of timescaledb format. Its error is io.EOF at the end.
func (p *profiler) profilePairs(lines *lineformat.PairedLines) ([]*profile, error) {
	var all []*profile
	byName := make(map[string]*profile)
	widths := make(map[string]int) // of series
	var key []byte
	for {
		row, err := lines.Next()
		if err != nil {
			return all, err
		}
		p.at.Line = lines.Line
		fields, err := lines.FieldsOf(row.Table)
		if err != nil {
			return all, err
		}
		of := byName[string(row.Table)]
		if of == nil {
			if of, err = p.addTable(row.Table); err != nil {
				return all, err
			}
			for _, name := range fields {
				if err := p.addColumn(of, []byte(name)); err != nil {
					return all, err
				}
				of.column(name)
			}
			byName[of.name], all = of, append(all, of)
		}
		key = append(append(key[:0], row.Table...), row.Tags...)
		if width, known := widths[string(key)]; !known {
			if err := p.pairedTags(of, row.Tags); err != nil {
				return all, err
			}
			if width = 1 + bytes.Count(row.Values, []byte{','}); width > len(fields) {
				return all, fmt.Errorf("%d values, where the header names %d fields; %s", width, len(fields), input.CorrectLine)
			}
			if len(widths) < maxDistinct*10 { // others are cut each time
				widths[string(key)] = width
			}
		} else if err := lineformat.CheckWidth(row.Values, width); err != nil {
			return all, err
		}
		for i, rest, more := 0, row.Values, true; more; i++ {
			var value []byte
			if value, rest, more = bytes.Cut(rest, []byte{','}); !p.absent(value) {
				of.columns[i].add(value, p) // fields come before tags
			}
		}
		if err := p.lineTime(of, row.Time); err != nil {
			return all, err
		}
	}
}

// pairedTags looks at the tags of a series.
func (p *profiler) pairedTags(of *profile, tags []byte) error {
	var list []lineformat.Pair
	for len(tags) > 0 {
		var tag lineformat.Pair
		var err error
		if tag, tags, err = lineformat.CutPairedTag(tags); err != nil {
			return err
		}
		list = append(list, tag)
		if err := p.addTag(of, tag.Key, tag.Value); err != nil {
			return err
		}
	}
	return lineformat.DuplicateTag(list)
}

// addTag looks at a tag of a line.
func (p *profiler) addTag(of *profile, key, value []byte) error {
	c := of.tags[string(key)]
	if c == nil {
		if err := p.addColumn(of, key); err != nil {
			return err
		}
		c = of.tag(string(key))
	}
	if c.remember(value); c.notUTF8.none() && !utf8.Valid(value) {
		c.notUTF8.add(value, &p.at, 1)
	}
	return nil
}

// addTable counts a table of a format whose lines declare tags, and returns its profile.
func (p *profiler) addTable(name []byte) (*profile, error) {
	if !utf8.Valid(name) {
		return nil, input.NameError("measurement", name)
	}
	if p.tables++; p.tables > input.MaxTables {
		return nil, fmt.Errorf("there are more than %d measurements, which are the most that are read; write what their names tell as a tag, or load them in parts", input.MaxTables)
	}
	of := newProfile(string(name), p.at.File)
	of.time = newColumn(input.TimeOfPoints)
	of.time.typed = series.Int
	return of, nil
}

// addColumn counts a column that is new in a table.
func (p *profiler) addColumn(of *profile, name []byte) error {
	if !utf8.Valid(name) {
		return input.NameError("column", name)
	}
	if len(of.columns) >= input.MaxColumns {
		return input.WidthError(of.name)
	}
	if p.columns++; p.columns > input.MaxAllColumns {
		return fmt.Errorf("all tables together have more than %d columns, which are the most that are read; load the tables in parts", input.MaxAllColumns)
	}
	return nil
}
