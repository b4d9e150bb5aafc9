package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A connection that is cut after every third of twelve batches of 480 rows:
// without --retry the load ends and names the batch; with it duplicates are
// counted and known later; and who says that it dedupes must.
func TestRetry(t *testing.T) {
	for _, c := range []struct {
		name    string
		dedupes bool
		flags   []string
		code    int
		says    []string // in the report, or in the message
	}{
		{"without", false, nil, exitTarget, []string{
			"writer 0, batch 3 (rows 961 to 1440, cpu from 2016-01-01T04:00:00Z to 2016-01-01T05:50:00Z): the server closed the connection",
			"target x failed"}},
		{"with", false, []string{"--retry", "3"}, exitDone, []string{
			"x: 4 retries; 1,920 rows sent again although they may have been stored; the first failure: the server closed the connection",
			"x: holds 1,920 duplicates of rows that were sent again",
			"5,760 7,680 agrees, but for 1,920 duplicates"}},
		{"by time", false, []string{"--retry", "1m"}, exitDone, []string{"holds 1,920 duplicates"}},
		{"lying", true, []string{"--retry", "3"}, exitWithheld, []string{"withheld: table cpu holds 7680 rows, 5760 expected"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			results := t.TempDir()
			catalog := newCatalog(tsbs.Workloads(), []driver.Driver{conformance.Stuttering("x", c.dedupes)})
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
			if c.code != exitDone {
				return
			}
			// Max over duplicates is the same, so that all answers are right.
			stdout.Reset()
			args = []string{"tsmark", "verify", "x", "--results", results, "--query-type", "single-groupby-1-1-1"}
			if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != exitDone {
				t.Errorf("verify: exit status %d\n%s%s", code, &stdout, &stderr)
			}
		})
	}
}

// As many acknowledged rows are lost as others are stored twice: the number of
// rows is right, and the different ones are counted.
func TestMaskedLosses(t *testing.T) {
	var stdout, stderr bytes.Buffer
	catalog := newCatalog(tsbs.Workloads(), []driver.Driver{conformance.Masking("x")})
	args := []string{"tsmark", "load", "x", "--results", t.TempDir(), "--scale", "40", "--log-interval", "10m", "--batch-size", "480", "--retry", "3"}
	if code := execute(t.Context(), args, &stdout, &stderr, catalog); code != exitWithheld {
		t.Errorf("exit status %d, want %d", code, exitWithheld)
	}
	text := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
	if want := "withheld: table cpu holds 5280 different rows, 5760 expected; 480 of its rows are lost: the target had acknowledged them"; !strings.Contains(text, want) {
		t.Errorf("it does not say %q:\n%s%s", want, &stdout, &stderr)
	}
}
