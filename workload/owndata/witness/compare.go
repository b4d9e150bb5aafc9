package witness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// kind is what a value is.
type kind uint8

const (
	isNull   kind = iota // there is none
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

// value is what a second reader reads.
type value struct {
	kind  kind
	int   int64
	unit  int64 // of a time, in nanoseconds
	float float64
	text  []byte
}

// String is what errors say of a value.
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

// verdict is what a comparison of two values says.
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

// role is what a column of the file is in a table.
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
	text       []byte
}

func newComparison(f *File, reader string, windows []*window) *comparison {
	c := &comparison{file: f, reader: reader, windows: windows, of: make(map[*series.Table][]role), place: make(map[column]int), seen: make(map[int64]bool), skipped: make(map[string]bool), clock: newClock(f.TimeFormat)}
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
	clear(c.place)
	for i, of := range c.columns {
		c.place[of] = i
	}
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

// kindName says what a value is that could not be compared.
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

// empty reports whether a text stands for no value.
func (c *comparison) empty(v *value) bool {
	return v.kind == isText && (len(bytes.TrimSpace(v.text)) == 0 || c.file.Null != "" && string(bytes.TrimSpace(v.text)) == c.file.Null)
}

// time compares the time of a row.
func (c *comparison) time(v *value, want int64) verdict {
	switch v.kind {
	case isNull:
		return differs
	case isTime:
		return when(v.int, v.unit, want)
	case isDay:
		if c.clock.unit == 0 {
			return when(v.int, nsOfDay, want)
		}
		return unknown
	}
	at, ok := c.clock.read(v)
	if !ok {
		return unknown
	}
	return equal(at == want)
}

// when compares a time of a coarser unit with nanoseconds.
func when(n, unit, want int64) verdict {
	of := new(big.Int).Mul(big.NewInt(n), big.NewInt(unit))
	of.Sub(big.NewInt(want), of)
	return equal(of.CmpAbs(big.NewInt(unit)) < 0)
}

func equal(ok bool) verdict {
	if ok {
		return same
	}
	return differs
}

// tag compares a tag; ok says that the load's reader has one.
func (c *comparison) tag(v *value, text []byte, ok bool) verdict {
	switch {
	case v.kind == isAbsent:
		if ok {
			return unknown
		}
		return same
	case v.kind == isNull || c.empty(v) && !ok:
		return equal(!ok)
	case !ok:
		return differs
	}
	return c.asText(v, text)
}

// breaks has escapes of texts that InfluxData's decoder of line protocol reads as line breaks
// and tabs, and InfluxDB as they stand.
var breaks = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t")

// asText compares a value with a text.
func (c *comparison) asText(v *value, text []byte) verdict {
	switch v.kind {
	case isText:
		if bytes.Equal(v.text, text) || bytes.Equal(bytes.TrimSpace(v.text), text) {
			return same
		}
		if c.file.Format == Points {
			return equal(breaks.Replace(string(v.text)) == breaks.Replace(string(text)))
		}
		if c.file.Format == Objects { // whose numbers are written again
			a, err := strconv.ParseFloat(string(v.text), 64)
			b, err2 := strconv.ParseFloat(string(text), 64)
			if err == nil && err2 == nil {
				return equal(a == b)
			}
		}
		return differs
	case isBool:
		b, err := strconv.ParseBool(string(text))
		return equal(err == nil && b == (v.int != 0))
	case isInt, isDigits, isFloat, isSingle:
		return number(v, text)
	case isDay:
		t, err := time.Parse(time.DateOnly, string(text))
		if err != nil {
			return unknown
		}
		return equal(t.Unix() == v.int*24*60*60)
	}
	t := newClock("")
	at, ok := t.read(&value{kind: isText, text: text})
	if !ok {
		return unknown
	}
	return when(v.int, v.unit, at)
}

// number compares a number with a text.
func number(v *value, text []byte) verdict {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && v.kind == isInt {
		return equal(n == v.int)
	}
	a, ok := exact(string(text))
	b, ok2 := rational(v)
	if ok && ok2 {
		if a.Cmp(b) == 0 {
			return same
		}
		bits := 64
		if v.kind == isSingle {
			bits = 32
		}
		f, err := strconv.ParseFloat(string(text), bits)
		return equal(err == nil && (v.kind == isFloat || v.kind == isSingle) && f == v.float)
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || v.kind != isFloat && v.kind != isSingle {
		return unknown
	}
	return equal(f == v.float || f != f && v.float != v.float)
}

// exact reads a number exactly; false: it is none, or one of so many digits, or with such an
// exponent, that to compute with millions of them would take hours.
func exact(text string) (*big.Rat, bool) {
	const mostBytes, mostExponent = 2000, 2000
	if len(text) > mostBytes {
		return nil, false
	}
	if at := strings.LastIndexAny(text, "eEpP"); at >= 0 {
		if n, err := strconv.Atoi(text[at+1:]); err != nil || n < -mostExponent || n > mostExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// rational is a number exactly; false: it is none.
func rational(v *value) (*big.Rat, bool) {
	switch v.kind {
	case isInt:
		return new(big.Rat).SetInt64(v.int), true
	case isDigits:
		return exact(string(v.text))
	case isFloat, isSingle:
		r := new(big.Rat).SetFloat64(v.float)
		return r, r != nil
	}
	return nil, false
}

// field compares a field.
func (c *comparison) field(v *value, run *series.Run, f, at int) verdict {
	of, column := &run.Table.Fields[f], &run.Columns[f]
	if run.Lacks(f, at) {
		switch {
		case v.kind == isNull || v.kind == isAbsent || c.empty(v):
			return same
		}
		return differs
	}
	switch v.kind {
	case isNull:
		return differs
	case isAbsent:
		return unknown
	}
	switch of.Type {
	case series.Float, series.Float32:
		return float(v, column.Floats[at], of.Type == series.Float32)
	case series.Int, series.Int32:
		return whole(v, column.Ints[at])
	case series.Bool:
		return truth(v, column.Ints[at])
	case series.Text:
		c.text = column.AppendText(c.text[:0], at, of.Length)
		return c.asText(v, c.text)
	case series.Date:
		switch v.kind {
		case isDay:
			return equal(v.int == column.Ints[at])
		case isText:
			t, err := time.Parse(time.DateOnly, strings.TrimSpace(string(v.text)))
			if err != nil {
				return unknown
			}
			return equal(t.Unix() == column.Ints[at]*24*60*60)
		case isTime:
			day := new(big.Int).Mul(big.NewInt(v.int), big.NewInt(v.unit))
			return equal(day.Div(day, big.NewInt(nsOfDay)).Int64() == column.Ints[at])
		}
	case series.Timestamp:
		switch v.kind {
		case isDay:
			return when(v.int, nsOfDay, column.Ints[at])
		case isTime:
			return when(v.int, v.unit, column.Ints[at])
		case isText:
			t := newClock("")
			if ns, ok := t.read(v); ok {
				return equal(ns == column.Ints[at])
			}
		}
	}
	return unknown
}

// float compares a number with a float.
func float(v *value, want float64, single bool) verdict {
	var got float64
	switch v.kind {
	case isInt:
		got = float64(v.int)
	case isFloat, isSingle:
		got = v.float
	case isText, isDigits:
		var err error
		text := strings.TrimSpace(string(v.text))
		switch strings.ToLower(strings.TrimLeft(text, "+-")) { // as programs write what is not finite
		case "nan", "nan(ind)", "nan(snan)", "1.#nan", "1.#qnan", "1.#snan", "1.#ind":
			text = "nan"
		case "1.#inf":
			text = strings.Replace(strings.ToLower(text), "1.#", "", 1)
		}
		if got, err = strconv.ParseFloat(text, 64); err != nil && !math.IsInf(got, 0) {
			return differs
		}
	default:
		return unknown
	}
	if single {
		got = float64(float32(got))
	}
	return equal(got == want || got != got && want != want)
}

// whole compares a number with a whole number.
func whole(v *value, want int64) verdict {
	switch v.kind {
	case isInt, isBool:
		return equal(v.int == want)
	case isText, isDigits:
		if n, err := strconv.ParseInt(string(v.text), 10, 64); err == nil {
			return equal(n == want)
		}
		n, ok := exact(strings.TrimSpace(string(v.text)))
		return equal(ok && n.Cmp(new(big.Rat).SetInt64(want)) == 0)
	case isFloat, isSingle:
		return equal(v.float == float64(want))
	}
	return unknown
}

// truth compares a value with a boolean.
func truth(v *value, want int64) verdict {
	switch v.kind {
	case isBool, isInt:
		return equal((v.int != 0) == (want != 0))
	case isText:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(string(v.text))))
		if err != nil {
			return unknown
		}
		return equal(b == (want != 0))
	}
	return unknown
}

// showField is a field's value as errors show it.
func showField(run *series.Run, f, at int) string {
	of, column := &run.Table.Fields[f], &run.Columns[f]
	v := value{kind: isInt}
	switch {
	case run.Lacks(f, at):
		v.kind = isNull
	case of.Type == series.Float || of.Type == series.Float32:
		v.kind, v.float = isFloat, column.Floats[at]
	case of.Type == series.Text:
		v.kind, v.text = isText, column.AppendText(nil, at, of.Length)
	case of.Type == series.Timestamp:
		v.kind, v.int, v.unit = isTime, column.Ints[at], 1
	case of.Type == series.Date:
		v.kind, v.int = isDay, column.Ints[at]
	default:
		v.int = column.Ints[at]
	}
	return v.String()
}

// Seed makes a seed of a text, so that the same files give the same sample.
func Seed(text string) uint64 {
	var seed [8]byte
	for i := range len(text) {
		seed[i%8] = seed[i%8]*31 + text[i]
	}
	return binary.LittleEndian.Uint64(seed[:])
}
