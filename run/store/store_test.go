package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

var started = time.Date(2026, 1, 31, 15, 45, 0, 120_000_000, time.UTC)

func latency(t *testing.T, median time.Duration) result.Latency {
	t.Helper()
	l := measure.NewLatency()
	for i := range time.Duration(5) {
		l.Record(median * (i + 1) / 3)
	}
	encoded, err := l.Encode()
	must(t, err)
	return result.Latency{Histogram: encoded, Summary: l.Summary()}
}

// newRun returns a run with a value in every column.
func newRun(t *testing.T) *result.Run {
	t.Helper()
	r := &result.Run{
		Name: "nightly", Command: "run", Args: []string{"tsmark", "run", "it's.yaml"}, Experiment: "targets:\n  - duckdb\n", Notes: []string{"from elsewhere", "changed"},
		Started: started, LostOperations: 7,
		Tool: result.Tool{Version: "0.1.0", Commit: "abc123", Go: "go1.26"},
		Host: result.Host{OS: "Debian 12", Kernel: "6.1", Arch: "amd64", CPU: "a CPU", Cores: 8, Memory: 64 << 30,
			FileSystem: "ext4", Virtualization: "kvm", Disk: "a disk, SSD", Swap: 1 << 30, NUMANodes: 2, ClockSource: "tsc",
			Governor: "performance", Turbo: "off", OpenFiles: 1024, CPULimit: 1.5, MemoryLimit: 1 << 33},
		QuerySets: []result.QuerySet{{Type: "z-run-first", Count: 500, Fingerprint: "8899aabbccddeeff", Definition: "7766554433221100"}},
		Dataset: result.Dataset{
			Spec: workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, InitialScale: 10, Start: started, End: started.Add(time.Hour),
				Interval: 10 * time.Second, MaxPoints: 1 << 60, Groups: 3, Group: 1},
			Digest: "xxh3-128:00ff", Fingerprint: "0011223344556677", Series: 100, Rows: 36000, Metrics: 360000, RawBytes: 12345678, Lateness: 1.5,
			Source: "cpu.lp",
		},
		Resources: []result.Resources{{Source: "client", Measure: "this process", Cores: 2, Period: 1, At: []float64{0.5, 1},
			Metrics: map[result.Metric][]result.Value{result.CPU: {0, 0.75}}, Total: result.Usage{Wall: 0.5, CPU: 0.75}}},
		OtherDatabases: []result.OtherDatabase{{Name: "PostgreSQL", PID: 4711, Process: "postgres", RSS: 1 << 20, Share: 0.25}},
		Calibration:    &result.Calibration{Workers: 2, RowsPerSecond: 5e6, QueriesPerSecond: 1e6},
		Place:          result.Place{Sweep: "20260131-154500-s3f2a", Point: 2, Points: 6, Parameters: []result.Parameter{{Path: "load.workers", Value: "2"}}},
		CheckSeed:      "a seed", Targets: []result.Target{
			{
				Name: "duck", Driver: "duckdb", Twin: "quest", Embedded: true, CoLocated: true, Idle: "pause", Group: &result.TargetGroup{Number: 2, Count: 3, Place: "/data/x.db", Shares: []string{"other"}}, Types: "bool as INTEGER, 0 or 1", Profile: "tuned", Durability: "strict",
				Options: map[string]string{"threads": "2", "memory": ""},
				Changes: []driver.Change{{Name: "threads", Value: "2", Default: "one a core"}},
				Modules: []result.Module{{Path: "example.org/duck", Version: "v1.2.3"}},
				Description: driver.Description{Version: "v1.4.1", Edition: "community", Location: "/data/x.duckdb", Durability: "each commit",
					Settings: map[string]string{"threads": "2"}},
				Repeats: []result.Repeat{{Number: 1, Load: &result.Load{
					Workers: 2, BatchSize: 5000, Rows: 36000, Metrics: 360000, WireBytes: 1 << 40, Prepare: 0.01, Sent: 1.5, Acked: 1.6,
					Settled: 1.75, Batches: latency(t, 10*time.Millisecond), DiskBytes: 4096, DiskBefore: 512, DiskSettled: 8192, DiskExcluded: "the index", DiskPending: "5 rows",
					Steps: []result.Step{{Name: "analyze", Seconds: 0.5, DiskBytes: 4096}}, Withheld: "the census differs", Unverified: "null target", Skipped: 3,
					Rates: []result.RatePoint{{At: 1, Rows: 20000}, {At: 1.6, Rows: 16000}},
					Census: []result.CensusResult{
						{Table: "cpu", Expected: 36000, Counted: 35999, Problem: "one row is missing", Lost: 1, Duplicates: 2,
							Contents: &result.Contents{Fields: []result.Compared{{By: "count, sum", Fields: 3}}, Series: 4, Times: "first, last", Distinct: -1, PossiblyMissing: "nobody knows", Seconds: 0.25}},
						{Table: "mem", Expected: 5, Counted: -1},
					},
					Retries: &result.Retries{Tries: 3, Values: 50, SentTwice: 4, Cause: "cut"}, Accumulated: []float64{1.5, 0.25},
					Mixed: &result.Mixed{Share: 0.8, Windows: "recent", Loaded: 36000, Rest: 5, Wall: 2, Writes: result.Load{Rows: 1000, Batches: latency(t, time.Millisecond)}, Queriers: 2,
						Types: []result.MixedType{{Type: "lastpoint", Executed: 5, Stale: 1, Service: latency(t, time.Millisecond), Freshness: latency(t, time.Second)}, {Type: "a-wrong", Withheld: "wrong beside writes"}}},
					Cell: result.Cell{From: 1.5, To: 4, ClientBound: "it was slow", Client: &result.Client{Wall: 2.5, CPU: 3, Share: 0.6, Procs: 2, Cores: 2}},
				},
					Queries: []result.Queries{
						{Type: "z-run-first", Help: "the first", Verdict: result.Verdict{Checked: 10, Empty: 2, Rows: 120}, Workers: 4,
							Executed: 1000, BurnIn: 5, AtLeast: 3, Distinct: 500, First: 500,
							Sample: result.Sample{Wanted: 20, Early: 2, Captured: 12, Different: 7, Repeated: true, Short: true},
							Each:   []float64{0, 0.25, -60}, TimeBox: 60, Timeout: 90, Wall: 12.5, PerSecond: 80, Rows: 12000,
							Bytes: 96000, Values: 24000, Accumulated: []float64{2, 2.5, 1, 3}, Service: latency(t, 2*time.Millisecond), Cell: result.Cell{From: 5, To: 6}, Cache: "dropped", Cold: true,
							Open: &result.OpenLoop{Schedule: "1000/s", Queue: 5, Arrivals: 1000, Offered: 998.5, Dropped: 2, Waiting: 1,
								Response: latency(t, 3*time.Millisecond), Lag: latency(t, time.Microsecond), Saturated: "saturated",
								Search: &result.RateSearch{Objective: "p99<10ms", Precision: 0.05, Kept: 900, Failed: 1000, Tries: []result.RateTry{{Rate: 900}, {Rate: 1000, Failed: "p99"}}}}},
						{Type: "a-wrong", Help: "the second", Verdict: result.Verdict{Checked: 10, Difference: "row 3: 1 ≠ 2"}, Withheld: "wrong answers"},
						{Type: "lastpoint", Help: "the third", Unsupported: "it has no such thing"},
					}}, {Number: 2, Queries: []result.Queries{
					{Type: "z-run-first", Help: "the first", Verdict: result.Verdict{Checked: 10, Empty: 2, Rows: 120}, Workers: 4,
						Executed: 900, Distinct: 500, Each: []float64{0.1}, Wall: 1, PerSecond: 900, Accumulated: []float64{1, 0, 0, 0.5}, Service: latency(t, 3*time.Millisecond)},
				}}},
			},
			{Name: "quest", Driver: "questdb", Description: driver.Description{Version: "9.0"}, Failure: "cannot be reached"},
		},
	}
	pool(t, r)
	return r
}

func pool(t *testing.T, r *result.Run) {
	t.Helper()
	pooled, err := r.Pool()
	must(t, err)
	*r = *pooled
}

// save begins the run without targets, and appends all its pieces.
func save(t *testing.T, s *Store, r *result.Run) {
	t.Helper()
	ctx := t.Context()
	begun := *r
	begun.Targets = nil
	must(t, s.Begin(ctx, &begun))
	r.ID, r.Status = begun.ID, begun.Status
	for i := range r.Targets {
		target := &r.Targets[i]
		must(t, s.Append(ctx, r, result.NewPiece(target, 0, nil, nil)))
		for _, repeat := range target.Repeats {
			if repeat.Load != nil {
				must(t, s.Append(ctx, r, result.NewPiece(target, repeat.Number, repeat.Load, nil)))
			}
			for j := range repeat.Queries {
				must(t, s.Append(ctx, r, result.NewPiece(target, repeat.Number, nil, &repeat.Queries[j])))
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openTemp(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), nil)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func TestRoundTrip(t *testing.T) {
	// Each character of this name has a meaning in a URI.
	dir := filepath.Join(t.TempDir(), "a b?c#d%20&e=f", "results")
	s, err := Open(t.Context(), dir, nil)
	must(t, err)
	want := newRun(t)
	save(t, s, want)
	want.Finished = started.Add(3*time.Minute + time.Nanosecond)
	want.Status, want.Reason = result.Incomplete, "quest cannot be reached"
	want.Dataset.Rows = 35999
	must(t, s.Save(t.Context(), want))
	must(t, s.Close())

	s, err = OpenExisting(t.Context(), dir, nil)
	must(t, err)
	defer s.Close()
	got, err := s.Run(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the run read differs from the saved one (-saved +read):\n%s", diff)
	}
}

func TestSavingAgainReplaces(t *testing.T) {
	s := openTemp(t)
	want := newRun(t)
	save(t, s, want)
	duck := &want.Targets[0]
	duck.Description.Version = "v2"
	first := &duck.Repeats[0]
	first.Load = &result.Load{Rows: 1, DiskBytes: -1, Rates: []result.RatePoint{{At: 1, Rows: 1}}}
	first.Queries[0].Executed = 7
	pool(t, want)
	must(t, s.Append(t.Context(), want, result.NewPiece(duck, 1, first.Load, nil)))
	must(t, s.Append(t.Context(), want, result.NewPiece(duck, 1, nil, &first.Queries[0])))
	got, err := s.Run(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-saved +read):\n%s", diff)
	}
}

// The whole run replaces its pieces completely.
func TestSaveReplacesPieces(t *testing.T) {
	s := openTemp(t)
	want := newRun(t)
	save(t, s, want)
	want.Targets[0].Repeats = nil
	must(t, s.Save(t.Context(), want))
	pool(t, want)
	got, err := s.Run(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-wanted +read):\n%s", diff)
	}
	pieces := 0
	must(t, s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM pieces").Scan(&pieces))
	if pieces != 0 {
		t.Errorf("%d pieces are left", pieces)
	}
}

func TestBeginGivesIDs(t *testing.T) {
	s := openTemp(t)
	shape := regexp.MustCompile(`^20260131-154500-[0-9a-f]{4}$`)
	seen := map[string]bool{}
	for range 20 {
		r := newRun(t)
		must(t, s.Begin(t.Context(), r))
		if !shape.MatchString(r.ID) || seen[r.ID] || r.Status != result.Running {
			t.Errorf("id %q (seen before: %v), status %s", r.ID, seen[r.ID], r.Status)
		}
		seen[r.ID] = true
	}
}

func TestBeginNeverOverwrites(t *testing.T) {
	s := openTemp(t)
	r := newRun(t)
	r.ID = "20260131-154500-mine"
	must(t, s.Begin(t.Context(), r))
	other := newRun(t)
	other.ID, other.Name = "20260131-154500-mine", "other"
	if err := s.Begin(t.Context(), other); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("beginning the same id again: %v", err)
	}
	got, err := s.Run(t.Context(), "20260131-154500-mine")
	must(t, err)
	if got.Name != "nightly" {
		t.Errorf("the run is now %q", got.Name)
	}
}

func TestSavingWithoutOwnerFails(t *testing.T) {
	s := openTemp(t)
	r := newRun(t)
	r.ID = "never begun"
	ctx := t.Context()
	for name, err := range map[string]error{
		"piece": s.Append(ctx, r, result.NewPiece(&r.Targets[0], 0, nil, nil)),
		"whole": s.Save(ctx, r),
	} {
		if err == nil {
			t.Errorf("%s was saved for a run that was not begun", name)
		}
	}
	if err := s.Begin(ctx, &result.Run{}); err == nil {
		t.Error("a run without a time was begun")
	}
}

func TestRuns(t *testing.T) {
	s := openTemp(t)
	for i, at := range []time.Time{started, started.Add(time.Hour), started.Add(time.Hour - time.Nanosecond)} {
		r := newRun(t)
		r.ID, r.Started = string(rune('a'+i)), at
		if i == 1 {
			save(t, s, r)
			continue
		}
		must(t, s.Begin(t.Context(), r))
	}
	got, err := s.Runs(t.Context())
	must(t, err)
	want := Summary{ID: "b", Name: "nightly", Command: "run", Started: started.Add(time.Hour), Status: result.Running,
		Workload: "cpu-only", Fingerprint: "0011223344556677", Tool: "0.1.0",
		Targets: []Target{{"duck", "duckdb", "v1.4.1", true, false}, {"quest", "questdb", "9.0", false, true}}, Types: 3, Place: newRun(t).Place, Withheld: 3}
	if len(got) != 3 || got[1].ID != "c" || got[2].ID != "a" {
		t.Fatalf("runs %+v, want b, c, a", got)
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunReferences(t *testing.T) {
	s := openTemp(t)
	if _, err := s.Run(t.Context(), Latest); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "no run is stored yet") {
		t.Errorf("latest of none: %v", err)
	}
	for i, id := range []string{"20260131-154500-3f2a", "20260131-154501-00ff", "20260201-000000-beef"} {
		r := newRun(t)
		r.ID, r.Started = id, started.Add(time.Duration(i)*time.Second)
		must(t, s.Begin(t.Context(), r))
	}
	for reference, want := range map[string]string{
		Latest:                 "20260201-000000-beef",
		"20260131-154501-00ff": "20260131-154501-00ff",
		"202602":               "20260201-000000-beef",
		"3f2a":                 "20260131-154500-3f2a",
	} {
		r, err := s.Run(t.Context(), reference)
		if err != nil {
			t.Errorf("%s: %v", reference, err)
		} else if r.ID != want {
			t.Errorf("%s is %s, want %s", reference, r.ID, want)
		}
	}
	for reference, want := range map[string]string{
		"20260131":             "alone: it matches 20260131-154501-00ff, 20260131-154500-3f2a",
		"20260131-154500-3f2b": `did you mean "20260131-154500-3f2a"`,
		"x":                    `did you mean "20260201-000000-beef"?`,
		"":                     "did you mean",
	} {
		_, err := s.Run(t.Context(), reference)
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", reference, err, want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenExisting(t.Context(), dir, nil)
	if !errors.Is(err, ErrNoResults) || !strings.Contains(err.Error(), "run tsmark run first") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
		t.Error("looking for results created some")
	}
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o666))
	if _, err := Open(t.Context(), filepath.Join(file, "results"), nil); err == nil || !strings.Contains(err.Error(), "--results") {
		t.Errorf("a folder that cannot be: %v", err)
	}
}

func TestUnwritableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	must(t, err)
	r := newRun(t)
	save(t, s, r)
	must(t, s.Close())
	must(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o777)
	if _, err := Open(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "--results") {
		t.Errorf("opening it for writing: %v", err)
	}
	s, err = OpenExisting(t.Context(), dir, nil)
	must(t, err)
	defer s.Close()
	if _, err := s.Run(t.Context(), r.ID); err != nil {
		t.Error(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	must(t, err)
	_, err = s.db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	must(t, err)
	must(t, s.Close())
	for name, open := range map[string]func(context.Context, string, func(*result.Run) Figures) (*Store, error){"Open": Open, "OpenExisting": OpenExisting} {
		if _, err := open(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "newer tsmark") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSharedFolder(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := Open(t.Context(), dir, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 5 {
				r := newRun(t)
				if err := s.Begin(t.Context(), r); err != nil {
					t.Error(err)
				} else if err := s.Append(t.Context(), r, result.NewPiece(&r.Targets[0], 1, r.Targets[0].Load, nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s, err := OpenExisting(t.Context(), dir, nil)
	must(t, err)
	defer s.Close()
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) != 20 {
		t.Errorf("%d runs, want 20 (error %v)", len(runs), err)
	}
}

func TestJournalAndSync(t *testing.T) {
	s := openTemp(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000", "foreign_keys": "1"} {
		var got string
		must(t, s.db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s = %s, want %s", pragma, got, want)
		}
	}
}

// TestKilledRunKeepsWhatHadFinished runs a child process that saves a run, closes nothing, and
// kills itself.
func TestKilledRunKeepsWhatHadFinished(t *testing.T) {
	const variable = "TSMARK_TEST_KILLED_IN"
	if dir := os.Getenv(variable); dir != "" {
		s, err := Open(t.Context(), dir, nil)
		must(t, err)
		save(t, s, newRun(t))
		tx, err := s.db.BeginTx(t.Context(), &sql.TxOptions{})
		must(t, err)
		_, err = tx.Exec("DELETE FROM pieces") // in the middle of saving
		must(t, err)
		self, err := os.FindProcess(os.Getpid())
		must(t, err)
		must(t, self.Kill())
		select {}
	}
	executable, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), executable, "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), variable+"="+dir)
	out, err := child.CombinedOutput()
	if err == nil || strings.Contains(string(out), "FAIL") {
		t.Fatalf("the child was not killed (%v):\n%s", err, out)
	}

	s, err := OpenExisting(t.Context(), dir, nil)
	must(t, err)
	defer s.Close()
	got, err := s.Run(t.Context(), Latest)
	must(t, err)
	want := newRun(t)
	want.ID, want.Status = got.ID, result.Running
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-saved +read):\n%s", diff)
	}
	if got.Passed() {
		t.Error("a killed run passed")
	}
}

// Removed and replaced content is not in any byte of the files.
func TestRemovedIsGone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, nil)
	must(t, err)
	secret := strings.Repeat("sw0rdfish ", 3000) // pages of its own
	replaced, removed := newRun(t), newRun(t)
	replaced.ID, removed.ID = "20260131-154500-aaaa", "20260131-154500-bbbb"
	for _, run := range []*result.Run{replaced, removed} {
		run.Reason = secret
		must(t, s.Add(t.Context(), run))
	}
	replaced.Reason = "nothing"
	must(t, s.Save(t.Context(), replaced))
	must(t, s.Discard(t.Context(), removed.ID))
	must(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		must(t, err)
		if n := bytes.Count(text, []byte("sw0rdfish")); n > 0 {
			t.Errorf("%s still says it %d times", name, n)
		}
	}
}
