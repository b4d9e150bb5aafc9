package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// lockSources list the holders of locks on tables of the database, as table, mode and session, in this
// order: MySQL by default and MariaDB with performance_schema; MariaDB with its plugin
// metadata_lock_info; and all sessions that may hold a lock, without tables.
var lockSources = [...]string{
	`SELECT l.object_name AS name, l.lock_type AS mode, t.processlist_id AS session
		FROM performance_schema.metadata_locks AS l JOIN performance_schema.threads AS t ON t.thread_id = l.owner_thread_id
		WHERE l.object_type = 'TABLE' AND l.object_schema = DATABASE() AND l.lock_status = 'GRANTED'`,
	`SELECT table_name AS name, REPLACE(lock_mode, 'MDL_', '') AS mode, thread_id AS session
		FROM information_schema.metadata_lock_info WHERE lock_type = 'Table metadata lock' AND table_schema = DATABASE()`,
	`SELECT '' AS name, '' AS mode, id AS session FROM information_schema.processlist WHERE db = DATABASE()`,
}

// sessions lists the connections of this target as a list in SQL.
func (d *database) sessions() string {
	list := []string{"0"}
	d.config.sessions.Range(func(id, _ any) bool {
		list = append(list, fmt.Sprint(id))
		return true
	})
	return strings.Join(list, ", ")
}

// FindBlocker implements driver.DB, for statements of this process.
func (d *database) FindBlocker(ctx context.Context) (string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.meter, "SELECT COALESCE(info, '') FROM information_schema.processlist WHERE id IN ("+d.sessions()+
		") AND (state LIKE 'Waiting for%lock' OR state = 'Waiting for table flush')")
	if err != nil {
		return "", fmt.Errorf("looking for locks: %w", err)
	}
	if len(rows) == 0 {
		return "", nil
	}
	var texts strings.Builder
	for _, row := range rows {
		texts.WriteString(row[0].String())
	}
	return d.holder(ctx, texts.String()), nil
}

// holder says in one line which other session holds a lock on a table that statements name, or how to
// find it if the server does not say; empty: no other session holds one.
func (d *database) holder(ctx context.Context, statements string) string {
	statements = strings.ToLower(statements)
	for _, source := range lockSources {
		// A session that waits itself rarely blocks others, and neither does a reader.
		rows, err := sqlkit.QueryRows(ctx, d.meter, fmt.Sprintf(`SELECT l.name, l.mode, l.session, COALESCE(p.user, '?'), COALESCE(p.host, '?'), COALESCE(p.command, '?'), COALESCE(p.time, 0), l.session IN (%s)
			FROM (%s) AS l LEFT JOIN information_schema.processlist AS p ON p.id = l.session
			ORDER BY COALESCE(p.state, '') LIKE 'Waiting for%%', l.mode NOT IN ('EXCLUSIVE', 'SHARED_NO_READ_WRITE', 'SHARED_NO_WRITE'), p.time DESC, l.session`, d.sessions(), source))
		if err != nil {
			continue // the server does not have it, or the user may not read it
		}
		rows = slices.DeleteFunc(rows, func(row []query.Value) bool {
			return !strings.Contains(statements, strings.ToLower(row[0].String()))
		})
		if len(rows) == 0 {
			continue
		}
		reports := rows[0][0].String() != ""
		rows = slices.DeleteFunc(rows, func(row []query.Value) bool { return row[7].Int != 0 })
		switch {
		case len(rows) == 0 && reports, !reports && strings.Contains(statements, "alter table"):
			return "" // a statement of this process waits for another one: both will finish
		case len(rows) == 0:
			continue
		}
		var sessions, named []string
		for _, r := range rows {
			if id := r[2].String(); !slices.Contains(sessions, id) {
				sessions = append(sessions, id)
				named = append(named, fmt.Sprintf("session %s (user %s, from %s, %s for %s s)", id, r[3], r[4], r[5], r[6]))
			}
		}
		if table, mode := rows[0][0].String(), rows[0][1]; table != "" {
			text := fmt.Sprintf("%s has table %s locked (%s)", named[0], quoteIdent(table), mode)
			if more := len(named) - 1; more > 0 {
				text += fmt.Sprintf(", and %d more have locks", more)
			}
			return text + "; let it finish, or end it by KILL " + sessions[0]
		}
		const most = 3
		if more := len(named) - most; more > 0 {
			named = append(named[:most], fmt.Sprintf("%d more", more))
		}
		return fmt.Sprintf("%s; it may be %s; %s", d.unknownHolder(), strings.Join(named, " or "), findHolder)
	}
	return d.unknownHolder() + "; " + findHolder
}

// unknownHolder says that the server does not report the holder of a lock, and which setting would
// change that.
func (d *database) unknownHolder() string {
	if d.system == "MariaDB" {
		return "MariaDB does not say who holds it, as it does after INSTALL SONAME 'metadata_lock_info'"
	}
	return d.system + " does not say who holds it, as it does to users with SELECT on performance_schema"
}

// findHolder says how a user finds the holder of a lock.
const findHolder = "look at the sessions with SHOW FULL PROCESSLIST, and let the holder finish or end it by KILL"
