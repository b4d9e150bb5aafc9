package cli

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/run"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/workload"
)

// TestMain makes the test's own binary act as tsmark in the scripts, and as
// a server.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tsmark": func() { os.Exit(mainWith(scriptCatalog())) }, "sulkyinflux": sulkyInflux})
}

// shortCalibration is the time that tests have for one.
const shortCalibration = 50 * time.Millisecond

// testCatalog is newCatalog for tests, whose calibrations are short.
func testCatalog(w []workload.Workload, k []driver.Driver) catalog.Catalog {
	c := catalog.New(w, k)
	c.Calibration = shortCalibration
	return c
}

// scriptCatalog is the catalog without the detection of pauses: tests count operations, and they
// run on crowded processors. It also reads back few rows, each with a query of its own, since
// datasets of tests are small, and calibrates only briefly.
func scriptCatalog() catalog.Catalog {
	known := knownCatalog()
	known.Pulse = pulse.Silent
	known.SampleRows, known.Calibration = 50, shortCalibration
	return known
}

// The scripts say how tsmark behaves on the command line. Beside testscript's
// commands they use:
//
//	status N tsmark ARG…                the exit status is N
//	refused PATTERN tsmark ARG…         the exit status is 2, nothing is printed but one line on
//	                                    standard error that matches, and no file or folder is made
//	                                    but for a results database
//	interrupt file=GLOB tsmark ARG…     Ctrl-C once such a file is there: the exit status is 130
//	interrupt stderr=PATTERN tsmark ARG…  … once such a line is on standard error
//	killed file=GLOB tsmark ARG…, killed stderr=PATTERN tsmark ARG…  the same with kill -9
//	sha256 FILE SUM                     FILE may be stdout
//	unzst FROM TO                       decompresses
//	duckdb FILE SQL…                    executes statements in DuckDB itself
//	sqlite FILE SQL…|@FILE              executes statements in SQLite itself
//	http METHOD URL [BODY|@FILE]        sends a request to a server, past tsmark
//
// The condition [plain] holds in a plain go test, which omits slow scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		ContinueOnError:     os.Getenv("KEEP") != "",
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: commands(),
		Condition: func(name string) (bool, error) {
			if name != "plain" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return slowtest.Plain(), nil
		},
	})
}

// commands are the commands of the scripts besides testscript's.
func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"status":    cmdStatus,
		"refused":   cmdRefused,
		"interrupt": cmdInterrupt,
		"killed":    cmdKilled,
		"sha256":    cmdSHA256,
		"unzst":     cmdUnzst,
		"duckdb":    cmdDuckDB,
		"sqlite":    cmdSQLite,
		"http":      cmdHTTP,
	}
}

// usage fails the script unless there are enough arguments and no "!".
func usage(ts *testscript.TestScript, neg bool, args []string, least int, text string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", text)
	}
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "status N PROGRAM ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitStatus(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	withoutTrace(ts, ts.ReadFile("stderr"))
}

func exitStatus(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		ts.Fatalf("%v", err)
	}
	return exit.ExitCode()
}

func withoutTrace(ts *testscript.TestScript, text string) {
	if strings.Contains(text, "goroutine ") || strings.Contains(text, "panic:") {
		ts.Fatalf("a stack trace:\n%s", text)
	}
}

func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "refused PATTERN PROGRAM ARG…")
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	before := tree(ts)
	if got := exitStatus(ts, ts.Exec(args[1], args[2:]...)); got != app.ExitUsage {
		ts.Fatalf("exit status %d, want %d", got, app.ExitUsage)
	}
	said := ts.ReadFile("stderr") // one line, which the pattern sees without its end
	if strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "tsmark: ") || !strings.HasSuffix(said, "\n") {
		ts.Fatalf("not one line by tsmark:\n%s", said)
	}
	if !pattern.MatchString(strings.TrimSuffix(said, "\n")) {
		ts.Fatalf("%q does not match %s", said, args[0])
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("printed on standard output:\n%s", out)
	}
	for _, name := range tree(ts) {
		results := strings.HasPrefix(filepath.Base(name), "tsmark.db") || filepath.Base(name) == "tsmark-results"
		if !results && !slices.Contains(before, name) {
			ts.Fatalf("left behind: %s", name)
		}
	}
}

// tree lists the files and folders of the script.
func tree(ts *testscript.TestScript) []string {
	var names []string
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return names
}

func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "interrupt file=GLOB|stderr=PATTERN PROGRAM ARG…")
	if got := exitStatus(ts, stop(ts, syscall.SIGINT, args)); got != app.ExitInterrupted {
		ts.Fatalf("exit status %d, want %d:\n%s", got, app.ExitInterrupted, ts.ReadFile(stopped))
	}
	withoutTrace(ts, ts.ReadFile(stopped))
}

func cmdKilled(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "killed file=GLOB|stderr=PATTERN PROGRAM ARG…")
	_ = stop(ts, syscall.SIGKILL, args)
}

// stopped is the file with the output of a program that a signal stopped.
const stopped = "interrupted.stderr"

// stop runs a program, sends it a signal once the condition in the first argument
// holds, and returns the program's error.
func stop(ts *testscript.TestScript, signal os.Signal, args []string) error {
	by, what, _ := strings.Cut(args[0], "=")
	log := ts.MkAbs(stopped)
	var due func() bool
	switch by {
	case "file":
		due = func() bool { found, err := filepath.Glob(ts.MkAbs(what)); ts.Check(err); return len(found) > 0 }
	case "stderr":
		pattern := regexp.MustCompile(what)
		due = func() bool { text, err := os.ReadFile(log); ts.Check(err); return pattern.Match(text) }
	default:
		ts.Fatalf("%s: neither file nor stderr", args[0])
	}
	stderr, err := os.Create(log)
	ts.Check(err)
	defer stderr.Close()
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), stderr
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); !due(); {
		select {
		case <-ended:
			ts.Fatalf("ended too early:\n%s", ts.ReadFile(log))
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			ts.Check(cmd.Process.Kill())
			ts.Fatalf("not within a minute: %s", args[0])
		}
	}
	ts.Check(cmd.Process.Signal(signal))
	select {
	case err = <-ended:
		return err
	case <-time.After(20 * time.Second):
		ts.Check(cmd.Process.Kill())
		ts.Fatalf("goes on 20 seconds after the signal")
		return nil
	}
}

func cmdSHA256(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "sha256 FILE SUM")
	sum := sha256.Sum256([]byte(ts.ReadFile(args[0])))
	if got := hex.EncodeToString(sum[:]); got != args[1] {
		ts.Fatalf("%s has the sum %s", args[0], got)
	}
}

func cmdUnzst(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "unzst FROM TO")
	from, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer from.Close()
	r, err := zstd.NewReader(from)
	ts.Check(err)
	defer r.Close()
	text, err := io.ReadAll(r)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o666))
}

func cmdSQLite(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "sqlite FILE SQL…")
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	for _, statement := range args[1:] {
		if file, named := strings.CutPrefix(statement, "@"); named {
			statement = ts.ReadFile(file)
		}
		_, err := db.Exec(statement)
		ts.Check(err)
	}
}

func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "http METHOD URL [BODY|@FILE]")
	body := strings.Join(args[2:], "\n")
	if file, named := strings.CutPrefix(body, "@"); named {
		body = ts.ReadFile(file)
	}
	request, err := http.NewRequest(args[0], args[1], strings.NewReader(body))
	ts.Check(err)
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	ts.Check(err)
	if response.StatusCode/100 != 2 {
		ts.Fatalf("%s: %s", response.Status, text)
	}
}

// Each command has a description and examples that parse.
func TestHelp(t *testing.T) {
	a := &app.App{Catalog: knownCatalog()}
	commands := map[string]bool{}
	for _, c := range newRoot(a, run.NewExecutor(a)).Commands() {
		commands[c.Name()] = true
		if c.Short == "" || c.Example == "" {
			t.Errorf("tsmark %s has no short help or no examples", c.Name())
		}
	}
	want := []string{"agent", "analyze", "bisect", "check", "compare", "completion", "conformance", "drivers", "drop", "experiments", "export", "expose", "generate", "history", "import", "inspect", "load", "merge", "new-driver", "queries", "query", "report", "reproduce", "rerun", "resume", "run", "runs", "schema", "serve-driver", "server", "site", "verify", "version"}
	if got := slices.Sorted(maps.Keys(commands)); !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v; say in a script what a new one does", got, want)
	}
}
