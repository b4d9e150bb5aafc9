package store

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/result"
)

// databases counts the databases that tests have created.
var databases atomic.Int64

// database returns the URL of a new database of the server for tests.
func database(t *testing.T) string {
	t.Helper()
	host, port := conformance.Address(t, "postgres")
	t.Setenv("PGPASSWORD", conformance.Password(t))
	admin, err := sql.Open("pgx", fmt.Sprintf("postgres://tsmark@%s:%s/postgres", host, port))
	must(t, err)
	name := fmt.Sprintf("results_%d_%d", time.Now().UnixNano(), databases.Add(1))
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+name)
	must(t, err)
	t.Cleanup(func() {
		_, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)")
		must(t, errors.Join(err, admin.Close()))
	})
	return fmt.Sprintf("postgres://tsmark@%s:%s/%s", host, port, name)
}

// PostgreSQL stores the same as SQLite, byte for byte.
func TestPostgresKeepsRuns(t *testing.T) {
	ctx, url := t.Context(), database(t)
	if _, err := OpenExisting(ctx, url, nil); !errors.Is(err, ErrNoResults) || !strings.Contains(err.Error(), "run tsmark run first") {
		t.Errorf("an empty database: %v", err)
	}
	s, err := Open(ctx, url, nil)
	must(t, err)
	defer s.Close()
	folder := openTemp(t)
	want := newRun(t)
	save(t, s, want)
	must(t, s.Close())
	if s, err = OpenExisting(ctx, url, nil); err != nil {
		t.Fatal(err)
	}
	compared := func() {
		t.Helper()
		got, err := s.Run(ctx, want.ID)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the run read differs from the saved one (-saved +read):\n%s", diff)
		}
	}
	compared()
	want.Finished = started.Add(3*time.Minute + time.Nanosecond)
	want.Status, want.Reason = result.Incomplete, "quest cannot be reached\x00é?"
	want.Imported = started
	must(t, s.Save(ctx, want))
	want.Imported = time.Time{} // not part of the record
	compared()
	must(t, folder.Add(ctx, want))
	_, there, err := s.Document(ctx, want.ID)
	must(t, err)
	_, here, err := folder.Document(ctx, want.ID)
	must(t, err)
	if string(there) != string(here) {
		t.Error("the documents differ")
	}
	runs, err := s.Runs(ctx)
	must(t, err)
	if strings.Contains(runs[0].Reason, "\x00") {
		t.Error("a column has a NUL, which PostgreSQL cannot hold")
	}
	listed, err := folder.Runs(ctx)
	must(t, err)
	if diff := cmp.Diff(listed, runs); diff != "" {
		t.Errorf("(-SQLite +PostgreSQL):\n%s", diff)
	}
	if ids, err := s.RunsThatLoaded(ctx, "duck", "duckdb"); err != nil || len(ids) != 1 {
		t.Errorf("loaded: %v, %v", ids, err)
	}
	if s.Add(ctx, want) == nil {
		t.Error("a run was added twice")
	}
	w := &result.Sweep{Name: "n", Started: started.Add(time.Second), Points: 2}
	must(t, s.BeginSweep(ctx, w))
	read, err := s.Sweep(ctx, w.ID)
	if err != nil || read.Points != 2 {
		t.Errorf("sweep %+v, %v", read, err)
	}
	if found, err := s.Find(ctx, Latest); err != nil || found.Sweep != w.ID {
		t.Errorf("latest is %+v, %v", found, err)
	}
	must(t, s.DiscardSweep(ctx, w.ID))
	must(t, s.Discard(ctx, want.ID))
	if _, err := s.Run(ctx, want.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("a run that was removed: %v", err)
	}
	_, err = s.db.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)")
	must(t, err)
	must(t, s.Close())
	if _, err := Open(ctx, url, nil); err == nil || !strings.Contains(err.Error(), "newer tsmark") {
		t.Errorf("a newer schema: %v", err)
	}
}

// Several machines may create the schema, and write, at the same time.
func TestPostgresIsShared(t *testing.T) {
	ctx, url := t.Context(), database(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := Open(ctx, url, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 5 {
				r := newRun(t)
				r.Place = result.Place{}
				if err := s.Begin(ctx, r); err != nil {
					t.Error(err)
				} else if err := s.Append(ctx, r, result.NewPiece(&r.Targets[0], 1, r.Targets[0].Load, nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	one, err := Open(ctx, url, nil)
	must(t, err)
	defer one.Close()
	other, err := OpenExisting(ctx, url, nil)
	must(t, err)
	defer other.Close()
	runs, err := one.Runs(ctx)
	if err != nil || len(runs) != 20 {
		t.Fatalf("%d runs, want 20 (error %v)", len(runs), err)
	}
	id := runs[0].ID
	unlock, err := one.Lock(ctx, id)
	must(t, err)
	if _, err := other.Lock(ctx, id); err == nil || !strings.Contains(err.Error(), "going on in another process") {
		t.Errorf("two are at one run: %v", err)
	}
	if !other.GoingOn(ctx, id) || other.GoingOn(ctx, runs[1].ID) {
		t.Error("others do not see which run goes on")
	}
	if found, err := other.Find(ctx, Unfinished); err != nil || found.Runs[0] != runs[1].ID {
		t.Errorf("to be resumed is %+v (%v), want %s", found, err, runs[1].ID)
	}
	unlock()
	if other.GoingOn(ctx, id) {
		t.Error("a run goes on whose lock was released")
	}
	if unlock, err = other.Lock(ctx, id); err != nil {
		t.Error(err)
	} else {
		unlock()
	}
}

// A password is only taken from the sources of PostgreSQL's programs.
func TestPostgresPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://ann:hunter2@db/results", "postgres://db/results?user=ann&password=hunter2", "postgresql://ann@db/x?sslpassword=hunter2",
		"postgres://ann:hunter2@db:port/x", "postgres://ann:hunter2@[::1/x",
	} {
		_, err := Open(t.Context(), url, nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "--results: ") {
			t.Errorf("%s: %v", url, err)
		}
	}
	t.Setenv("PGPASSWORD", "hunter2")
	_, err := Open(t.Context(), "postgres://ann@127.0.0.1:1/results", nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "postgres://ann@127.0.0.1:1/results") {
		t.Errorf("nobody listens: %v", err)
	}
}
