package runner_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
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
	s := &beginStore{}
	if _, err := runPlan(t.Context(), &runner.Runner{Store: s, Dir: t.TempDir(), Display: silent{}}, smallPlan(t)); err != nil {
		t.Fatal(err)
	}
	if len(s.notes) != 1 || s.notes[0] != "with ***" {
		t.Errorf("the run began with the notes %q", s.notes)
	}
}

// smallPlan plans the load of a few rows, with a note that has a secret.
func smallPlan(t *testing.T) *plan.Plan {
	t.Helper()
	w := &world{}
	e := experiment.Default()
	e.Notes = []string{"with a secret word"}
	e.Workload.Scale, e.Workload.End = 1, e.Workload.Start.Add(e.Workload.Interval)
	e.Targets = []experiment.Target{{Name: "x", Driver: "shared", Options: experiment.Options{"path": filepath.Join(t.TempDir(), "x.sqlite"), "password": "a secret word"}}}
	p, err := plan.NewPlan(e, catalogOf(w.driver()), plan.Steps{Load: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lockedStore is a store in which another process has locked each run.
type lockedStore struct {
	noStore
	discarded []string
}

func (*lockedStore) Lock(context.Context, string) (func(), error) { return nil, errLocked }

func (s *lockedStore) Discard(_ context.Context, id string) error {
	s.discarded = append(s.discarded, id)
	return nil
}

var errLocked = errors.New("is locked")

// A new run that cannot be locked is removed: nothing would end it.
func TestRunThatCannotBeLocked(t *testing.T) {
	s := &lockedStore{}
	_, err := runPlan(t.Context(), &runner.Runner{Store: s, Dir: t.TempDir(), Display: silent{}}, smallPlan(t))
	if !errors.Is(err, errLocked) || !slices.Equal(s.discarded, []string{"run"}) {
		t.Errorf("%v; the store discarded %q", err, s.discarded)
	}
}

// Queries that cover PromQL are compared with the expected answers after one load, and not measured.
func TestComplianceIsNotMeasured(t *testing.T) {
	w := &world{}
	e := small(t, "metrics")
	e.Workload.Scale, e.Queries.Types = 4, []string{experiment.ComplianceTypes}
	p, err := plan.NewPlan(e, catalogOf(w.driver()), plan.Steps{Load: true, Verify: true, Query: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Steps != (plan.Steps{Load: true, Verify: true}) || p.LoadRepeats() != 1 {
		t.Errorf("%+v, %d loads", p.Steps, p.LoadRepeats())
	}
}
