package promql

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// labelValues are the values of a label by series; empty: the series lacks it.
type labelValues []string

func (l labelValues) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, l[series]...), l[series] != ""
}

// sample is a sample at a time in seconds; NaN: a staleness marker.
type sample struct {
	series uint32
	at     float64
	value  float64
}

const stale = math.MaxFloat64

// metricOf returns the table of a metric, and its samples as a run.
func metricOf(name string, kind series.MetricKind, labels map[string]labelValues, samples []sample) *series.Run {
	t := &series.Table{Name: name, Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}}, Metric: &series.Metric{Kind: kind, Family: name}}
	for _, key := range []string{"instance", "job", "le"} {
		if values := labels[key]; values != nil {
			t.Tags = append(t.Tags, series.Tag{Key: key, Values: values})
		}
	}
	var b series.Batch
	run := b.Add(t)
	run.Grow(len(samples))
	for i, s := range samples {
		run.Series[i], run.Times[i] = s.series, int64(s.at*1000)*int64(time.Millisecond)
		if run.Columns[0].Floats[i] = s.value; s.value == stale {
			run.SetNull(0, i)
		}
	}
	return run
}

// nativeMetric returns a metric of native histograms from the counts of three buckets.
func nativeMetric(name string, labels map[string]labelValues, samples []sample, counts [][3]int64) *series.Run {
	run := metricOf(name, series.Histogram, labels, nil)
	t := run.Table
	t.Metric.Native = &series.Native{Schema: 1, ZeroThreshold: 0.001, First: -1}
	t.Fields = []series.Field{{Name: series.NativeCount, Type: series.Int}, {Name: series.NativeSum, Type: series.Float}, {Name: series.NativeZero, Type: series.Int}}
	for i := range 3 {
		t.Fields = append(t.Fields, series.Field{Name: fmt.Sprintf("b%d", i), Type: series.Int})
	}
	var b series.Batch
	run = b.Add(t)
	run.Grow(len(samples))
	for i, s := range samples {
		run.Series[i], run.Times[i] = s.series, int64(s.at*1000)*int64(time.Millisecond)
		total := int64(0)
		for bucket, n := range counts[i] {
			run.Columns[3+bucket].Ints[i] = n
			total += n
		}
		run.Columns[0].Ints[i], run.Columns[1].Floats[i], run.Columns[2].Ints[i] = total, float64(total), 0
		if s.value == stale {
			for f := range t.Fields {
				run.SetNull(f, i)
			}
		}
	}
	return run
}

// setOf returns the set of queries of one expression each, with all samples.
func setOf(t *testing.T, runs []*series.Run, queries ...*query.Query) *Set {
	t.Helper()
	schema := &series.Schema{Series: 100}
	for _, run := range runs {
		schema.Tables = append(schema.Tables, run.Table)
	}
	set, err := New(schema, queries)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		set.Add(run)
	}
	set.Finish()
	return set
}

func instant(expr string, at float64) *query.Query {
	return &query.Query{Type: "q", End: time.UnixMilli(int64(at * 1000)), Shape: query.PromQL{Expr: expr}}
}

// rowsText shows the rows of an answer without their times.
func rowsText(a *query.Answer) string {
	var lines []string
	for _, row := range a.Rows {
		lines = append(lines, fmt.Sprintf("%s %.4g", row[1].Text, row[2].Float))
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

// The answers of Prometheus, VictoriaMetrics and Thanos, computed by hand from the documentation.
func TestMeaning(t *testing.T) {
	one := map[string]labelValues{"job": {"a", "b"}}
	counter := metricOf("requests_total", series.Counter, one, []sample{
		{0, 0, 0}, {0, 15, 10}, {0, 30, 20}, {0, 45, 5}, {0, 60, 15}, // starts again before 45 s
		{1, 30, 100}, {1, 45, stale},
	})
	buckets := metricOf("wait_bucket", series.Histogram, map[string]labelValues{"le": {"1", "2", "+Inf"}}, []sample{
		{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 60, 10}, {1, 60, 40}, {2, 60, 40},
	})
	native := nativeMetric("size", map[string]labelValues{"job": {"a"}}, []sample{{0, 0, 0}, {0, 60, 0}}, [][3]int64{{0, 0, 0}, {0, 0, 8}})
	for _, c := range []struct {
		expr            string
		at              float64
		want, alternate string // empty: the same
		thanos          string // empty: the same
	}{
		{"requests_total", 44, `{__name__="requests_total",job="a"} 20; {__name__="requests_total",job="b"} 100`, "", ""},
		{"requests_total", 45, `{__name__="requests_total",job="a"} 5`, "", ""},
		// A rise of 25 in 45 s is continued for the 15 s to the begin of the window.
		{"increase(requests_total[1m])", 60, `{job="a"} 33.33`, `{job="a"} 35; {job="b"} 0`, ""},
		// A rise of 10 in 15 s is continued to the end, and to where the counter was 0; Thanos takes it for 25 there,
		// and continues to the begin of the window.
		{"increase(requests_total[30s])", 61, `{job="a"} 15.67`, `{job="a"} 15`, `{job="a"} 20`},
		{"resets(requests_total[1m])", 60, `{job="a"} 1; {job="b"} 0`, "", `{job="a"} 0; {job="b"} 0`},
		{"rate(requests_total[1m])", 60, `{job="a"} 0.5556`, `{job="a"} 0.5833`, ""},
		{"max_over_time(requests_total[1m])", 60, `{job="a"} 20; {job="b"} 100`, `{__name__="requests_total",job="a"} 20; {__name__="requests_total",job="b"} 100`, ""},
		{"clamp_max(round(requests_total), 50)", 44, `{job="a"} 20; {job="b"} 50`, `{__name__="requests_total",job="a"} 20; {__name__="requests_total",job="b"} 50`, ""},
		{"clamp_max(abs(requests_total), 50)", 44, `{job="a"} 20; {job="b"} 50`, "", ""}, // abs drops the name everywhere
		{"sum(max_over_time(requests_total[1m]))", 60, `{} 120`, "", ""},
		{"quantile_over_time(0.5, requests_total[1m])", 60, `{job="a"} 12.5; {job="b"} 100`, `{__name__="requests_total",job="a"} 12.5; {__name__="requests_total",job="b"} 100`, ""},
		{"quantile_over_time(2, requests_total[1m])", 60, `{job="a"} +Inf; {job="b"} +Inf`, `{__name__="requests_total",job="a"} +Inf; {__name__="requests_total",job="b"} +Inf`, ""},
		// The slope of 20, 5 and 15 is -1/6 a second, and the line is at 10.83 at the end. b has only one sample.
		{"predict_linear(requests_total[35s], 15)", 60, `{job="a"} 8.333`, `{__name__="requests_total",job="a"} 8.333`, ""},
		// VictoriaMetrics evaluates the expression at multiples of the step, which is 5 minutes.
		{"timestamp(-requests_total)", 60, `{job="a"} 60`, `{job="a"} 0`, ""},
		{"histogram_quantile(-1, wait_bucket * 0)", 60, `{} -Inf`, `-`, ""},
		{"histogram_quantile(-1, wait_bucket)", 60, `{} -Inf`, "", ""},
		{"histogram_quantile(0.5, increase(wait_bucket[61s]))", 60, `{} 1.333`, "", ""},
		{"histogram_quantile(0.5, rate(size[61s]))", 60, `{job="a"} 1.189`, "", ""}, // the middle of 1 and 2^½ on a logarithmic scale
		{"absent(requests_total{job=\"c\"})", 60, `{job="c"} 1`, "", ""},
		{"requests_total / 0 > 0", 15, `{job="a"} +Inf`, "", ""},
		{"0 * (requests_total / 0)", 15, `{job="a"} NaN`, `-`, ""},
		{"max_over_time(rate(requests_total[30s])[1m:15s])", 60, `{job="a"} 0.6667`, "", ""},
	} {
		set := setOf(t, []*series.Run{counter, buckets, native}, instant(c.expr, c.at))
		answer, also, err := set.Answer(t.Context(), 0)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if got := rowsText(answer); got != c.want {
			t.Errorf("%s: %s, expected %s", c.expr, got, c.want)
		}
		got := map[string]string{}
		for _, a := range also {
			got[a.Semantics] = cmp.Or(rowsText(a.Answer), "-")
		}
		if got[VictoriaMetrics] != c.alternate || got[Thanos] != c.thanos {
			t.Errorf("%s by others: %s, expected %s and %s", c.expr, got, c.alternate, c.thanos)
		}
	}
}

// randomRuns returns random samples of a counter, a gauge, a classic and a native histogram: with gaps,
// failed scrapes, counters that start again, series that end and others that begin.
func randomRuns(r *rand.Rand) []*series.Run {
	labels := map[string]labelValues{"instance": {"i0", "i1", "i2", "i3", "i4", "i5"}, "job": {"a", "a", "b", "b", "c", ""}}
	interval := []float64{1, 5, 15, 60}[r.IntN(4)]
	steps := 10 + r.IntN(60)
	// each calls do with the times of a series, and whether there is a marker.
	each := func(do func(at float64, marker, reset bool)) {
		first, last := r.IntN(steps), r.IntN(2*steps)
		if r.IntN(2) == 0 {
			first = 0
		}
		for step := first; step < min(last, steps); step++ {
			switch at := float64(step)*interval + math.Floor(r.Float64()*interval*300)/1000; {
			case r.IntN(30) == 0:
				step += r.IntN(8) // a gap
			default:
				do(at, r.IntN(25) == 0, r.IntN(15) == 0)
			}
		}
		if last < steps && r.IntN(2) == 0 {
			do(float64(max(last, first))*interval, true, false)
		}
	}
	var counter, gauge, buckets, natives []sample
	var counts [][3]int64
	for s := range uint32(6) {
		total := math.Floor(r.Float64() * 1000)
		each(func(at float64, marker, reset bool) {
			if total += math.Floor(r.Float64() * 10); reset {
				total = math.Floor(r.Float64() * 3)
			}
			if counter = append(counter, sample{s, at, total}); marker {
				counter[len(counter)-1].value = stale
			}
		})
		each(func(at float64, marker, _ bool) {
			if gauge = append(gauge, sample{s, at, r.NormFloat64()}); marker {
				gauge[len(gauge)-1].value = stale
			}
		})
	}
	const bounds = 4
	les := []string{"0.1", "0.5", "2", "+Inf"}
	classic := map[string]labelValues{}
	for s := range 3 {
		var at [bounds]float64
		classic["instance"] = append(classic["instance"], slices.Repeat([]string{labels["instance"][2*s]}, bounds)...)
		classic["job"] = append(classic["job"], slices.Repeat([]string{labels["job"][2*s]}, bounds)...)
		classic["le"] = append(classic["le"], les...)
		each(func(t float64, marker, reset bool) {
			n := 0.0
			for b := range at {
				if n += math.Floor(r.Float64() * 4); reset {
					at[b] = 0
				}
				at[b] += n
				one := sample{uint32(s*bounds + b), t, at[b]}
				if marker {
					one.value = stale
				}
				buckets = append(buckets, one)
			}
		})
		var native [3]int64
		each(func(t float64, marker, reset bool) {
			for b := range native {
				if reset {
					native[b] = 0
				}
				native[b] += int64(r.IntN(5))
			}
			one := sample{uint32(s), t, 0}
			if marker {
				one.value = stale
			}
			natives, counts = append(natives, one), append(counts, native)
		})
	}
	return []*series.Run{
		metricOf("c_total", series.Counter, labels, counter), metricOf("g", series.Gauge, labels, gauge),
		metricOf("h_bucket", series.Histogram, classic, buckets), nativeMetric("n", labels, natives, counts),
	}
}

// pick returns one of several texts.
func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// randomOver returns a random Over.
func randomOver(r *rand.Rand) *query.Over {
	o := &query.Over{Metric: pick(r, "c_total", "g"), Func: query.OverFunctions()[r.IntN(len(query.OverFunctions()))], Range: time.Duration(1+r.IntN(400)) * time.Second}
	if o.Func == query.OverValue {
		o.Range = query.Lookback
	}
	if r.IntN(3) == 0 {
		o.Match = append(o.Match, query.Matcher{Label: "job", Op: pick(r, "=", "!=", "=~", "!~"), Value: pick(r, "a", "b|c", "", `a"\`)})
		if strings.Contains(o.Match[0].Value, `\`) && strings.Contains(o.Match[0].Op, "~") {
			o.Match = nil
		}
	}
	if r.IntN(3) > 0 {
		o.Aggregate = pick(r, "sum", "avg", "max", "min", "count")
		if r.IntN(3) > 0 {
			o.By = []string{"job"}
		}
	}
	if r.IntN(4) == 0 {
		o.Top = 1 + r.IntN(4)
	}
	if r.IntN(4) == 0 {
		above := r.NormFloat64()
		o.Above = &above
	}
	return o
}

func randomQuery(r *rand.Rand, shape query.PromQL) *query.Query {
	q := &query.Query{Type: "q", End: time.UnixMilli(r.Int64N(3_600_000))}
	if r.IntN(2) == 0 {
		q.Start = q.End.Add(-time.Duration(r.IntN(600)) * time.Second)
		shape.Step = time.Duration(1+r.IntN(60)) * time.Second
	}
	if shape.Over != nil {
		q.Table = shape.Over.Metric
	}
	q.Shape = shape
	return q
}

// Prometheus's engine and tsmark's own implementation compute equal answers: Answer returns an error
// otherwise.
func TestOwn(t *testing.T) {
	compared, rows := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		runs := randomRuns(r)
		var queries []*query.Query
		for range 5 {
			o := randomOver(r)
			queries = append(queries, randomQuery(r, query.PromQL{Expr: o.PromQL(), Over: o}))
			length := pick(r, "30s", "2m", "5m", "20m")
			q := pick(r, "0", "0.1", "0.5", "0.9", "0.99", "1", "1.5", "-1")
			queries = append(queries, randomQuery(r, query.PromQL{Expr: pick(r,
				fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(h_bucket[%s])))", q, length),
				fmt.Sprintf("histogram_quantile(%s, rate(h_bucket[%s]))", q, length),
				fmt.Sprintf("histogram_quantile(%s, sum by (job, le) (increase(h_bucket[%s])))", q, length),
				fmt.Sprintf("histogram_quantile(%s, rate(n[%s]))", q, length),
				fmt.Sprintf("histogram_quantile(%s, sum without (instance) (rate(n[%s])))", q, length),
				fmt.Sprintf("topk(2, sum without (instance) (rate(c_total[%s])))", length),
			)}))
		}
		set := setOf(t, runs, queries...)
		set.checked = math.MaxInt32
		for i := range queries {
			answer, _, err := set.Answer(t.Context(), i)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if _, ok := set.computeOwn(&set.queries[i], set.queries[i].times(1)); ok {
				compared, rows = compared+1, rows+len(answer.Rows)
			}
		}
	}
	if compared < 3000 || rows < 8000 {
		t.Errorf("only %d answers with %d rows were compared", compared, rows)
	}
}

// Prometheus's engine adds with a compensation, in another order, and subtracts before it adds. Where terms cancel, or a
// sum is next to a bound, this makes a difference that is not a defect.
func TestOwnRounding(t *testing.T) {
	runs := []*series.Run{
		metricOf("g", series.Gauge, map[string]labelValues{"instance": {"a", "b", "c", "d"}}, []sample{
			{0, 0, 0.1}, {0, 10, 0.2}, {0, 20, -0.3}, {1, 20, 0.1}, {2, 20, 0.2}, {3, 0, 1e308}, {3, 10, 1e308}, {3, 20, 1},
		}),
		metricOf("c_total", series.Counter, map[string]labelValues{"instance": {"a", "b"}}, []sample{
			{0, 0, 1.7e9 + 0.1}, {0, 10, 1.7e9 + 0.4}, {0, 20, 1.7e9 + 0.8}, {1, 0, 1.7e9 + 0.1}, {1, 10, 0.1}, {1, 20, 0.3},
		}),
		metricOf("d_total", series.Counter, map[string]labelValues{"instance": {"a"}}, []sample{{0, 0, 0.1}, {0, 10, 0.4}, {0, 20, 0.15}, {0, 30, 0.3}}),
	}
	for expr, rows := range map[string]int{
		`sum_over_time(g{instance="a"}[1m])`: 1, `avg_over_time(g{instance="a"}[1m])`: 1, `avg_over_time(g{instance="d"}[1m])`: 1,
		`sum(last_over_time(g{instance!="d"}[1m]))`: 1, `avg(last_over_time(g{instance!="d"}[1m]))`: 1,
		`increase(d_total[1m]) > 0.7000000000000001`: 0, `increase(c_total[1m])`: 2, `rate(c_total[1m])`: 2,
		`topk(0, last_over_time(g[1m]))`: 0, `topk(0.5, last_over_time(g[1m]))`: 0, `topk(-1, last_over_time(g[1m]))`: 0, `topk(1, last_over_time(g[1m]))`: 1,
	} {
		answer, _, err := setOf(t, runs, instant(expr, 30)).Answer(t.Context(), 0)
		if err != nil {
			t.Error(err)
		} else if len(answer.Rows) != rows {
			t.Errorf("%s: %d rows, want %d", expr, len(answer.Rows), rows)
		}
	}
}

// Expressions of Over are PromQL, print as they were parsed, and remain the same in the stored form.
func TestPrint(t *testing.T) {
	for seed := range uint64(500) {
		o := randomOver(rand.New(rand.NewPCG(seed, 2)))
		expr, err := parse(o.PromQL())
		if err != nil {
			t.Fatalf("%s: %v", o.PromQL(), err)
		}
		again, err := parse(expr.String())
		if err != nil || again.String() != expr.String() {
			t.Errorf("%s prints as %s, and that as %v, %v", o.PromQL(), expr, again, err)
		}
		q := randomQuery(rand.New(rand.NewPCG(seed, 3)), query.PromQL{Expr: o.PromQL(), Over: o})
		text, err := q.MarshalJSON()
		var read query.Query
		if err == nil {
			err = read.UnmarshalJSON(text)
		}
		if same, _ := read.MarshalJSON(); err != nil || string(same) != string(text) {
			t.Errorf("%s is read back as %s, %v", text, same, err)
		}
	}
}

// Where VictoriaMetrics documents no difference its answer is the same: aggregates of functions over
// time that need no sample before the window.
func TestNoAlternative(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		length := pick(r, "1m", "7m")
		expr := fmt.Sprintf("sum by (job) (%s_over_time(%s[%s]))", pick(r, "max", "min", "sum", "avg", "count", "last"), pick(r, "c_total", "g"), length)
		switch r.IntN(4) {
		case 0:
			expr = fmt.Sprintf("sum by (job) (quantile_over_time(%s, c_total[%s]))", pick(r, "-1", "0", "0.3", "0.9", "1", "2"), length)
		case 1:
			expr = fmt.Sprintf("max by (job) (predict_linear(c_total[%s], 60))", length)
		}
		set := setOf(t, randomRuns(r), randomQuery(r, query.PromQL{Expr: expr}))
		if _, also, err := set.Answer(t.Context(), 0); err != nil || len(also) > 0 {
			t.Errorf("seed %d: %s: %+v, %v", seed, expr, also, err)
		}
	}
}

// Bad expressions are refused with the query's name.
func TestNotPromQL(t *testing.T) {
	for expr, want := range map[string]string{
		"rate(c_total)": "expected type range vector", "sum(": "unclosed left parenthesis", "": "no PromQL expression",
	} {
		_, err := New(&series.Schema{}, []*query.Query{instant(expr, 1)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", expr, err)
		}
	}
}

// A table that is not a metric has the samples that systems of metrics store: dates are days, and a row without
// any value is a sample.
func TestTable(t *testing.T) {
	table := &series.Table{Name: "t", Tags: []series.Tag{{Key: "host", Values: labelValues{"a", "b"}}}, Fields: []series.Field{
		{Name: "day", Type: series.Date}, {Name: "on", Type: series.Bool}, {Name: "v", Type: series.Float}, {Name: "text", Type: series.Text},
	}}
	var b series.Batch
	run := b.Add(table)
	run.Grow(2)
	for row := range 2 {
		run.Series[row], run.Times[row] = uint32(row), int64(time.Second)
		run.Columns[0].Ints[row], run.Columns[1].Ints[row], run.Columns[2].Floats[row] = 19723, 1, 2.5
	}
	for f := range table.Fields {
		run.SetNull(f, 1)
	}
	run.SetNull(3, 0)
	for expr, want := range map[string]string{
		`t_day`:             `{__name__="t_day",host="a"} 1.972e+04`,
		`{host="a"}`:        `{__name__="t_day",host="a"} 1.972e+04; {__name__="t_on",host="a"} 1; {__name__="t_v",host="a"} 2.5`,
		`{host="b"}`:        `{__name__="t_tsmark_null",host="b"} 1`,
		`count({host!=""})`: `{} 4`,
	} {
		got, _, err := setOf(t, []*series.Run{run}, instant(expr, 2)).Answer(t.Context(), 0)
		if err != nil || rowsText(got) != want {
			t.Errorf("%s: %v, %v; want %s", expr, got, err, want)
		}
	}
}

func TestAsStored(t *testing.T) {
	for v, want := range map[float64]float64{
		0: 0, -17: -17, 0.1: 0.1, -123.45: -123.45, 1.0 / 3: 0.333333333333333, 1234567.890123456789: 1234567.89012345, 12345678901: 12345678901, 5e-9: 5e-9,
	} {
		if got := asStored(v); math.Abs(got-want) > 1e-15*math.Abs(want) && math.Abs(got/v-1) > 1e-12 {
			t.Errorf("%v is stored as %v, expected %v", v, got, want)
		}
	}
	if v := 1 / 3.0 * 1e5; asStored(v) == v {
		t.Error("no digit was cut off")
	}
}
