package suite

import (
	"math"
	"time"

	"github.com/tsmark/tsmark/series"
)

// field throws the type of a field, half of the time a number.
func (d *dice) field(number bool) series.Field {
	f := series.Field{Type: pick(d, []series.Type{series.Int, series.Float, series.Int32, series.Float32})}
	if !number && d.often(50) {
		f.Type = pick(d, d.storedTypes(series.Bool, series.Text, series.Timestamp, series.Date, series.Blob))
	}
	if f.Type.Textual() {
		f.Length = 1 + d.IntN(series.MaxText)
	}
	return f
}

// values throws the fields of a row.
func (d *dice) values(run *series.Run, row int) {
	for i, f := range run.Table.Fields {
		if d.often(20) {
			run.SetNull(i, row)
		}
		c := &run.Columns[i]
		switch tame := d.traits[run.Table].tame[i]; {
		case !f.Type.UsesInts() && tame:
			c.Floats[row] = float64(d.IntN(33)-8) / 4
		case !f.Type.UsesInts():
			c.Floats[row] = d.float(f.Type)
		case tame:
			c.Ints[row] = int64(d.IntN(9)-3) * 25
		default:
			c.Ints[row] = d.integer(&f)
		}
	}
}

// float throws one, whose sums may depend on their order.
func (d *dice) float(t series.Type) float64 {
	if d.caps.Holds(series.Infinities) && d.often(10) {
		return math.Inf(d.IntN(2)*2 - 1)
	}
	if d.caps.Digits > 0 {
		v := float64(d.IntN(2_000_000)-1_000_000) / 1000
		if t == series.Float32 {
			v = float64(float32(v))
		}
		return v
	}
	if t == series.Float32 {
		return float64(pick(d, []float32{math.MaxFloat32, -math.SmallestNonzeroFloat32, 0, 0.1, float32(d.NormFloat64()), float32(d.NormFloat64() * 1e30)}))
	}
	return pick(d, []float64{math.MaxFloat64, -math.SmallestNonzeroFloat64, 0, d.NormFloat64(), d.NormFloat64() * 1e200})
}

// integer draws a value that is stored in Ints, often at the bounds of its type.
func (d *dice) integer(f *series.Field) int64 {
	switch f.Type {
	case series.Bool:
		return d.Int64N(2)
	case series.Int32:
		v := pick(d, []int64{math.MaxInt32, math.MinInt32, 0, int64(int32(d.Uint32()))})
		if !d.caps.Holds(series.SmallestInt) {
			v = max(v, math.MinInt32+1)
		}
		return v
	case series.Text, series.Blob:
		last := series.Texts(f.Length) - 1
		return pick(d, []int64{0, last, d.Int64N(last + 1)})
	case series.Date:
		return pick(d, []int64{0, -1, 18_993, math.MinInt16, math.MaxInt16, d.Int64N(40_000) - 10_000})
	case series.Timestamp:
		step := int64(d.caps.TimePrecision)
		at := pick(d, []time.Time{time.Unix(0, -step), time.Unix(0, 0), d.start, time.Date(1680, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2260, 12, 31, 23, 59, 59, 0, time.UTC)})
		return at.UnixNano() + d.Int64N(1000)*step
	}
	v := pick(d, []int64{math.MaxInt64, math.MinInt64, 1<<53 + 1, 1 << 53, 0, d.Int64(), -d.Int64()})
	if !d.caps.Holds(series.LargeInts) {
		v = min(max(v, -d.largest()), d.largest())
	}
	if !d.caps.Holds(series.SmallestInt) {
		v = max(v, math.MinInt64+1)
	}
	return v
}
