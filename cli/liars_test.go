package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Whatever a target takes for a sign that its answer is not compared, it is found
// out: the types are withheld and the exit status says so.
func TestLiars(t *testing.T) {
	slowtest.Skip(t)
	closed := []string{"--query-type", "lastpoint,single-groupby-1-1-1,high-cpu-1", "--queries", "60", "--time-box", "0s"}
	ways := map[string]struct {
		flags    []string
		withheld int // minimum number of withheld types
	}{
		"closed":  {closed, 3},
		"repeats": {append([]string{"--repeats", "6"}, closed...), 3},
		"open":    {append([]string{"--rate", "1000/s"}, closed...), 3},
		"search":  {[]string{"--query-type", "single-groupby-1-1-1", "--queries", "60", "--find-max-rate", "p50<1s", "--time-box", "60ms"}, 1},
		"mixed":   {[]string{"--query-type", "lastpoint,single-groupby-1-1-1", "--queries", "20", "--mixed", "10", "--mixed-writes", "30", "--batch-size", "20"}, 1},
	}
	for name, way := range ways {
		for _, l := range lie.ChangedAnswers() {
			kind := lie.Apply(memory.Driver(l.Name), l)
			least := way.withheld
			if kind.Name == "lies-when-run-again" && name != "search" {
				least = 1 // only lastpoint runs again
			}
			if name == "search" && !slices.Contains([]string{"honest-ten-times", "guesses-by-gaps"}, kind.Name) {
				continue // each takes a second, and the same check finds the lie
			}
			t.Run(kind.Name+" "+name, func(t *testing.T) {
				code, out := lieTo(t, kind, way.flags)
				if code != app.ExitWithheld {
					t.Errorf("exit status %d\n%s", code, out)
				}
				if n := strings.Count(out, "withheld: "); n < least {
					t.Errorf("%d types withheld, at least %d expected\n%s", n, least, out)
				}
			})
		}
	}
}

// An honest one passes in each of these ways.
func TestHonest(t *testing.T) {
	for _, flags := range [][]string{
		{"--queries", "60", "--repeats", "6"}, {"--queries", "1"}, {"--queries", "3", "--repeats", "2"}, {"--rate", "1000/s", "--queries", "30"},
		{"--queries", "20", "--mixed", "10", "--mixed-writes", "30", "--batch-size", "20", "--query-type", "lastpoint"},
	} {
		code, out := lieTo(t, memory.Driver("memory"), append([]string{"--time-box", "0s"}, flags...))
		if code != app.ExitDone || strings.Contains(out, "not verified") || !strings.Contains(out, "counted") {
			t.Errorf("%v: exit status %d\n%s", flags, code, out)
		}
	}
}

// lieTo runs an experiment on one target.
func lieTo(t *testing.T, kind driver.Driver, flags []string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"tsmark", "run", "--verbose", "--results", t.TempDir(), "--target", kind.Name, "--scale", "10", "--log-interval", "10m",
		"--timestamp-end", "2016-01-01T18:00:00Z", "--verify", "10", "--set", "queries.check-seed=a test", "--query-seed", "123"}, flags...)
	if !strings.Contains(strings.Join(flags, " "), "--query-type") {
		args = append(args, "--query-type", "lastpoint,single-groupby-1-1-1")
	}
	code = execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{kind}))
	return code, stdout.String() + stderr.String()
}
