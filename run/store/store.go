// Package store keeps runs: in an SQLite database, one file in a results folder,
// which several tsmark processes may use at once and anybody may open with the
// sqlite3 shell; or in a PostgreSQL database, which several machines share.
//
// A run is one JSON document, as package result makes it. Beside it stand a few
// columns, by which runs are listed and found, and the figures that views show:
// docs/results.md describes both. Begin adds a run; each piece of it is appended
// as it finishes, and on disk when Append returns, so that a run that is killed
// keeps all that had finished; Save puts the whole in their place.
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

// ErrNoResults means that there are no results in a place.
var ErrNoResults = errors.New("no results")

// ErrNotFound means that no run, or more than one, matches.
var ErrNotFound = errors.New("no such run")

// ErrAllComplete means that no run of this store is to be resumed.
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
	silent  atomic.Bool   // the database had no answer in time at last
}

// place is what SQLite and PostgreSQL do in different ways.
type place interface {
	// bind writes a statement's query marks as the database's placeholders.
	bind(statement string) string
	// schema returns the database's dialect and the statements that make the views.
	schema() (dialect goose.Dialect, views string)
	// alone keeps other processes from changing the schema meanwhile.
	alone(ctx context.Context, do func() error) error
	// lock keeps every other process from a run or sweep; free is false where one
	// is at it.
	lock(ctx context.Context, id string) (unlock func(context.Context), free bool, err error)
	// checkPresence returns an error that wraps ErrGone where what was written is in no place that can
	// be found again.
	checkPresence() error
	// locked reports whether a process is at a run or sweep.
	locked(ctx context.Context, id string) (bool, error)
}

// Database reports whether the name of a place is the URL of a database. Other
// places are folders.
func Database(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// CheckName refuses the name of a place that is the URL of something else than a
// PostgreSQL database. The error does not repeat the URL, which may have a password.
func CheckName(name string) error {
	if !infile.IsURL(name) || Database(name) {
		return nil
	}
	scheme, _, _ := strings.Cut(name, "://")
	return fmt.Errorf("%s:// is no place for results; name a folder, or the URL of a PostgreSQL database, as in postgres://USER@HOST/DATABASE", scheme)
}

// Open opens a place of results, and creates what it needs there: a folder and
// its database, or tables in the database of the URL. A schema that a newer tsmark
// made is an error. The figures that views show are those of the function.
func Open(ctx context.Context, name string, figures func(*result.Run) Figures) (*Store, error) {
	if Database(name) {
		return openPostgres(ctx, name, figures, true, statementLimit)
	}
	return openFolder(ctx, name, figures)
}

// OpenExisting is Open for a place that has results; else its error wraps
// ErrNoResults. A folder that cannot be written to is read as it is.
func OpenExisting(ctx context.Context, name string, figures func(*result.Run) Figures) (*Store, error) {
	if Database(name) {
		return openPostgres(ctx, name, figures, false, statementLimit)
	}
	return openExistingFolder(ctx, name, figures)
}

// Close releases the database.
func (s *Store) Close() error {
	if s.silent.Load() {
		go s.db.Close() // it takes leave of each connection, and waits for an answer
		return nil
	}
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing the results: %w", err)
	}
	return nil
}

//go:embed schema.sql
var tables string

// schemaVersion is that of tables and views.
const schemaVersion = 1

// migrate makes the schema, where it may write, and refuses one that this program does
// not know how to read.
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
		err = s.within(ctx, func(ctx context.Context) error {
			return s.place.alone(ctx, func() error {
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

// version is that of the schema; before there is one, its error says so.
func (s *Store) version(ctx context.Context) (version int64, err error) {
	err = s.within(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	})
	return version, err
}

// Lock keeps every other process from the run or sweep until unlock is called;
// where one is at it there is an error.
func (s *Store) Lock(ctx context.Context, id string) (unlock func(), err error) {
	var release func(context.Context)
	free := false
	err = s.within(ctx, func(ctx context.Context) (err error) {
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
		_ = s.within(context.WithoutCancel(ctx), func(ctx context.Context) error {
			release(ctx)
			return ctx.Err()
		})
	}, nil
}

// GoingOn reports whether a process is at the run or sweep. One that is stored as
// running and is not going on was killed.
func (s *Store) GoingOn(ctx context.Context, id string) bool {
	held := false
	err := s.within(ctx, func(ctx context.Context) (err error) {
		held, err = s.place.locked(ctx, id)
		return err
	})
	return err == nil && held
}

func (s *Store) exec(ctx context.Context, statement string, args ...any) (done sql.Result, err error) {
	err = s.within(ctx, func(ctx context.Context) (err error) {
		done, err = s.db.ExecContext(ctx, s.place.bind(statement), args...)
		return err
	})
	return done, s.written(err)
}

// written is how writing ended, with an error: in vain where the place is gone.
func (s *Store) written(err error) error { return cmp.Or(s.place.checkPresence(), err) }

// each calls row for each row of a query.
func (s *Store) each(ctx context.Context, row func(*sql.Rows) error, query string, args ...any) error {
	return s.within(ctx, func(ctx context.Context) error { return eachRow(ctx, s.db, row, s.place.bind(query), args...) })
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

// statements does some in a transaction, by exec.
type statements func(exec func(statement string, args ...any) (changed int64, err error)) error

// transaction does all or nothing.
func (s *Store) transaction(ctx context.Context, do statements) error {
	return s.written(s.within(ctx, func(ctx context.Context) error { return s.transact(ctx, do) }))
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
		// What went wrong first matters; a rollback fails only when the
		// connection, and with it the transaction, is gone.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
