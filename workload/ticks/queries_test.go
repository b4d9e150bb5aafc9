package ticks

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/workloadtest"
)

func drawQueries(t *testing.T, s workload.Spec, queryType string, n int) []query.Query {
	t.Helper()
	return workloadtest.DrawQueries(t, Workload(), s, queryType, n)
}

// Each query is about columns and symbols that there are, and about times in sessions.
func TestQueriesAreValid(t *testing.T) {
	s := spec(20)
	s.End = s.Start.AddDate(0, 0, 11)
	data, err := newDataset(s)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for symbol := range s.Scale {
		name, _ := symbolNames(s.Scale).Append(nil, symbol)
		names[string(name)] = true
	}
	within := func(at time.Time) bool {
		return slices.ContainsFunc(data.sessions, func(s session) bool { return s.open <= at.UnixNano() && at.UnixNano() <= s.close })
	}
	for _, qt := range Workload().QueryTypes() {
		drawn := drawQueries(t, s, qt.Name, 50)
		if again := drawQueries(t, s, qt.Name, 50); !reflect.DeepEqual(drawn, again) {
			t.Errorf("%s: other queries when drawn again", qt.Name)
		}
		for _, q := range drawn {
			if err := q.CheckIn(data.schema); err != nil {
				t.Fatalf("%s %d: %v", qt.Name, q.ID, err)
			}
			if unbounded := qt.Name == "newest-quote"; unbounded != q.End.IsZero() || !unbounded && (!within(q.Start) || !within(q.End) || !q.Start.Before(q.End)) {
				t.Errorf("%s %d: from %v to %v", qt.Name, q.ID, q.Start, q.End)
			}
			for _, name := range inOf(&q) {
				if !names[name] {
					t.Errorf("%s %d: there is no symbol %s", qt.Name, q.ID, name)
				}
			}
		}
	}
}

// inOf returns the symbols that a query is about.
func inOf(q *query.Query) []string {
	if q.In == nil {
		return nil
	}
	return q.In.Values
}

// All types have answers with rows, also with recent windows.
func TestQueriesHaveAnswers(t *testing.T) {
	s := spec(30)
	var queries []query.Query
	for _, windows := range []workload.Windows{workload.Uniform, workload.Recent} {
		for _, qt := range Workload().QueryTypes() {
			drawn, err := windows.Draw(Workload(), s, qt.Name, 6, false)
			if err != nil {
				t.Fatal(err)
			}
			for q := range drawn {
				q.Type = fmt.Sprint(windows, " ", q.Type)
				queries = append(queries, q)
			}
		}
	}
	pass, err := oracle.Pass(t.Context(), open(t, s), queries, slices.Values(queries[:0]), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for i := range pass.Full {
		rows[pass.Full[i].Query.Type] += pass.Full[i].Rows
	}
	for _, q := range queries {
		if rows[q.Type] == 0 {
			t.Errorf("%s: no rows", q.Type)
		}
	}
}
