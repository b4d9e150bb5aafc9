package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/scratch"
	"github.com/tsmark/tsmark/result"
)

// FileName is the name of the database within a results folder.
const FileName = "tsmark.db"

// folder is a place that is a folder with an SQLite database.
type folder struct {
	dir  string
	file fs.FileInfo // the database's, once it was opened; nil: it is only read
}

func openFolder(ctx context.Context, dir string, figures func(*result.Run) Figures) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("creating the results folder: %w; name a folder that you may write to with --results", err)
	}
	if err := writable(dir); err != nil {
		return nil, fmt.Errorf("results folder %s: %w; name a folder that you may write to with --results", dir, err)
	}
	return openDatabase(ctx, dir, figures, true)
}

func openExistingFolder(ctx context.Context, dir string, figures func(*result.Run) Figures) (*Store, error) {
	switch _, err := os.Stat(filepath.Join(dir, FileName)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w in %s; run tsmark run first, or name another folder with --results", ErrNoResults, dir)
	case err != nil:
		return nil, fmt.Errorf("results folder %s: %w; name a folder that you may read with --results", dir, unnamed(err))
	}
	return openDatabase(ctx, dir, figures, writable(dir) == nil)
}

// unnamed is an error about a file without its name, which stands beside it.
func unnamed(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writable finds out whether files can be made in dir, as SQLite needs to for
// its journal. Only an attempt tells: permissions, read-only mounts and quotas
// all say no in their own way.
func writable(dir string) error {
	// The name is always the same: what a killed process left goes with the next attempt.
	f, err := os.OpenFile(filepath.Join(dir, ".tsmark-writable"), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = os.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) { // another process was quicker
		err = nil
	}
	return errors.Join(f.Close(), err)
}

func openDatabase(ctx context.Context, dir string, figures func(*result.Run) Figures, write bool) (*Store, error) {
	path, err := filepath.Abs(filepath.Join(dir, FileName))
	if err != nil {
		return nil, fmt.Errorf("opening the results: %w", err)
	}
	options := url.Values{"_pragma": {"busy_timeout(10000)", "foreign_keys(1)"}}
	if write {
		// FULL, since in WAL mode NORMAL loses the newest commits when the
		// machine itself goes down. BEGIN IMMEDIATE waits for another process
		// at the start instead of failing in the middle.
		options["_pragma"] = append(options["_pragma"], "journal_mode(WAL)", "synchronous(FULL)",
			// What is removed or replaced leaves nothing in free pages.
			"secure_delete(1)")
		options.Set("_txlock", "immediate")
	} else {
		// Without immutable SQLite wants to create files for its locks.
		options.Set("mode", "ro")
		options.Set("immutable", "1")
	}
	dsn := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	s := &Store{db: db, figures: figures}
	f := &folder{dir: dir}
	s.place = f
	err = s.migrate(ctx, write)
	if err == nil && write {
		f.file, err = os.Stat(path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w; if it is damaged move it away, or name another folder with --results", path, err), db.Close())
	}
	return s, nil
}

// checkPresence looks whether the name still leads to the database: SQLite goes on writing to a file
// that was removed, and says nothing of it.
func (f *folder) checkPresence() error {
	if f.file == nil {
		return nil
	}
	path := filepath.Join(f.dir, FileName)
	if now, err := os.Stat(path); err == nil && os.SameFile(f.file, now) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%w: %s is gone, and what was stored there is lost", ErrGone, path)
}

func (*folder) bind(statement string) string { return statement }

//go:embed views-sqlite.sql
var sqliteViews string

func (*folder) schema() (goose.Dialect, string) { return goose.DialectSQLite3, sqliteViews }

// alone tries again: goose takes no lock for SQLite, and when two processes
// create the same folder one of them finds the other's tables half way. Its own
// transaction fails then, and the next attempt finds them all.
func (*folder) alone(_ context.Context, do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil {
			break
		}
	}
	return err
}

// lockName is the file in the folder of a run or sweep that is locked by the
// process that is at it.
const lockName = "running"

func (f *folder) lock(_ context.Context, id string) (unlock func(context.Context), free bool, err error) {
	path := filepath.Join(f.dir, id, lockName)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, false, err
	}
	held, err := scratch.TryLock(path, os.O_CREATE|os.O_RDWR)
	if held == nil {
		return nil, false, err
	}
	return func(context.Context) {
		_ = os.Remove(path) // while it is held, so that nobody else's is removed
		_ = held.Unlock()
	}, true, nil
}

// RemoveLeftovers removes from the folders of runs and sweeps in a folder of results what
// killed processes left there: their locks, and files that they had half written.
func RemoveLeftovers(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.IsDir() {
			of := filepath.Join(dir, entry.Name())
			outfile.RemoveLeftovers(of)
			scratch.RemoveUnlocked(filepath.Join(of, lockName))
		}
	}
}

func (f *folder) locked(_ context.Context, id string) (bool, error) {
	path := filepath.Join(f.dir, id, lockName)
	if _, err := os.Stat(path); err != nil {
		return false, nil // its end removes it
	}
	held := flock.New(path)
	free, err := held.TryRLock()
	if free {
		_ = held.Unlock()
	}
	return !free, err
}
