package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// change runs do in a transaction that changes tables, and rolls it back after an error. If it waits
// too long for others' locks on them, the error says who holds them.
func (d *database) change(ctx context.Context, tables []string, do func(sqlkit.Conn) error) error {
	return d.admin.Do(ctx, func(c *pgwire.Conn) error {
		if d.variant.quirks.Lack(sqlkit.LacksTransactions) {
			return do(c)
		}
		begin := "BEGIN"
		if d.locks > 0 && !d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
			// For this transaction only: behind a pool, others use the connection too.
			begin += fmt.Sprintf("; SET LOCAL lock_timeout = '%dms'", max(d.locks.Milliseconds(), 1))
		}
		err := c.Exec(ctx, begin)
		if err == nil {
			err = do(c)
		}
		if err == nil {
			err = c.Commit(ctx)
		}
		if err == nil {
			return nil
		}
		c.Rollback(ctx) // return the earlier error
		var refused *pgwire.Error
		if errors.As(err, &refused) && refused.SQLState() == pgwire.StateLocked && !d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
			return fmt.Errorf("waited %v for a lock in vain: %s; allow more with --%s", d.locks, holder(ctx, c, tables), limit.StatementFlag)
		}
		return err
	})
}

// holder says in one line who has locks on one of the tables.
func holder(ctx context.Context, c sqlkit.Conn, tables []string) string {
	list := []string{"NULL"}
	for _, name := range tables {
		list = append(list, Literal(name))
	}
	text, err := heldBy(ctx, c, `l.pid <> pg_backend_pid() AND (t.oid IN (SELECT oid FROM named) OR t.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent IN (SELECT oid FROM named)))`,
		fmt.Sprintf("relname IN (%s)", strings.Join(list, ", ")))
	switch {
	case err != nil:
		return "whose it is cannot be told (" + err.Error() + ")"
	case text == "":
		return "it is free now"
	}
	return text
}

// FindBlocker implements driver.DB for the tables of the schema: another run of tsmark has no tables
// there.
func (d *database) FindBlocker(ctx context.Context) (string, error) {
	if d.options[optionConnections] == connectionsOne {
		return "", nil // the statement would wait for the lock that it is to report
	}
	text, err := heldBy(ctx, d.meter, `(t.oid, l.pid) IN (SELECT w.relation, unnest(pg_blocking_pids(w.pid)) FROM pg_locks AS w JOIN pg_stat_activity AS s ON s.pid = w.pid
		WHERE NOT w.granted AND s.application_name = 'tsmark' AND w.relation IN (SELECT oid FROM named))`, "true")
	if err != nil {
		return "", fmt.Errorf("looking for locks: %w", err)
	}
	return text, nil
}

// heldBy says in one line who holds locks that match a condition, the parameter which; empty: nobody.
// The condition can use named, the tables of the schema that the second condition selects.
func heldBy(ctx context.Context, c sqlkit.Conn, which, named string) (string, error) {
	rows, err := sqlkit.QueryRows(ctx, c, fmt.Sprintf(`WITH named AS (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND %s)
		SELECT t.relname, l.mode, l.pid::bigint, coalesce(a.usename, ''), coalesce(a.application_name, ''), coalesce(host(a.client_addr), 'this socket'),
			coalesce(a.state, ''), coalesce(extract(epoch FROM now() - a.xact_start), 0)::bigint
		FROM pg_locks AS l JOIN pg_class AS t ON t.oid = l.relation LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
		WHERE l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND %s
		ORDER BY a.xact_start, l.pid, t.relname`, named, which))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	of := map[string]bool{}
	for _, row := range rows {
		of[row[2].String()] = true
	}
	r := rows[0]
	text := fmt.Sprintf("process %s (user %s, %s, from %s, %s for %s s) has table %s locked (%s)", r[2], r[3], orNone(r[4].String()), r[5], r[6], r[7], QuoteIdent(r[0].String()), r[1])
	if len(of) > 1 {
		text += fmt.Sprintf(", and %d more have locks", len(of)-1)
	}
	return text + fmt.Sprintf("; let it finish, or end it by SELECT pg_terminate_backend(%s)", r[2]), nil
}

func orNone(application string) string {
	if application == "" {
		return "an unnamed application"
	}
	return "application " + application
}
