// Package store keeps runs in an SQLite database, one file in a results
// folder, which several tsmark processes may use at once and anybody may open
// with the sqlite3 shell.
//
// A run is saved piece by piece: Begin, then each target, load and query type
// as it finishes, then Finish. A piece is on disk when its method returns, so a
// run that is killed keeps all that had finished.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// FileName is the name of the database within a results folder.
const FileName = "tsmark.db"

// ErrNoResults means that a folder holds no results.
var ErrNoResults = errors.New("no results")

// ErrNotFound means that no run, or more than one, matches.
var ErrNotFound = errors.New("no such run")

//go:embed migrations/*.sql
var migrations embed.FS

// Store is an open results folder. Its methods may be called from several
// goroutines at once.
type Store struct {
	db *sql.DB
}

// Open opens the results folder, and creates it and its database where they do
// not exist. A database written by an older tsmark is brought up to date; one
// written by a newer tsmark is an error.
func Open(ctx context.Context, dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("creating the results folder: %w; name a folder that you may write to with --results", err)
	}
	if err := writable(dir); err != nil {
		return nil, fmt.Errorf("results folder %s: %w; name a folder that you may write to with --results", dir, err)
	}
	return open(ctx, dir, true)
}

// OpenExisting opens a results folder for reading. Its error wraps
// ErrNoResults where the folder has none. A folder that cannot be written to
// is read as it is.
func OpenExisting(ctx context.Context, dir string) (*Store, error) {
	switch _, err := os.Stat(filepath.Join(dir, FileName)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w in %s; run tsmark run first, or name another folder with --results", ErrNoResults, dir)
	case err != nil:
		return nil, fmt.Errorf("opening the results folder: %w", err)
	}
	return open(ctx, dir, writable(dir) == nil)
}

// Close releases the database.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the results: %w", err)
	}
	return nil
}

// writable finds out whether files can be made in dir, as SQLite needs to for
// its journal. Only an attempt tells: permissions, read-only mounts and quotas
// all say no in their own way.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".tsmark-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func open(ctx context.Context, dir string, write bool) (*Store, error) {
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
	if err := migrate(ctx, db, write); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w; if it is damaged move it away, or name another folder with --results", path, err), db.Close())
	}
	return &Store{db}, nil
}

// migrate brings the schema up to date, and refuses what this program does not
// know how to read.
func migrate(ctx context.Context, db *sql.DB, write bool) error {
	sources, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, sources, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	all := provider.ListSources()
	newest := all[len(all)-1].Version
	if write {
		// Goose takes no lock for SQLite: when two processes create the same
		// folder, one of them finds the other's tables half way. Its own
		// transaction fails then, and the next attempt finds them all.
		for range 3 {
			if _, err = provider.Up(ctx); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("bringing the schema up to date: %w", err)
		}
		if err := clearFreePages(ctx, db); err != nil {
			return err
		}
	}
	var version int64
	if err := db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version); err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	switch {
	case version > newest:
		return fmt.Errorf("it was written by a newer tsmark (schema %d, this one knows %d)", version, newest)
	case version < newest:
		return fmt.Errorf("it was written by an older tsmark (schema %d) and cannot be brought up to date, since the folder cannot be written to", version)
	}
	return nil
}

// cleared is SQLite's user_version of databases whose free pages hold nothing:
// those of older versions of tsmark hold what was removed.
const cleared = 1

// clearFreePages writes a database anew, once, without what was removed from it.
func clearFreePages(ctx context.Context, db *sql.DB) error {
	version := 0
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version >= cleared {
		return err
	}
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)", fmt.Sprintf("PRAGMA user_version = %d", cleared)} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("clearing what was removed earlier: %w", err)
		}
	}
	return nil
}
