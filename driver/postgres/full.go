package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// full completes the error of a connection that the server has no place for: it says which
// limit that was, who set it, and how it is raised. Other errors stay as they are.
func (d *database) full(ctx context.Context, err error) error {
	var many *pgwire.TooMany
	if !errors.As(err, &many) || d.options[optionConnections] == connectionsOne {
		return err
	}
	row, unknown := sqlkit.QueryRow(ctx, d.admin, `SELECT setting, source, coalesce(sourcefile, ''), current_setting('superuser_reserved_connections'),
		current_user::text, (SELECT rolconnlimit::text FROM pg_roles WHERE rolname = current_user),
		current_database()::text, (SELECT datconnlimit::text FROM pg_database WHERE datname = current_database())
		FROM pg_settings WHERE name = 'max_connections'`)
	if unknown != nil {
		return err // which says as much as is known
	}
	complete := *many
	complete.Limit = limitOf(many.Said, row)
	return &complete
}

// limitOf is the Limit of a pgwire.TooMany, by what the server said and a row of full's.
func limitOf(said string, row []query.Value) string {
	text := func(i int) string { return row[i].String() }
	const fewer = "each worker needs one: use fewer workers, or "
	switch {
	case strings.Contains(said, "for role"):
		return fmt.Sprintf("user %s has a CONNECTION LIMIT of %s there; %sraise it by ALTER ROLE", text(4), text(5), fewer)
	case strings.Contains(said, "for database"):
		return fmt.Sprintf("database %s has a CONNECTION LIMIT of %s there; %sraise it by ALTER DATABASE", text(6), text(7), fewer)
	}
	by := "which was set as: " + text(1)
	switch text(1) {
	case "default":
		by = "as PostgreSQL is shipped"
	case "command line":
		by = "which was set on its command line"
	case "configuration file":
		if by = "which was set in its configuration file"; text(2) != "" {
			by += " " + text(2)
		}
	}
	return fmt.Sprintf("its max_connections is %s, %s, and %s of them are kept for superusers; %sraise max_connections and restart the server", text(0), by, text(3), fewer)
}
