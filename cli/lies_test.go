package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/servers"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// expectedLie is a lie about one table or one query type, and the words that report it: a
// pattern for the text after the table or the query type.
type expectedLie struct{ subject, lie, words string }

// Each table has this many rows.
const liedRows = 36

// shifted are the words for a time or a row that is not where it should be.
const shifted = `(?:: the sum of the times of its rows differs|: the row of hostname=host_\d at [-0-9T:]+Z is missing)`

// liesOfLoads lists for two loads which lie is told about which table. The table redis is stored as it is.
func liesOfLoads() [][]expectedLie {
	return [][]expectedLie{
		{
			{"cpu", "drops-rows", ` holds 35 rows, 36 expected`},
			{"diskio", "stores-zeroes", `: sum of reads is 0`},
			{"disk", "duplicates", ` holds 37 rows, 36 expected`},
			{"kernel", "shifts-a-row", shifted},
			{"mem", "stops-storing", ` holds 12 rows, 36 expected`},
			{"net", "swaps-values", `: the row of hostname=host_\d at [-0-9T:]+Z: \w+ is`},
			{"nginx", "loses-a-tag", ` has a series that was not generated: hostname=host_\d, region=NULL`},
			{"postgresl", "lowers-the-minimum", `: min of numbackends is -472, expected 0`},
		},
		{
			{"cpu", "doubles-a-field", `: sum of usage_user is 3638, expected 1819`},
			{"diskio", "drops-one-row", ` holds 35 rows, 36 expected`},
			{"disk", "empty", ` holds 0 rows, 36 expected`},
			{"kernel", "loses-last-row", ` holds 35 rows, 36 expected`},
			{"mem", "duplicates-for-lost-rows", `(?:: sum of total is| holds 35 rows, 36 expected|: the sum of the times of its rows differs)`},
			{"net", "shifts-times", `: the first time of a row is`},
			{"nginx", "loses-a-series", ` has no rows of 1 of 2 series`},
		},
	}
}

// wrongRow are the words for an answer that lacks a row or has a different one.
const wrongRow = `(?:row \d+ in key order of \d+ expected and \d+ found|\d+ rows in the answer, \d+ expected)`

// liesOfQueries lists which lie is told in answers to which query type. Answers to stalling are
// true, and some of them are late.
func liesOfQueries() []expectedLie {
	return []expectedLie{
		{"single-groupby-1-1-1", "empty-but-counts", `row 1 in key order of 3 expected and 0 found: missing`},
		{"double-groupby-1", "rounds-values", `wrong mean_usage_user`},
		{"double-groupby-5", "answers-infinity", `wrong mean_usage_\w+.{0,300}\+Inf`},
		{"single-groupby-1-1-12", "misorders", `wrong order`},
		{"single-groupby-1-8-1", "answers-older-query", wrongRow},
		{"single-groupby-5-1-1", "cuts-answers", wrongRow},
		{"single-groupby-5-1-12", "stale-cache", wrongRow},
		{"cpu-max-all-1", "lies-between-tenths", wrongRow},
		{"cpu-max-all-8", "loses-middle-row", wrongRow},
		{"single-groupby-5-8-1", "guesses-and-loses-row", wrongRow},
		{"double-groupby-all", "truncates-late", wrongRow},
		{"high-cpu-all", "honest-ten-times", wrongRow},
		{"lastpoint", "lies-when-run-again", wrongRow},
	}
}

const (
	stalling = "groupby-orderby-limit"
	stall    = 100 * time.Millisecond
)

// merging lists the drivers whose systems keep one row of a series and time. Rows that are stored
// twice disappear there, and the report must not find any.
func merging() []string {
	return []string{"influxdb", "influxdb2", "influxdb3", "prometheus", "thanos", "cortex", "mimir", "iotdb", "cassandra", "kairosdb", "opentsdb"}
}

// Over each driver each lie withholds its figure: a load tells another lie about each table,
// and a run of queries another one to each query type. About servers CI tells eight lies, in one load, and the nightly
// all: what finds the others does not depend on the driver.
func TestLies(t *testing.T) {
	for _, d := range append(all.Drivers(), memory.Driver("memory")) {
		t.Run(d.Name, func(t *testing.T) {
			target := liedTo(t, d)
			loads := liesOfLoads()
			target.load(t, loads[0])
			if slices.Contains(servers.Names(), d.Name) && slowtest.Short() {
				return
			}
			target.load(t, loads[1])
			target.queries(t)
			code, said := target.run(t, 20, []lie.Lie{lie.GivesUp(100)}, "load", append(devops(), "--replace")...)
			if code != app.ExitTarget || !strings.Contains(said, "withheld: loading stopped after 100 of at most 324 rows") || !strings.Contains(said, "the server closed the connection") {
				t.Errorf("gives-up: exit status %d\n%s", code, said)
			}
		})
	}
}

// lyingTarget is a target that lies are told about.
type lyingTarget struct {
	driver  driver.Driver
	spec    string
	results string
	// patience is how long a load waits for rows that do not appear; 0: as usual.
	patience time.Duration
}

// liedTo returns the target of a driver: its server for tests, or a file.
func liedTo(t *testing.T, d driver.Driver) *lyingTarget {
	target := &lyingTarget{driver: d, spec: d.Name, results: t.TempDir(), patience: 50 * time.Millisecond}
	switch {
	case d.Caps(nil).Discards:
		t.Skip("the driver stores nothing and answers nothing")
	case d.Missing != "":
		t.Skip(d.Missing)
	case slices.Contains([]string{"griddb", "tdengine"}, d.Name) && !conformance.HasAddress(d.Name):
		t.Skip("no package registry has the server, and recordings have no answers to other statements")
	case d.TestServer != nil:
		_, port := serverFor(t, d)
		for option, value := range conformance.TestServer(t, d, connection.Port, port) {
			target.spec += "," + option + "=" + value
		}
	case d.Place != nil:
		target.spec += ",path=" + filepath.Join(t.TempDir(), d.Name)
	}
	if d.Name == "timescaledb" {
		target.spec += ",method=insert" // its test server takes no COPY
	}
	return target
}

// devops are the flags of a dataset with nine tables.
func devops() []string {
	return []string{"--use-case", "devops", "--scale", "2", "--log-interval", "20m", "--timestamp-end", "2016-01-01T06:00:00Z", "--batch-size", "50"}
}

// run runs a command on a target that tells the lies, and returns its exit status and its output.
// The command reads a sample of this number of rows back.
func (l *lyingTarget) run(t *testing.T, rows int, lies []lie.Lie, command string, args ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	known := testCatalog(tsbs.Workloads(), []driver.Driver{lie.Apply(l.driver, lies...)})
	known.SampleRows, known.RowPatience = rows, l.patience
	code = execute(t.Context(), slices.Concat([]string{"tsmark", command, "--target", l.spec, "--verbose", "--results", l.results}, args), &out, &out, known)
	return code, out.String()
}

// load tells each lie about its table, and checks that the report finds each of them, and no other.
func (l *lyingTarget) load(t *testing.T, expected []expectedLie) {
	code, said := l.run(t, 9*liedRows, limitLies(expected, lie.Contents(liedRows)), "load", append(devops(), "--replace")...)
	if code != app.ExitWithheld || !strings.Contains(said, "withheld: table ") {
		t.Errorf("exit status %d, want %d\n%s", code, app.ExitWithheld, said)
	}
	l.check(t, expected, said, `table %s(?:%s)`)
	if strings.Contains(said, "table redis") {
		t.Errorf("table redis is stored as it is\n%s", said)
	}
}

// queries loads a table as it is, tells each lie to queries of its type, and checks that the
// report withholds each type, except the one whose answers are only late.
func (l *lyingTarget) queries(t *testing.T) {
	code, said := l.run(t, 20, nil, "load", "--replace", "--scale", "8", "--log-interval", "20m", "--timestamp-end", "2016-01-01T18:00:00Z")
	if code != app.ExitDone {
		t.Fatalf("nothing was wrong, and the exit status is %d\n%s", code, said)
	}
	expected := liesOfQueries()
	types := []string{stalling}
	for _, l := range expected {
		types = append(types, l.subject)
	}
	lies := append(limitLies(expected, slices.Concat(lie.Answers(), lie.ChangedAnswers())), lie.Stalls(stall).LimitTo(stalling))
	code, said = l.run(t, 20, lies, "query", "--query-type", strings.Join(types, ","), "--queries", "24", "--verify", "12", "--repeats", "1", "--time-box", "0")
	if code != app.ExitWithheld {
		t.Errorf("exit status %d, want %d\n%s", code, app.ExitWithheld, said)
	}
	l.check(t, expected, said, `%s withheld: query \d+: .{0,200}?%s`)
	for _, q := range newestRun(t, l.results).Targets[0].Queries {
		if q.Type == stalling && q.Unsupported == "" && (q.Withheld != "" || q.Service.Max < stall.Seconds()) {
			t.Errorf("%s: withheld %q, longest service time %v s, want %v", stalling, q.Withheld, q.Service.Max, stall)
		}
	}
}

// check checks that the report has the words of each lie. The pattern has places for the subject
// and for the words.
func (l *lyingTarget) check(t *testing.T, expected []expectedLie, said, pattern string) {
	t.Helper()
	text := strings.Join(strings.Fields(said), " ")
	for _, lie := range expected {
		found := regexp.MustCompile(fmt.Sprintf(pattern, lie.subject, lie.words)).MatchString(text)
		switch merged := lie.lie == "duplicates" && slices.Contains(merging(), l.driver.Name); {
		case merged && found:
			t.Errorf("%s merges duplicates, and the report finds one\n%s", l.driver.Name, said)
		case !merged && !found:
			t.Errorf("%s: the report does not say of %s: %s\n%s", lie.lie, lie.subject, lie.words, said)
		}
	}
}

// limitLies returns the lies, each limited to its subject.
func limitLies(expected []expectedLie, all []lie.Lie) []lie.Lie {
	var lies []lie.Lie
	for _, l := range expected {
		lies = append(lies, lie.Find(all, l.lie).LimitTo(l.subject))
	}
	return lies
}

// newestRun returns the newest run in a folder of results.
func newestRun(t *testing.T, results string) *result.Run {
	t.Helper()
	kept, err := store.OpenExisting(t.Context(), results, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	found, err := kept.Find(t.Context(), "latest")
	if err != nil {
		t.Fatal(err)
	}
	run, err := kept.Run(t.Context(), found.Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A database that acknowledges rows at once and writes them later gains nothing by it: the load
// has settled once they are visible. The conformance suite has the same for every driver.
func TestPostponedRows(t *testing.T) {
	const delay = 400 * time.Millisecond
	target := liedTo(t, lie.Postpone(sqlite.Driver(), delay, true))
	target.patience = 0
	code, said := target.run(t, 20, nil, "load", devops()...)
	load := newestRun(t, target.results).Targets[0].Load
	if hidden := load.Settled - load.Acked; code != app.ExitDone || hidden < delay.Seconds() {
		t.Errorf("exit status %d, settled %v s after the last acknowledgement, and rows were written %v after it: %+v\n%s", code, hidden, delay, load.Visible, said)
	}
}

// lying returns a database in memory that tells a lie about 5,760 rows.
func lying(name string) driver.Driver {
	lies := slices.Concat(lie.Contents(5760), lie.Answers(), []lie.Lie{lie.GivesUp(2000)})
	return lie.Apply(memory.Driver(name), lie.Find(lies, name))
}

// Each lie alone ends with the exit status for withheld figures, and the report names the first difference.
func TestEachLie(t *testing.T) {
	want := map[string]string{
		"drops-rows":               "table cpu holds 287 rows, 288 expected",
		"drops-one-row":            "table cpu holds 287 rows, 288 expected",
		"loses-last-row":           "table cpu holds 287 rows, 288 expected",
		"stops-storing":            "table cpu holds 100 rows, 288 expected",
		"empty":                    "table cpu holds 0 rows, 288 expected",
		"duplicates":               "table cpu holds 289 rows, 288 expected",
		"duplicates-for-lost-rows": "withheld: table cpu: the sum of the times of its rows differs",
		"stores-zeroes":            "withheld: table cpu: sum of usage_user is 0, expected ",
		"doubles-a-field":          "withheld: table cpu: sum of usage_user is ",
		"lowers-the-minimum":       "withheld: table cpu: min of usage_user is -4",
		"shifts-times":             "withheld: table cpu: the first time of a row is 2016-01-01T01:00:00Z, expected 2016-01-01T00:00:00Z",
		"shifts-a-row":             "withheld: table cpu: the sum of the times of its rows differs",
		"swaps-values":             "withheld: table cpu: the row of hostname=host_",
		"loses-a-tag":              "withheld: table cpu has a series that was not generated: hostname=host_0, region=NULL",
		"loses-a-series":           "withheld: table cpu has no rows of 1 of 4 series",
		"empty-but-counts":         "and 0 found: missing; expected (2016-01-0",
		"rounds-values":            "wrong mean_usage_user; expected (2016-01-0",
		"answers-infinity":         "wrong mean_usage_",
		"misorders":                "wrong order",
		"answers-older-query":      "expected and ",
		"cuts-answers":             "missing; expected (2016-01-0",
		"stale-cache":              "withheld: ",
		"lies-between-tenths":      "withheld: ",
		"loses-middle-row":         "withheld: ",
		"guesses-and-loses-row":    "withheld: ",
		"truncates-late":           " rows in the answer, ",
		"gives-up":                 "the server closed the connection",
		"":                         "2 query types verified",
	}
	lies := slices.Concat(lie.Contents(288), lie.Answers(), []lie.Lie{lie.GivesUp(100), {}})
	if len(lies) != len(want) {
		t.Fatalf("%d lies, %d expected", len(lies), len(want))
	}
	for _, l := range lies {
		t.Run(l.Name, func(t *testing.T) {
			target := &lyingTarget{driver: memory.Driver("memory"), spec: "memory", results: t.TempDir(), patience: 50 * time.Millisecond}
			code, said := target.run(t, 288, []lie.Lie{l}, "run", "--scale", "4", "--log-interval", "20m", "--batch-size", "50",
				"--query-type", "single-groupby-1-1-1,double-groupby-1", "--queries", "24", "--verify", "12", "--time-box", "0")
			status := app.ExitWithheld
			switch l.Name {
			case "":
				status = app.ExitDone
			case "gives-up":
				status = app.ExitTarget
			}
			if code != status {
				t.Errorf("exit status %d, want %d", code, status)
			}
			if text := strings.Join(strings.Fields(said), " "); !strings.Contains(text, want[l.Name]) {
				t.Errorf("the report does not say %q:\n%s", want[l.Name], said)
			}
		})
	}
}
