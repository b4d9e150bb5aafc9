package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/targettest"
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
		"rounds-values":       {exitWithheld, []string{"double-groupby-1", "wrong mean_usage_user; expected (2016-01-0"}},
		"answers-infinity":    {exitWithheld, []string{"wrong mean_usage_user"}},
		"misorders":           {exitWithheld, []string{"wrong order", "found (2016-01-0"}},
		"answers-older-query": {exitWithheld, []string{": row 1", "missing; expected (2016-01-0"}},
		"cuts-answers":        {exitWithheld, []string{"missing; expected (2016-01-0"}},
		"gives-up":            {exitTarget, []string{"INCOMPLETE", "the server closed the connection"}},
	}
	traps := targettest.Traps()
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
	if code, out, errs := runOn(t, targettest.Memory("memory")); code != exitDone {
		t.Errorf("exit status %d\n%s%s", code, out, errs)
	}
}

// runOn runs a small experiment on one target.
func runOn(t *testing.T, kind target.Kind) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	args := []string{"tsmark", "run", "--results", t.TempDir(), "--target", kind.Name,
		"--scale", "40", "--log-interval", "10m", "--queries", "4", "--verify", "3", "--batch-size", "500"}
	code = execute(t.Context(), args, &stdout, &stderr, newCatalog(tsbs.Workloads(), []target.Kind{kind}))
	return code, stdout.String(), stderr.String()
}
