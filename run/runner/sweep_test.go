package runner

import (
	"testing"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
)

// A sweep that was resumed at a skipped point has its runs in the order of the points.
func TestRunsInOrderOfPoints(t *testing.T) {
	run := func(point int) *result.Run { return &result.Run{Place: result.Place{Point: point}} }
	s := &sweeping{work: Work{Sweep: &plan.Sweep{}}, runs: []*result.Run{run(1), run(3)}}
	for range 3 {
		s.work.Sweep.Plans = append(s.work.Sweep.Plans, &plan.Plan{Secrets: secret.New()})
	}
	for _, point := range []int{3, 2} {
		if err := s.put(t.Context(), point-1, run(point), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, run := range s.runs {
		if run.Point != i+1 {
			t.Errorf("run %d of %d is of point %d", i+1, len(s.runs), run.Point)
		}
	}
	if len(s.runs) != 3 {
		t.Errorf("%d runs", len(s.runs))
	}
}
