package postgres

import (
	"encoding/binary"
	"math"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// caps is what PostgreSQL, or the extension, can do with the options.
func (v Variant) caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "SQL",
		OneConnection: o[optionConnections] == connectionsOne,
		TimePrecision: precision,
		Lacks: map[series.Trait]string{
			series.FineTimestamps: "PostgreSQL's timestamptz, whose unit is 1 µs, does not hold",
		},
		Schema: func(s *series.Schema) error {
			l, err := newLayout(s, o)
			for i := 0; err == nil && v.CheckTable != nil && i < len(l.tables); i++ {
				err = v.CheckTable(o, l.tables[i])
			}
			return err
		},
		Types: types(o),
		Steps: v.listed(),
	}
	if o[optionIntegers] != integersBigint {
		c.Lacks[series.LargeInts] = "double precision does not hold exactly; choose integers=" + integersBigint
	}
	if o[optionLayout] == layoutNarrow {
		c.Lacks[series.RepeatedTimes] = "a narrow table cannot tell apart; choose layout=" + layoutNormalized + " or " + layoutWide
	}
	return c
}

// types are the columns of fields. Integers of 64 bits, which are all that TSBS
// has, are doubles by default, as its loader makes them. A narrow table has few
// columns for all fields: one of doubles, one of integers where these stay
// integers, and one each of texts, times and dates.
func types(o driver.Options) map[series.Type]driver.Stored {
	held := map[series.Type]driver.Stored{
		series.Bool:      {As: "boolean"},
		series.Int32:     {As: "integer"},
		series.Int:       {As: "bigint"},
		series.Float32:   {As: "real"},
		series.Float:     {As: "double precision"},
		series.Text:      {As: "text"},
		series.Timestamp: {As: "timestamptz"},
		series.Date:      {As: "date"},
		series.Blob:      {As: "bytea"},
	}
	double := driver.Stored{As: "double precision", Mapped: "the double that equals it"}
	if o[optionIntegers] != integersBigint {
		held[series.Int] = driver.Stored{As: "double precision", Mapped: "the double that equals it (integers=bigint keeps it)"}
	}
	if o[optionLayout] != layoutNarrow {
		return held
	}
	held[series.Float32] = double
	held[series.Blob] = driver.Stored{As: "text", Mapped: "its bytes as a text"}
	if held[series.Bool], held[series.Int32] = (driver.Stored{As: "double precision", Mapped: "0 or 1"}), double; o[optionIntegers] == integersBigint {
		held[series.Bool] = driver.Stored{As: "bigint", Mapped: "0 or 1"}
		held[series.Int32] = driver.Stored{As: "bigint", Mapped: "the bigint that equals it"}
	}
	return held
}

// narrowTypes are the types of the columns of values of a narrow table, in their
// order.
var narrowTypes = []field{
	{sql.ValueColumn, "double precision"}, {sql.WholeColumn, "bigint"}, {sql.TextColumn, "text"}, {sql.MomentColumn, "timestamptz"}, {sql.DayColumn, "date"},
}

// epochDay is 2000-01-01, from which PostgreSQL counts days, in those since 1970.
const epochDay = 10_957

// value appends a value that is not NULL: its length and its bytes, in a column
// of its own.
func (e *encoder) value(dst []byte, f int, run *series.Run, row int) []byte {
	be, field, c := binary.BigEndian, &e.table.Fields[f], &run.Columns[f]
	switch field.Type {
	case series.Bool:
		return append(be.AppendUint32(dst, 1), byte(c.Ints[row]))
	case series.Int32:
		return be.AppendUint32(be.AppendUint32(dst, 4), uint32(int32(c.Ints[row])))
	case series.Float32:
		return be.AppendUint32(be.AppendUint32(dst, 4), math.Float32bits(float32(c.Floats[row])))
	case series.Int:
		if e.layout.bigint {
			return be.AppendUint64(be.AppendUint32(dst, 8), uint64(c.Ints[row]))
		}
		return e.double(dst, f, run, row)
	case series.Float:
		return e.double(dst, f, run, row)
	case series.Text, series.Blob:
		return series.AppendText(be.AppendUint32(dst, uint32(field.Length)), c.Ints[row], field.Length)
	case series.Date:
		return be.AppendUint32(be.AppendUint32(dst, 4), uint32(int32(c.Ints[row]-epochDay)))
	}
	return be.AppendUint64(be.AppendUint32(dst, 8), uint64(c.Ints[row]/1000-epoch))
}

// double appends a number as a double, which equals it.
func (e *encoder) double(dst []byte, f int, run *series.Run, row int) []byte {
	c, v := &run.Columns[f], 0.0
	if e.table.Fields[f].Type.Whole() {
		v = float64(c.Ints[row])
	} else {
		v = c.Floats[row]
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(dst, 8), math.Float64bits(v))
}
