package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The contents after a life verify the load before it: a row that the load lost withholds both, and a load
// whose rows were not counted in the end is not verified.
func TestLoadBeforeLife(t *testing.T) {
	t.Parallel()
	fails := memory.Driver("memory")
	open := fails.Open
	fails.Open = func(ctx context.Context, e driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, e, o)
		db.Correct = func(context.Context, *series.Batch) error { return errors.New("no space left") }
		return db, err
	}
	for name, c := range map[string]struct {
		kind driver.Driver
		code int
		want []string
	}{
		"honest": {memory.Driver("memory"), app.ExitDone, []string{"after its life, contents verified: 1 table"}},
		"loses a row": {lie.Apply(memory.Driver("memory"), lie.Find(lie.Contents(100), "drops-one-row")), app.ExitWithheld,
			[]string{"lost 1 row that it had acknowledged", "Figures of 1 load withheld: the check of the loaded data failed", "cpu holds 1079 rows, 1080 expected"}},
		"fails": {fails, app.ExitWithheld, []string{"rows not counted: the event correct failed: no space left"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "life.yaml")
			if err := os.WriteFile(file, []byte(`
workload: {scale: 10, log-interval: 10m, timestamp-end: "2016-01-01T18:00:00Z"}
targets: [{driver: `+c.kind.Name+`}]
queries: {types: [lastpoint]}
life: {ingest: 300, dashboards: 20, duration: 1s, events: [{at: 500ms, do: correct}]}
`), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), []string{"tsmark", "run", "--verbose", "--results", t.TempDir(), file}, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{c.kind}))
			out := stdout.String() + stderr.String()
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			words := strings.Join(strings.Fields(out), " ")
			for _, want := range c.want {
				if !strings.Contains(words, want) {
					t.Errorf("the report lacks %q", want)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
