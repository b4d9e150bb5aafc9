package subject

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// The share of a backfill is of all rows before the life, however few these are.
func TestLifeRows(t *testing.T) {
	for _, c := range []struct{ rows, backfill, before int64 }{{99, 17, 89}, {10, 0, 0}, {14, 0, 4}, {1_000_010, 200_000, 1_000_000}} {
		e := experiment.Default()
		e.Life = experiment.Life{Ingest: 10, Dashboards: 1, Duration: time.Second, Events: []experiment.Event{{Do: experiment.EventBackfill, Share: 20}}}
		s := &Subject{Plan: &plan.Plan{Experiment: e}, Expected: &oracle.Expectations{Survey: oracle.Survey{Rows: c.rows}}}
		if backfill, before := s.LifeRows(); backfill != c.backfill || before != c.before {
			t.Errorf("%d rows: %d of %d are left for the backfill, want %d of %d", c.rows, backfill, before, c.backfill, c.before)
		}
	}
}
