package experiment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listing writes the points of a sweep, one a line.
func listing(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		fmt.Fprintf(&b, "%d:", i+1)
		for _, v := range p.Parameters {
			fmt.Fprintf(&b, " %s=%s", v.Path, v.Value)
		}
		e := p.Experiment
		fmt.Fprintf(&b, " | %d hosts, %d workers, batches of %d |", e.Workload.Scale, e.Load.Workers, e.Load.BatchSize)
		for _, t := range e.Targets {
			fmt.Fprintf(&b, " %s %v", t.Name, t.Options)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func TestExpand(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"no matrix", "name: a", `
1: | 50 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
`},
		{"the last axis changes fastest", "matrix: {workload.scale: [10, 20], load.workers: [1, 2]}", `
1: workload.scale=10 load.workers=1 | 10 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
2: workload.scale=10 load.workers=2 | 10 hosts, 2 workers, batches of 10000 | duckdb map[] sqlite map[]
3: workload.scale=20 load.workers=1 | 20 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
4: workload.scale=20 load.workers=2 | 20 hosts, 2 workers, batches of 10000 | duckdb map[] sqlite map[]
`},
		{"a part of a combination excludes all that have it", `
matrix: {workload.scale: [10, 20], load.workers: [1, 2], load.batch-size: [5, 6]}
exclude: [{workload.scale: 20, load.workers: 2}, {load.batch-size: 6}]`, `
1: workload.scale=10 load.workers=1 load.batch-size=5 | 10 hosts, 1 workers, batches of 5 | duckdb map[] sqlite map[]
2: workload.scale=10 load.workers=2 load.batch-size=5 | 10 hosts, 2 workers, batches of 5 | duckdb map[] sqlite map[]
3: workload.scale=20 load.workers=1 load.batch-size=5 | 20 hosts, 1 workers, batches of 5 | duckdb map[] sqlite map[]
`},
		{"what would overwrite an axis is a combination of its own", `
matrix: {workload.scale: [10], load.workers: [1, 2]}
include: [{workload.scale: 50, load.workers: 1}, {workload.scale: 60}]`, `
1: workload.scale=10 load.workers=1 | 10 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
2: workload.scale=10 load.workers=2 | 10 hosts, 2 workers, batches of 10000 | duckdb map[] sqlite map[]
3: workload.scale=50 load.workers=1 | 50 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
4: workload.scale=60 load.workers=1 | 60 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
`},
		{"entries that match nothing are added, later ones overwriting earlier ones", `
matrix: {workload.scale: [10, 20]}
include: [{load.batch-size: 7}, {workload.scale: 20, load.batch-size: 8}]`, `
1: workload.scale=10 load.batch-size=7 | 10 hosts, 1 workers, batches of 7 | duckdb map[] sqlite map[]
2: workload.scale=20 load.batch-size=8 | 20 hosts, 1 workers, batches of 8 | duckdb map[] sqlite map[]
`},
		{"an excluded combination can be included again", `
matrix: {workload.scale: [10, 20]}
exclude: [{workload.scale: 20}]
include: [{workload.scale: 20, load.workers: 3}]`, `
1: workload.scale=10 load.workers=1 | 10 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
2: workload.scale=20 load.workers=3 | 20 hosts, 3 workers, batches of 10000 | duckdb map[] sqlite map[]
`},
		{"included ones alone", "include: [{load.workers: 3}, {load.workers: 4, load.batch-size: 9}]", `
1: load.workers=3 load.batch-size=10000 | 50 hosts, 3 workers, batches of 10000 | duckdb map[] sqlite map[]
2: load.workers=4 load.batch-size=9 | 50 hosts, 4 workers, batches of 9 | duckdb map[] sqlite map[]
`},
		{"the same values are one point, however they are written", `
matrix: {load.workers: [1, 2]}
include: [{load.workers: 3}, {load.workers: 3, load.batch-size: 10_000}]`, `
1: load.workers=1 load.batch-size=10000 | 50 hosts, 1 workers, batches of 10000 | duckdb map[] sqlite map[]
2: load.workers=2 load.batch-size=10000 | 50 hosts, 2 workers, batches of 10000 | duckdb map[] sqlite map[]
3: load.workers=3 load.batch-size=10000 | 50 hosts, 3 workers, batches of 10000 | duckdb map[] sqlite map[]
`},
		{"options make variants within a run", `
matrix: {targets.duckdb.threads: [1, 2], workload.scale: [10, 20]}`, `
1: workload.scale=10 | 10 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[threads:1] duckdb-threads-2 map[threads:2] sqlite map[]
2: workload.scale=20 | 20 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[threads:1] duckdb-threads-2 map[threads:2] sqlite map[]
`},
		{"options of one target go with each other, not with those of others", `
targets: [{driver: duckdb, options: {path: x}}, {driver: sqlite}]
matrix: {targets.duckdb.threads: [1, 2], targets.duckdb.memory: [1GiB], targets.sqlite.cache: [80 %, 80/%]}`, `
1: | 50 hosts, 1 workers, batches of 10000 | duckdb-threads-1-memory-1GiB map[memory:1GiB path:x threads:1] duckdb-threads-2-memory-1GiB map[memory:1GiB path:x threads:2] sqlite-cache-80__ map[cache:80 %] sqlite-1 map[cache:80/%]
`},
		{"options that go with runs leave the name", `
include: [{workload.scale: 10, targets.duckdb.threads: 1}, {workload.scale: 20, targets.duckdb.threads: 2}]`, `
1: workload.scale=10 | 10 hosts, 1 workers, batches of 10000 | duckdb map[threads:1] sqlite map[]
2: workload.scale=20 | 20 hosts, 1 workers, batches of 10000 | duckdb map[threads:2] sqlite map[]
`},
		{"included variants of one run have names", `
include: [{workload.scale: 10, targets.duckdb.threads: 1}, {workload.scale: 10, targets.duckdb.threads: 2}, {workload.scale: 20, targets.duckdb.threads: 2}]`, `
1: workload.scale=10 | 10 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[threads:1] duckdb-threads-2 map[threads:2] sqlite map[]
2: workload.scale=20 | 20 hosts, 1 workers, batches of 10000 | duckdb-threads-2 map[threads:2] sqlite map[]
`},
		{"options that are not swept over leave the name", `
matrix: {workload.scale: [10, 20], targets.duckdb.threads: [1, 2]}
include: [{workload.scale: 20, targets.duckdb.memory: 1GiB}]`, `
1: workload.scale=10 | 10 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[threads:1] duckdb-threads-2 map[threads:2] sqlite map[]
2: workload.scale=20 | 20 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[memory:1GiB threads:1] duckdb-threads-2 map[memory:1GiB threads:2] sqlite map[]
`},
		{"excluded variants", `
matrix: {workload.scale: [10, 20], targets.duckdb.threads: [1, 2]}
exclude: [{workload.scale: 20, targets.duckdb.threads: 1}]`, `
1: workload.scale=10 | 10 hosts, 1 workers, batches of 10000 | duckdb-threads-1 map[threads:1] duckdb-threads-2 map[threads:2] sqlite map[]
2: workload.scale=20 | 20 hosts, 1 workers, batches of 10000 | duckdb-threads-2 map[threads:2] sqlite map[]
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Parse("f.yaml", []byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			points, err := e.Expand()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), listing(points)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, p := range points {
				if err := p.Experiment.Check(); err != nil {
					t.Errorf("point %v: %v", p.Parameters, err)
				}
			}
		})
	}
}

// Every type of key takes the values that it takes in a file.
func TestExpandTypes(t *testing.T) {
	e, err := Parse("f.yaml", []byte(`
matrix:
  workload.name: [devops]
  workload.seed: [-7]
  workload.scale: [1_000]
  workload.timestamp-end: ["2016-01-03T01:00:00+01:00"]
  workload.log-interval: [60s]
  load.after: ["analyze,compact"]
  load.replace: [true]
  queries.types: [lastpoint]
  queries.rate: [poisson:200/s]
  mixed.loaded: [50]
  targets.sqlite.durability: [strict]
`))
	if err != nil {
		t.Fatal(err)
	}
	points, err := e.Expand()
	if err != nil {
		t.Fatal(err)
	}
	want := "workload.name=devops workload.seed=-7 workload.scale=1000 workload.timestamp-end=2016-01-03T00:00:00Z workload.log-interval=1m " +
		"load.after=analyze,compact load.replace=true queries.types=lastpoint queries.rate=poisson:200/s mixed.loaded=50"
	var got []string
	for _, p := range points[0].Parameters {
		got = append(got, p.Path+"="+p.Value)
	}
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p := points[0].Experiment
	if p.Workload.Scale != 1000 || !p.Load.Replace || len(p.Load.After) != 2 || p.Targets[1].Durability != "strict" || p.Targets[1].Name != "sqlite-durability-strict" {
		t.Errorf("point %+v", p)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
}

func TestExpandErrors(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"unknown path", "matrix:\n  workload.scael: [1, 2]", `f.yaml:2:19: matrix.workload.scael: "workload.scael" is not a key that can be set; did you mean "workload.scale"?`},
		{"a section", "matrix: {load: [1]}", `f.yaml:1:16: matrix.load: "load" is not a key that can be set; known: workers, batch-size, repeats, limit, after, reporting-period, replace, retry, columns, file, skip-bad-lines`},
		{"unknown section", "matrix: {lod.workers: [1]}", `f.yaml:1:23: matrix.lod.workers: "lod.workers" is not a key that can be set; did you mean "load"?`},
		{"unknown target", "matrix: {targets.duck.threads: [1]}",
			`f.yaml:1:32: matrix.targets.duck.threads: "targets.duck.threads" is not a key that can be set; write targets.NAME.OPTION with the name of a target: duckdb, sqlite`},
		{"no number", "matrix:\n  load.workers: [1, many]", `f.yaml:2:21: matrix.load.workers[1]: must be a whole number, not "many"`},
		{"no duration", "matrix:\n  workload.log-interval: [10]", `f.yaml:2:27: matrix.workload.log-interval[0]: must be a duration with its unit, such as 10s or 1h30m, not "10"`},
		{"too large", "matrix: {workload.scale: [4294967296]}", `f.yaml:1:27: matrix.workload.scale[0]: must be from 0 to 4294967295, not 4294967296`},
		{"no value", "matrix: {load.workers: []}", `f.yaml:1:24: matrix.load.workers: has no values`},
		{"twice", "matrix: {workload.log-interval: [60s, 1m]}", `f.yaml:1:39: matrix.workload.log-interval[1]: 1m is there twice`},
		{"too many", "matrix: {load.workers: [1, 2], load.batch-size: [" + strings.TrimSuffix(numbers(501), ",") + "]}",
			`f.yaml:1:9: matrix: has more than 1000 combinations; leave some values out`},
		{"excluded value", "matrix: {load.workers: [1, 2]}\nexclude:\n  - load.workers: 3", `f.yaml:3:19: exclude[0].load.workers: matches nothing: 3 is not one of 1, 2`},
		{"excluded path", "matrix: {load.workers: [1, 2]}\nexclude: [{load.limit: 3}]", `f.yaml:2:24: exclude[0].load.limit: matches nothing: the matrix does not sweep over it`},
		{"unknown excluded path", "matrix: {load.workers: [1, 2]}\nexclude: [{load.worker: 1}]",
			`f.yaml:2:25: exclude[0].load.worker: "load.worker" is not a key that can be set; did you mean "load.workers"?`},
		{"all excluded", "matrix: {load.workers: [1]}\nexclude: [{load.workers: 1}]", `f.yaml:2:10: exclude: leaves no combination`},
		{"nothing to exclude from", "exclude: [{load.workers: 1}]", `f.yaml:1:10: exclude: removes combinations of a matrix, and the experiment has no matrix`},
		{"empty entry", "matrix: {load.workers: [1]}\nexclude: [{}]", `f.yaml:2:11: exclude[0]: is empty; write parameters, each as path: value`},
		{"there already", "matrix: {load.workers: [1, 2]}\ninclude: [{load.workers: 2}]", `f.yaml:2:11: include[0]: adds nothing: the matrix has it already`},
		{"several", "matrix: {load.workers: [a, b]}", "f.yaml:1:25: matrix.load.workers[0]: must be a whole number, not \"a\"\n" +
			`f.yaml:1:28: matrix.load.workers[1]: must be a whole number, not "b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Parse("f.yaml", []byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			points, err := e.Expand()
			if err == nil {
				t.Fatalf("Expand took it: %s", listing(points))
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i+1)
	}
	return b.String()
}

// A value that is wrong only within its run is shown where the matrix has it.
func TestExpandOrigins(t *testing.T) {
	e, err := Parse("f.yaml", []byte("load:\n  workers: 3\nmatrix:\n  load.workers: [1, 0]\n  targets.sqlite.journal: [x]\n"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := e.Expand()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(points[1].Experiment.Check()), "f.yaml:4:21: load.workers: must be 1 or more, not 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := points[0].Experiment.Problem("targets[1].options", "no").Error(), "f.yaml:5:28: targets[1].options: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	axis, err := ParseAxis("load.workers=1,x")
	if err != nil {
		t.Fatal(err)
	}
	e.Matrix.Set(axis)
	e.FromFlag("matrix.load.workers", "--sweep load.workers=1,x")
	_, err = e.Expand()
	if got, want := fmt.Sprint(err), `--sweep load.workers=1,x: must be a whole number, not "x"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Matrix.Set(Axis{"load.workers", []string{"1", "2"}})
	e.FromFlag("load.workers", "--workers")
	_, err = e.Expand()
	if got, want := fmt.Sprint(err), `--workers: the matrix has values of its own for load.workers; give others with --sweep load.workers=…`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Matrix, e.Include = nil, []Combination{{{Path: "load.workers", Value: "3"}}}
	_, err = e.Expand()
	if got, want := fmt.Sprint(err), `--workers: the sweep has values of its own for load.workers; leave the flag out`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, text := range []string{"", "load.workers", "=1", "load.workers="} {
		if a, err := ParseAxis(text); err == nil {
			t.Errorf("ParseAxis(%q) = %v", text, a)
		}
	}
}

// A ramp is an axis whose values double, of workers or of a rate.
func TestParseRamp(t *testing.T) {
	for text, want := range map[string]string{
		"1..16": "queries.workers: 1 2 4 8 16", "1..10": "queries.workers: 1 2 4 8 10", "1,3,4": "queries.workers: 1 3 4",
		"100/s..350/s": "queries.rate: 100/s 200/s 350/s", "0.5/s..1/s": "queries.rate: 0.5/s 1/s",
		"mixed.row-rate=1000/s..4000/s": "mixed.row-rate: 1000/s 2000/s 4000/s",
	} {
		if a, err := ParseRamp(text); err != nil || a.Path+": "+strings.Join(a.Values, " ") != want {
			t.Errorf("%s: %+v, error %v; want %s", text, a, err, want)
		}
	}
	for _, text := range []string{"", "4", "4..1", "1..4/s", "0..8", "1..", "a..b", "1,,2", "1..1e300", "nan..8", "1..inf", "load.batch-size=1..4"} {
		if a, err := ParseRamp(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, error %v", text, a, err)
		}
	}
}
