package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// NewLineProtocol returns the encoder of InfluxDB's line protocol as TSBS writes it for influx,
// questdb and victoriametrics. Missing tags and fields without a value are omitted, and so are rows
// without any field. Integers have the suffix i; numeric tags become the first fields, without it.
// Nothing is escaped.
//
// Types that TSBS does not have are written as follows: a Bool as t or f, an Int32 as an integer, a
// Float32 as the 64-bit float that equals it, a Text or Blob as a quoted string with a backslash
// before quotes and backslashes but not before line breaks, a Timestamp as the integer of its
// nanoseconds, and a Date as the integer of its days.
func NewLineProtocol(s *series.Schema) Encoder { return LineProtocol{}.New(s) }

// LineProtocol describes how a system's line protocol differs from TSBS's output. The zero value is
// TSBS's.
type LineProtocol struct {
	// Escape lists the characters that are escaped by a backslash in names and in tag values. All
	// are ASCII.
	Escape string
	// EscapeTable is Escape of names of tables; empty: the same.
	EscapeTable string
	// Table and Column return the names under which the system has a table, and
	// a tag or a field; nil: their own.
	Table, Column func(string) string
	// Null returns a replacement value of a type for rows without any value, which would otherwise
	// be omitted; nil: such rows are omitted. An empty result means that the system has no
	// replacement for the type.
	Null func(series.Type) string
	// NullName is the name of the field that receives the value of Null; empty: the table's first
	// field with a replacement.
	NullName string
	// Times means that the system has times as values, as QuestDB does: a Timestamp or Date is
	// written as its microseconds since 1970 and the letter t.
	Times bool
	// Singles means that the system stores a Float32 as a 32-bit float, so that only the digits
	// that distinguish 32-bit floats are written.
	Singles bool
	// WholeBools reports whether a table has booleans as integers 0 and 1; nil:
	// none has.
	WholeBools func(*series.Table) bool
	// Capitals means that booleans are T and F instead of t and f.
	Capitals bool
	// NumberTags means that numeric tags remain tags.
	NumberTags bool
	// EscapeText lists the control characters that are escaped by a backslash in texts, in addition
	// to quotes and backslashes.
	EscapeText string
	// OneLine means that a line break in a text is written as a backslash and the letter n, so that
	// each row is one line.
	OneLine bool
}

// New returns an encoder of the schema's rows.
func (l LineProtocol) New(s *series.Schema) Encoder {
	return &lineProtocol{
		lineValues: l.values(),
		tables: newTables(s, func(t *series.Table) lineTable {
			lt := l.table(t)
			lt.series = newSeriesText(s, t, lt.series.build)
			return lt
		}),
	}
}

func (l LineProtocol) values() lineValues {
	return lineValues{ints: newIntText("i,"), times: l.Times, singles: l.Singles, oneLine: l.OneLine, escapeText: l.EscapeText}
}

// table returns the parts of a table's lines. It does not precompute the text of the series.
func (l LineProtocol) table(t *series.Table) lineTable {
	of := l
	of.Escape = cmp.Or(l.EscapeTable, l.Escape)
	name := of.name(l.Table, t.Name)
	keys := make([]string, len(t.Tags))
	for i := range t.Tags {
		keys[i] = l.name(l.Column, t.Tags[i].Key) + "="
	}
	lt := lineTable{bools: [2]string{"f,", "t,"}, whole: len(t.Fields) > 0}
	lt.series.build = func(dst []byte, series uint32) []byte {
		dst = append(dst, name...)
		for i := range t.Tags {
			if l.NumberTags || !t.Tags[i].Numeric() {
				dst = l.appendTag(dst, &t.Tags[i], keys[i], series, ",", "")
			}
		}
		dst = append(dst, ' ')
		for i := range t.Tags {
			if !l.NumberTags && t.Tags[i].Numeric() {
				dst = l.appendTag(dst, &t.Tags[i], keys[i], series, "", ",")
			}
		}
		return dst
	}
	for _, f := range t.Fields {
		key := fieldKey{text: l.name(l.Column, f.Name) + "="}
		copy(key.wide[:], key.text)
		lt.keys = append(lt.keys, key)
		lt.whole = lt.whole && key.short() && (f.Type == series.Int || f.Type == series.Int32)
		if lt.null == "" && l.Null != nil && l.Null(f.Type) != "" {
			lt.null = cmp.Or(l.NullName, strings.TrimSuffix(key.text, "=")) + "=" + l.Null(f.Type) + ","
		}
	}
	if l.Capitals {
		lt.bools = [2]string{"F,", "T,"}
	}
	if l.WholeBools != nil && l.WholeBools(t) {
		lt.bools = [2]string{"0i,", "1i,"}
	}
	return lt
}

// name returns a name as written in a line.
func (l LineProtocol) name(mapped func(string) string, n string) string {
	if mapped != nil {
		n = mapped(n)
	}
	return string(l.escape([]byte(n), 0))
}

// appendTag appends before, the key with its equals sign, the value and after;
// nothing where the series lacks the tag.
func (l LineProtocol) appendTag(dst []byte, t *series.Tag, key string, series uint32, before, after string) []byte {
	start := len(dst)
	dst = append(append(dst, before...), key...)
	value := len(dst)
	dst, ok := t.Values.Append(dst, series)
	if !ok {
		return dst[:start]
	}
	return append(l.escape(dst, value), after...)
}

// escape inserts backslashes into dst from start on.
func (l LineProtocol) escape(dst []byte, start int) []byte {
	if l.Escape == "" || !bytes.ContainsAny(dst[start:], l.Escape) {
		return dst
	}
	for i := start; i < len(dst); i++ {
		if strings.IndexByte(l.Escape, dst[i]) >= 0 {
			dst = append(dst, 0)
			copy(dst[i+1:], dst[i:])
			dst[i] = '\\'
			i++
		}
	}
	return dst
}

type lineProtocol struct {
	lineValues
	tables tables[lineTable]
}

// lineValues writes the values of lines.
type lineValues struct {
	ints    *intText
	times   bool
	singles bool
	oneLine bool

	escapeText string
}

type lineTable struct {
	series seriesText
	keys   []fieldKey
	null   string // stands for the fields of a row without any; empty: it is left out
	bools  [2]string
	whole  bool // all fields are integers, and their keys short
}

// fieldKey is "name=". A short one is copied as a whole array, which takes the
// processor two instructions.
type fieldKey struct {
	text string
	wide [32]byte
}

func (k *fieldKey) short() bool { return len(k.text) <= len(k.wide) }

// keyRoom is the room that a short key with an integer needs.
const keyRoom = len(fieldKey{}.wide) + intRoom

// AppendHeader implements Encoder.
func (e *lineProtocol) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *lineProtocol) Append(dst []byte, b *series.Batch) []byte {
	var times timeText
	for i := range b.Runs {
		run := &b.Runs[i]
		table := e.tables.lookUp(run.Table)
		if table.whole && complete(run) {
			dst = e.appendWhole(dst, table, run, &times)
			continue
		}
		for row := range run.Times {
			start := len(dst)
			dst = table.series.append(dst, run.Series[row])
			for f := range run.Table.Width(run.Series[row]) {
				c := &run.Columns[f]
				if c.Nulls.Has(row) {
					continue
				}
				key := &table.keys[f]
				dst = room(dst, len(key.wide)+len(key.text)+intRoom)
				n := len(dst)
				if key.short() {
					*(*[len(key.wide)]byte)(dst[n : n+len(key.wide)]) = key.wide
				} else {
					copy(dst[n:cap(dst)], key.text)
				}
				n += len(key.text)
				switch field := &run.Table.Fields[f]; field.Type {
				case series.Int, series.Int32:
					n += e.ints.put(dst[n:n+intRoom], c.Ints[row])
					dst = dst[:n]
				case series.Float:
					dst = append(appendFloat(dst[:n], c.Floats[row]), ',')
				case series.Float32:
					dst = append(e.appendSingle(dst[:n], c.Floats[row]), ',')
				case series.Bool:
					dst = append(dst[:n], table.bools[c.Ints[row]&1]...)
				case series.Text, series.Blob:
					dst = append(e.appendText(append(dst[:n], '"'), c, row, field.Length), '"', ',')
				default:
					dst = e.appendTime(dst[:n], field.Type, c.Ints[row])
				}
			}
			if bare(dst[start:]) { // no field: no row, unless something stands for one
				if table.null == "" {
					dst = dst[:start]
					continue
				}
				dst = append(dst, table.null...)
			}
			dst[len(dst)-1] = ' '
			dst = append(times.append(dst, run.Times[row]), '\n')
		}
	}
	return dst
}

// complete reports whether every row of the run has a value of every field.
func complete(run *series.Run) bool {
	if run.Table.Widths != nil {
		return false
	}
	for f := range run.Columns {
		if run.Columns[f].Nulls != nil {
			return false
		}
	}
	return true
}

// appendWhole appends rows of a whole table that have all values, as TSBS's rows of devops do:
// decisions per field are made once, which saves a third of the time.
func (e *lineProtocol) appendWhole(dst []byte, table *lineTable, run *series.Run, times *timeText) []byte {
	columns, ints := run.Columns[:len(table.keys)], e.ints
	for row, t := range run.Times {
		dst = room(table.series.append(dst, run.Series[row]), len(columns)*keyRoom)
		n, free := len(dst), dst[:cap(dst)]
		for f := range columns {
			key := &table.keys[f]
			*(*[len(key.wide)]byte)(free[n:]) = key.wide
			n += len(key.text)
			if v := uint64(columns[f].Ints[row]); v < smallInts { // as put does
				word := ints.words[v]
				binary.LittleEndian.PutUint64(free[n:], word)
				n += int(word >> 56)
			} else {
				n += ints.put(free[n:n+intRoom], int64(v))
			}
		}
		dst = free[:n]
		dst[n-1] = ' '
		dst = append(times.append(dst, t), '\n')
	}
	return dst
}

// bare reports whether a row has neither field nor numeric tag so far.
func bare(row []byte) bool { return row[len(row)-1] == ' ' }

// appendSingle appends the value of a Float32.
func (e *lineValues) appendSingle(dst []byte, v float64) []byte {
	if e.singles {
		return appendSingle(dst, v)
	}
	return appendFloat(dst, v)
}

// appendText appends a quoted text. A text whose length is known needs no escaping.
func (e *lineValues) appendText(dst []byte, c *series.Column, row, length int) []byte {
	if length > 0 {
		return series.AppendText(dst, c.Ints[row], length)
	}
	text := c.Text(row)
	for i, b := range text {
		if e.escapes(b) {
			return e.appendEscaped(append(dst, text[:i]...), text[i:])
		}
	}
	return append(dst, text...)
}

// escapes reports whether a character of a quoted text needs a backslash.
func (e *lineValues) escapes(c byte) bool {
	return c == '"' || c == '\\' || c < ' ' && (c == '\n' && e.oneLine || strings.IndexByte(e.escapeText, c) >= 0)
}

func (e *lineValues) appendEscaped(dst, text []byte) []byte {
	for _, c := range text {
		if e.escapes(c) {
			dst = append(dst, '\\')
			if c == '\n' && e.oneLine {
				c = 'n'
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// appendTime appends the value of a Timestamp or Date, and a comma.
func (e *lineValues) appendTime(dst []byte, t series.Type, v int64) []byte {
	letter := byte('i')
	if e.times {
		letter = 't'
	}
	return append(strconv.AppendInt(dst, e.countUnits(t, v), 10), letter, ',')
}

// countUnits converts a Timestamp or Date to the system's unit.
func (e *lineValues) countUnits(t series.Type, v int64) int64 {
	const dayMicros = 24 * 60 * 60 * 1e6
	switch {
	case !e.times:
		return v
	case t == series.Date:
		return v * dayMicros
	}
	return v / 1e3
}
