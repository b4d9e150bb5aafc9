package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

// importedRun writes a file with a run that was to execute a command, and did not
// finish.
func importedRun(t *testing.T, command string, status result.Status) (file, id string) {
	t.Helper()
	run := &result.Run{
		ID: "20990131-154500-3f2a", Name: "trap\x1b]0;gotcha\a", Reason: "\x1b[2J\u202e", Command: "run", Started: time.Date(2099, 1, 31, 15, 45, 0, 0, time.UTC), Status: status,
		Experiment: "# \u202e\nworkload: {name: cpu-only, scale: 40, log-interval: 10m}\nqueries: {count: 2, verify: 1, types: [lastpoint]}\n" +
			"targets:\n  - driver: server\n    start: " + command + "\n",
		Targets: []result.Target{{Name: "server", Driver: "server", Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Rows: 1}}}}},
	}
	file = filepath.Join(t.TempDir(), "trap.tsmark")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	writeExports(t, f, store.Export{Run: run})
	return file, run.ID
}

// An imported run executes nothing: it is marked, never resumed, and repeated
// only after the user has confirmed its commands.
func TestImportedRunExecutesNothing(t *testing.T) {
	kind := memory.ChangeCaps(memory.Driver("server"), func(c *driver.Caps) { c.Embedded = false })
	kind.Options = []driver.Option{{Name: "host", Default: "127.0.0.1"}, {Name: "port", Default: "1"}}
	proof := filepath.Join(t.TempDir(), "proof")
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		if _, err := os.Stat(proof); err != nil { // its server has not begun
			return driver.DB{}, driver.ErrUnreachable
		}
		return open(ctx, env, o)
	}
	untouched := func(after string) {
		t.Helper()
		if _, err := os.Stat(proof); err == nil {
			t.Fatalf("%s executed the command of an imported run", after)
		}
	}
	for _, status := range []result.Status{result.Incomplete, result.Running} {
		dir := t.TempDir()
		file, id := importedRun(t, "touch "+proof+"; exit {port}", status)
		if code, said := try(t, kind, "tsmark", "import", file, "--results", dir); code != app.ExitDone {
			t.Fatalf("exit status %d, said %s", code, said)
		}
		if _, said := try(t, kind, "tsmark", "runs", "--results", dir); !strings.Contains(said, "  imported, "+string(status)) {
			t.Errorf("it is not listed as imported:\n%s", said)
		}
		if code, said := try(t, kind, "tsmark", "resume", "--results", dir); code != app.ExitDone || !strings.HasPrefix(said, "Nothing to resume: every run is complete, was imported") {
			t.Errorf("resume: exit status %d, said %s", code, said)
		}
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"resume", id}, "was imported and cannot be resumed; "},
			{[]string{"rerun"}, "there is no terminal for a confirmation; "},
			{[]string{"rerun", id}, "and add --yes"},
		} {
			code, said := try(t, kind, append(append([]string{"tsmark"}, c.args...), "--results", dir)...)
			if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, c.want) {
				t.Errorf("%v: exit status %d, said %s", c.args, code, said)
			}
			untouched(strings.Join(c.args, " "))
		}
		if _, said := try(t, kind, "tsmark", "report", "--experiment", "--results", dir); !strings.HasPrefix(said, "# Run "+id+" was imported: ") {
			t.Errorf("its experiment comes without a warning:\n%s", said)
		} else if _, err := experiment.Parse("e.yaml", []byte(said)); err != nil {
			t.Errorf("its experiment cannot be read: %v", err)
		}
		// Texts from the imported file cannot move the cursor.
		for _, args := range [][]string{{"runs"}, {"report"}, {"report", "--format", "markdown"}, {"report", "--format", "csv"}, {"report", "--experiment"}, {"resume", id}} {
			_, said := try(t, kind, append(append([]string{"tsmark"}, args...), "--results", dir)...)
			if strings.ContainsFunc(said, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }) {
				t.Errorf("%v: %q", args, said)
			}
		}
		// The data that it loaded is not available here.
		if _, said := try(t, kind, "tsmark", "query", "server", "--query-type", "lastpoint", "--results", dir); strings.Contains(said, id) {
			t.Errorf("its databases are looked for: %s", said)
		}
		// It stays imported on its way to a third machine.
		further, third := filepath.Join(t.TempDir(), "again.tsmark"), t.TempDir()
		try(t, kind, "tsmark", "export", "--output", further, "--results", dir)
		if code, said := try(t, kind, "tsmark", "import", further, "--results", third); code != app.ExitDone {
			t.Fatalf("exit status %d, said %s", code, said)
		}
		if code, said := try(t, kind, "tsmark", "resume", "--results", third); code != app.ExitDone || !strings.HasPrefix(said, "Nothing to resume: ") {
			t.Errorf("exit status %d, said %s", code, said)
		}
		untouched("the third machine")
		// The same again is known.
		if code, said := try(t, kind, "tsmark", "import", further, "--results", dir); code != app.ExitDone || !strings.Contains(said, "is here already") {
			t.Errorf("exit status %d, said %s", code, said)
		}
		code, said := try(t, kind, "tsmark", "rerun", "--yes", "--results", dir)
		if _, err := os.Stat(proof); err != nil || !strings.Contains(said, `runs for target "server" the command "touch `+proof) {
			t.Errorf("exit status %d, without a trace; said %s", code, said)
		}
		if err := os.Remove(proof); err != nil {
			t.Fatal(err)
		}
	}
}
