package witness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/series"
)

// kind is the type of a value.
type kind uint8

const (
	isNull   kind = iota // no value
	isAbsent             // the file has no such column, as far as the reader sees
	isText
	isDigits // a number as text, of any size
	isInt
	isFloat
	isSingle // a float of 32 bits
	isBool
	isTime // whole units since 1970
	isDay  // days since 1970
)

// value is a value read by a second reader.
type value struct {
	kind  kind
	int   int64
	unit  int64 // of a time, in nanoseconds
	float float64
	text  []byte
}

// String returns the value as shown in errors.
func (v *value) String() string {
	switch v.kind {
	case isNull, isAbsent:
		return "NULL"
	case isFloat:
		return strconv.FormatFloat(v.float, 'g', -1, 64)
	case isSingle:
		return strconv.FormatFloat(v.float, 'g', -1, 32)
	case isInt, isBool:
		return strconv.FormatInt(v.int, 10)
	case isDigits:
		return string(v.text)
	case isTime:
		return showTime(v.int, v.unit)
	case isDay:
		return showTime(v.int, nsOfDay)[:len(time.DateOnly)]
	}
	return strconv.Quote(string(v.text[:min(len(v.text), 60)]))
}

const nsOfDay = 24 * 60 * 60 * 1e9

// showTime is a time in units of nanoseconds since 1970, of any year.
func showTime(n, unit int64) string {
	per := int64(1e9) / max(unit, 1)
	if unit >= 1e9 {
		return time.Unix(n*(unit/1e9), 0).UTC().Format(time.RFC3339)
	}
	return time.Unix(n/per, n%per*unit).UTC().Format(time.RFC3339Nano)
}

// verdict is the result of comparing two values.
type verdict uint8

const (
	same verdict = iota
	differs
	unknown // the second value cannot be understood
)

// column is a column of a file.
type column struct {
	name string
	tag  bool // of line protocol, where a tag and a field may have one name
}

// role is the use of a column of the file in a table.
type role struct {
	tag, field int // its place; -1: none
}

// comparison compares the rows of one file.
type comparison struct {
	file       *File
	reader     string
	windows    []*window
	columns    []column                 // the first is the time
	place      map[column]int           // in columns
	of         map[*series.Table][]role // per column, of tables that rows were of
	seen       map[int64]bool           // rows of windows that were visited
	rows       int64
	difference *Difference
	skipped    map[string]bool
	clock      clock
	zone       *time.Location // of times without one; nil: UTC
	text       []byte
}

func newComparison(f *File, reader string, windows []*window) *comparison {
	c := &comparison{file: f, reader: reader, windows: windows, of: make(map[*series.Table][]role), place: make(map[column]int), seen: make(map[int64]bool), skipped: make(map[string]bool), clock: newClock(f.TimeFormat)}
	if f.TimeZone != "" {
		c.zone, _ = time.LoadLocation(f.TimeZone) // which the load knows
	}
	slices.SortFunc(c.windows, func(a, b *window) int { return int(a.first - b.first) })
	c.add(column{name: f.Time, tag: f.tagged()})
	if f.TimeOfDay != "" {
		c.add(column{name: f.TimeOfDay})
	}
	for _, w := range windows {
		for i := range w.batch.Runs {
			c.roles(w.batch.Runs[i].Table, c.add)
		}
	}
	clear(c.of)
	return c
}

// add adds a column that is new, and returns its place.
func (c *comparison) add(of column) int {
	at, ok := c.place[of]
	if !ok {
		at = len(c.columns)
		c.columns, c.place[of] = append(c.columns, of), at
	}
	return at
}

// maxTables is of how many tables the roles of columns are remembered.
const maxTables = 1000

// roles returns what the columns are in a table, whose columns place finds; -1: left out.
func (c *comparison) roles(t *series.Table, place func(column) int) []role {
	if roles := c.of[t]; roles != nil {
		return roles
	}
	var places []int
	for i := range t.Tags {
		places = append(places, place(column{t.Tags[i].Key, c.file.tagged()}))
	}
	for i := range t.Fields {
		places = append(places, place(column{name: t.Fields[i].Name}))
	}
	roles := make([]role, len(c.columns))
	for i := range roles {
		roles[i] = role{-1, -1}
	}
	for i, at := range places {
		switch {
		case at < 0:
		case i < len(t.Tags):
			roles[at].tag = i
		default:
			roles[at].field = i - len(t.Tags)
		}
	}
	if len(c.of) == maxTables {
		clear(c.of)
	}
	c.of[t] = roles
	return roles
}

// placeOf is the place of a column; -1: it is left out.
func (c *comparison) placeOf(of column) int {
	if at, ok := c.place[of]; ok {
		return at
	}
	return -1
}

// choose keeps the time and a random choice of n other columns.
func (c *comparison) choose(seed uint64, n int) {
	rest := c.columns[1:]
	if c.file.TimeOfDay != "" {
		rest = rest[1:]
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	c.columns = c.columns[:1+n]
	c.place = placesOf(c.columns)
}

// find returns the run and the place in it of a row of the sample.
func (c *comparison) find(row int64) (*series.Run, int) {
	at, found := slices.BinarySearchFunc(c.windows, row, func(w *window, row int64) int {
		switch {
		case row < w.first:
			return 1
		case row >= w.first+w.rows:
			return -1
		}
		return 0
	})
	if !found {
		return nil, 0
	}
	w := c.windows[at]
	place := int(row - w.first)
	for i := range w.batch.Runs {
		run := &w.batch.Runs[i]
		if place < run.Rows() {
			return run, place
		}
		place -= run.Rows()
	}
	return nil, 0
}

// row compares a row.
func (c *comparison) row(row int64, values []value) {
	if row < 0 {
		c.header(values)
		return
	}
	if row >= c.file.Rows {
		c.differ(row, c.columns[0].name, "no such row", values[0].String())
		return
	}
	run, at := c.find(row)
	if run == nil || c.seen[row] {
		return
	}
	c.seen[row] = true
	c.rows++
	if c.file.TimeOfDay != "" && values[0].kind == isText && values[1].kind == isText {
		values[0].text = slices.Concat(bytes.TrimSpace(values[0].text), []byte(" "), bytes.TrimSpace(values[1].text))
	}
	roles := c.roles(run.Table, c.placeOf)
	for i := range values {
		v := &values[i]
		switch r := roles[i]; {
		case i == 0:
			c.decide(row, i, v, c.time(v, run.Times[at]), func() string { return showTime(run.Times[at], 1) })
		case r.field >= 0:
			c.decide(row, i, v, c.field(v, run, r.field, at), func() string { return showField(run, r.field, at) })
		case r.tag >= 0:
			text, ok := run.Table.Tags[r.tag].Values.Append(c.text[:0], run.Series[at])
			c.text = text
			c.decide(row, i, v, c.tag(v, text, ok), func() string {
				if !ok {
					return "NULL"
				}
				return strconv.Quote(string(text[:min(len(text), 60)]))
			})
		}
	}
}

// header compares the names of a file's columns.
func (c *comparison) header(values []value) {
	for i := range values {
		if name := c.columns[i].name; values[i].kind == isText && string(bytes.TrimSpace(values[i].text)) != name {
			c.differ(-1, name, "the name "+name, values[i].String())
		}
	}
}

func (c *comparison) decide(row int64, column int, v *value, of verdict, first func() string) {
	switch of {
	case differs:
		c.differ(row, c.columns[column].name, first(), v.String())
	case unknown:
		c.skipped[fmt.Sprintf("column %s of %s, which the second reader %s", c.columns[column].name, c.file.Path, v.kindName())] = true
	}
}

// kindName describes the type of a value that could not be compared.
func (v *value) kindName() string {
	switch v.kind {
	case isAbsent:
		return "cannot read"
	case isText, isDigits:
		return "has as a text such as " + v.String()
	case isTime, isDay:
		return "has as a time such as " + v.String()
	}
	return "has as a number such as " + v.String()
}

func (c *comparison) differ(row int64, column, first, second string) {
	if c.difference != nil {
		c.difference.More++
		return
	}
	c.difference = &Difference{File: c.file.Path, Row: row, Column: column, First: first, Second: second, Reader: c.reader}
}

// finish looks for rows that the second reader has not.
func (c *comparison) finish() {
	for _, w := range c.windows {
		for row := w.first; row < w.first+w.rows; row++ {
			if run, at := c.find(row); !c.seen[row] {
				c.differ(row, c.columns[0].name, showTime(run.Times[at], 1), "no such row")
			}
		}
	}
}
