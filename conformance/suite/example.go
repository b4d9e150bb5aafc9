package suite

import (
	"io"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// example is a dataset and queries about it.
type example struct {
	dataset workload.Dataset
	queries []query.Query
}

// cpuOnly returns a day of few hosts and the first queries of every type.
func (s *Suite) cpuOnly(t T, initial uint32) example {
	t.Helper()
	return s.useCase(t, tsbs.CPUOnly(), initial)
}

// useCase returns a day of few series and the first queries of every type.
func (s *Suite) useCase(t T, use workload.Workload, initial uint32) example {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{
		Name: use.Name(), Seed: 123, Scale: 40, InitialScale: initial,
		Start: start, End: start.Add(24 * time.Hour), Interval: s.interval,
	}
	return s.exampleOf(t, use, spec)
}

// ManySeries: more series than a server lists in one answer, with a row each, are
// counted, distinguished, and answered completely. InfluxDB cuts answers off at 10,000 rows.
func (s *Suite) ManySeries(t T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	e := s.exampleOf(t, tsbs.CPUOnly(), workload.Spec{Name: "cpu-only", Seed: 123, Scale: 12_000, Start: start, End: start.Add(24 * time.Hour), Interval: 24 * time.Hour})
	e.queries = slices.DeleteFunc(e.queries, func(q query.Query) bool { return q.Type != "lastpoint" })[:1]
	s.loadAndQuery(t, e, 1)
}

// exampleOf returns a dataset and the first queries of every type.
func (s *Suite) exampleOf(t T, use workload.Workload, spec workload.Spec) example {
	t.Helper()
	d, err := use.Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	e := example{dataset: d}
	for _, qt := range use.QueryTypes() {
		sequence, err := use.Queries(spec, qt.Name, s.perType())
		if err != nil {
			t.Fatal(err)
		}
		e.queries = slices.AppendSeq(e.queries, sequence)
	}
	return e
}

// perType returns the number of queries to run for each type.
func (s *Suite) perType() int {
	if s.brief() {
		return 2
	}
	return 5
}

func limitRows(e example, rows int64) example {
	return example{workload.LimitRows(e.dataset, rows), e.queries}
}

// emptyTable returns an example in which not all tables have rows.
func (s *Suite) emptyTable(t T) example {
	if s.Brief() {
		return limitRows(s.useCase(t, tsbs.IoT(), 0), 1)
	}
	return limitRows(s.useCase(t, tsbs.Devops(), 0), 50)
}

// fixed is a dataset of one batch.
type fixed struct {
	schema *series.Schema
	batch  series.Batch
}

func (f *fixed) Schema() *series.Schema { return f.schema }

func (f *fixed) Open() workload.Reader { return &fixedReader{batch: &f.batch} }

type fixedReader struct{ batch *series.Batch }

func (r *fixedReader) Next(b *series.Batch, _ int) error {
	*b = series.Batch{}
	if r.batch == nil {
		return io.EOF
	}
	b.Runs = r.batch.Runs
	r.batch = nil
	return nil
}

// hostile has NULLs, the largest and smallest integers, floats that need every
// digit, times before 1970, and tags with quotes, spaces and other alphabets, as
// far as the target takes them.
func (s *Suite) hostile() example {
	caps, largest := &s.caps, s.largest()
	names := Names{"o'brien", `a "b" c`, "Ωμέγα-服务器", "host_10", "host_9"}
	if !caps.Holds(series.UnplainTags) {
		names[1], names[2] = `a"b"c`, "a,b;{c}"
	}
	table := &series.Table{
		Name: "load",
		Tags: []series.Tag{{Key: "hostname", Values: names}},
		Fields: []series.Field{
			{Name: "whole", Type: series.Int}, {Name: "share", Type: series.Float}, {Name: "never", Type: series.Int},
			{Name: "vast", Type: series.Float}, // which is in no mean: PostgreSQL's squares the values
		},
	}
	const hosts, rows = 5, 200
	f := &fixed{schema: &series.Schema{Tables: []*series.Table{table}, Series: hosts}}
	run := f.batch.Add(table)
	run.Grow(rows)
	bitmap := func() series.Bitmap { return make(series.Bitmap, rows/64+1) }
	for i := range run.Columns {
		run.Columns[i].Nulls = bitmap()
	}
	start, smallest := time.Date(1969, 12, 31, 23, 30, 0, 0, time.UTC), -largest-1
	if start.Before(caps.First) {
		start = caps.First.UTC()
	}
	if !caps.Holds(series.SmallestInt) || !caps.Holds(series.LargeInts) {
		smallest++
	}
	for row := range rows {
		run.Series[row] = uint32(row % hosts)
		run.Times[row] = start.Add(time.Duration(row/hosts)*97*time.Second + caps.TimePrecision).UnixNano()
		run.Columns[0].Ints[row] = int64(row*row) - 777
		run.Columns[1].Floats[row] = math.Sqrt(float64(row)) / 3
		run.Columns[2].Nulls.Set(row)
		run.Columns[3].Floats[row] = -float64(row)
		if row%7 == 3 {
			run.Columns[0].Nulls.Set(row)
		}
		if row%4 == 1 || row%hosts == 4 {
			run.Columns[1].Nulls.Set(row)
		}
	}
	run.Columns[0].Ints[0], run.Columns[0].Ints[1] = largest, smallest
	run.Columns[0].Ints[rows-1] = largest - 1
	if caps.Digits == 0 {
		run.Columns[1].Floats[2], run.Columns[1].Floats[4] = 1.2345678901234567e150, math.SmallestNonzeroFloat64
		run.Columns[3].Floats[2] = math.MaxFloat64
	}

	all := []string{"whole", "share", "never", "vast"}
	in := &query.TagIn{Key: "hostname", Values: []string{"o'brien", names[2], "nobody"}}
	return example{f, numberQueries(
		query.Query{In: in, Shape: query.Buckets{Aggregate: query.Max, Fields: all, Width: 7 * time.Minute, Order: query.Ascending}},
		query.Query{Shape: query.Buckets{Aggregate: query.Avg, Fields: all[1:3], Width: time.Hour, GroupBy: "hostname", Order: query.Ascending}},
		query.Query{End: start.Add(20 * time.Minute), Shape: query.Buckets{Aggregate: query.Max, Fields: all, Width: time.Minute, Order: query.Descending, Limit: 3}},
		query.Query{Start: start.Add(caps.TimePrecision), End: start.Add(40 * time.Minute), Filter: &query.ValueFilter{Field: "whole", Value: 0}, Shape: query.Rows{Fields: all, Tag: "hostname"}},
		query.Query{Shape: query.Last{By: "hostname", Fields: all}},
	)}.setTable(table)
}

// numberQueries gives queries their ids.
func numberQueries(queries ...query.Query) []query.Query {
	for i := range queries {
		queries[i].ID = i
	}
	return queries
}

// setTable gives queries their table, and types for messages.
func (e example) setTable(table *series.Table) example {
	for i := range e.queries {
		e.queries[i].Table, e.queries[i].Type = table.Name, table.Name+"-"+e.queries[i].ShapeName()
	}
	return e
}

// raggedExample is hostile with hosts that have only the first fields. The values of the
// missing columns do not exist.
func (s *Suite) raggedExample() example {
	e := s.hostile()
	e.dataset.Schema().Tables[0].Widths = []uint32{3, 2, 1, 3, 1}
	return e
}

// specialFloats has zeros of both signs and, as far as the target takes them,
// infinities and NaN.
func (s *Suite) specialFloats() example {
	values := []float64{0, math.Copysign(0, -1), 1.5}
	if s.caps.Holds(series.Infinities) {
		values = append(values, math.Inf(1), math.Inf(-1))
	}
	if s.caps.Holds(series.NaN) {
		values = append(values, math.NaN())
	}
	table := &series.Table{
		Name:   "special",
		Tags:   []series.Tag{{Key: "hostname", Values: series.Numbered{Prefix: "host_"}}},
		Fields: []series.Field{{Name: "value", Type: series.Float}, {Name: "number", Type: series.Int}},
	}
	f := &fixed{schema: &series.Schema{Tables: []*series.Table{table}, Series: uint32(len(values))}}
	run := f.batch.Add(table)
	run.Grow(len(values))
	for row, v := range values {
		run.Series[row], run.Times[row] = uint32(row), time.Date(2016, 1, 1, 0, 0, row, 0, time.UTC).UnixNano()
		run.Columns[0].Floats[row], run.Columns[1].Ints[row] = v, int64(row)
	}
	fields := []string{"value", "number"}
	return example{f, numberQueries(
		query.Query{Filter: &query.ValueFilter{Field: "number", Value: -1}, Shape: query.Rows{Fields: fields, Tag: "hostname"}},
		query.Query{Shape: query.Last{By: "hostname", Fields: fields}},
	)}.setTable(table)
}
