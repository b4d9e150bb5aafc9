package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
)

// schemaName is the schema for results in a PostgreSQL database, separate from other data.
const schemaName = "tsmark"

// postgres is a place of results that is a PostgreSQL database.
type postgres struct{ db *sql.DB }

// openPostgres opens the database of a URL; create allows adding runs. Other connection settings,
// above all the password, come from the sources of PostgreSQL's own programs: PGPASSWORD,
// ~/.pgpass, PGSSLMODE.
func openPostgres(ctx context.Context, name string, figures func(*result.Run) Figures, create bool, limit time.Duration) (*Store, error) {
	config, shown, err := postgresConfig(name)
	if err != nil {
		return nil, err
	}
	s := &Store{db: stdlib.OpenDB(*config), figures: figures, limit: limit}
	s.place = postgres{s.db}
	if err := s.openSchema(ctx, shown, create); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// postgresConfig parses a URL, and also returns it without secrets.
func postgresConfig(name string) (config *pgx.ConnConfig, shown string, err error) {
	parsed, err := url.Parse(name)
	if err != nil {
		// The error would repeat the URL, which may contain a secret.
		return nil, "", errors.New("--results: it is no URL of a database; one is postgres://USER@HOST/DATABASE")
	}
	_, password := parsed.User.Password()
	for key := range parsed.Query() {
		password = password || strings.Contains(strings.ToLower(key), "password")
	}
	if password {
		return nil, "", errors.New("--results: a password in the URL would show in the list of processes; leave it out, and set PGPASSWORD or write it to ~/.pgpass")
	}
	if config, err = pgx.ParseConfig(name); err != nil {
		return nil, "", fmt.Errorf("--results: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	config.RuntimeParams["search_path"] = schemaName
	config.RuntimeParams["application_name"] = "tsmark"
	return config, parsed.Scheme + "://" + config.User + "@" + config.Host + ":" + strconv.Itoa(int(config.Port)) + "/" + config.Database, nil
}

// openSchema checks that the schema exists and is up to date.
func (s *Store) openSchema(ctx context.Context, shown string, create bool) error {
	there := false
	err := s.withLimit(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", schemaName+".goose_db_version").Scan(&there)
	})
	if err != nil {
		if errors.Is(err, errSilent) {
			return fmt.Errorf("cannot open the results in %s: %w", shown, err)
		}
		return fmt.Errorf("cannot open the results in %s: %s; is the server up, and are user, password and database right?", shown, oneProblem(shown, err))
	}
	if !there && !create {
		return fmt.Errorf("%w in %s; run tsmark run first, or name another database or a folder with --results", ErrNoResults, shown)
	}
	if err := s.migrate(ctx, true); err != nil {
		return fmt.Errorf("opening the results in %s: %w", shown, err)
	}
	return nil
}

// oneProblem shortens pgx's error of connecting, which joins several, to one line: the server's own
// if there is one.
func oneProblem(place string, err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Message
	}
	return printable.OneLine(connection.Cause(place, err).Error())
}

// bind replaces placeholders with $1, $2, …; no statement contains one in a text.
func (postgres) bind(statement string) string {
	var b strings.Builder
	n := 0
	for _, r := range statement {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		fmt.Fprintf(&b, "$%d", n)
	}
	return b.String()
}

//go:embed views-postgres.sql
var postgresViews string

func (postgres) schema() (goose.Dialect, string) { return goose.DialectPostgres, postgresViews }

// lockSpace separates tsmark's advisory locks from those of other programs.
const lockSpace = 0x74736d6b

// withSchemaLock holds a lock of the database, on its own connection, while the schema is created.
func (p postgres) withSchemaLock(ctx context.Context, do func() error) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // returns it to the pool
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1, 0)", lockSpace); err != nil {
		return err
	}
	// The lock ends with the connection in any case, for example if the context has ended.
	defer conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1, 0)", lockSpace)
	exists := false
	err = conn.QueryRowContext(ctx, "SELECT to_regnamespace($1) IS NOT NULL", schemaName).Scan(&exists)
	if err == nil && !exists { // another user may have created it for a user without that permission
		_, err = conn.ExecContext(ctx, "CREATE SCHEMA "+schemaName)
	}
	if err != nil {
		return err
	}
	return do()
}

// checkPresence implements place: statements on tables that were removed fail.
func (postgres) checkPresence() error { return nil }

// lock holds an advisory lock on its own connection: it ends with the process in any case, and is
// visible to all machines that share the database.
func (p postgres) lock(ctx context.Context, id string) (unlock func(context.Context), free bool, err error) {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return nil, false, err
	}
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1, hashtext($2))", lockSpace, id).Scan(&free)
	if err != nil || !free {
		return nil, false, errors.Join(err, conn.Close())
	}
	return func(ctx context.Context) {
		_, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1, hashtext($2))", lockSpace, id)
		_ = conn.Close() // a broken connection no longer holds the lock
	}, true, nil
}

func (p postgres) isLocked(ctx context.Context, id string) (held bool, err error) {
	err = p.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid::bigint = $1 AND objid::bigint = hashtext($2)::bigint & 4294967295)`, int64(lockSpace), id).Scan(&held)
	return held, err
}
