package runner_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
)

// A query type is profiled after all rounds of all targets. A server without a profile fails nothing.
func TestProfiles(t *testing.T) {
	var cpu bytes.Buffer
	if err := (&profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Sample: []*profile.Sample{{Value: []int64{7}}},
	}).Write(&cpu); err != nil {
		t.Fatal(err)
	}
	k := sqlite.Driver()
	open := k.Open
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.ProfileCPU = func(context.Context, time.Duration) ([]byte, error) {
			if o["synchronous"] == "off" {
				return nil, errors.New("profiles are turned off")
			}
			return cpu.Bytes(), nil
		}
		return db, err
	}
	e := small(t, "cpu-only")
	e.Targets = []experiment.Target{{Name: "x", Driver: k.Name}, {Name: "y", Driver: k.Name, Options: experiment.Options{"synchronous": "off"}}}
	e.Load.Workers, e.Load.Repeats, e.Queries.Repeats = 1, 1, 2
	p, err := plan.NewPlan(e, catalogOf(k), everything)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}}
	r.Profile = func(run *result.Run, queryType string) bool {
		for i := range run.Targets {
			if n := len(run.Targets[i].MeasuredRepeats()); n != 2 {
				t.Errorf("%s is profiled after %d rounds of %s", queryType, n, run.Targets[i].Name)
			}
		}
		return queryType == "lastpoint"
	}
	run, err := runPlan(t.Context(), r, p)
	if err != nil || run.Status != result.Complete {
		t.Fatalf("%v, %+v", err, run)
	}
	for _, q := range run.Targets[0].RepeatOf(1).Queries {
		switch {
		case q.Type != "lastpoint" && q.Profile != nil, q.Type == "lastpoint" && (q.Profile == nil || q.Profile.Samples != 7):
			t.Errorf("%s: profile %+v", q.Type, q.Profile)
		case q.Profile != nil:
			if _, err := os.Stat(filepath.Join(r.Dir, run.ID, q.Profile.File)); err != nil {
				t.Error(err)
			}
		}
	}
	if want := "y: no CPU profile of lastpoint: profiles are turned off"; !slices.Contains(run.Deviations, want) {
		t.Errorf("%q; want %s", run.Deviations, want)
	}
}

// A system reports other settings while it is loaded than later: the run has those of the load.
func TestSettingsOfTheLoad(t *testing.T) {
	k := sqlite.Driver()
	open := k.Open
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.Required = &relaxing{db.Required, env.Create}
		return db, err
	}
	e := small(t, "cpu-only")
	e.Targets = []experiment.Target{{Name: "x", Driver: k.Name}}
	e.Load.Workers, e.Load.Repeats, e.Queries.Repeats = 1, 2, 1
	run, err := execute(t, e, catalogOf(k), nil, everything)
	if err != nil {
		t.Fatal(err)
	}
	if d := run.Targets[0].Description; d.Safety != driver.InMemory || d.Settings["flush"] != "2" {
		t.Errorf("%+v", d)
	}
}

// relaxing is a database whose commits are not forced to disk while it is loaded.
type relaxing struct {
	driver.Required
	loads bool
}

func (r *relaxing) Describe(ctx context.Context) (driver.Description, error) {
	d, err := r.Required.Describe(ctx)
	if d.Safety, d.Settings = driver.OnDisk, map[string]string{"flush": "1"}; r.loads {
		d.Safety, d.Settings = driver.InMemory, map[string]string{"flush": "2"}
	}
	return d, err
}
