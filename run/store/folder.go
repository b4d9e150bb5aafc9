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

// FileName is the name of the database in a results folder.
const FileName = "tsmark.db"

// folder is a place of results that is a folder with an SQLite database.
type folder struct {
	dir  string
	file fs.FileInfo // of the database file after it was opened; nil: read-only
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
		return nil, fmt.Errorf("results folder %s: %w; name a folder that you may read with --results", dir, removePath(err))
	}
	return openDatabase(ctx, dir, figures, writable(dir) == nil)
}

// removePath returns an error about a file without its name, which the message already contains.
func removePath(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writable checks whether files can be created in dir, which SQLite needs for its journal. Only an
// attempt is reliable: permissions, read-only mounts and quotas fail in different ways.
func writable(dir string) error {
	// The name is always the same: a file left by a killed process is removed in the next attempt.
	f, err := os.OpenFile(filepath.Join(dir, ".tsmark-writable"), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = os.Remove(f.Name())
	if errors.Is(err, fs.ErrNotExist) { // another process was faster
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
		// FULL, because in WAL mode NORMAL loses the newest commits when the machine crashes. BEGIN
		// IMMEDIATE waits for another process at the start instead of failing in the middle.
		options["_pragma"] = append(options["_pragma"], "journal_mode(WAL)", "synchronous(FULL)",
			// Removed and replaced content is also erased from free pages.
			"secure_delete(1)")
		options.Set("_txlock", "immediate")
	} else {
		// Without immutable SQLite needs to create files for its locks.
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

// checkPresence checks whether the name still refers to the open database: SQLite continues to
// write to a removed file without an error.
func (f *folder) checkPresence() error {
	if f.file == nil {
		return nil
	}
	path := filepath.Join(f.dir, FileName)
	if now, err := os.Stat(path); err == nil && os.SameFile(f.file, now) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%w: %s is gone with everything that was stored in it", ErrGone, path)
}

func (*folder) bind(statement string) string { return statement }

//go:embed views-sqlite.sql
var sqliteViews string

func (*folder) schema() (goose.Dialect, string) { return goose.DialectSQLite3, sqliteViews }

// withSchemaLock retries: goose takes no lock for SQLite, and when two processes create the same folder one
// of them finds the other's incomplete tables. Its own transaction then fails, and the next attempt
// finds all tables.
func (*folder) withSchemaLock(_ context.Context, do func() error) (err error) {
	for range 3 {
		if err = do(); err == nil {
			break
		}
	}
	return err
}

// lockName is the file in the folder of a run or sweep that the executing process locks.
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
		_ = os.Remove(path) // while it is locked, so that no other process's file is removed
		_ = held.Unlock()
	}, true, nil
}

// RemoveLeftovers removes files that killed processes left in the folders of runs and sweeps: their
// locks, and half-written files.
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

func (f *folder) isLocked(_ context.Context, id string) (bool, error) {
	path := filepath.Join(f.dir, id, lockName)
	if _, err := os.Stat(path); err != nil {
		return false, nil // its process will remove it
	}
	held := flock.New(path)
	free, err := held.TryRLock()
	if free {
		_ = held.Unlock()
	}
	return !free, err
}
