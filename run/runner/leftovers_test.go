package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
)

// A run that was killed after storing a verdict and before dropping the answers has no remaining
// answers once it is complete; nor does a run that was killed while it wrote them.
func TestNoAnswersStay(t *testing.T) {
	w := &world{}
	e := small(t, "cpu-only")
	p, err := plan.NewPlan(e, catalogOf(w.driver()), plan.Steps{Load: true, Query: true})
	if err != nil {
		t.Fatal(err)
	}
	r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}}
	run, err := runPlan(t.Context(), r, p)
	if err != nil || run.Status != result.Complete {
		t.Fatalf("%v, %+v", err, run)
	}
	dir := filepath.Join(r.Dir, run.ID, "taken-answers")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"123.tmp", run.Targets[0].Name + ".lastpoint.1.gob"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("answers"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run.Status = result.Running
	if run, err = runPlan(t.Context(), r, p, run); err != nil || run.Status != result.Complete {
		t.Fatalf("%v, %+v", err, run)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("answers that were compared stay")
	}
}

// The data of a started server goes with its run if the runner drops it; its log stays. A resumed run then
// loads again.
func TestServerData(t *testing.T) {
	for _, drops := range []bool{false, true} {
		w := &world{}
		e := small(t, "cpu-only")
		e.Load.Replace = true
		p, err := plan.NewPlan(e, catalogOf(w.driver()), plan.Steps{Load: true, Query: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Targets[0].Start = "sleep 120" // the rows are in a file of SQLite
		r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}, DropData: drops}
		run, err := runPlan(t.Context(), r, p)
		if err != nil || run.Status != result.Complete {
			t.Fatalf("%v, %+v", err, run)
		}
		dir := filepath.Join(r.Dir, run.ID, "x")
		if launch.HasData(dir) == drops {
			t.Errorf("it drops the data: %v, and the data is there: %v", drops, !drops)
		}
		if _, err := os.Stat(filepath.Join(dir, "server.log")); err != nil {
			t.Error(err)
		}
		loaded := run.Targets[0].Repeats[0].Load.From
		run.Status, run.Targets[0].Repeats[0].Queries = result.Running, nil
		if run, err = runPlan(t.Context(), r, p, run); err != nil || run.Status != result.Complete {
			t.Fatalf("%v, %+v", err, run)
		}
		if again := run.Targets[0].Repeats[0].Load.From != loaded; again != drops {
			t.Errorf("it drops the data: %v, and the resumed run loads again: %v", drops, again)
		}
	}
}
