package runner_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
)

// beginStore is a store that remembers the notes of runs when they began.
type beginStore struct {
	noStore
	notes []string
}

func (s *beginStore) Begin(ctx context.Context, r *result.Run) error {
	s.notes = append(s.notes, r.Notes...)
	return s.noStore.Begin(ctx, r)
}

// The first stored document of a run has no secret either: a process that is killed then leaves it
// behind.
func TestBeginIsGuarded(t *testing.T) {
	w := &world{}
	e := experiment.Default()
	e.Notes = []string{"with a secret word"}
	e.Workload.Scale, e.Workload.End = 1, e.Workload.Start.Add(e.Workload.Interval)
	e.Targets = []experiment.Target{{Name: "x", Driver: "shared", Options: experiment.Options{"path": filepath.Join(t.TempDir(), "x.sqlite"), "password": "a secret word"}}}
	p, err := plan.NewPlan(e, catalogOf(w.driver()), plan.Steps{Load: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &beginStore{}
	if _, err := runPlan(t.Context(), &runner.Runner{Store: s, Dir: t.TempDir(), Display: silent{}}, p); err != nil {
		t.Fatal(err)
	}
	if len(s.notes) != 1 || s.notes[0] != "with ***" {
		t.Errorf("the run began with the notes %q", s.notes)
	}
}
