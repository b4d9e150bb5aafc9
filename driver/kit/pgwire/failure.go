package pgwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
)

// The SQLSTATEs that tsmark distinguishes (PostgreSQL, appendix A).
const (
	stateNoDatabase       = "3D000"
	stateWrongPassword    = "28P01"
	stateNotAuthorized    = "28000"
	stateDiskFull         = "53100"
	stateTooManyClients   = "53300"
	stateAdminShutdown    = "57P01"
	stateCrashShutdown    = "57P02"
	stateCannotConnectNow = "57P03"
	stateSerialization    = "40001"
	stateDeadlock         = "40P01"
	stateNotPermitted     = "42501"

	// StateLocked is the state of a statement that waited for others' locks longer than the setting
	// lock_timeout.
	StateLocked = "55P03"
)

// connecting explains an error of Connect.
func (c *Config) connecting(ctx context.Context, err error) error {
	to := fmt.Sprintf("connecting to %s as user %s", c.Location(), c.pg.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case stateWrongPassword:
			if c.pg.Password == "" {
				return fmt.Errorf("%s: the server wants a password, and none was given; give one by option, as in password=@FILE, PGPASSWORD or ~/.pgpass", to)
			}
			return fmt.Errorf("%s: the server refuses the password; give another user or password by option, PGPASSWORD or ~/.pgpass", to)
		case stateNoDatabase:
			return fmt.Errorf("%s: there is no such database; create it (createdb %s) or name another one by option database", to, c.pg.Database)
		case stateNotAuthorized:
			return fmt.Errorf("%s: %s; give another user, change tls, or let the user in by the server's pg_hba.conf", to, message(pg))
		case stateNotPermitted: // to connect to the database
			return fmt.Errorf("%s: %w", to, driver.NewDeniedError(&Error{pg}, grant(pg.Message, c.pg.User)))
		case stateTooManyClients:
			return &TooMany{To: to, Said: printable.OneLine(pg.Message)}
		case stateCannotConnectNow:
			return &driver.Temporary{Err: fmt.Errorf("%s: %w: %s; try again when it is up", to, driver.ErrUnreachable, message(pg)), Refused: true}
		}
		return fmt.Errorf("%s: %s", to, message(pg))
	}
	var waited time.Duration
	switch {
	case strings.Contains(err.Error(), "server refused TLS connection"):
		return fmt.Errorf("%s: %w: the server does not encrypt; give tls=off if the network between can be trusted", to, driver.ErrUnreachable)
	case strings.Contains(err.Error(), "empty password"), strings.Contains(err.Error(), "password authentication"):
		return fmt.Errorf("%s: the server requires a password; give the option password, PGPASSWORD or ~/.pgpass", to)
	case pgconn.Timeout(err):
		waited = c.Timeout
	}
	return connection.DescribeError(to, "name its authority's file in PGSSLROOTCERT, or give tls=insecure", waited, err)
}

// TooMany is the error for a connection that exceeds the server's limit. It is a driver.ErrUnreachable.
type TooMany struct {
	To   string // the operation that failed
	Said string // the server's message
	// Limit names the limit, who set it, and how to raise it. It is empty if the server accepts a
	// connection, which is how the limit is read.
	Limit string
}

// Error is one line.
func (e *TooMany) Error() string {
	return fmt.Sprintf("%s: the server takes no more connections (%s); %s", e.To, e.Said,
		cmp.Or(e.Limit, "each worker needs one: use fewer workers or raise its max_connections"))
}

// Unwrap returns driver.ErrUnreachable.
func (e *TooMany) Unwrap() error { return driver.ErrUnreachable }

// explain explains an error of a connection. It wraps ctx's error if that ended the operation, a
// driver.Temporary if the operation can be retried, driver.ErrUnreachable if the connection has broken,
// and syscall.ENOSPC if the server's disk is full.
func (c *Conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var long *pgproto3.ExceededMaxBodyLenErr
	switch own := connection.ClientError(ctx, nil, err); {
	case own != nil:
		return own
	case limit.IsEndless(err):
		return errors.New(printable.OneLine(err.Error()))
	case errors.As(err, &long):
		return fmt.Errorf("the server sent a message of %d bytes: tsmark reads values and rows of %d at most", long.ActualBodyLen, maxMessage)
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		if !c.pg.IsClosed() {
			return err
		}
		return connection.BrokenError(c.config.Address(), err)
	}
	switch pg.Code {
	case stateDiskFull:
		return fmt.Errorf("%w; free space on the server (%s)", syscall.ENOSPC, message(pg))
	case stateSerialization, stateDeadlock:
		return &driver.Temporary{Err: errors.New(message(pg)), Refused: true}
	case stateAdminShutdown, stateCrashShutdown, stateCannotConnectNow:
		return &driver.Temporary{Err: fmt.Errorf("%w: %s", driver.ErrUnreachable, message(pg))}
	case stateNotPermitted:
		return driver.NewDeniedError(&Error{pg}, grant(pg.Message, c.config.pg.User))
	}
	return &Error{pg}
}

// refusal is how a server says that a user lacks a right, with the kind and the name of the object.
var refusal = regexp.MustCompile(`^(permission denied for|must be owner of) (?:foreign |materialized )?(table|relation|view|sequence|function|schema|database) "?([^"]+)"?$`)

// grant returns the statement that gives a user the right that a server misses; empty: not known.
func grant(refused, user string) string {
	m := refusal.FindStringSubmatch(refused)
	if m == nil {
		return ""
	}
	kind, object, to := m[2], quote(m[3]), quote(user)
	rights := "ALL"
	switch kind {
	case "schema":
		rights = "USAGE, CREATE"
	case "database":
		rights = "CONNECT, CREATE"
	case "relation", "view":
		kind = "table"
	}
	kind = strings.ToUpper(kind)
	if m[1] == "must be owner of" {
		return fmt.Sprintf("ALTER %s %s OWNER TO %s", kind, object, to)
	}
	return fmt.Sprintf("GRANT %s ON %s %s TO %s", rights, kind, object, to)
}

// plainName matches names that need no quotes.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// quote returns a name as an identifier of SQL, with quotes only where it needs them.
func quote(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Error is a server's error for a statement.
type Error struct{ pg *pgconn.PgError }

// Error is one line.
func (e *Error) Error() string { return message(e.pg) }

// SQLState returns the five-character code of the server's error.
func (e *Error) SQLState() string { return e.pg.Code }

// Unwrap returns pgx's error.
func (e *Error) Unwrap() error { return e.pg }

// message returns all parts of a server's error, in one line.
func message(pg *pgconn.PgError) string {
	text := fmt.Sprintf("%s (SQLSTATE %s)", pg.Message, pg.Code)
	for _, more := range []string{pg.Detail, pg.Hint} {
		if more != "" {
			text += "; " + more
		}
	}
	return printable.OneLine(text)
}
