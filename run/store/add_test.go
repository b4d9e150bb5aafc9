package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tsmark/tsmark/result"
)

// A run is added as it was recorded, at once or not at all, and never twice.
func TestAdd(t *testing.T) {
	s, want := openTemp(t), newRun(t)
	want.ID, want.Status = "20260131-154500-3f2a", result.Incomplete
	broken := *want
	broken.Targets = append(broken.Targets[:1:1], broken.Targets[0])
	if s.Add(t.Context(), &broken) == nil {
		t.Error("two targets of one name were added")
	}
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("of a run that could not be added there is %v (%v)", runs, err)
	}
	must(t, s.Add(t.Context(), want))
	got, err := s.Run(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Add(t.Context(), want) == nil {
		t.Error("a run was added twice")
	}
}
