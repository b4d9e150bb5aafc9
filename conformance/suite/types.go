package suite

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/metrics"
)

// types has two tables with a field of every type, at the bounds of its values:
// one without NULLs, and one whose every other row lacks every other value.
func (s *Suite) types() example {
	var fields []series.Field
	for _, kind := range s.storedTypes(series.Types()...) {
		f := series.Field{Name: "a_" + kind.String(), Type: kind}
		if kind.Textual() {
			f.Length = 5
		}
		fields = append(fields, f)
	}
	tags := []series.Tag{{Key: "device", Values: series.Numbered{Prefix: "d_"}}}
	dense := &series.Table{Name: "full", Tags: tags, Fields: fields, Dense: true}
	sparse := &series.Table{Name: "sparse", Tags: tags, Fields: fields}
	const devices = 3
	f := &fixed{schema: &series.Schema{Tables: []*series.Table{dense, sparse}, Series: devices}}
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, table := range f.schema.Tables {
		run := f.batch.Add(table)
		const rows = 60
		run.Grow(rows)
		for row := range rows {
			run.Series[row], run.Times[row] = uint32(row%devices), start.Add(time.Duration(row)*time.Minute).UnixNano()
			for i, f := range fields {
				if c := &run.Columns[i]; f.Type.UsesInts() {
					bounds := s.wholes(f)
					c.Ints[row] = bounds[row/devices%len(bounds)]
				} else {
					bounds := s.floats(f.Type)
					c.Floats[row] = bounds[row/devices%len(bounds)]
				}
				if table == sparse && (row+i)%2 == 0 {
					run.SetNull(i, row)
				}
			}
		}
	}
	e := example{dataset: f}
	for _, table := range f.schema.Tables {
		e.queries = append(e.queries, example{queries: typeQueries(table, start)}.setTable(table).queries...)
	}
	numberQueries(e.queries...)
	return e
}

// typeQueries are queries that each type of a table's fields must pass: fields
// alone, all together, and the numbers as numbers.
func typeQueries(table *series.Table, start time.Time) []query.Query {
	const tag = "device"
	var all, numbers []string
	var queries []query.Query
	add := func(s query.Shape) *query.Query {
		queries = append(queries, query.Query{Shape: s})
		return &queries[len(queries)-1]
	}
	for _, f := range table.Fields {
		all = append(all, f.Name)
		one := []string{f.Name}
		add(query.Rows{Fields: one, Tag: tag})
		add(query.Last{By: tag, Fields: one})
		if f.Type.Numeric() {
			numbers = append(numbers, f.Name)
			add(query.Rows{Fields: one, Tag: tag}).Filter = &query.ValueFilter{Field: f.Name, Value: 0.05}
		}
	}
	add(query.Last{By: tag, Fields: all})
	add(query.Totals{Aggregate: query.Count, Fields: all, GroupBy: tag})
	add(query.Totals{Aggregate: query.Max, Fields: numbers, GroupBy: tag})
	add(query.Buckets{Aggregate: query.Min, Fields: numbers, Width: 7 * time.Minute, GroupBy: tag})
	add(query.Buckets{Aggregate: query.Avg, Fields: []string{"a_int32"}, Width: 11 * time.Minute, GroupBy: tag})
	ordered := add(query.Rows{Fields: all, Tag: tag, Order: query.Descending})
	ordered.Start, ordered.End = start.Add(5*time.Minute), start.Add(50*time.Minute)
	add(query.RowSet{Fields: all, Tag: tag, Set: query.Set{Operation: query.Intersect, Operands: 2}})
	return queries
}

// wholes returns values of a type at its bounds and about zero.
func (s *Suite) wholes(f series.Field) []int64 {
	caps := &s.caps
	least := func(v int64) int64 {
		if !caps.Holds(series.SmallestInt) {
			v++
		}
		return v
	}
	switch f.Type {
	case series.Bool:
		return []int64{1, 0, 0, 1}
	case series.Int32:
		return []int64{math.MaxInt32, least(math.MinInt32), 0, -1, 1}
	case series.Int:
		return []int64{s.largest(), least(-s.largest()), 0, -1, 1}
	case series.Timestamp:
		step := int64(caps.TimePrecision)
		return []int64{0, -step, step, time.Date(2022, 1, 1, 12, 34, 56, 789_000_000, time.UTC).UnixNano(), time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano() + step}
	case series.Date:
		return []int64{0, -1, 18_993, math.MinInt16, math.MaxInt16}
	}
	return []int64{0, series.Texts(f.Length) - 1, 62*62 + 61, 1}
}

// storedTypes returns the types that the target stores.
func (s *Suite) storedTypes(types ...series.Type) []series.Type {
	return slices.DeleteFunc(types, func(t series.Type) bool { return s.caps.Types != nil && s.caps.Types[t].As == "" })
}

// floats returns values of a type at its bounds, and some that only it represents exactly.
func (s *Suite) floats(t series.Type) []float64 {
	if s.caps.Digits > 0 {
		return []float64{0.5, 1024, -1024, 0.125, -3.75, 0}
	}
	if t == series.Float32 {
		return []float64{float64(float32(0.1)), math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, float64(float32(16_777_216)), float64(float32(-1.1))}
	}
	return []float64{0.1, 1e150, -1e150, math.SmallestNonzeroFloat64, 1.0 / 3, -1.1}
}

// Native loads native histograms with staleness markers, and holds the target to their contents and to
// rows that are read back.
func (s *Suite) Native(t T) {
	const buckets, count, scrapes = 12, 5, 40
	table := &series.Table{
		Name: "rpc_server_call_duration_seconds",
		Tags: []series.Tag{{Key: "instance", Values: series.Numbered{Prefix: "10.0.0."}}},
		Fields: []series.Field{
			{Name: series.NativeCount, Type: series.Int}, {Name: series.NativeSum, Type: series.Float}, {Name: series.NativeZero, Type: series.Int},
		},
		Metric: &series.Metric{Kind: series.Histogram, Family: "rpc_server_call_duration_seconds", Native: &series.Native{Schema: 2, ZeroThreshold: 0.001, First: -4}},
	}
	for i := range buckets {
		table.Fields = append(table.Fields, series.Field{Name: fmt.Sprintf("b%d", i), Type: series.Int})
	}
	f := &fixed{schema: &series.Schema{Tables: []*series.Table{table}, Series: count}}
	run := f.batch.Add(table)
	run.Grow(count * scrapes)
	for row := range count * scrapes {
		scrape, instance := row/count, row%count
		run.Series[row] = uint32(instance)
		run.Times[row] = time.Date(2024, 1, 1, 0, 0, scrape*15, 0, time.UTC).UnixNano()
		if (scrape+instance)%17 == 16 {
			for i := range table.Fields {
				run.SetNull(i, row)
			}
			continue
		}
		total := int64(scrape)
		run.Columns[2].Ints[row] = total // observations near 0
		for i := range buckets {
			if n := int64(scrape * ((i + instance) % 4)); i%5 != 3 { // some buckets stay empty
				run.Columns[3+i].Ints[row] = n
				total += n
			}
		}
		run.Columns[0].Ints[row], run.Columns[1].Floats[row] = total, float64(total)/8
	}
	s.loadAndQuery(t, example{dataset: f}, 1)
}

// Classic loads classic histograms with staleness markers: see Native.
func (s *Suite) Classic(t T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := metrics.Workload().Dataset(workload.Spec{
		Name: metrics.Name, Seed: 1, Scale: 4, Start: start, End: start.Add(3 * time.Minute), Interval: 15 * time.Second,
		Settings: workload.Settings{"metrics.classes": "classic-histogram", "metrics.histograms": "classic", "metrics.series": "500", "metrics.failed": "0.1", "metrics.churn": "20"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.loadAndQuery(t, example{dataset: dataset}, 1)
}
