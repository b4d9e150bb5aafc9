package experiment

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckDefault(t *testing.T) {
	if err := Default().Check(); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Experiment)
		want   string
	}{
		{"name", func(e *Experiment) { e.Name = "" }, `name: is empty`},
		{"name with slash", func(e *Experiment) { e.Name = "a/b" }, `name: "a/b" cannot be a file name: use letters, digits, and . _ - @ inside`},
		{"hidden", func(e *Experiment) { e.Name = ".a" }, `name: ".a" cannot be a file name: use letters, digits, and . _ - @ inside`},
		{"long", func(e *Experiment) { e.Name = strings.Repeat("a", 65) }, `name: is longer than 64 characters`},
		{"workload", func(e *Experiment) { e.Workload.Name = "" }, `workload.name: is empty; name a workload, such as cpu-only`},
		{"no targets", func(e *Experiment) { e.Targets = nil }, `targets: names no target; add one, such as driver: duckdb`},
		{"no kind", func(e *Experiment) { e.Targets[0] = Target{} }, `targets[0].driver: is missing; name a database system, such as duckdb`},
		{"same names", func(e *Experiment) { e.Targets[1] = Target{Name: "DuckDB", Driver: "duckdb"} },
			`targets[1].name: "DuckDB" is the name of targets[0] already; give each target its own, as in --target NAME=duckdb`},
		{"format of input", func(e *Experiment) { e.InputFormats = []string{"influx", "timescaledbb"} }, `input-formats[1]: unknown format "timescaledbb"; did you mean "timescaledb"?`},
		{"load workers", func(e *Experiment) { e.Load.Workers = 0 }, `load.workers: must be 1 or more, not 0`},
		{"batch size", func(e *Experiment) { e.Load.BatchSize = -5 }, `load.batch-size: must be 1 or more, not -5`},
		{"limit", func(e *Experiment) { e.Load.Limit = -1 }, `load.limit: must be 0 (all rows) or more, not -1`},
		{"retry", func(e *Experiment) { e.Load.Retry = "often" }, `load.retry: "often": want a number of tries, a time with its unit, or both, such as 5, 60s or 5,60s`},
		{"bad lines", func(e *Experiment) { e.Load.File, e.Load.SkipBadLines = "x", -1 }, `load.skip-bad-lines: must be 0 or more, not -1`},
		{"bad lines of nothing", func(e *Experiment) { e.Load.SkipBadLines = 1 }, `load.skip-bad-lines: is for the lines of a file; name one in load.file, or leave it out`},
		{"standard input twice", func(e *Experiment) { e.Load.File, e.Targets = "-", append(e.Targets, Target{Name: "b", Driver: "b"}) },
			`load.file: standard input can be read only once; name a file, or one target`},
		{"period", func(e *Experiment) { e.Load.ReportingPeriod = -1e10 }, `load.reporting-period: must be 0 or more, not -10s`},
		{"rate", func(e *Experiment) { e.Queries.Rate = "fast" }, `queries.rate: schedule "fast": want 1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s or poisson:1000/s`},
		{"rate and objective", func(e *Experiment) { e.Queries.Rate, e.Queries.FindMaxRate = "10/s", "p99<1s" },
			`queries.find-max-rate: looks for a rate, and queries.rate gives one; leave one of them out`},
		{"objective of few queries", func(e *Experiment) {
			e.Queries.FindMaxRate, e.Queries.TimeBox, e.Queries.Count, e.Queries.Repeats, e.Queries.WarmUp = "p99<1s", 0, 220, 2, "11"
		},
			`queries.find-max-rate: p99 needs at least 100 answers, and a try would run 99 queries: raise queries.count, or set queries.time-box`},
		{"queue of a closed loop", func(e *Experiment) { e.Queries.Queue = 5 },
			`queries.queue: is for queries that come at a rate of their own; give queries.rate or queries.find-max-rate, or leave it out`},
		{"statement time-out", func(e *Experiment) { e.Timeouts.Statement = -1 }, `timeouts.statement: must be 0 or more, not -1ns`},
		{"step time-out", func(e *Experiment) { e.Timeouts.Step = -1 }, `timeouts.step: must be 0 or more, not -1ns`},
		{"mixed of nothing", func(e *Experiment) { e.Mixed.Writes = "80" }, `mixed.loaded: must be 1 or more, not 0`},
		{"mixed all", func(e *Experiment) { e.Mixed = Mixed{Loaded: 100} }, `mixed.loaded: must be 99 or less, not 100`},
		{"mixed rate", func(e *Experiment) { e.Mixed = Mixed{Loaded: 50, RowRate: "fast"} }, `mixed.row-rate: schedule "fast": want 1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s or poisson:1000/s`},
		{"mixed both", func(e *Experiment) { e.Mixed = Mixed{Loaded: 50, Writes: "80", QueryRate: "5/s"} }, `mixed.query-rate: goes by a schedule, and mixed.writes by what the other side does; leave one of them out`},
		{"mixed file", func(e *Experiment) { e.Mixed.Loaded, e.Load.File = 50, "x" }, `mixed: is for rows that are generated, not for those of a file; leave out load.file or the section`},
		{"windows", func(e *Experiment) { e.Queries.Windows = "resent" }, `queries.windows: must be uniform, recent, sliding or sliding with a duration of 0s or more, as in sliding:5s, not "resent"`},
		{"windows by nothing", func(e *Experiment) { e.Queries.Windows = "sliding:" }, `queries.windows: must be uniform, recent, sliding or sliding with a duration of 0s or more, as in sliding:5s, not "sliding:"`},
		{"mixed writes", func(e *Experiment) { e.Mixed = Mixed{Loaded: 50, Writes: "80:2"} }, `mixed.writes: must be how many of a hundred operations are batches, from 1 to 99, or batches to one query, from 1:1 to 1000000:1, not "80:2"`},
		{"mixed weights", func(e *Experiment) { e.Mixed = Mixed{Loaded: 50, Weights: "2:0"} }, `mixed.weights: must be whole numbers from 1 to 1000, one a query type, as in 3:1:1, not "2:0"`},
		{"mixed weights of all", func(e *Experiment) { e.Mixed = Mixed{Loaded: 50, Weights: "2"} }, `mixed.weights: has 1 weights, and queries.types must name as many types`},
		{"mixed without types", func(e *Experiment) { e.Mixed.Loaded, e.Queries.Types = 50, nil }, `mixed: runs queries while rows are written; name query types in queries.types, or leave the section out`},
		{"empty type", func(e *Experiment) { e.Queries.Types = []string{""} }, `queries.types[0]: is empty`},
		{"type twice", func(e *Experiment) { e.Queries.Types = []string{"a", "b", "a"} }, `queries.types[2]: "a" is there twice`},
		{"core and more", func(e *Experiment) { e.Queries.Types = []string{"core", "a"} }, `queries.types[1]: core cannot stand beside other types; behind it, -TYPE leaves one out`},
		{"left out of none", func(e *Experiment) { e.Queries.Types = []string{"-a"} }, `queries.types[0]: "-a" leaves a type out of all or core, which must come first`},
		{"all and more", func(e *Experiment) { e.Queries.Types = []string{"a", "all"} }, `queries.types[1]: all cannot stand beside other types; behind it, -TYPE leaves one out`},
		{"count", func(e *Experiment) { e.Queries.Count = 0 }, `queries.count: must be 1 or more, not 0`},
		{"query workers", func(e *Experiment) { e.Queries.Workers = 0 }, `queries.workers: must be 1 or more, not 0`},
		{"warm-up", func(e *Experiment) { e.Queries.WarmUp = "-1" }, `queries.warm-up: must be a number of queries, such as 100, or a time, such as 5s, not "-1"`},
		{"warm-up without a unit", func(e *Experiment) { e.Queries.WarmUp = "1.5" }, `queries.warm-up: must be a number of queries, such as 100, or a time, such as 5s, not "1.5"`},
		{"warm-up of all", func(e *Experiment) { e.Queries.WarmUp = "1000" },
			`queries.warm-up: leaves nothing to record: must be less than the 166 queries of each type that a repeat runs`},
		{"time box", func(e *Experiment) { e.Queries.TimeBox = -1 }, `queries.time-box: must be 0 or more, not -1ns`},
		{"timeout", func(e *Experiment) { e.Queries.Timeout = -1 }, `queries.timeout: must be 0 or more, not -1ns`},
		{"verify", func(e *Experiment) { e.Queries.Verify = 0 }, `queries.verify: must be 1 or more, not 0`},
		{"several", func(e *Experiment) { e.Load.Workers, e.Queries.Count = 0, 0 },
			"load.workers: must be 1 or more, not 0\nqueries.count: must be 1 or more, not 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := Default()
			tt.change(e)
			err := e.Check()
			if err == nil {
				t.Fatal("Check found nothing")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The same problem is shown where its value was written.
func TestOrigins(t *testing.T) {
	e, err := Parse("f.yaml", []byte("load:\n  workers: 0\ntargets:\n  - name: a\n    options:\n      thread: 2\nqueries: {warm-up: 1000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, e.Check().Error()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	kind := "f.yaml:4:5: targets[0].driver: is missing; name a database system, such as duckdb\n"
	warmUp := "f.yaml:7:20: queries.warm-up: leaves nothing to record: must be less than the 1000 queries of each type that a repeat runs"
	check(kind + "f.yaml:2:12: load.workers: must be 1 or more, not 0\n" + warmUp)
	e.FromFlag("load.workers", "--workers")
	check(kind + "--workers: must be 1 or more, not 0\n" + warmUp)
	e.FromFlag("queries.warm-up", "--warm-up")
	check(kind + "--workers: must be 1 or more, not 0\n--warm-up: leaves nothing to record: must be less than the 1000 queries of each type that a repeat runs")

	option := e.Problem("targets[0].options.thread", "duckdb has no option %q", "thread")
	if got, want := option.Error(), `f.yaml:6:15: targets[0].options.thread: duckdb has no option "thread"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.FromFlag("targets[0]", "--target duckdb,thread=2")
	option = e.Problem("targets[0].options.thread", "duckdb has no option %q", "thread")
	if got, want := option.Error(), `--target duckdb,thread=2: duckdb has no option "thread"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	e.SetOrigin("load.workers", Origin{File: "c.properties", Line: 7, Key: "CLIENTS"})
	if got, want := e.Problem("load.workers", "too few").Error(), "c.properties:7: CLIENTS: too few"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.SetOrigin("load.workers", Origin{File: "c.properties", Key: "CLIENTS"})
	if got, want := e.Problem("load.workers", "too few").Error(), "c.properties: CLIENTS: too few"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	fresh := Default()
	fresh.Load.BatchSize = 0
	fresh.FromFlag("load.batch-size", "--batch-size")
	err = fresh.Check()
	if got, want := err.Error(), "--batch-size: must be 1 or more, not 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var p *Problem
	if !errors.As(err, &p) || p.Path != "load.batch-size" {
		t.Errorf("errors.As gave %+v", p)
	}
}
