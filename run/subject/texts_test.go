package subject

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// verbatimSubject is a dataset whose queries are TSBS's texts.
func verbatimSubject(t *testing.T, use workload.Workload, count int) *Subject {
	t.Helper()
	e := experiment.Default()
	e.Queries.Texts, e.Queries.Count = experiment.TextsTSBS, count
	s := &Subject{Plan: &plan.Plan{Experiment: e}, Record: &result.Dataset{Spec: e.Workload}}
	s.texted, _ = use.(workload.Texted)
	return s
}

// A query runs the text with its number, in any order of queries: the texts of TSBS's generator,
// whose answers are unknown.
func TestTextsByNumber(t *testing.T) {
	s := verbatimSubject(t, tsbs.CPUOnly(), 100)
	planned := &plan.Target{Driver: driver.Driver{Name: "x", TSBS: &driver.TSBS{Format: tsbs.FormatInflux, Request: driver.Verbatim}}}
	all, err := tsbs.Texts(tsbs.FormatInflux, s.Record.Spec, "high-cpu-1", 100)
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Collect(all)
	r := s.Renderer(planned, &plan.TypeQueries{Type: workload.QueryType{Name: "high-cpu-1"}}, driver.DB{})
	defer r.Close()
	for _, number := range []int{0, 1, 2, 7, 99, 0, 0, 50, 49} {
		one, err := r.Render(t.Context(), &query.Query{Type: "high-cpu-1", ID: number})
		if err != nil || one.Request.Text != texts[number].Statement() || one.Rows != engine.AnyRows || one.ID != number {
			t.Errorf("query %d: %+v, %v; want %q", number, one, err, texts[number].Statement())
		}
	}
	// Queries that are not measured have texts too.
	if _, err := r.Render(t.Context(), &query.Query{Type: "high-cpu-1", ID: 100 + plan.EarlyQueries + plan.SpareQueries - 1}); err != nil {
		t.Error(err)
	}
	if _, err := r.Render(t.Context(), &query.Query{Type: "high-cpu-1", ID: 100 + plan.EarlyQueries + plan.SpareQueries}); err == nil {
		t.Error("a text was made that is of no query")
	}
}

// A missing text is reported by type and system.
func TestNoTexts(t *testing.T) {
	none, quest := driver.Driver{Name: "duckdb"}, driver.Driver{Name: "questdb", TSBS: &driver.TSBS{Format: tsbs.FormatQuestDB, Request: driver.Verbatim}}
	for _, c := range []struct {
		use       workload.Workload
		of        driver.Driver
		queryType string
	}{{tsbs.CPUOnly(), none, "lastpoint"}, {tsbs.CPUOnly(), quest, "cpu-max-all-1"}, {iotdb.Workload(), quest, "latest-point"}} {
		s := verbatimSubject(t, c.use, 10)
		r := s.Renderer(&plan.Target{Driver: c.of}, &plan.TypeQueries{Type: workload.QueryType{Name: c.queryType}}, driver.DB{})
		_, err := r.Render(t.Context(), &query.Query{Type: c.queryType})
		if want := "TSBS has no text for " + c.queryType + " for " + c.of.Name; !errors.Is(err, query.ErrUnsupported) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		r.Close()
	}
}
