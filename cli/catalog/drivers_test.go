package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generated"
	"github.com/tsmark/tsmark/workload/metrics"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func renders(render func(*query.Query) error) *driver.Driver {
	return &driver.Driver{
		Name: "x",
		Caps: func(o driver.Options) driver.Caps {
			return driver.Caps{TimePrecision: time.Microsecond, MaxWriters: 3, Dedupes: o["a"] == "1", Steps: []driver.Step{{Name: "analyze"}}}
		},
		Options: []driver.Option{{Name: "a", Default: "1"}, {Name: "b", Empty: "the system's"}},
		Render: func(q *query.Query, _ *series.Schema, _ driver.Options) (driver.Request, error) {
			return driver.Request{}, render(q)
		},
	}
}

func examples(t *testing.T, workloads []workload.Workload) []example {
	t.Helper()
	list, err := examplesOf(workloads)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Only workloads of users' files have no example: the default specification of any other passes its check.
func TestExamples(t *testing.T) {
	if all, got := generated.Workloads(), examples(t, generated.Workloads()); len(got) != len(all) {
		t.Errorf("%d of %d workloads have an example", len(got), len(all))
	}
}

// Queries that cannot be rendered are counted by use case, and named once.
func TestDescribe(t *testing.T) {
	k, err := describe(renders(func(q *query.Query) error {
		if _, last := q.Shape.(query.Last); last {
			return fmt.Errorf("%w: no last rows", query.ErrUnsupported)
		}
		return nil
	}), examples(t, tsbs.Workloads()))
	if err != nil {
		t.Fatal(err)
	}
	if !k.Dedupes || k.MaxWriters != 3 || k.Options[1].Default != "the system's" || k.Steps[0].Name != "analyze" {
		t.Errorf("%+v", k)
	}
	lastpoint := unsupportedType{"cpu-only", "lastpoint", "no last rows", "no last rows"}
	n := 0
	for _, u := range k.Unsupported {
		if u == lastpoint {
			n++
		}
	}
	if n != 1 {
		t.Errorf("lastpoint is listed %d times in %v", n, k.Unsupported)
	}
	at := slices.IndexFunc(k.UseCases, func(u useCase) bool { return u.Name == "cpu-only" })
	if u := k.UseCases[at]; u.Answered != u.Types-1 || u.Types < 10 {
		t.Errorf("cpu-only: %+v, one type cannot be answered", u)
	}
	if lines := k.unsupportedLines(); !slices.Equal(lines, [][2]string{{"lastpoint", "no last rows"}, {"iot", "4 of 13 query types, such as last-loc: no last rows"}}) {
		t.Errorf("lines %q", lines)
	}
}

// Many types that are refused for the same reason have one line, whatever their expressions are.
func TestDescribeManyUnsupported(t *testing.T) {
	k, err := describe(renders(func(q *query.Query) error {
		if _, ok := q.AsPromQL(); ok {
			return fmt.Errorf("query %s: %w", q.Type, q.RefusePromQL("X"))
		}
		return nil
	}), examples(t, []workload.Workload{metrics.Workload()}))
	if err != nil {
		t.Fatal(err)
	}
	types := len(metrics.Workload().QueryTypes())
	want := [][2]string{{"metrics", fmt.Sprintf("%d of %[1]d query types, such as request-rate: X cannot express the PromQL", types)}}
	if lines := k.unsupportedLines(); !slices.Equal(lines, want) || len(k.Unsupported) != types {
		t.Errorf("lines %q\nwant %q", lines, want)
	}
	if first := k.Unsupported[0]; first.Reason == first.shared || strings.Contains(first.Reason, "not supported") {
		t.Errorf("the reason in JSON is %q", first.Reason)
	}
}

// Only errors about the system's capabilities count as such.
func TestDescribeBroken(t *testing.T) {
	if k, err := describe(renders(func(*query.Query) error { return fmt.Errorf("no such table") }), examples(t, tsbs.Workloads())); err == nil {
		t.Errorf("no error; %+v", k)
	}
}
