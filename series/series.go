// Package series is the columnar model that generation, encoding, writing and
// checking share: a schema of tables, and batches of rows held in columns.
package series

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Type is the type of a field's or a tag's values.
type Type uint8

// The types of values. A tag is Text unless a workload says otherwise.
const (
	Int       Type = iota + 1 // 64-bit signed integer
	Float                     // IEEE 754 double
	Text                      // of a tag: UTF-8 text; of a field: see Field.Length
	Bool                      // 0 or 1
	Int32                     // 32-bit signed integer
	Float32                   // IEEE 754 single
	Timestamp                 // nanoseconds since 1970-01-01T00:00:00Z
	Date                      // days since 1970-01-01
	Blob                      // bytes, of the same alphabet as Text
)

// Types lists the types of fields.
func Types() []Type {
	return []Type{Bool, Int32, Int, Float32, Float, Text, Timestamp, Date, Blob}
}

// String returns the type's name as schemas print it.
func (t Type) String() string {
	switch t {
	case Int:
		return "int"
	case Float:
		return "float"
	case Text:
		return "text"
	case Bool:
		return "bool"
	case Int32:
		return "int32"
	case Float32:
		return "float32"
	case Timestamp:
		return "timestamp"
	case Date:
		return "date"
	case Blob:
		return "blob"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// UsesInts reports whether columns of the type hold their values in Ints. Those of
// Float and Float32 hold them in Floats.
func (t Type) UsesInts() bool { return t != Float && t != Float32 }

// Numeric reports whether values of the type are numbers: they have a sum, a
// mean and a largest one, and can be compared with a bound.
func (t Type) Numeric() bool { return t == Int || t == Float || t == Int32 || t == Float32 }

// Integer reports whether values of the type are whole numbers.
func (t Type) Integer() bool { return t == Int || t == Int32 }

// Bounds returns the least and the largest integer that a column of the type holds.
func (t Type) Bounds() (least, most int64) {
	if t == Int32 {
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// Textual reports whether values are texts, or bytes: see Column.AppendText.
func (t Type) Textual() bool { return t == Text || t == Blob }

// Field is a measured value of a table.
type Field struct {
	Name string
	Type Type
	// Length is the number of characters of each value of a Text or Blob field, from 1 to MaxText,
	// all digits and letters. 0: the field is free, or of another type.
	Length int
	// Longest is the maximum number of bytes of the values of a free field; 0: only known to be at
	// most MaxFreeText.
	Longest int
	// Decimals is the number of decimal places of a Float field whose values are decimals, each held as
	// the nearest double; at most 15 digits in all. 0: not known.
	Decimals int
}

// Room returns the maximum number of bytes of a value of a textual field.
func (f *Field) Room() int {
	switch {
	case f.Length > 0:
		return f.Length
	case f.Longest > 0:
		return f.Longest
	}
	return MaxFreeText
}

// Free reports whether the field's texts are of any length up to MaxFreeText, and of any
// content that is UTF-8. They may be empty, which is not NULL.
func (f *Field) Free() bool { return f.Length == 0 && f.Type.Textual() }

// Tag is one tag key of a table together with its value in every series.
type Tag struct {
	Key    string
	Type   Type // Text, or Float for TSBS's numeric tags; 0 means Text
	Values TagValues
}

// Numeric reports whether the tag's values are numbers.
func (t *Tag) Numeric() bool { return t.Type == Float }

// TagValues holds the values of one tag for all series of a dataset. An implementation is safe for
// concurrent use, and keeps few bytes per series so that memory stays proportional to the number of
// series.
type TagValues interface {
	// Append appends the value of the series to dst. If the series lacks the tag it returns dst
	// unchanged and false. The value of a numeric tag is appended as its shortest decimal
	// representation.
	Append(dst []byte, series uint32) ([]byte, bool)
}

// Table corresponds to a measurement of line protocol: rows that share tag keys and fields.
type Table struct {
	Name   string
	Tags   []Tag
	Fields []Field
	// Widths makes a table ragged: it holds, per series, the number of leading fields that its rows
	// have. Further fields are not NULL but do not exist in these rows; the contents of their
	// columns are undefined. Nil: all series have all fields.
	Widths []uint32
	// Dense means that no value is NULL: every row has all fields of its series. A system without
	// rows, which only stores values, then need not query other fields to find out whether a row
	// exists.
	Dense bool
	// Range has all series with rows in the table; zero: any series of the schema may have some. In a
	// schema of many tables it saves memory and time that would be proportional to tables × series.
	Range Span
	// Metric describes the table as a metric of Prometheus's data model; nil: the table is not a metric.
	Metric *Metric
}

// Width returns the number of fields that rows of the series have.
func (t *Table) Width(series uint32) int {
	if t.Widths == nil {
		return len(t.Fields)
	}
	return int(t.Widths[series])
}

// EachRowHas reports whether every row has a value of the field.
func (t *Table) EachRowHas(field string) bool {
	return t.Dense && t.FieldIndex(field) < t.Narrowest()
}

// Narrowest returns how many fields the narrowest rows have.
func (t *Table) Narrowest() int {
	if t.Widths == nil {
		return len(t.Fields)
	}
	return int(slices.Min(t.Widths))
}

// ColumnNames returns the names of the tags and of the fields, in their order.
func (t *Table) ColumnNames() []string {
	var names []string
	for i := range t.Tags {
		names = append(names, t.Tags[i].Key)
	}
	for i := range t.Fields {
		names = append(names, t.Fields[i].Name)
	}
	return names
}

// FreeRoom returns how many bytes the free texts of a row have at most. No table has none.
func (t *Table) FreeRoom() int64 {
	n := 0
	if t == nil {
		return 0
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Free() {
			n += f.Room()
		}
	}
	return int64(n)
}

// Tag returns the tag with the key, or nil where the table has none.
func (t *Table) Tag(key string) *Tag {
	for i := range t.Tags {
		if t.Tags[i].Key == key {
			return &t.Tags[i]
		}
	}
	return nil
}

// FieldIndex returns the position of the named field, or -1.
func (t *Table) FieldIndex(name string) int {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Schema describes everything a dataset contains but its rows.
type Schema struct {
	Tables []*Table
	Series uint32 // series are numbered 0 to Series-1 in all tables alike
	// Shared are the series of rows that lack the tag that identifies devices. Several of these series
	// may have equal tags, and their rows equal times. Representative returns the first of the series
	// with the tags of a shared series.
	Shared         []Span
	Representative func(series uint32) uint32
	// First and Last are inclusive bounds of the times of rows, and all times are multiples of Step
	// since 1970; zero: unknown. Languages whose queries need a beginning and an end use the bounds
	// for queries over all rows.
	First, Last time.Time
	Step        time.Duration
	// Sessions are the only times with rows, ascending and apart; nil: there are rows at any time.
	Sessions []Session
}

// Session is a time from Open to before Close, in nanoseconds since 1970, such as a trading session.
type Session struct{ Open, Close int64 }

// Span is the series from First to before End.
type Span struct{ First, End uint32 }

// Range returns the series that can have rows in a table of the schema.
func (s *Schema) Range(t *Table) Span {
	if t.Range != (Span{}) {
		return t.Range
	}
	return Span{End: s.Series}
}

// Has reports whether a series is one of the span.
func (s Span) Has(id uint32) bool { return id-s.First < s.End-s.First }

// Table returns the named table, or nil where the schema has none.
func (s *Schema) Table(name string) *Table {
	for _, t := range s.Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}
