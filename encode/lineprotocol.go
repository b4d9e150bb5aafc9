package encode

import (
	"bytes"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// NewLineProtocol returns the encoder of InfluxDB's line protocol as TSBS
// writes it for influx, questdb and victoriametrics: tags that a series lacks
// and fields without a value are left out, as is a row without any field;
// integers carry the suffix i; numeric tags become the first fields, without
// it; nothing is escaped.
func NewLineProtocol(s *series.Schema) Encoder { return LineProtocol{}.New(s) }

// LineProtocol is what a system wants of line protocol beyond what TSBS writes.
// The zero value is TSBS's.
type LineProtocol struct {
	// Escape are the characters that a backslash stands before in names and in
	// the values of tags. All are ASCII.
	Escape string
	// Table and Column return the names under which the system has a table, and
	// a tag or a field; nil: their own.
	Table, Column func(string) string
	// Null returns what stands for the value of a field in a row that has no
	// other, and that would be left out without it; nil: it is left out.
	Null func(series.Type) string
	// NullName is the name of the field that Null is the value of; empty: that
	// of the table's first one.
	NullName string
	// Unit is what the times of rows are counted in; 0: nanoseconds. Times are
	// multiples of it.
	Unit time.Duration
}

// New returns an encoder of the schema's rows.
func (l LineProtocol) New(s *series.Schema) Encoder {
	return &lineProtocol{
		ints: newIntText("i,"),
		unit: int64(l.Unit),
		tables: newTables(s, func(t *series.Table) lineTable {
			name := l.name(l.Table, t.Name)
			keys := make([]string, len(t.Tags))
			for i := range t.Tags {
				keys[i] = l.name(l.Column, t.Tags[i].Key) + "="
			}
			lt := lineTable{series: newSeriesText(s.Series, func(dst []byte, series uint32) []byte {
				dst = append(dst, name...)
				for i := range t.Tags {
					if !t.Tags[i].Numeric() {
						dst = l.appendTag(dst, &t.Tags[i], keys[i], series, ",", "")
					}
				}
				dst = append(dst, ' ')
				for i := range t.Tags {
					if t.Tags[i].Numeric() {
						dst = l.appendTag(dst, &t.Tags[i], keys[i], series, "", ",")
					}
				}
				return dst
			})}
			for i, f := range t.Fields {
				key := fieldKey{text: l.name(l.Column, f.Name) + "="}
				copy(key.wide[:], key.text)
				lt.keys = append(lt.keys, key)
				if i == 0 && l.Null != nil {
					name := key.text
					if l.NullName != "" {
						name = l.NullName + "="
					}
					lt.null = name + l.Null(f.Type) + ","
				}
			}
			return lt
		}),
	}
}

// name returns a name as it stands in a line.
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

// escape puts backslashes into what stands from start on.
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
	ints   *intText
	unit   int64 // of times
	tables tables[lineTable]
}

type lineTable struct {
	series seriesText
	keys   []fieldKey
	null   string // stands for the fields of a row without any; empty: it is left out
}

// fieldKey is "name=". A short one is copied as a whole array, which takes the
// processor two instructions.
type fieldKey struct {
	text string
	wide [32]byte
}

// AppendHeader implements Encoder.
func (e *lineProtocol) AppendHeader(dst []byte) []byte { return dst }

// Append implements Encoder.
func (e *lineProtocol) Append(dst []byte, b *series.Batch) []byte {
	times := timeText{unit: e.unit}
	for i := range b.Runs {
		run := &b.Runs[i]
		table := e.tables.of(run.Table)
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
				if len(key.text) <= len(key.wide) {
					*(*[len(key.wide)]byte)(dst[n : n+len(key.wide)]) = key.wide
				} else {
					copy(dst[n:cap(dst)], key.text)
				}
				n += len(key.text)
				if run.Table.Fields[f].Type == series.Int {
					n += e.ints.put(dst[n:n+intRoom], c.Ints[row])
					dst = dst[:n]
				} else {
					dst = append(appendFloat(dst[:n], c.Floats[row]), ',')
				}
			}
			if dst[len(dst)-1] == ' ' { // no field: no row, unless something stands for one
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
