package stage

import (
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
)

// Rows that the load, the base of the life and its events sent again may be stored twice, unless the system keeps one.
func TestSentTwice(t *testing.T) {
	again := func(rows int64) *result.Retries { return &result.Retries{SentTwice: rows} }
	life := &result.Life{Base: result.Mixed{Writes: result.Load{Retries: again(20)}}, Events: []result.LifeEvent{{Do: "restart"}, {Do: "late", Retries: again(3)}}}
	l := &load{on: &Opened{Planned: &plan.Target{}}, found: &result.Load{Retries: again(100), Life: life}}
	if n := l.sentTwice(); n != 123 {
		t.Errorf("%d rows, want 123", n)
	}
	l.on.Planned.Caps.Dedupes = true
	if n := l.sentTwice(); n != 0 {
		t.Errorf("%d rows in a system that keeps one", n)
	}
	l.on.Planned.Caps.Dedupes, l.found = false, &result.Load{Life: &result.Life{}}
	if n := l.sentTwice(); n != 0 {
		t.Errorf("%d rows without retries", n)
	}
}
