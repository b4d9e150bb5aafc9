package reproduce

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/tdengine"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// An experiment at whose point a system fails as the document says has come to its end:
// its runs are taken, and not made again. Of any other failure they are.
func TestFindCompleteWithFailure(t *testing.T) {
	d, _ := document.Find("tsinghua-2019")
	e, _ := d.Experiment("metrics")
	for _, c := range []struct {
		name, system, workers string
		want                  int
	}{
		{"none fails", "", "", 2},
		{"as the document says", "opentsdb", "50", 2},
		{"with few clients", "opentsdb", "1", 0},
		{"another system", "kairosdb", "50", 0},
	} {
		kept, err := store.Open(t.Context(), t.TempDir(), report.StoreFigures)
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		sweep := &result.Sweep{Name: d.RunName(e, document.Small), Command: "run", Started: time.Now().UTC(), Points: 2}
		if err := kept.BeginSweep(t.Context(), sweep); err != nil {
			t.Fatal(err)
		}
		for i, workers := range []string{"1", "50"} {
			r := &result.Run{Name: sweep.Name, Command: "run", Started: time.Now().UTC(), Place: result.Place{
				Sweep: sweep.ID, Point: i + 1, Points: 2, Parameters: result.Parameters{{Path: "load.workers", Value: workers}},
			}}
			for _, kind := range []string{"kairosdb", "opentsdb"} {
				target := result.Target{Name: kind, Driver: kind}
				if kind == c.system && workers == c.workers {
					target.Failure = "load: connection reset"
				}
				r.Targets = append(r.Targets, target)
			}
			if err := kept.Begin(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			r.Status = result.Complete
			if failed := r.FailedTarget(); failed != "" {
				r.Status, r.Reason = result.Incomplete, failed
			}
			if err := kept.Save(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		chosen := *d
		chosen.Claims = nil // --claims names another
		request := Request{Document: &chosen, Size: document.Small, Ended: func(e *document.Experiment, r *result.Run) bool { return claims.Ended(d, e, document.Small, r) }}
		runs, _, err := request.findComplete(t.Context(), kept, &Edition{Of: e, Experiment: e}, nil)
		if err != nil || len(runs) != c.want {
			t.Errorf("%s: %d runs are taken, want %d, %v", c.name, len(runs), c.want, err)
		}
	}
}

// A run counts as the requested one if it has every target, under any name, and
// the same settings.
func TestDifferences(t *testing.T) {
	file := func(load, targets string) string {
		return "name: x\nworkload: {name: cpu-only, scale: 10}\nload: {" + load + "}\ntargets: [" + targets + "]\n"
	}
	sqlite, off, null := "{driver: sqlite}", "{name: sqlite, driver: sqlite, options: {synchronous: off}}", "{driver: \"null\"}"
	for _, c := range []struct{ name, was, requested, want string }{
		{"the same", file("workers: 1", sqlite), file("workers: 1", sqlite), ""},
		{"more than is requested", file("workers: 1", null+", "+sqlite), file("workers: 1", sqlite), ""},
		{"of another name", file("workers: 1", "{name: other, driver: sqlite}"), file("workers: 1", sqlite), ""},
		{"a system is missing", file("workers: 1", sqlite), file("workers: 1", sqlite+", "+null), "without null"},
		{"one of two", file("workers: 1", sqlite), file("workers: 1", sqlite+", {name: two, driver: sqlite}"), "without two"},
		{"other options", file("workers: 1", sqlite), file("workers: 1", off), "with other options of sqlite"},
		{"another start", file("workers: 1", "{driver: influxdb, start: a}"), file("workers: 1", "{driver: influxdb, start: b}"), "with other options of influxdb"},
		{"options of one point", file("workers: 1", sqlite) + "include: [{workload.scale: 10, targets.sqlite.synchronous: off}]", file("workers: 1", sqlite) + "include: [{workload.scale: 10, targets.sqlite.synchronous: full}]", "with other options of sqlite"},
		{"options of a target more", file("workers: 1", sqlite+", "+null) + "include: [{workload.scale: 10, targets.null.delay: 1s}, {workload.scale: 20, targets.null.delay: 2s}]", file("workers: 1", sqlite) + "include: [{workload.scale: 10}, {workload.scale: 20}]", ""},
		{"steps of a target more", file("workers: 1, after: [analyze]", sqlite+", "+null), file("workers: 1", sqlite), ""},
		{"steps", file("workers: 1", sqlite), file("workers: 1, after: [analyze]", sqlite), "with other settings, by another version of tsmark"},
		{"points", file("workers: 1", sqlite) + "matrix: {load.workers: [1, 2]}", file("workers: 1", sqlite) + "matrix: {load.workers: [1, 3]}", "with other settings, by another version of tsmark"},
		{"another load", file("workers: 1", sqlite), file("workers: 2", sqlite), "with other settings, by another version of tsmark"},
		{"its outcome is unknown", "", file("workers: 1", off), ""},
		{"nobody knows, and it had no such system", "", file("workers: 1", null), "without null"},
	} {
		requested, err := experiment.Parse("requested", []byte(c.requested))
		if err != nil {
			t.Fatal(err)
		}
		run := &result.Run{Targets: []result.Target{{Driver: "sqlite"}}}
		if got := Difference(requested, c.was, run); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A stand-in runs every experiment with queries or loads alone, in size smoke, over one connection,
// and never beside systems whose figures count.
func TestCorrectness(t *testing.T) {
	d, _ := document.Find("taos-2023")
	started, err := Startable(d, preset.All([]driver.Driver{timescaledb.Driver()}), nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(started, func(t experiment.Target) bool { return t.Driver == "timescaledb" })
	standIn, variables, ok := StandIn(started[i])
	if !ok || !slices.Equal(variables, []string{"TSMARK_TIMESCALEDB=pglite"}) || started[i].Options["connections"] != "" {
		t.Fatalf("stand-in %+v with %q, %v, for %+v", standIn, variables, ok, started[i])
	}
	catalog := plan.Catalog{
		Driver: func(string) (driver.Driver, error) { return timescaledb.Driver(), nil },
		Workload: func(name string) (workload.Workload, error) {
			all := tsbs.Workloads()
			return all[slices.IndexFunc(all, func(w workload.Workload) bool { return w.Name() == name })], nil
		},
		Servers: func() (string, error) { return filepath.Abs("../../servers") },
	}
	r := Request{Document: d, Size: document.Small, StandIns: []experiment.Target{standIn}, Catalog: catalog}
	all, err := r.Plan()
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, one := range all {
		if one.File == nil {
			continue
		}
		runs++
		f := one.File
		if !one.Correctness || len(f.Targets) != 1 || f.Load.Workers != 1 || f.Queries.Workers != 1 || f.Targets[0].Options["method"] != "insert" || f.Name != "taos-2023-"+one.Of.Name+"-correctness-smoke" {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
	if runs == 0 {
		t.Error("no experiment runs")
	}
}

// Trials halve and double the experiment's numbers and those of targets, tune the weaker system, and
// leave out what the claim is about, and half a worker.
func TestTrialSettings(t *testing.T) {
	d, _ := document.Find("ntua-2024")
	e, _ := d.Experiment("load")
	point := &experiment.Experiment{Load: experiment.Load{Workers: 1, BatchSize: 10000}, Queries: experiment.Queries{Workers: 2},
		Targets: []experiment.Target{{Name: "influxdb", Driver: "influxdb", BatchSize: 500}, {Name: "timescaledb", Driver: "timescaledb"}, {Name: "other", Driver: "other"}}}
	systems := []string{"influxdb", "timescaledb"}
	r := Request{Document: d, Catalog: plan.Catalog{Driver: func(string) (driver.Driver, error) { return timescaledb.Driver(), nil }}}
	settings := func(queries bool, subject []string, weaker string) []string {
		var list []string
		for _, trial := range r.Trials(queries, systems, subject, weaker) {
			changed, ok := trial.Apply(d, e, document.Small, point)
			if len(changed.Targets) != 2 || changed.Name != "ntua-2024-load-small-"+trial.Suffix {
				t.Errorf("%s has %d targets", changed.Name, len(changed.Targets))
			}
			if strings.HasPrefix(trial.Suffix, "tuned") && changed.Targets[1].Profile != "tuned" {
				t.Errorf("%+v", changed.Targets)
			}
			if ok {
				list = append(list, trial.Setting)
			}
		}
		return list
	}
	for _, c := range []struct {
		queries bool
		subject []string
		weaker  string
		want    []string
	}{
		{false, nil, "timescaledb", []string{"load.batch-size=5000 in place of 10000, influxdb 250 in place of 500", "load.batch-size=20000 in place of 10000, influxdb 1000 in place of 500", "load.workers=2 in place of 1",
			"timescaledb tuned (256 MiB of work_mem, no JIT compilation and prepared statements; the driver's profile tuned)"}},
		{false, []string{"load.workers", "load.batch-size"}, "influxdb", nil},
		{true, nil, "", []string{"queries.workers=1 in place of 2", "queries.workers=4 in place of 2"}},
	} {
		if got := settings(c.queries, c.subject, c.weaker); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if point.Targets[0].BatchSize != 500 || point.Load.BatchSize != 10000 {
		t.Error("a trial changes the point itself")
	}
}

// The options of the document do not override the profile of a tuned system, or the trial would repeat the
// comparison at its own settings.
func TestTunedOptions(t *testing.T) {
	d, _ := document.Find("taos-2023")
	e, _ := d.Experiment("load")
	s, _ := d.System("tdengine")
	options := experiment.Options(s.Options)
	point := &experiment.Experiment{Targets: []experiment.Target{{Name: "t", Driver: "tdengine", Options: options}}}
	r := Request{Document: d, Catalog: plan.Catalog{Driver: func(string) (driver.Driver, error) { return tdengine.Driver(), nil }}}
	list := r.Trials(false, []string{"tdengine"}, nil, "tdengine")
	changed, ok := list[len(list)-1].Apply(d, e, document.Small, point)
	if got := changed.Targets[0]; !ok || got.Profile != "cached" || got.Options["cachemodel"] != "" || got.Options["vgroups"] != "6" {
		t.Errorf("%+v", got)
	}
	if options["cachemodel"] != "last_row" {
		t.Error("the trial changes the point itself")
	}
}

// A trial has the steps after a load that its own systems need, and numbers that an experiment may have.
func TestTrialLimits(t *testing.T) {
	d, _ := document.Find("taos-2023")
	e, _ := d.Experiment("load")
	point := &experiment.Experiment{Load: experiment.Load{Workers: experiment.MaxWorkers, BatchSize: 1000, After: []string{"columnstore"}},
		Targets: []experiment.Target{{Name: "tdengine", Driver: "tdengine"}, {Name: "influxdb", Driver: "influxdb"}, {Name: "timescaledb", Driver: "timescaledb"}}}
	for with, want := range map[string][]string{"influxdb": {}, "timescaledb": {"columnstore"}} {
		for _, trial := range (&Request{Document: d}).Trials(false, []string{"tdengine", with}, nil, "") {
			changed, ok := trial.Apply(d, e, document.Small, point)
			if !slices.Equal(changed.Load.After, want) {
				t.Errorf("%s beside %s: after the load %v", trial.Suffix, with, changed.Load.After)
			}
			if ok != (trial.Suffix != "workers-twice") {
				t.Errorf("%s: %v", trial.Suffix, ok)
			}
		}
	}
}
