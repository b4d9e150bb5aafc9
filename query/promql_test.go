package query_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

func metricTable() *series.Table {
	return &series.Table{Name: "requests_total", Metric: &series.Metric{Kind: series.Counter}, Tags: []series.Tag{{Key: "job"}, {Key: "pod"}},
		Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}}}
}

func TestPromQL(t *testing.T) {
	above := 0.5
	at := time.Unix(60, 0).UTC()
	for expr, c := range map[string]struct {
		over    query.Over
		columns string
	}{
		`rate(requests_total{job="a",pod!~"x|y"}[5m])`: {query.Over{Metric: "requests_total", Func: "rate", Range: 5 * time.Minute,
			Match: []query.Matcher{{Label: "job", Op: "=", Value: "a"}, {Label: "pod", Op: "!~", Value: "x|y"}}}, "time job pod value"},
		`topk(3, sum by (job) (avg_over_time(requests_total[90s]))) > 0.5`: {query.Over{Metric: "requests_total", Func: "avg", Range: 90 * time.Second,
			Aggregate: "sum", By: []string{"job"}, Top: 3, Above: &above}, "time job value"},
		`count (last_over_time(requests_total[1500ms]))`: {query.Over{Metric: "requests_total", Func: "last", Range: 1500 * time.Millisecond, Aggregate: "count"}, "time value"},
	} {
		q := query.Query{Type: "q", Table: c.over.Metric, End: at, Shape: query.PromQL{Expr: c.over.PromQL(), Over: &c.over}}
		if got := c.over.PromQL(); got != expr {
			t.Errorf("%s, expected %s", got, expr)
		}
		if err := q.Check(metricTable()); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
		var names []string
		for _, column := range q.Columns(metricTable()) {
			names = append(names, column.Name)
		}
		if got := strings.Join(names, " "); got != c.columns {
			t.Errorf("%s has the columns %s, expected %s", expr, got, c.columns)
		}
	}
	if got := query.LabelSet([]string{"pod", "__name__", "job"}, []string{"", "up", `a"b`}); got != `{__name__="up",job="a\"b"}` {
		t.Error(got)
	}
}

func TestPromQLChecks(t *testing.T) {
	at := time.Unix(60, 0)
	over := query.Over{Metric: "requests_total", Func: "rate", Range: time.Minute}
	for want, change := range map[string]func(*query.Query, *query.PromQL, *query.Over){
		"evaluated at times":      func(q *query.Query, _ *query.PromQL, _ *query.Over) { q.End = time.Time{} },
		"no PromQL expression":    func(_ *query.Query, s *query.PromQL, _ *query.Over) { s.Expr = "" },
		"not a multiple of 1 ms":  func(q *query.Query, s *query.PromQL, _ *query.Over) { q.Start, s.Step = at, time.Microsecond },
		"selects its rows itself": func(q *query.Query, _ *query.PromQL, _ *query.Over) { q.Present = []string{"job"} },
		"the form for SQL means":  func(_ *query.Query, s *query.PromQL, _ *query.Over) { s.Expr = "up" },
		"its metric is":           func(_ *query.Query, s *query.PromQL, o *query.Over) { o.Metric = "up"; s.Expr = o.PromQL() },
		`function "deriv"`:        func(_ *query.Query, s *query.PromQL, o *query.Over) { o.Func = "deriv"; s.Expr = o.PromQL() },
		`no label "host"`: func(_ *query.Query, s *query.PromQL, o *query.Over) {
			o.Aggregate, o.By = "sum", []string{"host"}
			s.Expr = o.PromQL()
		},
	} {
		o := over
		s := query.PromQL{Expr: o.PromQL(), Over: &o}
		q := query.Query{Table: "requests_total", End: at}
		change(&q, &s, &o)
		q.Shape = s
		if err := q.Check(metricTable()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error with %q", err, want)
		}
	}
}
