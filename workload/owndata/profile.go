package owndata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
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
	file    string // the first that it is of
	rows    int64
	columns []*columnProfile
	byName  map[string]*columnProfile
	// Line protocol has its tags and the time of its lines apart, since a field may have the
	// name of either.
	tags map[string]*columnProfile
	time *columnProfile // nil: the time is a column
}

func newProfile(name, file string) *profile {
	return &profile{name: name, file: file, byName: make(map[string]*columnProfile), tags: make(map[string]*columnProfile)}
}

// column returns the named column, a new one if need be.
func (p *profile) column(name string) *columnProfile {
	c := p.byName[name]
	if c == nil {
		c = newColumn(name)
		p.columns, p.byName[name] = append(p.columns, c), c
	}
	return c
}

// tag is column of a tag of line protocol.
func (p *profile) tag(name string) *columnProfile {
	c := p.tags[name]
	if c == nil {
		c = newColumn(name)
		c.tag = true
		p.columns, p.tags[name] = append(p.columns, c), c
	}
	return c
}

// timeColumn returns the column of the time; nil: there is none of the name.
func (p *profile) timeColumn(name string) *columnProfile {
	if p.time != nil {
		return p.time
	}
	return p.byName[name]
}

func newColumn(name string) *columnProfile {
	c := &columnProfile{
		name: name, lookup: texts.NewLookup(), least: math.MaxInt64, most: math.MinInt64, lowest: math.Inf(1), highest: math.Inf(-1), shortest: math.MaxInt,
	}
	c.distinct.Reset()
	return c
}

// columnProfile is what the values of a column look like.
type columnProfile struct {
	name   string
	tag    bool        // line protocol says so
	values int64       // but for empty texts
	empty  int64       // empty texts that are not missing
	blanks bool        // a text begins or ends with a blank
	quoted int64       // of the values, in quotes of JSON
	typed  series.Type // that the format says; 0: values are text
	bare   series.Type // of the values of a column of texts that are none; 0: all are, or their format does not say
	unit   int64       // of times that are typed
	digits int32       // of decimals, as their type says
	left   string      // why the column cannot be loaded, whatever its values are; empty: it can

	// What not all values are. Those that the format types are not looked at.
	notInt, notFloat, notBool, notTime, notUTF8 others

	notDate, notText bool
	notLayout        bool  // a value is no time of the layout that the settings say
	badZone          error // of the first value whose zone that layout does not tell
	timesOfDay       int64 // values such as 15:04:05
	oddTimesOfDay    int64 // values such as 3:04 PM, which need a layout
	code             bool  // a value such as 0123, which a number would change
	commas           int64
	dressed          int64 // numbers such as 5 % and 1'000
	firstDressed     *large
	types            []typePlace // that the format says, where they differ, in the order in which they come
	rounded          *large      // a whole number that a float changes

	least, most       int64   // of integers; none: least > most
	lowest, highest   float64 // of all numbers; none: lowest > highest
	shortest, longest int
	zoneless          int64 // times without a zone

	distinct texts.List
	lookup   *texts.Lookup
	many     bool // more than are remembered

	row int64 // of JSON and of fields of line protocol: the last one that has the column
}

// typePlace is a type that the format says of a value, and where the first such value
// stands.
type typePlace struct {
	kind series.Type
	at   string
}

// addType remembers where a type stands, unless it is known.
func (c *columnProfile) addType(kind series.Type, at string) {
	if !c.hasType(kind) {
		c.types = append(c.types, typePlace{kind, at})
	}
}

func (c *columnProfile) hasType(kind series.Type) bool {
	for i := range c.types {
		if c.types[i].kind == kind {
			return true
		}
	}
	return false
}

// add looks at a value, which stands where the profiler is.
func (c *columnProfile) add(text []byte, p *profiler) {
	c.values++
	if !c.notInt.gaveUp {
		n, ok := number.Int(text)
		leading := ok && len(text) > 1 && text[0] == '0'
		if ok && !leading {
			c.integer(n)
		} else {
			// A number such as a station's 0123 would lose its zero.
			c.notInt.add(text, &p.at, c.values)
			c.code = c.code || leading
		}
	}
	if !c.notFloat.gaveUp {
		v, ok := number.Float(text)
		if !ok {
			v, ok = number.NotFinite(text)
		}
		switch {
		case !ok:
			c.notFloat.add(text, &p.at, c.values)
			if withCommas(text) {
				c.commas++
			} else if dressed(text) {
				if c.dressed++; c.firstDressed == nil {
					c.firstDressed = &large{string(text), p.at}
				}
			}
		default:
			c.float(v)
			c.round(text, v, &p.at)
		}
	}
	if !c.notBool.gaveUp {
		if _, ok := number.Bool(text); !ok {
			c.notBool.add(text, &p.at, c.values)
		}
	}
	if !c.notTime.gaveUp {
		before := p.times.zoneless
		_, err := p.times.text(text)
		if err != nil {
			c.notTime.addTime(text, &p.at, c.values, err)
			c.ofDay(text, p)
		}
		c.notDate = c.notDate || (err == nil || errors.Is(err, errYear)) && len(text) != len("2006-01-02")
		c.zoneless += p.times.zoneless - before
	}
	if p.layoutOf != nil && !c.notLayout {
		_, err := p.layoutOf.parse(text)
		if c.notLayout = err != nil; c.notLayout && errors.As(err, new(zoneError)) {
			at := p.at
			at.Err = fmt.Errorf("column %s: %q %w", c.name, text, err)
			c.badZone = &at
		}
	}
	c.shortest, c.longest = min(c.shortest, len(text)), max(c.longest, len(text))
	if !c.notText {
		_, ok := series.ParseText(text)
		c.notText = !ok
	}
	if c.notText && c.notUTF8.none() && !utf8.Valid(text) {
		c.notUTF8.add(text, &p.at, c.values)
	}
	c.remember(text)
}

// round remembers the first number that a float does not hold.
func (c *columnProfile) round(text []byte, v float64, at *Error) {
	if c.rounded == nil && (v >= exact || v <= -exact || len(text) > digitsOfFloats+2) && rounds(text, v) {
		c.rounded = &large{string(text[:min(len(text), shown)]), *at}
	}
}

// addEmpty looks at an empty text that is not missing, which only texts hold.
func (c *columnProfile) addEmpty() { c.empty++ }

// ofDay looks at a text that may be the time of a day.
func (c *columnProfile) ofDay(text []byte, p *profiler) {
	if len(text) < 4 || text[1] != ':' && text[2] != ':' {
		return
	}
	if _, _, err := p.times.timeOfDay(text); err == nil {
		c.timesOfDay++
	} else if oddTimeOfDay(text) {
		c.oddTimesOfDay++
	}
}

// integer and float remember the bounds of a column's numbers.
func (c *columnProfile) integer(n int64) { c.least, c.most = min(c.least, n), max(c.most, n) }

func (c *columnProfile) float(v float64) {
	if v < c.lowest { // which NaN is not
		c.lowest = v
	}
	if v > c.highest {
		c.highest = v
	}
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
func (c *columnProfile) merge(other *columnProfile, file, otherFile string) {
	c.tag = c.tag || other.tag
	if c.left == "" {
		c.left = other.left
	}
	c.empty, c.blanks = c.empty+other.empty, c.blanks || other.blanks
	if other.values == 0 && other.typed == 0 && !other.tag {
		return
	}
	if c.typed != 0 || other.typed != 0 {
		both := merged(c.typed, other.typed)
		if both == series.Text && c.typed != other.typed && c.typed != 0 && other.typed != 0 && c.values > 0 && other.values > 0 && len(c.types) == 0 && len(other.types) == 0 {
			c.addType(c.typed, file)
			c.addType(other.typed, otherFile)
		}
		for _, one := range []*columnProfile{c, other} {
			if both == series.Text && one.typed != series.Text && one.values > 0 {
				c.bare = merged(c.bare, one.typed)
			}
		}
		c.typed = both
	}
	c.bare = merged(c.bare, other.bare)
	for _, t := range other.types {
		c.addType(t.kind, t.at)
	}
	c.values += other.values
	c.quoted += other.quoted
	c.zoneless += other.zoneless
	c.timesOfDay, c.oddTimesOfDay = c.timesOfDay+other.timesOfDay, c.oddTimesOfDay+other.oddTimesOfDay
	if c.badZone == nil {
		c.badZone = other.badZone
	}
	c.commas, c.dressed = c.commas+other.commas, c.dressed+other.dressed
	if c.firstDressed == nil {
		c.firstDressed = other.firstDressed
	}
	c.notInt.merge(&other.notInt)
	c.notFloat.merge(&other.notFloat)
	c.notBool.merge(&other.notBool)
	c.notTime.merge(&other.notTime)
	c.notUTF8.merge(&other.notUTF8)
	c.notDate, c.notText, c.notLayout, c.code = c.notDate || other.notDate, c.notText || other.notText, c.notLayout || other.notLayout, c.code || other.code
	if c.rounded == nil {
		c.rounded = other.rounded
	}
	c.least, c.most = min(c.least, other.least), max(c.most, other.most)
	c.lowest, c.highest = min(c.lowest, other.lowest), max(c.highest, other.highest)
	c.shortest, c.longest = min(c.shortest, other.shortest), max(c.longest, other.longest)
	if other.many {
		c.many = true
		return
	}
	for i := range int32(other.distinct.Len()) {
		c.remember(other.distinct.Text(i))
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

// names reports whether the format says that the values are texts, so that digits are
// names rather than amounts. Where few of a column's values stand in quotes, the others
// say what they are.
func (c *columnProfile) names() bool {
	return c.typed == series.Text || valuesPerOther*c.quoted > c.values
}

// kind is the type that the column's values have as a field. Texts of digits that the
// format says are texts stay such.
func (c *columnProfile) kind() (series.Type, int) {
	switch {
	case c.typed != 0 && c.typed != series.Text:
		return c.typed, 0
	case c.values == 0 && c.empty > 0:
		return series.Text, 0
	case c.values == 0:
		return 0, 0
	case c.bare != 0:
		return series.Text, 0
	case c.notInt.none() && !c.names():
		return series.Int, 0
	case c.notFloat.none() && !c.code && !c.notInt.none():
		return series.Float, 0
	case c.notBool.none() && !c.names():
		return series.Bool, 0
	case c.notTime.none() && !c.notDate:
		return series.Date, 0
	case c.notTime.none():
		return series.Timestamp, 0
	case !c.notText && c.empty == 0 && !c.blanks && c.shortest == c.longest && c.longest <= series.MaxText:
		return series.Text, c.longest
	}
	return series.Text, 0
}

// profiler looks at files.
type profiler struct {
	layout   *layout
	times    clock
	columns  int // of all tables
	tables   int
	text     []byte
	layoutOf *clock // of the layout of times that the settings say, where they do not say of which column; nil: none
	at       Error  // where the values stand that are looked at
	progress func(rows int)
	ctx      context.Context
}

func newProfiler(ctx context.Context, l *layout, progress func(rows int)) *profiler {
	p := &profiler{layout: l, progress: progress, ctx: ctx}
	if c, err := newClock(l.timeFormat); err == nil && c.layout != "" && l.time == "" {
		p.layoutOf = c
	}
	return p
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
	one := newProfile(withoutExtension(f.name), f.name)
	p.at = Error{File: f.name}
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
		lines := newPointLines(in)
		all, err := p.points(lines)
		return all, at(lines.line, err)
	case formatPaired:
		lines, err := newPairedLines(in)
		if err != nil {
			return nil, at(lines.line, err)
		}
		all, err := p.paired(lines)
		return all, at(lines.line, err)
	case formatObjects:
		o := newObjects(newLineReader(in))
		for err == nil {
			err = o.next(func(name, value []byte, kind jsontext.Kind) error {
				c := one.byName[string(name)]
				if c == nil {
					if err := p.addColumn(one, name); err != nil {
						return err
					}
					c = one.column(string(name))
				}
				if c.row == one.rows+1 {
					return errTwice("object", "member", name)
				}
				c.row = one.rows + 1
				p.at.Line = o.lines.line
				p.member(c, value, kind)
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
		if err := p.addColumn(one, []byte(name)); err != nil {
			return nil, &Error{File: f.name, Line: 1, Err: err}
		}
		one.column(name)
	}
	for {
		cells, err := records.next()
		if err == nil && len(cells) != len(columns) {
			err = errColumns(len(cells), columns)
		}
		if err != nil {
			return []*profile{one}, at(records.lines.line, err)
		}
		p.at.Line = records.lines.line
		for i, cell := range cells {
			c, whole := one.columns[i], len(cell)
			if cell = trim(cell); !p.absent(cell) {
				c.blanks = c.blanks || len(cell) < whole
				c.add(cell, p)
			} else if len(cell) == 0 && records.quotes(i) {
				c.addEmpty()
			}
		}
		if err := p.count(one); err != nil {
			return nil, err
		}
	}
}

// member looks at a member of a JSON object.
func (p *profiler) member(c *columnProfile, value []byte, kind jsontext.Kind) {
	switch {
	case kind == 'n':
	case nested(kind):
		if c.left == "" {
			c.left = fmt.Sprintf("it has a nested value in %s", p.at.where())
			if bytes.HasPrefix(value, []byte(`{"$`)) {
				c.left += fmt.Sprintf(", %s of MongoDB; write plain values, as by jq -c 'map_values(if type == \"object\" then .[] else . end)'", value[:min(len(value), shown)])
			}
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

// timeOfPoints is the name that the time of line protocol has.
const timeOfPoints = "time"

// points looks at line protocol. Its error is io.EOF at the end.
func (p *profiler) points(lines *pointLines) ([]*profile, error) {
	var all []*profile
	byHead := make(map[string]*profile)
	byName := make(map[string]*profile)
	var text []byte
	var tags []pair
	for {
		cut, err := lines.next()
		if err != nil {
			return all, err
		}
		p.at.Line = lines.line
		of := byHead[string(cut.head)]
		if of == nil {
			var measurement []byte
			if measurement, tags, err = cutHead(cut.head, tags[:0]); err != nil {
				return all, err
			}
			text = plainMeasurement(text[:0], measurement)
			if of = byName[string(text)]; of == nil {
				if err := p.addTable(text); err != nil {
					return all, err
				}
				of = newProfile(string(text), p.at.File)
				of.time = newColumn(timeOfPoints)
				of.time.typed = series.Int
				byName[of.name], all = of, append(all, of)
			}
			for _, tag := range tags {
				text = plainText(text[:0], tag.key)
				c := of.tags[string(text)]
				if c == nil {
					if err := p.addColumn(of, text); err != nil {
						return all, err
					}
					c = of.tag(string(text))
				}
				text = plainText(text[:0], tag.value)
				if c.remember(text); c.notUTF8.none() && !utf8.Valid(text) {
					c.notUTF8.add(text, &p.at, 1)
				}
			}
			if len(byHead) < maxDistinct*10 { // others are cut anew each time
				byHead[string(cut.head)] = of
			}
		}
		for rest := cut.fields; len(rest) > 0; {
			var field pair
			if field, rest, err = cutField(rest); err != nil {
				return all, err
			}
			text = plainText(text[:0], field.key)
			c := of.byName[string(text)]
			if c == nil {
				if err := p.addColumn(of, text); err != nil {
					return all, err
				}
				c = of.column(string(text))
			}
			if c.row == of.rows+1 {
				return all, errTwice("line", "field", field.key)
			}
			c.row = of.rows + 1
			if err := p.pointField(c, field.value); err != nil {
				return all, fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		if err := p.lineTime(of, cut.time); err != nil {
			return all, err
		}
	}
}

// lineTime looks at the time of a line, which ends a row.
func (p *profiler) lineTime(of *profile, text []byte) error {
	n, ok := number.Int(text)
	if !ok {
		return fmt.Errorf("the time %q is no integer of 64 bits; %s", text[:min(len(text), shown)], correct)
	}
	of.time.values++
	of.time.integer(n)
	return p.count(of)
}

// pointField looks at the value of a field of line protocol.
func (p *profiler) pointField(c *columnProfile, value []byte) error {
	if value[0] == '"' {
		p.text = unquoted(p.text[:0], value)
		c.point(series.Text, &p.at)
		if len(p.text) == 0 {
			c.addEmpty()
		} else if !p.absent(p.text) {
			c.add(p.text, p)
		}
		return nil
	}
	kind, digits, err := valueType(value)
	if err != nil {
		return err
	}
	ok := true
	switch kind {
	case series.Int:
		if n, whole := number.Int(digits); whole {
			c.integer(n)
			break
		}
		kind = series.Float // as it is too large for 64 bits with a sign
		if v, _ := number.Float(digits); c.rounded == nil && rounds(digits, v) {
			c.rounded = &large{string(digits), p.at}
		}
	case series.Float:
		var v float64
		if v, ok = number.Float(digits); ok {
			c.round(digits, v, &p.at)
		}
	case series.Bool:
		_, ok = number.Bool(value)
	}
	if !ok {
		return fmt.Errorf("%q is no number, no boolean and no text in quotes; %s", value[:min(len(value), shown)], correct)
	}
	c.point(kind, &p.at)
	c.values++
	return nil
}

// point takes the type that a value of line protocol has into account.
func (c *columnProfile) point(kind series.Type, at *Error) {
	if kind != series.Text && (c.typed == series.Text || merged(c.typed, kind) == series.Text) {
		c.bare = merged(c.bare, kind)
	}
	if c.hasType(kind) {
		return
	}
	c.addType(kind, at.where())
	both := merged(c.typed, kind)
	if both == series.Text && c.typed != 0 && c.typed != series.Text {
		c.bare = merged(c.bare, c.typed)
	}
	c.typed = both
}

// wholeText reports whether a text is digits alone, but for a sign.
func wholeText(text []byte) bool {
	for i, b := range text {
		if (b < '0' || b > '9') && (b != '-' || i > 0) {
			return false
		}
	}
	return len(text) > 0
}

// records looks at a file of record batches: at its types, at the values of texts, and
// at numbers, which may be times.
func (p *profiler) records(f inputFile, one *profile) (err error) {
	source, closer, err := openRecords(f, p.layout.format, nil)
	if err != nil {
		return err
	}
	defer closer.Close()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s %s", f.name, unread(r))
		}
	}()
	schema, err := source.schema()
	if err != nil {
		return err
	}
	for _, field := range schema.Fields() {
		if err := p.addColumn(one, []byte(field.Name)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if one.byName[field.Name] != nil {
			return fmt.Errorf("%s has two columns %q; write the file again with other names", f.name, field.Name)
		}
		c := one.column(field.Name)
		c.typed, c.unit = columnType(field.Type)
		if c.typed == 0 && field.Type.ID() != arrow.NULL {
			c.left = fmt.Sprintf("its type %s in %s cannot be loaded", field.Type, f.name)
		}
		switch of := field.Type.(type) {
		case *arrow.TimestampType:
			if of.TimeZone == "" {
				c.zoneless = -1 // all there are
			}
		case arrow.DecimalType:
			c.digits = of.GetPrecision()
		}
	}
	reader, read := recordFile{}, make(map[string]bool)
	for {
		batch, group, first, err := source.next()
		p.at.RowGroup, p.at.Row = group, first
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			at := p.at
			at.Err = err
			return &at
		}
		for i := range int(batch.NumCols()) {
			c, column := one.column(batch.ColumnName(i)), batch.Column(i)
			read[c.name] = true
			p.at.Row = first
			if c.left != "" || c.numbers(column, p) {
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
				if p.at.Row = first + int64(row); !p.absent(text) {
					c.add(text, p)
				} else if len(text) == 0 {
					c.addEmpty()
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
		if c.typed == series.Timestamp && c.values == 0 && !read[c.name] {
			c.values = one.rows // INT96, which openParquet leaves out
		}
		if c.zoneless < 0 {
			c.zoneless = c.values
		}
	}
	return nil
}

// numbers looks at a column of a record batch that has no texts: of numbers at their
// bounds, since they may be times. It returns false where there are texts.
func (c *columnProfile) numbers(column arrow.Array, p *profiler) bool {
	switch a := column.(type) {
	case *array.Int64:
		bounds(c, a, a.Values())
	case *array.Int32:
		bounds(c, a, a.Values())
	case *array.Int16:
		bounds(c, a, a.Values())
	case *array.Int8:
		bounds(c, a, a.Values())
	case *array.Uint32:
		bounds(c, a, a.Values())
	case *array.Uint16:
		bounds(c, a, a.Values())
	case *array.Uint8:
		bounds(c, a, a.Values())
	case *array.Uint64:
		for row, v := range a.Values() {
			switch {
			case a.IsNull(row):
			case v <= math.MaxInt64:
				c.integer(int64(v))
			case c.rounded == nil:
				at := p.at
				at.Row += int64(row)
				c.typed, c.rounded = series.Float, &large{strconv.FormatUint(v, 10), at}
			}
		}
	case *array.Float64:
		for row, v := range a.Values() {
			if !a.IsNull(row) {
				c.float(v)
			}
		}
	case *array.Float32:
		for row, v := range a.Values() {
			if !a.IsNull(row) {
				c.float(float64(v))
			}
		}
	default:
		return !textual(column.DataType())
	}
	return true
}

// bounds looks at whole numbers of at most 64 bits with a sign.
func bounds[T wholeNumber](c *columnProfile, of arrow.Array, values []T) {
	nulls := of.NullN() > 0
	for row, v := range values {
		if !nulls || !of.IsNull(row) {
			c.integer(int64(v))
		}
	}
}
