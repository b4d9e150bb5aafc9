package why

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// Plans that differ in costs, times, estimates, ids, literals and the width of boxes are equal; others are
// not.
func TestCompareTexts(t *testing.T) {
	for _, c := range []struct {
		a, b    string
		changed bool
	}{
		{"Seq Scan on cpu  (cost=0.00..155.20 rows=8620 width=8)\n  Filter: (hostname = 'host_1'::text)", "Seq Scan on cpu  (cost=0.00..99.1 rows=8 width=8)\n  Filter: (hostname = 'host_22'::text)", false},
		{"Seq Scan on cpu  (cost=0.00..155.20 rows=8620 width=8)", "Index Scan using cpu_pkey on cpu  (cost=0.00..155.20 rows=8620 width=8)", true},
		{"Workers Planned: 2", "Workers Planned: 4", true},
		{"-> Table scan on cpu  (cost=35.2 rows=349) (actual time=0.1..2 rows=3 loops=1)", "-> Table scan on cpu  (cost=3e+3 rows=1) (actual time=2..3 rows=3 loops=1)", false},
		{"┌──────┐\n│ SCAN │\n│ ~9 Rows │\n└──────┘", "┌─────────┐\n│   SCAN   │\n│ ~9,100 Rows │\n└─────────┘", false},
		{"Granules: 3/10\nParts: 1/2", "Granules: 10/10\nParts: 2/2", false},
		{"Interval forward scan on: cpu\n  intervals: [(\"2016-01-01T10:00:00.000000Z\",\"2016-01-01T11:00:00Z\")]", "Interval forward scan on: cpu\n  intervals: [(\"2016-01-02T10:00:00.000000Z\",\"2016-01-01T11:59:59Z\")]", false},
		{"SEARCH cpu USING INDEX cpu_tags", "SEARCH cpu USING INDEX cpu_time", true},
		{"fetch 8 series in 0.3ms, start=1451606400000", "fetch 8 series in 12.25ms, start=1451692800000", false},
		{"fetch 8 series", "fetch 9 series", true},
	} {
		if _, changed := compareTexts(c.a, c.b); changed != c.changed {
			t.Errorf("%s\nand\n%s\nchanged: %v; compared as %q and %q", c.a, c.b, changed, normalize(linesOf(c.a)), normalize(linesOf(c.b)))
		}
	}
}

func side(name string, q result.Queries) Side {
	q.Type = "lastpoint"
	return Side{Name: name, Targets: []*result.Target{{Name: name, Queries: []result.Queries{q}}}}
}

// A section has the lines that differ, with those around them, what a query reads, and the functions
// whose shares differ by more than chance.
func TestSection(t *testing.T) {
	a := result.Queries{
		Text: "SELECT 1", Plan: "Limit\n  one\n  two\n  three\n  four\n  Seq Scan\n  last",
		Read:    &result.Read{Rows: 1000, Bytes: -1, Files: 2},
		Profile: &result.Profile{Samples: 400, Seconds: 2, Functions: []result.ProfiledFunction{{Name: "scan", Self: 0.5, Total: 0.6}, {Name: "other", Self: 0.10, Total: 0.10}}},
	}
	b := a
	b.Plan = strings.ReplaceAll(a.Plan, "Seq Scan", "Index Scan\n    Index Cond")
	b.Read = &result.Read{Rows: 10, Bytes: -1, Files: 2}
	b.Profile = &result.Profile{Samples: 300, Seconds: 2, Functions: []result.ProfiledFunction{{Name: "scan", Self: 0.1, Total: 0.2}, {Name: "other", Self: 0.14, Total: 0.14}}}
	text := func(list ...Difference) string {
		s := Section("why", list)
		if s == nil {
			return ""
		}
		var b bytes.Buffer
		d := &doc.Document{Chapters: []doc.Chapter{{Title: "c", Sections: []doc.Section{*s}}}}
		for _, f := range []func() error{
			func() error { return write.WriteText(&b, d, write.Options{}) },
			func() error { return write.WriteMarkdown(&b, d) },
			func() error { return write.WriteHTML(&b, d, write.Options{}) },
		} {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	got := text(Difference{Type: "lastpoint", Title: "lastpoint since v2", A: side("v1", a), B: side("v2", b)})
	for _, want := range []string{
		"\nPlan of lastpoint since v2\n  - v1\n  + v2\n    … 3 equal lines\n      three\n      four\n  -   Seq Scan\n  +   Index Scan\n  +     Index Cond\n      last\n",
		"```diff\n--- v1\n+++ v2\n… 3 equal lines\n   three\n   four\n-  Seq Scan\n+  Index Scan\n+    Index Cond\n   last\n```\n",
		"<td><del>  Seq Scan</del></td><td><ins>  Index Scan</ins></td>", "<td></td><td><ins>    Index Cond</ins></td>",
		"1,000     10  0.0100×\n", "files ", "\nscan            50.0%       10.0%         60.0%        20.0%\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "other") || strings.Contains(got, "bytes") {
		t.Errorf("shows a share that may differ by chance, or an unknown figure:\n%s", got)
	}
	if got := text(Difference{Type: "lastpoint", Title: "lastpoint since v2", A: side("v1", a), B: side("v2", a)}); !strings.Contains(got, "Plan unchanged: lastpoint since v2.") || !strings.Contains(got, "No function's share differs by more than chance") {
		t.Errorf("equal plans:\n%s", got)
	}
	if got := text(Difference{Type: "lastpoint", Title: "lastpoint", A: side("v1", result.Queries{Text: "q"}), B: side("v2", b)}); got != "" {
		t.Errorf("nothing is known of a side:\n%s", got)
	}
}
