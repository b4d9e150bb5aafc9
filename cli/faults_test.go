package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A connection is cut after every third of twelve batches of 480 rows:
// without --retry the load ends and names the batch; with it duplicates are
// counted and known later; a target that claims to dedupe must do so.
func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name    string
		dedupes bool
		flags   []string
		code    int
		says    []string // in the report, or in the message
	}{
		{"without", false, nil, app.ExitTarget, []string{
			"writer 0, batch 3 (rows 961 to 1440, cpu from 2016-01-01T04:00:00Z to 2016-01-01T05:50:00Z): the server closed the connection",
			"target x failed"}},
		{"with", false, []string{"--retry", "3"}, app.ExitDone, []string{
			"x: 4 retries; 1,920 rows sent again although they may have been stored; the first failure: the server closed the connection",
			"x: holds 1,920 duplicates of rows that were sent again",
			"5,760 7,680 agrees, but for 1,920 duplicates"}},
		{"by time", false, []string{"--retry", "1m"}, app.ExitDone, []string{"holds 1,920 duplicates"}},
		{"lying", true, []string{"--retry", "3"}, app.ExitWithheld, []string{"withheld: table cpu holds 7680 rows, 5760 expected"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			results := t.TempDir()
			catalog := testCatalog(tsbs.Workloads(), []driver.Driver{memory.ChangeCaps(lie.Apply(memory.Driver("x"), lie.Stutters()), func(caps *driver.Caps) { caps.Dedupes = c.dedupes })})
			args := append([]string{"tsmark", "load", "x", "--results", results, "--scale", "40", "--log-interval", "10m", "--batch-size", "480"}, c.flags...)
			if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			text := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("it does not say %q:\n%s%s", part, &stdout, &stderr)
				}
			}
			if c.code != app.ExitDone {
				return
			}
			// Max over duplicates is the same, so all answers are correct.
			stdout.Reset()
			args = []string{"tsmark", "verify", "x", "--results", results, "--query-type", "single-groupby-1-1-1"}
			if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != app.ExitDone {
				t.Errorf("verify: exit status %d\n%s%s", code, &stdout, &stderr)
			}
		})
	}
}

// A query without an answer, while it is checked or measured, leaves only its type without
// figures: the load and the other type have theirs, a missing answer does not count as wrong,
// and the run ends with 1. The server's advice is printed completely. If the server no longer
// answers, the target has failed.
func TestUnanswered(t *testing.T) {
	const again = "the connection cannot be reached; the server answers on a new connection"
	broken := fmt.Errorf("the connection %w", driver.ErrUnreachable)
	advice := strings.Repeat("the query that was sent, ", 40) + "too many points; raise -maxPoints"
	refused := errors.New(advice)
	for _, c := range []struct {
		name  string
		at    int   // the query that fails
		fails error // nil: no answer
		gone  bool
		flags []string
		code  int
		says  []string // in the report, or in the message
	}{
		{"measured", 15, broken, false, nil, app.ExitWithheld, []string{"lastpoint failed: query ", again}},
		{"by a schedule", 15, broken, false, []string{"--rate", "200/s"}, app.ExitWithheld, []string{"lastpoint failed: query ", again}},
		{"checked", 2, broken, false, nil, app.ExitWithheld, []string{"lastpoint failed: checking query ", again}},
		{"refused while measured", 15, refused, false, nil, app.ExitWithheld, []string{"lastpoint failed: query ", advice}},
		{"refused while checked", 2, refused, false, nil, app.ExitWithheld, []string{"lastpoint failed: query ", advice}},
		{"timed out while checked", 2, nil, false, []string{"--timeout", "1s"}, app.ExitWithheld, []string{"lastpoint > 1 s: query ", "had no answer by then; allow more with --timeout"}},
		{"gone", 15, broken, true, nil, app.ExitTarget, []string{"target x failed: lastpoint: query ", "the connection cannot be reached", "lastpoint not measured"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			catalog := testCatalog(tsbs.Workloads(), []driver.Driver{breaking("x", c.at, c.fails, c.gone)})
			args := append([]string{"tsmark", "run", "--target", "x", "--results", t.TempDir(), "--scale", "10", "--log-interval", "10m", "--query-type", "lastpoint,high-cpu-1",
				"--queries", "20", "--verify", "4", "--repeats", "1", "--time-box", "0s", "--workers", "1"}, c.flags...)
			if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			text := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("it does not say %q:\n%s%s", part, &stdout, &stderr)
				}
			}
			if strings.Contains(text, "withheld") || strings.Contains(text, "wrong") && !strings.Contains(text, "No answer was wrong") {
				t.Errorf("a query without an answer counts as a wrong one:\n%s%s", &stdout, &stderr)
			}
			if !strings.Contains(text, "x 1,440") {
				t.Errorf("the load has no figure:\n%s", &stdout)
			}
			if !c.gone && !strings.Contains(text, "No figures of 1 query type: a query failed or had no answer in time.") {
				t.Errorf("the top does not say what failed:\n%s", &stdout)
			}
			if !c.gone && !strings.Contains(text, "high-cpu-1 verified") {
				t.Errorf("the other type has no figure:\n%s%s", &stdout, &stderr)
			}
		})
	}
}

// breaking returns a server that fails as lie.Breaks says.
func breaking(name string, at int, failure error, gone bool) driver.Driver {
	server := memory.ChangeCaps(memory.Driver(name), func(c *driver.Caps) { c.Embedded = false })
	return lie.Apply(server, lie.Breaks(at, failure, gone))
}

// As many acknowledged rows are lost as others are stored twice: the number of
// rows is correct, and the different ones are counted.
func TestMaskedLosses(t *testing.T) {
	var stdout, stderr bytes.Buffer
	catalog := testCatalog(tsbs.Workloads(), []driver.Driver{lie.Apply(memory.Driver("x"), lie.Masks())})
	args := []string{"tsmark", "load", "x", "--results", t.TempDir(), "--scale", "40", "--log-interval", "10m", "--batch-size", "480", "--retry", "3"}
	if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != app.ExitWithheld {
		t.Errorf("exit status %d, want %d", code, app.ExitWithheld)
	}
	text := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
	if want := "withheld: table cpu holds 5280 different rows, 5760 expected; 480 of its rows are lost: the target had acknowledged them"; !strings.Contains(text, want) {
		t.Errorf("it does not say %q:\n%s%s", want, &stdout, &stderr)
	}
}
