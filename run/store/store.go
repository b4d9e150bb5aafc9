// Package store stores runs: in an SQLite database, one file in a results folder, which several
// tsmark processes may use at once and which the sqlite3 shell can open; or in a PostgreSQL
// database shared by several machines.
//
// A run is a JSON document, as encoded by package result. A few columns next to it are used to list
// and find runs, and the figures of views are stored with it: docs/results.md describes both. Begin
// adds a run. Append stores each piece of it as it finishes, and the piece is on disk when Append
// returns, so that a killed run keeps all finished pieces. Save replaces the pieces by the whole
// run.
package store

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/result"
)

// ErrNoResults means that a place contains no results.
var ErrNoResults = errors.New("no results")

// ErrNotFound means that no run, or more than one, matches.
var ErrNotFound = errors.New("no such run")

// ErrAllComplete means that this store has no run to resume.
var ErrAllComplete = errors.New("every run is complete, was imported, or goes on in another process")

// ErrGone means that the place of the results was removed while it was in use.
var ErrGone = errors.New("the results were removed while tsmark used them")

// Store is an open place of results. Its methods may be called from several
// goroutines at once, and processes on several machines may use one database.
type Store struct {
	db      *sql.DB
	place   place
	figures func(*result.Run) Figures
	limit   time.Duration // see within; 0: none
	most    int64         // see mostBytes; 0: result.MaxDocument
	silent  atomic.Bool   // the database recently did not answer in time
}

// place has the operations that differ between SQLite and PostgreSQL.
type place interface {
	// bind replaces a statement's placeholders with the database's.
	bind(statement string) string
	// schema returns the database's dialect and the statements that create the views.
	schema() (dialect goose.Dialect, views string)
	// withSchemaLock prevents other processes from changing the schema during the call.
	withSchemaLock(ctx context.Context, do func() error) error
	// lock locks a run or sweep against every other process; free is false if another process holds
	// the lock.
	lock(ctx context.Context, id string) (unlock func(context.Context), free bool, err error)
	// checkPresence returns an error that wraps ErrGone if the written data is no longer reachable
	// by name.
	checkPresence() error
	// isLocked reports whether a process executes a run or sweep.
	isLocked(ctx context.Context, id string) (bool, error)
}

// Database reports whether the name of a place is the URL of a database. Other places are folders.
func Database(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// CheckName refuses a URL of anything but a PostgreSQL database as a place. The error does not
// repeat the URL, which may contain a password.
func CheckName(name string) error {
	if !infile.IsURL(name) || Database(name) {
		return nil
	}
	scheme, _, _ := strings.Cut(name, "://")
	return fmt.Errorf("%s:// is not a place for results; name a folder, or the URL of a PostgreSQL database, such as postgres://USER@HOST/DATABASE", scheme)
}

// Open opens a place of results, and creates a folder and its database, or tables in the database
// of the URL, if necessary. A schema of a newer tsmark is an error. The function computes the
// figures for the views.
func Open(ctx context.Context, name string, figures func(*result.Run) Figures) (*Store, error) {
	if Database(name) {
		return openPostgres(ctx, name, figures, true, statementLimit)
	}
	return openFolder(ctx, name, figures)
}

// OpenExisting is Open for a place that has results; otherwise its error wraps ErrNoResults. A
// read-only folder is read without changes.
func OpenExisting(ctx context.Context, name string, figures func(*result.Run) Figures) (*Store, error) {
	if Database(name) {
		return openPostgres(ctx, name, figures, false, statementLimit)
	}
	return openExistingFolder(ctx, name, figures)
}

// Close releases the database.
func (s *Store) Close() error {
	if s.silent.Load() {
		go s.db.Close() // it closes each connection and waits for an answer
		return nil
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the results: %w", err)
	}
	return nil
}

//go:embed schema.sql
var tables string

// schemaVersion is the version of tables and views.
const schemaVersion = 1

// migrate creates or updates the schema, if it may write, and refuses a schema that this program
// cannot read.
func (s *Store) migrate(ctx context.Context, write bool) error {
	dialect, views := s.place.schema()
	first := goose.NewGoMigration(schemaVersion, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, tables+views)
		return err
	}}, nil)
	provider, err := goose.NewProvider(dialect, s.db, nil, goose.WithGoMigrations(first), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	all := provider.ListSources()
	newest := all[len(all)-1].Version
	version, err := s.version(ctx)
	if write && version < newest {
		err = s.withLimit(ctx, func(ctx context.Context) error {
			return s.place.withSchemaLock(ctx, func() error {
				_, err := provider.Up(ctx)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("creating the schema: %w", err)
		}
		version, err = s.version(ctx)
	}
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case version > newest:
		return fmt.Errorf("it was written by a newer tsmark (schema %d, this one knows %d)", version, newest)
	case version < newest:
		return fmt.Errorf("its schema (%d) is older than this tsmark's (%d), and it cannot be written to", version, newest)
	}
	return nil
}

// version returns the version of the schema; without a schema it returns an error.
func (s *Store) version(ctx context.Context) (version int64, err error) {
	err = s.withLimit(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	})
	return version, err
}

// Lock locks the run or sweep against every other process until unlock is called; it returns an
// error if another process holds the lock.
func (s *Store) Lock(ctx context.Context, id string) (unlock func(), err error) {
	var release func(context.Context)
	free := false
	err = s.withLimit(ctx, func(ctx context.Context) (err error) {
		release, free, err = s.place.lock(ctx, id)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", id, err)
	case !free:
		return nil, fmt.Errorf("%s is going on in another process; wait for its end, or end it", id)
	}
	return func() {
		_ = s.withLimit(context.WithoutCancel(ctx), func(ctx context.Context) error {
			release(ctx)
			return ctx.Err()
		})
	}, nil
}

// GoingOn reports whether a process executes the run or sweep. A run that is stored as running
// without a process was killed.
func (s *Store) GoingOn(ctx context.Context, id string) bool {
	held := false
	err := s.withLimit(ctx, func(ctx context.Context) (err error) {
		held, err = s.place.isLocked(ctx, id)
		return err
	})
	return err == nil && held
}

func (s *Store) exec(ctx context.Context, statement string, args ...any) (done sql.Result, err error) {
	err = s.withLimit(ctx, func(ctx context.Context) (err error) {
		done, err = s.db.ExecContext(ctx, s.place.bind(statement), args...)
		return err
	})
	return done, s.completeError(err)
}

// completeError completes the error of a write: the place may be gone.
func (s *Store) completeError(err error) error { return cmp.Or(s.place.checkPresence(), err) }

// forEachRow calls row for each row of a query.
func (s *Store) forEachRow(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	return s.withLimit(ctx, func(ctx context.Context) error { return eachRow(ctx, s.db, row, s.place.bind(query), args...) })
}

// querier is a database or a connection to one.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eachRow calls row for each row of a query.
func eachRow(ctx context.Context, from querier, row func(*sql.Rows) error, query string, args ...any) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// statements executes several statements in a transaction, by exec.
type statements func(exec func(statement string, args ...any) (changed int64, err error)) error

// transaction executes all of do or nothing.
func (s *Store) transaction(ctx context.Context, do statements) error {
	return s.completeError(s.withLimit(ctx, func(ctx context.Context) error { return s.transact(ctx, do) }))
}

func (s *Store) transact(ctx context.Context, do statements) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = do(func(statement string, args ...any) (int64, error) {
		done, err := tx.ExecContext(ctx, s.place.bind(statement), args...)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	})
	if err != nil {
		// The first error matters; a rollback only fails if the connection, and with it the
		// transaction, is lost.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
