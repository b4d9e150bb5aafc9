package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tsmark/tsmark/result"
)

func TestSweeps(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, t.TempDir(), nil)
	must(t, err)
	defer s.Close()
	begin := func(id string, after time.Duration, place result.Place, status result.Status) {
		t.Helper()
		r := &result.Run{ID: id, Started: started.Add(after), Place: place}
		must(t, s.Begin(ctx, r))
		r.Status = status
		must(t, s.Save(ctx, r))
	}
	find := func(reference, want string) {
		t.Helper()
		f, err := s.Find(ctx, reference)
		if err != nil {
			t.Errorf("Find(%q): %v", reference, err)
			return
		}
		if got := f.Sweep + ":" + strings.Join(f.Runs, ","); got != want {
			t.Errorf("Find(%q) = %s, want %s", reference, got, want)
		}
	}
	refused := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a run not found, and %q", err, want)
		}
	}

	begin("run-a", 0, result.Place{}, result.Complete)
	find(Latest, ":run-a")
	if _, err = s.Find(ctx, Unfinished); !errors.Is(err, ErrAllComplete) {
		t.Errorf("of complete runs: %v", err)
	}

	w := &result.Sweep{Name: "n", Command: "run", Args: []string{"tsmark", "run"}, Experiment: "matrix: {}\n", Started: started.Add(time.Second), Points: 2}
	must(t, s.BeginSweep(ctx, w))
	if want := "20260131-154501-s"; !strings.HasPrefix(w.ID, want) || len(w.ID) != len(want)+4 {
		t.Errorf("ID %q", w.ID)
	}
	read, err := s.Sweep(ctx, w.ID)
	must(t, err)
	if diff := cmp.Diff(w, read); diff != "" {
		t.Errorf("(-saved +read):\n%s", diff)
	}
	// Before its first run, between two, and after the last.
	find(Unfinished, w.ID+":")
	begin("run-p1", 2*time.Second, result.Place{Sweep: w.ID, Point: 1, Points: 2}, result.Complete)
	find(Unfinished, w.ID+":run-p1")
	find(Latest, w.ID+":run-p1")
	begin("run-p2", 3*time.Second, result.Place{Sweep: w.ID, Point: 2, Points: 2}, result.Incomplete)
	find(Unfinished, w.ID+":run-p1,run-p2")
	find(w.ID, w.ID+":run-p1,run-p2")
	find(w.ID[len(w.ID)-5:], w.ID+":run-p1,run-p2")
	find("run-p2", ":run-p2")

	// A newer run that did not finish takes precedence.
	begin("run-b", 4*time.Second, result.Place{}, result.Incomplete)
	find(Unfinished, ":run-b")
	_, err = s.Find(ctx, "run-")
	refused(err, "it matches run-b, run-a, run-p2, run-p1")
	_, err = s.Run(ctx, w.ID)
	refused(err, "is a sweep; name one of its runs")

	// An imported sweep consists of its runs only.
	begin("run-c", 5*time.Second, result.Place{Sweep: "elsewhere", Point: 2, Points: 3}, result.Incomplete)
	find("elsewhere", "elsewhere:run-c")
	find(Unfinished, ":run-b")
	// A resumed sweep may begin a skipped point last.
	begin("run-d", 6*time.Second, result.Place{Sweep: "elsewhere", Point: 1, Points: 3}, result.Incomplete)
	find("elsewhere", "elsewhere:run-d,run-c")
	_, err = s.Sweep(ctx, "elsewhere")
	refused(err, "only its runs are stored here")

	must(t, s.DiscardSweep(ctx, w.ID))
	_, err = s.Sweep(ctx, w.ID)
	refused(err, "")
}
