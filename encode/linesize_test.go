package encode_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// randomRun has a field of each type at least, NULLs in some columns, series
// without some of the tags, in some schemas numeric tags and ragged rows, and the
// given values among others.
func randomRun(random *rand.Rand, whole int64, float float64) (*series.Schema, *series.Run) {
	const some = 5 // series
	table := &series.Table{Name: strings.Repeat("t", random.IntN(4)+1)}
	tag := func(kind series.Type, value string) {
		of := present{}
		for s := range uint32(some) {
			if random.IntN(4) > 0 {
				of[s] = value[:1+random.IntN(len(value))]
			}
		}
		table.Tags = append(table.Tags, series.Tag{Key: "k", Type: kind, Values: of})
	}
	tag(series.Text, "a,b =c")
	if random.IntN(2) == 0 {
		tag(series.Float, "12.5")
	}
	types := series.Types()
	for i := range random.IntN(3) * len(types) {
		f := series.Field{Name: strings.Repeat("f", random.IntN(40)+1), Type: types[i%len(types)]}
		if f.Type.Textual() {
			f.Length = random.IntN(series.MaxText + 1)
		}
		table.Fields = append(table.Fields, f)
	}
	if random.IntN(2) == 0 {
		for range some {
			table.Widths = append(table.Widths, uint32(random.IntN(len(table.Fields)+1)))
		}
	}
	var b series.Batch
	run := b.Add(table)
	run.Grow(random.IntN(100))
	for row := range run.Times {
		run.Series[row] = random.Uint32N(some)
		run.Times[row] = []int64{whole, 0, -7, 1451606400000000000, math.MinInt64}[random.IntN(5)]
	}
	nulls := random.IntN(4) // of 3 values
	for f := range run.Columns {
		c, lacking := &run.Columns[f], random.IntN(2) == 0
		for row := range run.Times {
			kind := table.Fields[f].Type
			switch {
			case kind == series.Bool:
				c.Ints[row] = random.Int64N(2)
			case table.Fields[f].Free():
				c.SetText(row, []byte([]string{"", "plain", "\"\\\n\r", "a,b =\tΩ\"", float64Text(float)}[random.IntN(5)]))
			case kind.Textual():
				c.Ints[row] = random.Int64N(series.Texts(table.Fields[f].Length))
			case kind == series.Int32:
				c.Ints[row] = []int64{int64(int32(whole)), math.MinInt32, math.MaxInt32, random.Int64N(101)}[random.IntN(4)]
			case kind.UsesInts():
				c.Ints[row] = []int64{whole, math.MinInt64, math.MaxInt64, random.Int64N(2000), -random.Int64() >> random.IntN(64)}[random.IntN(5)]
			default:
				v := []float64{float, 0, math.Copysign(0, -1), float64(random.IntN(1e8)) / math.Pow(10, float64(random.IntN(7))),
					random.Float64(), math.Float64frombits(random.Uint64())}[random.IntN(6)]
				if kind == series.Float32 {
					v = float64(float32(v))
				}
				c.Floats[row] = v
			}
			if lacking && random.IntN(3) < nulls {
				run.SetNull(f, row)
			}
		}
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: some}, run
}

func float64Text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// FuzzLineSize holds sizes to the text that the encoder writes.
func FuzzLineSize(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, int64(seed)<<(seed%60), float64(seed)/7)
	}
	whole := func(*series.Table) bool { return true }
	escaped := func(name string) string { return name + ", " }
	kinds := []encode.LineProtocol{
		{},
		{Escape: `, =`, Table: escaped, Column: escaped, Null: func(series.Type) string { return "none" }},
		{Times: true, Singles: true, WholeBools: whole},
		{Null: func(series.Type) string { return "t" }, NullName: "nothing", EscapeText: "\n\r"},
		{OneLine: true},
	}
	f.Fuzz(func(t *testing.T, seed uint64, whole int64, float float64) {
		schema, run := randomRun(rand.New(rand.NewPCG(seed, 0)), whole, float)
		for i, kind := range kinds {
			text := kind.New(schema).Append(nil, &series.Batch{Runs: []series.Run{*run}})
			sizer := kind.NewSizer(schema)
			for range 2 { // lengths are known the second time
				if got := sizer.Size(run); got != int64(len(text)) {
					t.Fatalf("kind %d: size %d, but %d bytes are written:\n%s", i, got, len(text), text)
				}
			}
		}
	})
}

// Sizes allocate nothing, whatever the types.
func TestLineSizeAllocatesNothing(t *testing.T) {
	schema, batch := typedBatch(true)
	sizer := encode.LineProtocol{}.NewSizer(schema)
	sizer.Size(&batch.Runs[0])
	if n := testing.AllocsPerRun(100, func() { sizer.Size(&batch.Runs[0]) }); n > 0 {
		t.Errorf("%v allocations a run", n)
	}
}
