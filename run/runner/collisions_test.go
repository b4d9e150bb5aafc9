package runner_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tsmark/tsmark/run/experiment"
)

// Two rows of this dataset lack the name of their truck and share all other tags and the time. A system
// that identifies rows by tags and time keeps one of them, here the first one, and loses nothing; another
// one keeps both.
func TestRowsWithEqualTagsAndTime(t *testing.T) {
	for _, dedupes := range []bool{true, false} {
		w := &world{dedupes: dedupes}
		e := experiment.Default()
		e.Workload.Name, e.Workload.Seed, e.Workload.Scale, e.Workload.Interval = "iot", 12, 1000, 10*time.Second
		e.Workload.End = e.Workload.Start.Add(20 * time.Second)
		e.Targets = []experiment.Target{{Name: "x", Driver: "shared", Options: experiment.Options{"path": filepath.Join(t.TempDir(), "x.sqlite")}}}
		e.Load.Workers, e.Load.BatchSize, e.Load.Replace = 2, 100, true
		e.Queries.Types, e.Queries.Count, e.Queries.TimeBox = []string{"low-fuel", "single-last-loc"}, 4, 0
		run, err := execute(t, e, catalogOf(w.driver()), nil, everything)
		if err != nil || !run.Passed() {
			t.Fatalf("dedupes %v: %v, %s", dedupes, err, run.Targets[0].Load.Withheld)
		}
		l := run.Targets[0].Load
		diagnostics := l.Census[1]
		want := int64(0)
		if dedupes {
			want = 1
		}
		if kept := l.Census[0].Counted + diagnostics.Counted; diagnostics.Table != "diagnostics" || diagnostics.Merged != want || kept != l.Rows-want || l.Census[0].Merged != 0 {
			t.Errorf("dedupes %v: %+v of %d rows", dedupes, l.Census, l.Rows)
		}
	}
}
