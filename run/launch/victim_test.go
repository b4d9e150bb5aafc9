//go:build !light

package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/serve"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
)

// The test binary is also the program of the child process.
func init() {
	if len(os.Args) > 2 && os.Args[1] == "serve-driver" {
		os.Args = append(os.Args[:1], os.Args[3:]...)
		serve.Main(sqlite.Driver())
	}
}

// Acknowledged rows of SQLite survive a kill at each level of durability, and a power failure at one of them only. Rows of
// each process go to the series of the process before.
func TestVictimEmbedded(t *testing.T) {
	for synchronous, survives := range map[string]bool{"full": true, "off": false} {
		t.Run(synchronous, func(t *testing.T) {
			const hosts, rows = 10, 1003
			d := sqlite.Driver()
			planned := &plan.Target{Name: "lite", Driver: d, Options: conformance.Options(t, d, "synchronous", synchronous)}
			planned.Caps = d.Caps(planned.Options)
			servers := NewServers(nil, nil)
			servers.ForCrashes(true)
			defer func() {
				if err := servers.Leave(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			folder, err := servers.Folder(t.Context(), planned, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			env, table, stored := driver.Env{Dir: folder, Create: true}, conformance.Table("a"), 0
			db, err := d.Open(t.Context(), env, planned.Options)
			if err != nil {
				t.Fatal(err)
			}
			write := func() {
				t.Helper()
				var b series.Batch
				conformance.Fill(b.Add(table), rows, stored, hosts)
				conformance.Write(t, db, &b)
				stored += rows
			}
			conformance.Prepare(t, db, hosts, table)
			write()
			conformance.Close(t, db)
			v, err := servers.Victim(planned, env, &series.Schema{Series: hosts, Tables: []*series.Table{table}}, limit.Default())
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			start := func() (rows int) {
				t.Helper()
				_, err := v.Start(t.Context())
				if err == nil {
					db, err = v.Open(t.Context())
				}
				if err != nil {
					t.Fatal(err)
				}
				census, err := db.Census(t.Context(), table)
				if err != nil {
					t.Fatal(err)
				}
				return int(census.Rows)
			}
			startWith := func(want int) {
				t.Helper()
				if got := start(); got != want {
					t.Fatalf("%d rows; want %d", got, want)
				}
			}
			startWith(stored)
			write()
			if err := v.Kill(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = db.Close() // its process is gone
			startWith(stored)
			if err := v.Pause(t.Context()); err != nil || status(t, v.running.PID()) != "stop" {
				t.Fatalf("paused: %v, and its process is in state %q", err, status(t, v.running.PID()))
			}
			if err := v.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			write()
			if err := v.Can(result.CrashPower); err != nil {
				t.Log(err) // n/a on this machine
			} else {
				failPower := func() (settled, got int) {
					t.Helper()
					if err := v.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
					settled = stored
					write()
					if err := v.FailPower(t.Context()); err != nil {
						t.Fatal(err)
					}
					_ = db.Close()
					return settled, start()
				}
				settled, got := failPower()
				// Another process may sync all disks at any time, but hardly each time.
				for tries := 1; !survives && got == stored && tries < 3; tries++ {
					settled, got = failPower()
				}
				if !survives {
					stored = settled
				}
				if got != stored {
					t.Fatalf("%d rows; want %d", got, stored)
				}
				write()
			}
			conformance.Close(t, db)
			v.Close()
			here, err := d.Open(t.Context(), env, planned.Options)
			if err != nil {
				t.Fatal(err)
			}
			defer conformance.Close(t, here)
			conformance.CheckRows(t, conformance.Query(t, here, "SELECT count(*), (SELECT count(*) FROM tags) FROM cpu WHERE tags_id = time / 1000 % 10"),
				[]query.Value{{Kind: query.Int, Int: int64(stored)}, {Kind: query.Int, Int: hosts}})
		})
	}
}

// A server that tsmark started is paused and killed as a whole, and starts again on its port.
func TestVictimServer(t *testing.T) {
	servers := NewServers(nil, nil)
	servers.ForCrashes(false)
	defer servers.Leave(context.Background())
	here, err := servers.Switch(t.Context(), listener(t, "db", experiment.IdleRun), driver.Env{Dir: t.TempDir(), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	v, err := servers.Victim(here, driver.Env{}, nil, limit.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	start := func(ctx context.Context) error {
		_, err := v.Start(ctx)
		return err
	}
	pid := v.process().PID()
	for _, step := range []struct {
		do    func(context.Context) error
		state string
	}{{start, "sleep"}, {v.Pause, "stop"}, {v.Resume, "sleep"}, {v.Kill, ""}, {start, ""}} {
		if err := step.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state := status(t, pid); (state == "") != (step.state == "") || (state == "stop") != (step.state == "stop") {
			t.Errorf("its process is in state %q, want %q", state, step.state)
		}
	}
	if v.process().PID() == pid || !v.process().Running(t.Context()) {
		t.Error("it was not started again")
	}
	if err := v.Can(result.CrashPower); err == nil || v.Can(result.CrashPause) != nil || v.Can(result.CrashKill) != nil {
		t.Errorf("a power failure without a disk: %v", err)
	}
}

// A user's server crashes by its restart command, and not otherwise.
func TestVictimOfUser(t *testing.T) {
	crashed := filepath.Join(t.TempDir(), "crashed")
	target := listener(t, "db", experiment.IdleRun)
	starts := NewServers(nil, nil)
	defer starts.Leave(context.Background())
	here, err := starts.Switch(t.Context(), target, driver.Env{Dir: t.TempDir(), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	open := here.Driver.Open
	here.Driver.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.Join = func(context.Context, *series.Schema) error { return nil }
		return db, err
	}
	servers := NewServers(nil, nil)
	servers.ForCrashes(true)
	here.Start = ""
	if _, err := servers.Victim(here, driver.Env{}, nil, limit.Default()); !errors.Is(err, plan.ErrInput) || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("a server that nobody allows to crash: %v", err)
	}
	here.Restart = "echo crashed >" + crashed
	v, err := servers.Victim(here, driver.Env{Dir: t.TempDir()}, nil, limit.Default())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if v.Can(result.CrashKill) != nil || v.Can(result.CrashPause) == nil || v.Can(result.CrashPower) == nil {
		t.Error("it can only be killed")
	}
	before := time.Now()
	if err := v.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if begun, err := v.Start(t.Context()); err != nil || begun.Before(before) || begun.After(killed) {
		t.Fatalf("the restart began at %v, not with the command between %v and %v: %v", begun, before, killed, err)
	}
	if text, err := os.ReadFile(crashed); err != nil || string(text) != "crashed\n" {
		t.Errorf("the command wrote %q, %v", text, err)
	}
}
