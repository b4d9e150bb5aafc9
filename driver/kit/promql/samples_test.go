package promql

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Each sample of an answer to a PromQL query is a row: the label set, or the labels of an aggregate, NaN and
// infinities as they are.
func TestSamples(t *testing.T) {
	set := []metric.Tag{{}}
	for name, c := range map[string]struct {
		tags []metric.Tag
		text string
		want []string
	}{
		"vector": {set, `{"resultType":"vector","result":[{"metric":{"b":"2","__name__":"up","a":"x\"y"},"value":[1451606400.5,"NaN"]},{"metric":{},"value":[1451606400.5,"-Inf"]}]}`, []string{
			`2016-01-01T00:00:00.5Z, {__name__="up",a="x\"y",b="2"}, NaN`, `2016-01-01T00:00:00.5Z, {}, -Inf`,
		}},
		"matrix": {[]metric.Tag{{Label: "a"}, {Label: "c"}}, `{"resultType":"matrix","result":[{"metric":{"a":"1","b":"2"},"values":[[1451606400,"0.1"],[1451606410,"+Inf"]]},{"metric":{"c":"3"},"values":[[1451606400,"4"]]}]}`, []string{
			"2016-01-01T00:00:00Z, 1, NULL, 0.1", "2016-01-01T00:00:10Z, 1, NULL, +Inf", "2016-01-01T00:00:00Z, NULL, 3, 4",
		}},
		"scalar": {set, `{"resultType":"scalar","result":[1451606400,"1"]}`, []string{"2016-01-01T00:00:00Z, {}, 1"}},
		"none":   {set, `{"resultType":"vector","result":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			q := querier(t, `{"status":"success","data":`+c.text+`,"infos":["PromQL info: metric might not be a counter"]}`)
			defer conformance.Close(t, q)
			request := driver.Request{Plan: &metric.Plan{At: 1, Expression: "x", Samples: true, Tags: c.tags}}
			var found []string
			cost, err := q.Do(t.Context(), request, query.SinkFunc(func(row []query.Value) error {
				found = append(found, query.RowText(row))
				return nil
			}))
			if diff := cmp.Diff(c.want, found); diff != "" || err != nil || cost.Rows != int64(len(c.want)) {
				t.Errorf("%d rows, %v: %s", cost.Rows, err, diff)
			}
			if cost, err := q.Do(t.Context(), request, nil); err != nil || cost.Rows != int64(len(c.want)) {
				t.Errorf("%d rows counted, %v", cost.Rows, err)
			}
		})
	}
}

// A label that a server adds to conditions, and so to answers of absent, is not part of answers.
func TestHiddenLabel(t *testing.T) {
	q := querier(t, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"tenant":"a","job":"b"},"value":[1451606400,"1"]}]}}`)
	defer conformance.Close(t, q)
	q.api.Hidden = "tenant"
	var answer query.Answer
	_, err := q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "absent(x)", Samples: true, Tags: []metric.Tag{{}}}}, &answer)
	if err != nil || query.RowText(answer.Rows[0]) != `2016-01-01T00:00:00Z, {job="b"}, 1` {
		t.Errorf("%v, %v", answer.Rows, err)
	}
}

// An answer of native histograms cannot be compared, and is not read as one without rows.
func TestNativeAnswers(t *testing.T) {
	q := querier(t, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"d"},"histogram":[1,{"count":"1","sum":"2","buckets":[[0,"1","2","1"]]}]}]}}`)
	defer conformance.Close(t, q)
	_, err := q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "d", Samples: true, Tags: []metric.Tag{{}}}}, nil)
	if stub.Says(t, err, "the answer has native histograms"); !errors.Is(err, query.ErrUnsupported) {
		t.Error(err)
	}
	_, err = q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "d", Fields: []metric.Field{{Name: "d"}}}}, nil)
	stub.Says(t, err, "a native histogram in place of a number")
}

// Rows of a native histogram have its count, its sum and its buckets, which are 0 where the answer has none.
func TestHistogramRows(t *testing.T) {
	q := querier(t, `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"d","job":"a"},"histograms":[`+
		`[1451606400,{"count":"9","sum":"18.5","buckets":[[3,"-0.001","0.001","2"],[0,"1","1.189207115002721","3"],[0,"1.681792830507429","2","4"]]}],`+
		`[1451606415.25,{"count":"0","sum":"0"}]]}]}}`)
	defer conformance.Close(t, q)
	p := &metric.Plan{At: 1, Expression: "d[1m]", Timed: true, Native: &series.Native{Schema: 2, First: 1}, Tags: []metric.Tag{{Label: "job"}}}
	for _, name := range []string{"count", "sum", "zero", "b0", "b1", "b3"} {
		p.Fields = append(p.Fields, metric.Field{Name: name})
	}
	var answer query.Answer
	if _, err := q.Do(t.Context(), driver.Request{Plan: p}, &answer); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, row := range answer.Rows {
		found = append(found, query.RowText(row))
	}
	want := []string{"2016-01-01T00:00:00Z, a, 9, 18.5, 2, 3, 0, 4", "2016-01-01T00:00:15.25Z, a, 0, 0, 0, 0, 0, 0"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// A PromQL query is its own expression, at its end or at its steps; one with a single step is an instant query.
func TestRenderPromQL(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	at := start.UnixMilli()
	table := &series.Table{
		Name: "up", Metric: &series.Metric{Kind: series.Gauge}, Tags: []series.Tag{{Key: "job", Values: series.Numbered{Prefix: "j"}}},
		Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}},
	}
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 1}
	over := &query.Over{Metric: "up", Func: "max", Range: time.Minute, Aggregate: "sum", By: []string{"job"}}
	for name, c := range map[string]struct {
		q    query.Query
		want metric.Plan
	}{
		"instant": {query.Query{Shape: query.PromQL{Expr: "up"}, End: start}, metric.Plan{Expression: "up", At: at, Tags: []metric.Tag{{}}}},
		"range": {query.Query{Shape: query.PromQL{Expr: "up", Step: time.Minute}, Start: start, End: start.Add(90 * time.Second)},
			metric.Plan{Expression: "up", Start: at, End: at + 60_000, Step: 60_000, Tags: []metric.Tag{{}}}},
		"one step": {query.Query{Shape: query.PromQL{Expr: "up", Step: time.Minute}, Start: start, End: start}, metric.Plan{Expression: "up", At: at, Tags: []metric.Tag{{}}}},
		"over":     {query.Query{Table: "up", Shape: query.PromQL{Expr: over.PromQL(), Over: over}, End: start}, metric.Plan{Expression: over.PromQL(), At: at, Tags: []metric.Tag{{Label: "job"}}}},
	} {
		c.want.Samples, c.want.Lookback = true, 300_000
		got, err := Render(plainLanguage{}, &c.q, schema, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// plainLanguage has names as they are, and nothing else.
type plainLanguage struct{ Language }

func (plainLanguage) Name() string            { return "PromQL" }
func (plainLanguage) Label(tag string) string { return tag }
func (plainLanguage) Metric(t *series.Table, field string) string {
	return metric.Name(t, field)
}
