package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Every operation of a run is in the log beside it: the log adds up to the
// loaded rows and the queries of the run.
func TestOperationLog(t *testing.T) {
	for name, flags := range map[string][]string{
		"closed": {"--workers", "2", "--warm-up", "2", "--repeats", "2", "--time-box", "0s"},
		"open":   {"--rate", "2000/s", "--workers", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var stdout, stderr bytes.Buffer
			args := append([]string{"tsmark", "run", "--verbose", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
				"--queries", "20", "--verify", "3", "--batch-size", "500", "--query-type", "lastpoint,single-groupby-1-1-1"}, flags...)
			if code := execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{memory.Driver("memory")})); code != app.ExitDone {
				t.Fatalf("exit status %d: %s", code, stderr.String())
			}
			run := newest(t, dir)
			type sums struct{ Operations, Rows, Paused int64 }
			want, got := map[string]sums{}, map[string]sums{}
			for _, r := range run.Targets[0].Repeats {
				if r.Load != nil {
					want["load"] = sums{r.Load.Batches.Count, r.Load.Rows, r.Load.Paused}
				}
				for _, q := range r.Queries {
					want[fmt.Sprint(q.Type, " ", r.Number)] = sums{q.Executed, q.Rows, q.Paused}
				}
			}
			file, err := os.Open(filepath.Join(dir, run.ID, "operations.oplog"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			log, err := oplog.NewReader(file)
			if err != nil {
				t.Fatal(err)
			}
			for op, err := range log.All() {
				if err != nil {
					t.Fatal(err)
				}
				c := log.Cells()[op.Cell]
				key := "load"
				if c.Kind == oplog.Query {
					key = fmt.Sprint(c.Type, " ", c.Repeat)
				}
				if op.BurnIn || op.Outcome != oplog.OK {
					continue
				}
				s := got[key]
				// The time of an operation during which tsmark was paused does not count; the
				// rows of a batch do, for they were loaded.
				if op.Paused {
					s.Paused++
				} else {
					s.Operations++
				}
				if !op.Paused || c.Kind == oplog.Load {
					s.Rows += op.Rows
				}
				got[key] = s
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-run +log):\n%s", diff)
			}
			if log.Header().Run != run.ID || log.End().Lost != 0 {
				t.Errorf("header %+v, end %+v", log.Header(), log.End())
			}
		})
	}
}
