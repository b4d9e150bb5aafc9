package oracle_test

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/series"
)

// sample draws from two tables with the given number of rows; one of them has a hundredth of it.
func sample(seed string, rows, wanted int) []oracle.Row {
	schema := &series.Schema{Series: 1, Tables: []*series.Table{
		{Name: "large", Fields: []series.Field{{Name: "f", Type: series.Int}}},
		{Name: "small", Fields: []series.Field{{Name: "f", Type: series.Int}}},
	}}
	s := oracle.NewSampler(schema, seed, wanted)
	var b series.Batch
	for first := 0; first < rows; first += 100 {
		b.Reset()
		for n, size := range []int{100, 1} {
			run := b.Add(schema.Tables[n])
			run.Grow(size)
			for row := range size {
				run.Series[row], run.Times[row], run.Columns[0].Ints[row] = 0, int64(first+row), int64(first+row)
			}
			s.Add(run)
		}
	}
	return s.Rows()
}

// Each row is drawn with the same probability, other ones by each seed, and small tables have
// their share.
func TestSample(t *testing.T) {
	const rows, wanted = 10_000, 100
	tenths, small := [10]int{}, 0
	for n := range 200 {
		drawn := sample(string(rune('a'+n)), rows, wanted)
		if len(drawn) != wanted {
			t.Fatalf("%d rows drawn, want %d", len(drawn), wanted)
		}
		for _, r := range drawn {
			if r.Values[0].Int != r.Time {
				t.Fatalf("the row of time %d has the value %v", r.Time, r.Values[0])
			}
			if r.Table.Name == "small" {
				small++
				continue
			}
			tenths[r.Time*10/rows]++
		}
	}
	if small != 200*wanted/2 {
		t.Errorf("%d of %d rows are of the small table", small, 200*wanted)
	}
	for i, n := range tenths { // 1,000 each, whose standard deviation is 30
		if n < 850 || n > 1150 {
			t.Errorf("%d rows drawn of the tenth %d of all, want about 1,000", n, i)
		}
	}
	times := func(list []oracle.Row) (all []int64) {
		for i := range list {
			all = append(all, list[i].Time)
		}
		return all
	}
	if !slices.Equal(times(sample("a", rows, wanted)), times(sample("a", rows, wanted))) || slices.Equal(times(sample("a", rows, wanted)), times(sample("b", rows, wanted))) {
		t.Error("a seed has to choose the rows")
	}
	if few := sample("a", 100, 1000); len(few) != 101 {
		t.Errorf("%d of 101 rows drawn", len(few))
	}
}

// Rows that are not drawn cost no allocation.
func BenchmarkSample(b *testing.B) {
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "t", Fields: []series.Field{{Name: "f", Type: series.Int}}}}}
	var batch series.Batch
	run := batch.Add(schema.Tables[0])
	run.Grow(1000)
	s := oracle.NewSampler(schema, "a", oracle.SampleRows)
	b.ReportAllocs()
	for b.Loop() {
		s.Add(run)
	}
}

// A row is looked up by the tag that identifies its series among all of its table, even if it is the only row.
func TestLookupOfOneRow(t *testing.T) {
	region := &series.Dictionary{Values: []string{"east", "west"}, Index: make([]uint8, 1000)}
	table := &series.Table{Name: "cpu", Tags: []series.Tag{{Key: "region", Values: region}, {Key: "host", Values: series.Numbered{Prefix: "host_"}}}, Fields: []series.Field{{Name: "f", Type: series.Int}}}
	schema := &series.Schema{Series: 1000, Tables: []*series.Table{table}}
	l := oracle.Lookups(schema, []oracle.Row{{Table: table, Series: 7, Fields: []int{0}}})[0]
	if in := l.Query.In; in == nil || in.Key != "host" || !slices.Equal(in.Values, []string{"host_7"}) || l.Tag != "host_7" {
		t.Errorf("it is looked up by %+v, and its tag is %q", in, l.Tag)
	}
}
