package mysql

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/printable"
)

// The numbers of errors that tsmark distinguishes, of MySQL and of MariaDB.
const (
	errWriteFile       = 3
	errDiskFull        = 1021
	errTooManyClients  = 1040
	errNoDatabaseRight = 1044
	errWrongPassword   = 1045
	errNoDatabase      = 1049
	errShutdown        = 1053
	errTableFull       = 1114
	errNoRight         = 1142 // on a table
	errNoColumnRight   = 1143
	errPacket          = 1153 // longer than max_allowed_packet
	errLocked          = 1205
	errDeadlock        = 1213
	errNotPermitted    = 1227
	errKilled          = 1927 // the connection was killed
	errShutdownSession = 3169
)

// connecting explains an error of connect, whose own time limit was bounded.
func (c *config) connecting(ctx, bounded context.Context, err error) error {
	to := fmt.Sprintf("connecting to %s as user %s", c.location(), c.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		switch my.Number {
		case errWrongPassword:
			return fmt.Errorf("%s: the server refuses the password; give another user or password (%s)", to, message(my))
		case errNoDatabaseRight:
			return fmt.Errorf("%s: %w", to, c.deniedError(my))
		case errNoDatabase:
			return fmt.Errorf("%s: there is no such database; create it (CREATE DATABASE %s) or name another one by option database", to, quoteIdent(c.DBName))
		case errTooManyClients:
			return fmt.Errorf("%s: %w: the server takes no more connections; use fewer workers or raise its max_connections", to, driver.ErrUnreachable)
		case errShutdown:
			return &driver.Temporary{Err: fmt.Errorf("%s: %w: %s", to, driver.ErrUnreachable, message(my)), Refused: true}
		}
		return fmt.Errorf("%s: %s", to, message(my))
	}
	if errors.Is(err, mysql.ErrNoTLS) {
		return fmt.Errorf("%s: %w: the server has no TLS; give tls=off if the network between can be trusted", to, driver.ErrUnreachable)
	}
	return connection.ConnectError(bounded, to, c.timeout, false, err)
}

// explain explains an error of a connection. It wraps ctx's error if that ended the operation, a
// driver.Temporary if the operation can be retried, driver.ErrUnreachable if the connection has broken,
// and syscall.ENOSPC if the server's disk is full.
func (c *conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		c.kill()
	}
	var my *mysql.MySQLError
	switch own := connection.ClientError(ctx, c.wire, err); {
	case own != nil:
		return own
	case !errors.As(err, &my) && c.Closed():
		return connection.BrokenError(c.of.address(), err)
	case my == nil:
		return errors.New(printable.OneLine(err.Error()))
	}
	switch my.Number {
	case errWriteFile, errDiskFull, errTableFull:
		return fmt.Errorf("%w; free space on the server (%s)", syscall.ENOSPC, message(my))
	case errPacket:
		return fmt.Errorf("%w; %s", &failure{my}, morePacket)
	case errDeadlock, errLocked:
		return &driver.Temporary{Err: &failure{my}, Refused: true}
	case errShutdown, errKilled, errShutdownSession:
		return &driver.Temporary{Err: fmt.Errorf("%w: %s", driver.ErrUnreachable, message(my))}
	case errNoDatabaseRight, errNoRight, errNoColumnRight, errNotPermitted:
		return c.of.deniedError(my)
	}
	return &failure{my}
}

// These are the messages of servers for an account that lacks a right: on a table or a column, on a
// database, or for the whole server.
var (
	refusedCommand  = regexp.MustCompile(`^([A-Z, ]+) command denied to user ('.*'@'.*?') `)
	refusedDatabase = regexp.MustCompile(`^Access denied for user ('.*'@'.*?') to database `)
	refusedServer   = regexp.MustCompile(`need \(at least one of\) the ([A-Z_ ]+?)(?: or [A-Z_]+|, .*)? privilege`)
)

// deniedError returns the error for a missing right, with the statement that gives it.
func (c *config) deniedError(my *mysql.MySQLError) error {
	grant, database := "", quoteIdent(c.DBName)
	if m := refusedCommand.FindStringSubmatch(my.Message); m != nil {
		grant = fmt.Sprintf("GRANT %s ON %s.* TO %s", m[1], database, m[2])
	} else if m := refusedDatabase.FindStringSubmatch(my.Message); m != nil {
		grant = fmt.Sprintf("GRANT ALL ON %s.* TO %s", database, m[1])
	} else if m := refusedServer.FindStringSubmatch(my.Message); m != nil {
		grant = fmt.Sprintf("GRANT %s ON *.* TO '%s'", m[1], c.User)
	}
	return driver.NewDeniedError(&failure{my}, grant)
}

// failure is a server's error for a statement.
type failure struct{ my *mysql.MySQLError }

// Error is one line.
func (f *failure) Error() string { return message(f.my) }

// number is the number of an error that the server reported; 0: another error.
func number(err error) uint16 {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.my.Number
	}
	return 0
}

func message(my *mysql.MySQLError) string {
	return printable.OneLine(fmt.Sprintf("%s (error %d)", my.Message, my.Number))
}
