package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// watched is SQLite with a check of the database's indexes before each query: they must be
// the ones that the target's option makes.
type watched struct {
	t       *testing.T
	queries atomic.Int64 // queries of the workload, without the reads after a load
	fail    string       // the index option of a target that fails once
	failed  bool
	meddle  func() // called once before a loaded database is opened; may be nil
	down    string // the index option of a target that cannot be reached; then SQLite counts as a server
}

func (w *watched) kind() driver.Driver {
	kind := memory.ChangeCaps(sqlite.Driver(), func(c *driver.Caps) { c.Embedded = w.down == "" })
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		if o["index"] == w.down {
			return driver.DB{}, fmt.Errorf("no server %w", driver.ErrUnreachable)
		}
		if meddle := w.meddle; !env.Create && meddle != nil {
			w.meddle = nil
			meddle()
		}
		opened, err := sqlite.Driver().Open(ctx, env, o)
		if err != nil {
			return driver.DB{}, err
		}
		return driver.DB{Required: watchedTarget{opened, w, o["index"]}}, nil
	}
	return kind
}

type watchedTarget struct {
	driver.Required
	w     *watched
	index string
}

func (d watchedTarget) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	if d.index == d.w.fail && !d.w.failed && d.w.queries.Load() > 6 {
		d.w.failed = true
		return nil, errors.New("no further connection")
	}
	q, err := d.Required.NewQuerier(ctx, worker)
	return watchedQuerier{q, d}, err
}

type watchedQuerier struct {
	driver.Querier
	d watchedTarget
}

func (q watchedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var answer query.Answer
	indexes := driver.Request{Text: "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'cpu_by%' ORDER BY name)"}
	if _, err := q.Querier.Do(ctx, indexes, &answer); err != nil {
		return driver.Cost{}, err
	}
	want := map[string]string{"both": "cpu_by_tags_id_time,cpu_by_time", "time": "cpu_by_time"}[q.d.index]
	if got := answer.Rows[0][0].String(); want != "" && got != want {
		q.d.w.t.Errorf("the target with index=%s was queried in a database with the indexes %s", q.d.index, got)
	}
	// lastpoint reads the latest time, high-cpu-1 reads values above a limit.
	if strings.Contains(r.Text, "max(cpu.time)") || strings.Contains(r.Text, "cpu.usage_user > ") {
		q.d.w.queries.Add(1)
	}
	return q.Querier.Do(ctx, r, sink)
}

// tsmark executes a command on the watched SQLite, on a small dataset and, if it is a run,
// with two rounds of queries.
func (w *watched) tsmark(code int, args ...string) (said string) {
	w.t.Helper()
	args = append([]string{"tsmark"}, args...)
	switch args[1] {
	case "run":
		args = append(args, "--scale", "40", "--log-interval", "1h", "--query-type", "lastpoint,high-cpu-1", "--queries", "3", "--verify", "2", "--repeats", "3", "--load-repeats", "1", "--time-box", "0s")
	case "load":
		args = append(args, "--scale", "40", "--log-interval", "1h")
	}
	var stdout, stderr bytes.Buffer
	got := execute(w.t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{w.kind()}))
	if got != code {
		w.t.Fatalf("%s: exit status %d, want %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	return strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
}

// says fails the test if a part is missing in the output.
func says(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("it does not say %q:\n%s", part, said)
		}
	}
}

// Targets in one file run one after the other, whatever the name of the
// file, and each queries its own tables.
func TestTargetsInOnePlace(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.Mkdir(real, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(real, "x.db")
	for name, args := range map[string][]string{
		"one path":   {"--target", "a=sqlite,index=both,path=" + path, "--target", "b=sqlite,index=time,path=" + path},
		"two names":  {"--target", "a=sqlite,index=both,path=" + path, "--target", "b=sqlite,index=time,path=" + filepath.Join(dir, "link", ".", "x.db")},
		"a sweep":    {"--target", "sqlite,path=" + path, "--sweep", "targets.sqlite.index=both,time"},
		"both loads": {"--target", "a=sqlite,index=both,path=" + path, "--target", "b=sqlite,index=time,path=" + path, "--load-repeats", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			results := t.TempDir()
			w := &watched{t: t}
			said := w.tsmark(app.ExitDone, append([]string{"run", "--verbose", "--results", results, "--replace"}, args...)...)
			says(t, said, "group 1 of 2", "group 2 of 2", "Targets that share a place were measured one after the other",
				"loaded and queried in group 2 of 2, since it shares "+path+" with")
			if w.queries.Load() == 0 {
				t.Error("no query ran")
			}
			run := newest(t, results)
			if !run.Passed() || !result.InDifferentGroups(&run.Targets[0], &run.Targets[1]) {
				t.Errorf("passed: %v; groups %+v, %+v", run.Passed(), run.Targets[0].Group, run.Targets[1].Group)
			}
		})
	}
}

// Names that lead to one file without looking alike are found by the mark,
// before anything is overwritten.
func TestOnePlaceUnderTwoNames(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x.db"), filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil { // it leads nowhere yet
		t.Fatal(err)
	}
	w := &watched{t: t}
	said := w.tsmark(app.ExitUsage, "run", "--results", t.TempDir(), "--target", "a=sqlite,index=both,path="+path, "--target", "b=sqlite,index=time,path="+link)
	says(t, said, "targets a ("+path+") and b ("+link+") are one place under two names, and overwrite each other; write the place alike in both, so that they take turns, or give each its own")
	if w.queries.Load() != 0 {
		t.Error("queries ran")
	}
}

// Data loaded with one layout is not queried as another.
func TestQueriedAsLoaded(t *testing.T) {
	results, path := t.TempDir(), filepath.Join(t.TempDir(), "x.db")
	w := &watched{t: t}
	w.tsmark(app.ExitDone, "load", "a=sqlite,index=both,path="+path, "--results", results)
	for _, command := range []string{"query", "verify"} {
		said := w.tsmark(app.ExitUsage, command, "b=sqlite,index=time,path="+path, "--results", results, "--query-type", "lastpoint")
		says(t, said, "was loaded with index=both, not with index=time, by target a of run", "give it the options that it was loaded with, or load it again with --replace")
		w.tsmark(app.ExitDone, command, "b=sqlite,index=both,cache_size=10,path="+path, "--results", results, "--query-type", "lastpoint")
	}
}

// All targets are looked at before the first row is loaded.
func TestTargetsAreLookedAtFirst(t *testing.T) {
	results, dir := t.TempDir(), t.TempDir()
	taken, free := filepath.Join(dir, "taken.db"), filepath.Join(dir, "free.db")
	w := &watched{t: t}
	w.tsmark(app.ExitDone, "load", "sqlite,path="+taken, "--results", results)
	both := []string{"run", "--results", results, "--target", "a=sqlite,path=" + free, "--target"}
	says(t, w.tsmark(app.ExitUsage, append(both, "b=sqlite,path="+taken)...), "the database of target b holds dataset", "add --replace")
	if _, err := os.Stat(free); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was loaded into the first target: %v", err)
	}
	before := w.tsmark(app.ExitDone, "runs", "--results", results)
	w.down = "none"
	said := w.tsmark(app.ExitTarget, append(both, "b=sqlite,index=none,path="+filepath.Join(dir, "down.db"), "--target", "c=sqlite,path="+filepath.Join(dir, "c.db"))...)
	says(t, said, "target b failed: no server cannot be reached")
	if listed := w.tsmark(app.ExitDone, "runs", "--results", results); strings.Count(listed, "\n") != strings.Count(before, "\n") {
		t.Errorf("a run that did not begin is stored:\n%s", listed)
	}
	if strings.Contains(said, "target c failed") {
		t.Errorf("c failed for the mistake in b:\n%s", said)
	}
	if strings.Contains(said, "load a") {
		t.Errorf("the first target was loaded:\n%s", said)
	}
	if strings.Count(said, "tsmark: ") != 1 {
		t.Errorf("not one line:\n%s", said)
	}
}

// Data that another user loaded into the database during the run is not
// measured as the run's own.
func TestLoadedByOthersMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	w := &watched{t: t}
	w.meddle = func() {
		(&watched{t: t}).tsmark(app.ExitDone, "load", "thief=sqlite,index=both,path="+path, "--results", t.TempDir(), "--replace")
	}
	said := w.tsmark(app.ExitTarget, "run", "--results", t.TempDir(), "--target", "a=sqlite,index=both,path="+path)
	says(t, said, "target a failed: another dataset has been loaded into the database since, by target thief of run")
	if w.queries.Load() != 0 {
		t.Error("queries ran")
	}
}

// A target that failed, and whose data another target has since replaced,
// starts again from scratch when the run is resumed.
func TestResumeOverwritten(t *testing.T) {
	results, path := t.TempDir(), filepath.Join(t.TempDir(), "x.db")
	w := &watched{t: t, fail: "both"}
	w.tsmark(app.ExitTarget, "run", "--results", results, "--target", "a=sqlite,index=both,path="+path, "--target", "b=sqlite,index=time,path="+path)
	before := cells(newest(t, results))
	for _, part := range []string{"load 1 of a", "lastpoint, repeat 1 of a", "load 1 of b", "high-cpu-1, repeat 3 of b"} {
		if before[part] == nil {
			t.Fatalf("before it was resumed the run lacks %s", part)
		}
	}
	if before["high-cpu-1, repeat 3 of a"] != nil {
		t.Fatal("a has not failed")
	}
	says(t, w.tsmark(app.ExitDone, "resume", "--results", results), "a begins again: another target has been loaded into "+path+" since", "group 1 of 2")
	run := newest(t, results)
	if after := cells(run); len(after) != 2+2*3*2 || !run.Passed() {
		t.Errorf("%d cells, passed: %v", len(after), run.Passed())
	}
}
