package site

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
)

// A stand-in has a row of its own, whose figures are marked and compared with none, and
// figures of an imported run are marked too.
func TestStandInAndImported(t *testing.T) {
	const what = "an engine behind a test server"
	out := build(t, Options{}, makeRun(t, 1, 1.5), makeRun(t, 2, 0.2, func(r *result.Run) {
		r.Targets[1].Description.StandIn = what
	}), makeRun(t, 3, 1.5, func(r *result.Run) {
		r.Targets = r.Targets[1:]
		r.Targets[0].Description.Version = "11.0"
		r.Imported = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	}))
	page := string(out["index.html"])
	rows := regexp.MustCompile(`(?s)<tr data-key="[^"]*"><th scope="row">.*?</tr>`).FindAllString(page, -1)
	marked, imported := 0, 0
	for _, row := range rows {
		const ofImport = "Imported, not measured here: the figure"
		switch {
		case strings.Contains(row, "beta (stand-in)"):
			marked++
			if !strings.Contains(row, what) || strings.Contains(row, "×") || strings.Contains(row, "best") || strings.Count(row, "Stand-in: what answered") != 3 {
				t.Errorf("the row of the stand-in: %s", row)
			}
		case strings.Contains(row, "beta 11.0"):
			imported++
			if strings.Count(row, ofImport) != 3 || strings.Count(row, "imported, not measured here") != 3 {
				t.Errorf("the row of the imported run: %s", row)
			}
		case strings.Contains(row, ofImport) || strings.Contains(row, "Stand-in: "):
			t.Errorf("another row is marked: %s", row)
		}
	}
	if marked != 1 || imported != 1 {
		t.Errorf("%d and %d rows of %d are marked: %s", marked, imported, len(rows), page)
	}
	if run := string(out["runs/20260131-184500-0003/index.html"]); !strings.Contains(run, "Imported, not measured here") {
		t.Error("the page of the imported run does not say so")
	}
	if run := string(out["runs/20260131-174500-0002/index.html"]); !strings.Contains(run, what) {
		t.Error("the page of the run does not name the stand-in")
	}
}
