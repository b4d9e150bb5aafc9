package experiment

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/workload"
)

// same ignores where values came from.
var same = cmpopts.IgnoreUnexported(Experiment{})

// The documented form is what the default looks like.
func TestMarshalDefault(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "default.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("Marshal(Default()) (-want +got):\n%s", diff)
	}
}

// Every key is parsed, and missing keys have the value of Default.
func TestParse(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("full.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Experiment{
		Name: "first-run",
		Workload: workload.Spec{
			Name:         "devops",
			Seed:         -7,
			Scale:        4000,
			InitialScale: 10,
			Start:        time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC),
			End:          time.Date(2016, time.January, 1, 22, 30, 0, 500_000_000, time.UTC),
			Interval:     90 * time.Minute,
			MaxPoints:    18446744073709551615,
			Groups:       3,
			Group:        2,
		},
		Targets: []Target{
			{Name: "small", Driver: "duckdb", Options: Options{"threads": "2", "memory_limit": "1GiB", "path": "a, b", "ratio": "1.50", "on": "true", "folded": "x y"}},
			{Name: "duckdb", Driver: "duckdb"},
		},
		Load:    Load{Workers: 3, BatchSize: 500, Repeats: 2, Limit: 1_000_000, ReportingPeriod: 0, Replace: true},
		Queries: Queries{Types: []string{"lastpoint", "double-groupby-1"}, Count: 50, Workers: 2, WarmUp: "5", Repeats: 3, TimeBox: 0, Timeout: 1500 * time.Millisecond, Verify: 4},
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	if err := got.Check(); err != nil {
		t.Errorf("Check: %v", err)
	}

	short, err := Parse("short.yaml", []byte("\ufeffload:\r\n  workers: 2\r\nqueries:\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want = Default()
	want.Load.Workers = 2
	if diff := cmp.Diff(want, short, same); diff != "" {
		t.Errorf("Parse of one key (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"empty", "", `f.yaml:1:1: holds no experiment; tsmark run --print shows one`},
		{"comment only", "# nothing\n", `f.yaml:1:1: holds no experiment; tsmark run --print shows one`},
		{"two documents", "name: a\n---\nname: b\n", `f.yaml:1:1: holds 2 documents; an experiment is one`},
		{"no mapping", "- a", `f.yaml:1:1: must be a section of settings, each as key: value, not a list`},
		{"unknown key", "name: a\nworklod: {}\n", `f.yaml:2:1: worklod: unknown key; did you mean "workload"?`},
		{"unknown inner key", "load:\n  batchsize: 5\n", `f.yaml:2:3: load.batchsize: unknown key; did you mean "batch-size"?`},
		{"hopeless key", "load:\n  zzzzzzzz: 5\n", `f.yaml:2:3: load.zzzzzzzz: unknown key; known: workers, batch-size, repeats, limit, after, reporting-period, replace, retry, columns, file, skip-bad-lines`},
		{"field that has no key", "workload:\n  name: iot\n  \"-\": 5\n", `f.yaml:3:3: workload.-: unknown key; known: name, seed, scale, initial-scale, timestamp-start, timestamp-end, log-interval, max-data-points, max-metric-count, interleaved-generation-groups, interleaved-generation-group-id, records-per-device, rows-in-a-row, new-tags, new-fields`},
		{"strange key", "\"a\\nb.\": 1\n", `f.yaml:1:1: "a\nb.": unknown key; known: name, notes, workload, digest, input-formats, targets, adopt, load, queries, mixed, life, crash, materialize, timeouts, require-quiet, server-memory, monitor-interval, matrix, exclude, include, expect`},
		{"unknown key of a target", "targets:\n  - driver: duckdb\n  - drver: duckdb\n", `f.yaml:3:5: targets[1].drver: unknown key; did you mean "driver" or "server"?`},
		{"kind in place of driver", "targets: [{kind: sqlite}]\n", `f.yaml:1:12: targets[0].kind: unknown key; did you mean "driver"?`},
		{"system in place of driver", "targets: [{system: sqlite}]\n", `f.yaml:1:12: targets[0].system: unknown key; did you mean "driver"?`},
		{"option beside a target's keys", "targets:\n  - driver: duckdb\n    layout: wide\n", `f.yaml:3:5: targets[0].layout: unknown key; did you mean "options.layout"? known: name, driver, profile, durability, profile-text, workers, batch-size, options, exporter, metrics, restart, start, idle, start-for, server, version, twin`},
		{"merge key", "<<: {name: a}\n", `f.yaml:1:1: a key must be plain text`},
		{"duplicate key", "name: a\nname: b\n", `f.yaml:2:1: name: is there twice`},
		{"duplicate option", "targets:\n  - driver: k\n    options: {a: 1, a: 2}\n", `f.yaml:3:21: targets[0].options.a: is there twice`},
		{"alias", "name: &n a\nload: *n\n", "f.yaml:1:7: name: anchors, aliases and tags are not understood; write the value out\n" +
			`f.yaml:2:7: load: anchors, aliases and tags are not understood; write the value out`},
		{"text for a number", "load:\n  workers: many\n", `f.yaml:2:12: load.workers: must be a whole number, not "many"`},
		{"quoted number", "load:\n  workers: \"2\"\n", `f.yaml:2:12: load.workers: must be a whole number, not the quoted text "2"`},
		{"long text", "load: {workers: " + strings.Repeat("x", 101) + "}\n", `f.yaml:1:17: load.workers: must be a whole number, not a long text`},
		{"fraction", "load:\n  workers: 1.5\n", `f.yaml:2:12: load.workers: must be a whole number, not "1.5"`},
		{"list for a number", "load:\n  workers: [1]\n", `f.yaml:2:12: load.workers: must be a whole number, not a list`},
		{"too large", "workload: {scale: 4294967296}\n", `f.yaml:1:19: workload.scale: must be from 0 to 4294967295, not 4294967296`},
		{"negative scale", "workload: {scale: -1}\n", `f.yaml:1:19: workload.scale: must be from 0 to 4294967295, not -1`},
		{"too large for int", "load: {limit: 9223372036854775808}\n", `f.yaml:1:15: load.limit: must be from -9223372036854775808 to 9223372036854775807, not 9223372036854775808`},
		{"no bool", "load: {replace: yes please}\n", `f.yaml:1:17: load.replace: must be true or false, not "yes please"`},
		{"no unit", "workload: {log-interval: 10}\n", `f.yaml:1:26: workload.log-interval: must be a duration with its unit, such as 10s or 1h30m, not "10"`},
		{"bad duration", "queries:\n  time-box: 2 sec\n", `f.yaml:2:13: queries.time-box: must be a duration with its unit, such as 10s or 1h30m, not "2 sec"`},
		{"bad time", "workload:\n  timestamp-end: 2016-01-02\n", `f.yaml:2:18: workload.timestamp-end: must be a time such as 2016-01-01T00:00:00Z, not "2016-01-02"`},
		{"types without list", "queries:\n  types: all\n", `f.yaml:2:10: queries.types: must be a list, as in [a, b], not "all"`},
		{"section for text", "name: {a: b}\n", `f.yaml:1:7: name: must be text, not a section`},
		{"options without names", "targets: [{driver: a, options: [b]}]\n", `f.yaml:1:32: targets[0].options: must be a section of options, each as key: value, not a list`},
		{"several", "nam: a\nload: 3\n", "f.yaml:1:1: nam: unknown key; did you mean \"name\"?\n" +
			`f.yaml:2:7: load: must be a section of settings, each as key: value, not "3"`},
		{"syntax", "name: [\n", `f.yaml:1:7: not YAML: sequence end token ']' not found`},
		{"tab", "load:\n\tworkers: 1\n", `f.yaml:2:1: not YAML: found character '\t' that cannot start any token`},
		{"large", strings.Repeat("#", MaxFile+1), `f.yaml:1:1: is larger than 65536 bytes: not an experiment; tsmark run --print shows one`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Parse("f.yaml", []byte(tt.yaml))
			if err == nil {
				t.Fatalf("Parse took it: %+v", e)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Parse restores what Marshal writes, whatever the texts are.
func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		want := randomExperiment(rng)
		data, err := Marshal(want)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := Parse("f.yaml", data)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, data)
		}
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, diff, data)
		}
	}
}

func randomExperiment(rng *rand.Rand) *Experiment {
	text := func() string { return randomText(rng) }
	duration := func() time.Duration { return time.Duration(rng.Int64()) >> rng.IntN(64) }
	instant := func() time.Time { return time.Unix(0, rng.Int64()).UTC() }
	e := &Experiment{
		Name: text(),
		Workload: workload.Spec{
			Name: text(), Seed: int64(rng.Uint64()), Scale: rng.Uint32(), InitialScale: rng.Uint32() % 3,
			Start: instant(), End: instant(), Interval: duration(),
			MaxPoints: rng.Uint64() >> rng.IntN(64), Groups: rng.Uint32() % 2, Group: rng.Uint32() % 2,
		},
		Targets: []Target{},
		Load: Load{
			Workers: rng.Int(), BatchSize: -rng.Int(), Limit: rng.Int64(),
			ReportingPeriod: -duration(), Replace: rng.IntN(2) == 0,
			File: text(), SkipBadLines: rng.Int64() >> rng.IntN(64),
		},
		Queries: Queries{
			Types: []string{}, Count: rng.Int(), Workers: rng.Int(), WarmUp: Amount(strconv.Itoa(rng.Int())),
			TimeBox: duration(), Timeout: duration(), Verify: rng.Int(),
		},
	}
	for range rng.IntN(3) {
		target := Target{Name: text() + "x", Driver: strings.ReplaceAll(text(), version.Mark, "")} // an empty name defaults to the driver
		for range rng.IntN(4) {
			if target.Options == nil {
				target.Options = make(Options)
			}
			target.Options[text()] = text()
		}
		e.Targets = append(e.Targets, target)
	}
	for range rng.IntN(4) {
		e.Queries.Types = append(e.Queries.Types, text())
	}
	for i := range rng.IntN(3) {
		axis := Axis{Path: fmt.Sprint(text(), i), Values: []string{}}
		for range rng.IntN(3) {
			axis.Values = append(axis.Values, text())
		}
		e.Matrix = append(e.Matrix, axis)
		e.Exclude = append(e.Exclude, Combination{{Path: text(), Value: text()}})
		e.Include = append(e.Include, Combination{{Path: text() + "1", Value: text()}, {Path: text() + "2", Value: text()}})
	}
	return e
}

// randomText returns a text of parts that YAML treats specially.
func randomText(rng *rand.Rand) string {
	parts := []string{
		"a", "é", "0", "1", "7", "x", "-", ".", ":", " ", "#", ",", "[", "]", "{", "}", "'", `"`, `\`, "/", "\n", "\r", "\t",
		"&", "*", "!", "|", ">", "%", "@", "`", "?", "~", "=", "_", "+", "e", "null", "true", "No", "inf", "2016-01-01",
		"\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffd", "\U0001f600", "<<", "---", "...",
	}
	var b strings.Builder
	for range rng.IntN(5) {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.String()
}

func TestShortDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                       "0s",
		10 * time.Second:        "10s",
		time.Minute:             "1m",
		90 * time.Second:        "1m30s",
		24 * time.Hour:          "24h",
		90 * time.Minute:        "1h30m",
		time.Hour + time.Second: "1h0m1s",
		10 * time.Minute:        "10m",
		-time.Hour:              "-1h",
		1500 * time.Microsecond: "1.5ms",
	} {
		if got := DurationText(d); got != want {
			t.Errorf("DurationText(%d) = %q, want %q", d, got, want)
		}
	}
}

// For any file, Parse neither panics nor accepts values that cannot be written again, and each line
// of an error names a position.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"default.yaml", "full.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("matrix: {load.workers: [1, ~], a b: []}\nexclude: [{a: 1}, {}]\ninclude:\n  - ? x\n"))
	f.Add([]byte("a: &a [*a, !!t {? b : |\n c\n}]\n--- >-\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse("f.yaml", data)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.yaml:") {
					t.Errorf("error %q has a line without a position", err)
				}
			}
			return
		}
		if _, err := e.Expand(); err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.yaml:") {
					t.Errorf("error %q has a line without a position", err)
				}
			}
		}
		again, err := Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		e2, err := Parse("f.yaml", again)
		if err != nil {
			t.Fatalf("Parse of Marshal's output: %v\n%s", err, again)
		}
		if diff := cmp.Diff(e, e2, same, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
