package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// bound is a limit of connections on the server.
type bound struct {
	name string // the server's name for it in errors; empty: it has none
	driver.Bound
}

// bounds returns the connection limits that apply to the user: those of the server, of the user, and of
// the database. A limit of -1 is unlimited, and the last two do not apply to superusers. They are not
// direct if a pooler or another intermediary, which may accept more connections, is in between.
func (d *database) bounds(ctx context.Context) (all []bound, direct bool, err error) {
	row, err := sqlkit.QueryRow(ctx, d.admin, `SELECT m.setting::bigint, m.source::text, coalesce(m.sourcefile, '')::text, current_setting('superuser_reserved_connections')::bigint,
		u.rolname::text, u.rolsuper::int, u.rolconnlimit::bigint, b.datname::text, b.datconnlimit::bigint, coalesce(inet_server_port(), 0)::bigint
		FROM pg_settings AS m, pg_roles AS u, pg_database AS b WHERE m.name = 'max_connections' AND u.rolname = current_user AND b.datname = current_database()`)
	if err != nil {
		return nil, false, fmt.Errorf("looking how many connections %s takes: %w", d.config.Location(), err)
	}
	by := "which was set by: " + row[1].String()
	switch row[1].String() {
	case "default":
		by = "as PostgreSQL is shipped"
	case "command line":
		by = "which was set on its command line"
	case "configuration file":
		if by = "which was set in its configuration file"; row[2].String() != "" { // not all users may read it
			by += " " + row[2].String()
		}
	}
	const fewer = "each worker needs one: use fewer workers, or "
	super, most := row[5].Int != 0, row[0].Int
	if !super {
		most -= row[3].Int
	}
	all = []bound{{"", driver.Bound{Most: most, Why: fmt.Sprintf("its max_connections is %d, %s, and %d of them are kept for superusers; %sraise max_connections and restart the server", row[0].Int, by, row[3].Int, fewer)}}}
	for _, own := range []struct {
		name, of string
		most     int64
	}{{"role", row[4].String(), row[6].Int}, {"database", row[7].String(), row[8].Int}} {
		if own.most >= 0 && !super {
			all = append(all, bound{own.name, driver.Bound{Most: own.most, Why: fmt.Sprintf("%s %s has a CONNECTION LIMIT of %d, which was set by ALTER %s; %[5]sraise it there", own.name, own.of, own.most, strings.ToUpper(own.name), fewer)}})
		}
	}
	_, port, _ := net.SplitHostPort(d.config.Address()) // the address has a port
	return all, port == row[9].String(), nil
}

// ConnectionLimit implements driver.DB.
func (d *database) ConnectionLimit(ctx context.Context) (least driver.Bound, err error) {
	if d.options[optionConnections] == connectionsOne {
		return least, nil
	}
	all, direct, err := d.bounds(ctx)
	if err != nil || !direct {
		return least, err
	}
	return slices.MinFunc(all, func(a, b bound) int { return cmp.Compare(a.Most, b.Most) }).Bound, nil
}

// full completes the error of a connection that exceeds a limit of the server: it adds which limit that
// was, who set it, and how to raise it. It returns other errors unchanged.
func (d *database) full(ctx context.Context, err error) error {
	var many *pgwire.TooMany
	if !errors.As(err, &many) || d.options[optionConnections] == connectionsOne || d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		return err
	}
	all, _, unknown := d.bounds(ctx)
	if unknown != nil {
		return err // nothing more is known
	}
	complete := *many
	for _, b := range all {
		if b.name == "" || strings.Contains(many.Said, "for "+b.name) {
			complete.Limit = b.Why
		}
	}
	return &complete
}
