package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Each target that is wrong is found out: the exit status says so, the report
// withholds the figure, and the first difference is named.
func TestTraps(t *testing.T) {
	want := map[string]struct {
		code int
		says []string // parts of the report
	}{
		"drops-rows":          {exitWithheld, []string{"table cpu holds 5754 rows, 5760 expected", "missing; expected (2016-01-0"}},
		"stops-storing":       {exitWithheld, []string{"table cpu holds 2000 rows, 5760 expected", "missing; expected (2016-01-0"}},
		"loses-last-row":      {exitWithheld, []string{"table cpu holds 5759 rows, 5760 expected", "withheld: what was loaded is not right"}},
		"empty":               {exitWithheld, []string{"table cpu holds 0 rows, 5760 expected", "and 0 found: missing; expected (2016-01-0"}},
		"empty-but-counts":    {exitWithheld, []string{"and 0 found: missing; expected (2016-01-0"}},
		"stores-zeroes":       {exitWithheld, []string{"withheld: table cpu: sum of usage_user is 0, expected "}},
		"doubles-a-field":     {exitWithheld, []string{"withheld: table cpu: sum of usage_nice is "}},
		"lowers-the-minimum":  {exitWithheld, []string{"withheld: table cpu: min of usage_user is -4"}},
		"shifts-times":        {exitWithheld, []string{"withheld: table cpu: the first time of a row is 2016-01-01T01:00:00Z, expected 2016-01-01T00:00:00Z"}},
		"shifts-a-row":        {exitWithheld, []string{"withheld: table cpu: the times of its rows come to another sum"}},
		"swaps-values":        {exitWithheld, []string{"withheld: table cpu: the row of hostname=host_", ": usage_user is "}},
		"loses-a-tag":         {exitWithheld, []string{"withheld: table cpu has a series that was not generated: hostname=host_0, region=NULL"}},
		"loses-a-series":      {exitWithheld, []string{"withheld: table cpu has no rows of 1 of 40 series"}},
		"rounds-values":       {exitWithheld, []string{"double-groupby-1", "wrong mean_usage_user; expected (2016-01-0"}},
		"answers-infinity":    {exitWithheld, []string{"wrong mean_usage_user"}},
		"misorders":           {exitWithheld, []string{"wrong order", "found (2016-01-0"}},
		"answers-older-query": {exitWithheld, []string{"table cpu: the row of hostname=host_", " is missing"}},
		"cuts-answers":        {exitWithheld, []string{"missing; expected (2016-01-0"}},
		"gives-up":            {exitTarget, []string{"INCOMPLETE", "the server closed the connection"}},
	}
	traps := conformance.Traps()
	if len(traps) != len(want) {
		t.Fatalf("%d traps, %d expected", len(traps), len(want))
	}
	for _, trap := range traps {
		t.Run(trap.Name, func(t *testing.T) {
			code, out, errs := runOn(t, trap)
			if expected := want[trap.Name]; code != expected.code {
				t.Errorf("exit status %d, want %d; %s", code, expected.code, errs)
			}
			text := strings.Join(strings.Fields(out), " ")
			for _, part := range want[trap.Name].says {
				if !strings.Contains(text, part) {
					t.Errorf("the report does not say %q:\n%s", part, out)
				}
			}
		})
	}
}

// A right target passes the same run, so that the traps prove something.
func TestNoTrap(t *testing.T) {
	if code, out, errs := runOn(t, conformance.Memory("memory")); code != exitDone {
		t.Errorf("exit status %d\n%s%s", code, out, errs)
	}
}

// runOn runs a small experiment on one target.
func runOn(t *testing.T, kind driver.Driver) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	args := []string{"tsmark", "run", "--verbose", "--results", t.TempDir(), "--target", kind.Name,
		"--scale", "40", "--log-interval", "10m", "--query-type", "all", "--queries", "4", "--verify", "3", "--batch-size", "500"}
	code = execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{kind}))
	return code, stdout.String(), stderr.String()
}

// A load alone tells of each target that stores something else than it was given.
func TestTrapsOfALoad(t *testing.T) {
	for _, trap := range conformance.Traps() {
		var stdout, stderr bytes.Buffer
		args := []string{"tsmark", "load", trap.Name, "--results", t.TempDir(), "--scale", "40", "--log-interval", "10m", "--batch-size", "500"}
		code := execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{trap}))
		want := exitWithheld
		switch trap.Name {
		case "gives-up":
			want = exitTarget
		case "rounds-values", "answers-infinity", "misorders":
			want = exitDone // what it holds is right, and its rows, which have an order of their own: queries find it
		}
		if code != want {
			t.Errorf("%s: exit status %d, want %d\n%s%s", trap.Name, code, want, &stdout, &stderr)
		}
	}
}
