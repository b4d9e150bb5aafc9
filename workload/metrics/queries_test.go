package metrics

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/workloadtest"
)

func drawQueries(t *testing.T, s workload.Spec, queryType string, n int) []query.Query {
	t.Helper()
	return workloadtest.DrawQueries(t, Workload(), s, queryType, n)
}

// Each query is PromQL about metrics that there are, at whole steps within the dataset.
func TestQueriesAreValid(t *testing.T) {
	s := spec(10)
	s.End = s.Start.Add(7 * time.Hour)
	d := open(t, s)
	for _, qt := range Workload().QueryTypes() {
		drawn := drawQueries(t, s, qt.Name, 70)
		if again := drawQueries(t, s, qt.Name, 70); !reflect.DeepEqual(drawn, again) {
			t.Errorf("%s: other queries when drawn again", qt.Name)
		}
		for _, q := range drawn {
			if err := q.Check(d.Schema().Table(q.Table)); err != nil {
				t.Fatalf("%s %d: %v", qt.Name, q.ID, err)
			}
			shape, _ := q.AsPromQL()
			expr, err := parser.NewParser(parser.Options{}).ParseExpr(shape.Expr)
			if err != nil {
				t.Fatalf("%s %d: %v in %s", qt.Name, q.ID, err, shape.Expr)
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				selector, ok := n.(*parser.VectorSelector)
				if ok && selector.Name != "" && selector.Name != "no_such_metric" && d.Schema().Table(selector.Name) == nil {
					t.Errorf("%s %d: there is no metric %s", qt.Name, q.ID, selector.Name)
				}
				return nil
			})
			instant := strings.HasSuffix(qt.Name, instantSuffix) || strings.HasPrefix(qt.Name, "alert-") || strings.HasPrefix(qt.Name, "record-")
			if instant != (shape.Step == 0) || instant != q.Start.IsZero() {
				t.Errorf("%s %d: step %v from %v", qt.Name, q.ID, shape.Step, q.Start)
			}
			if !instant && (q.End.Sub(q.Start)%shape.Step != 0 || q.End.Sub(q.Start) > 6*time.Hour) {
				t.Errorf("%s %d: steps of %v from %v to %v", qt.Name, q.ID, shape.Step, q.Start, q.End)
			}
			if q.End.After(s.End) || q.End.Before(s.Start) {
				t.Errorf("%s %d: ends at %v", qt.Name, q.ID, q.End)
			}
		}
	}
}

// All types have answers with rows, but for alerts, which are silent most of the time.
func TestQueriesHaveAnswers(t *testing.T) {
	slowtest.Skip(t)
	s := spec(4, "series=500", "failed=0.02", "churn=2")
	s.End = s.Start.Add(70 * time.Minute)
	var queries []query.Query
	for _, qt := range Workload().QueryTypes() {
		n := 3
		if qt.Compliance {
			n = 61 // all
		}
		queries = append(queries, drawQueries(t, s, qt.Name, n)...)
	}
	pass, err := oracle.Pass(t.Context(), open(t, s), queries, slices.Values(queries[:0]), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for i := range pass.Full {
		rows[pass.Full[i].Query.Type] += pass.Full[i].Rows
	}
	for _, qt := range Workload().QueryTypes() {
		t.Logf("%s: %d rows", qt.Name, rows[qt.Name])
		if alert := strings.HasPrefix(qt.Name, "alert-"); !alert && rows[qt.Name] == 0 {
			t.Errorf("%s: no rows", qt.Name)
		}
	}
}

func TestComplianceExpressions(t *testing.T) {
	expressions := map[string]bool{}
	for _, group := range complianceTypes() {
		for _, e := range group.expressions {
			if expressions[e] {
				t.Errorf("%s is there twice", e)
			}
			expressions[e] = true
		}
	}
	if len(expressions) != 491 {
		t.Errorf("%d expressions, and docs/metrics.md says almost 500", len(expressions))
	}
}

func TestVariants(t *testing.T) {
	got := variants(`f(${a}_b, $a, "$1", $c)`, map[string][]string{"a": {"x", "y"}, "c": {"1", "2"}})
	want := []string{`f(x_b, x, "$1", 1)`, `f(x_b, x, "$1", 2)`, `f(y_b, y, "$1", 1)`, `f(y_b, y, "$1", 2)`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A type whose metric is not generated names the settings.
func TestQueriesOfMissingMetrics(t *testing.T) {
	_, err := Workload().Queries(spec(10, "histograms=classic"), "latency-native", 1)
	var bad *workload.SpecError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "leave the type out") {
		t.Errorf("error %v", err)
	}
}
