package cli

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The last line never says that a run is stored if it is not: neither after Ctrl-C nor
// without it, neither if the results were removed nor if they are not writable.
func TestLastLineOfUnstoredRuns(t *testing.T) {
	remove := func(dir string) error { return os.RemoveAll(dir) }
	replace := func(dir string) error {
		name := filepath.Join(dir, store.FileName)
		if err := os.Rename(name, name+".away"); err != nil {
			return err
		}
		return os.WriteFile(name, nil, 0o666)
	}
	spoil := func(dir string) error {
		db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec("DROP VIEW IF EXISTS runs; ALTER TABLE documents RENAME TO moved")
		return err
	}
	for _, c := range []struct {
		name      string
		harm      func(dir string) error
		interrupt bool
		want      string
	}{
		{"removed", remove, true, "is gone with everything that was stored in it; its figures are on the page "},
		{"removed, and nobody interrupts", remove, false, "is gone with everything that was stored in it; its figures are on the page "},
		{"replaced", replace, true, "is gone with everything that was stored in it; its figures are on the page "},
		{"cannot be written", spoil, true, " is not stored as it ended: saving run "},
		{"cannot be written, and nobody interrupts", spoil, false, "measures again what the results lack"},
		{"nothing is wrong", func(string) error { return nil }, true, "interrupted; finished work is stored as run "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "results")
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			kind, opened := memory.Driver("memory"), 0
			open := kind.Open
			kind.Open = func(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
				if opened++; opened == 2 { // the first one looks at the target before the run begins
					if err := c.harm(dir); err != nil {
						t.Error(err)
					}
					if c.interrupt {
						interrupt()
					}
				}
				return open(ctx, env, options)
			}
			var stdout, stderr bytes.Buffer
			code := execute(ctx, strings.Fields("tsmark run --target memory --scale 2 --log-interval 1h --query-type lastpoint --queries 2 --repeats 1 --seed 3 --results "+dir),
				&stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{kind}))
			said := strings.TrimRight(stderr.String(), "\n")
			last := said[strings.LastIndex(said, "\n")+1:]
			if wantCode := map[bool]int{true: app.ExitInterrupted, false: app.ExitUsage}[c.interrupt]; code != wantCode || !strings.Contains(last, c.want) {
				t.Errorf("exit status %d: %s", code, said)
			}
			if strings.Contains(c.want, "finished work is stored") != strings.Contains(last, "finished work is stored") {
				t.Errorf("it says %q", last)
			}
			if _, page, ok := strings.Cut(last, "on the page "); ok {
				page, _, _ = strings.Cut(page, ";")
				if _, err := os.Stat(page); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
