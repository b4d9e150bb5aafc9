package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
	"github.com/tsmark/tsmark/workload/owndata"
)

// A target refuses a user's file with rows that it cannot store before the load, in
// one line and with exit status 2.
func TestFileBeyondLimits(t *testing.T) {
	const at = " 1451606400000000000\n"
	for name, c := range map[string]struct {
		line, says string
		trait      series.Trait
	}{
		"NaN":      {"cpu,h=a f=NaN", "the dataset has NaN, which x loses", series.NaN},
		"infinity": {"cpu,h=a f=-Inf", "the dataset has infinite floats, which x loses", series.Infinities},
		"large":    {"cpu,h=a f=9007199254740993i", "the dataset has integers beyond 2^53, which x loses", series.LargeInts},
		"smallest": {"cpu,h=a f=-9223372036854775808i", "the dataset has the smallest integer of a type, which x loses", series.SmallestInt},
	} {
		for _, lacks := range []bool{true, false} {
			kind := memory.ChangeCaps(memory.Driver("x"), func(c2 *driver.Caps) {
				if c2.Lacks = map[series.Trait]string{}; lacks {
					c2.Lacks[c.trait] = "x loses"
				}
			})
			dir := t.TempDir()
			file := filepath.Join(dir, "rows.lp")
			if err := os.WriteFile(file, []byte(c.line+at), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), []string{"tsmark", "load", "x", "--results", dir, "--file", file}, &stdout, &stderr, testCatalog([]workload.Workload{owndata.Workload(duckdb.Library())}, []driver.Driver{kind}))
			switch {
			case !lacks && code != app.ExitDone:
				t.Errorf("%s: exit status %d\n%s%s", name, code, &stdout, &stderr)
			case lacks && (code != app.ExitUsage || !strings.Contains(stderr.String(), c.says+"; choose another target, or a dataset without them\n")):
				t.Errorf("%s: exit status %d, want %q\n%s%s", name, code, c.says, &stdout, &stderr)
			}
		}
	}
}
