package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/limit"
)

// The codes of exceptions that are told apart.
const (
	codeUnknownDatabase   = 81
	codeUnknownUser       = 192
	codeWrongPassword     = 193
	codeNeedsPassword     = 194
	codeTooManyQueries    = 202
	codeNetwork           = 210
	codeAborted           = 236
	codeMemory            = 241
	codeNoSpace           = 243
	codeTooManyParts      = 252
	codeAuthentication    = 516
	codeNotEnoughGrants   = 497
	codeQueryWasCancelled = 394
)

// failure is an exception of the server's.
type failure struct {
	code int
	text string
}

// Error is one line.
func (f *failure) Error() string {
	text := httpwire.OneLine(f.text)
	for _, before := range []string{"DB::Exception: ", "DB::ErrnoException: "} {
		text = strings.TrimPrefix(text, before)
	}
	return fmt.Sprintf("%s (code %d)", text, f.code)
}

// asFailure returns the exception that an error is, of either protocol; nil: none.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := ch.AsException(err); ok {
		return &failure{code: int(e.Code), text: e.Message}
	}
	return nil
}

// connecting explains an error of connect, whose own limit was bounded.
func (c *config) connecting(ctx, bounded context.Context, err error) error {
	to := fmt.Sprintf("connecting to %s as user %s", c.location(), c.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	if f := asFailure(err); f != nil {
		switch f.code {
		case codeWrongPassword, codeNeedsPassword, codeUnknownUser, codeAuthentication:
			return fmt.Errorf("%s: the server refuses the password; give another user or password", to)
		case codeUnknownDatabase:
			return fmt.Errorf("%s: there is no such database; create it (CREATE DATABASE %s) or name another one by option database", to, quoted(c.Database))
		case codeTooManyQueries:
			return fmt.Errorf("%s: %w: the server takes no more queries; use fewer workers or raise its max_concurrent_queries", to, driver.ErrUnreachable)
		}
		return fmt.Errorf("%s: %w", to, f)
	}
	if c.http && errors.Is(err, driver.ErrUnreachable) {
		return fmt.Errorf("%s: %w", to, err)
	}
	var waited time.Duration
	if bounded.Err() != nil {
		waited = c.Timeout
	}
	return connection.Failed(to, "give tls=insecure where the network between can be", waited, plain(err))
}

// plain returns the cause of an error without the library's way to it.
func plain(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// failed explains an error of a connection. It wraps ctx's error where that ended the
// operation, a driver.Temporary where the same can be tried again,
// driver.ErrUnreachable where the connection is gone, and syscall.ENOSPC where the
// server's disk is full.
func (c *nativeConn) failed(ctx context.Context, err error) error {
	var own *refused
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("the statement was interrupted: %w", context.Cause(ctx))
	case errors.As(err, &own):
		return own.err
	case c.wire.err != nil && limit.IsEndless(c.wire.err):
		return c.wire.err
	}
	if f := asFailure(err); f != nil {
		return f.explained()
	}
	return &driver.Temporary{Err: fmt.Errorf("%w: the connection to %s is gone (%s)", driver.ErrUnreachable, c.of.address(), httpwire.OneLine(plain(err).Error()))}
}

// failed explains an error of a request.
func (c *httpConn) failed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if f := asFailure(err); f != nil {
		return f.explained()
	}
	return err
}

// explained returns the exception as what a writer and its users make of it.
func (f *failure) explained() error {
	switch {
	case f.code == codeNoSpace, strings.Contains(f.text, "No space left on device"), strings.Contains(f.text, "File too large"):
		return fmt.Errorf("%w; free space on the server (%w)", syscall.ENOSPC, f)
	case f.code == codeAborted, f.code == codeNetwork:
		return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, f)}
	case slices.Contains([]int{codeTooManyParts, codeTooManyQueries, codeMemory}, f.code):
		return &driver.Temporary{Err: f, Refused: true}
	}
	return f
}

// newID is a name of a query, by which the server's log knows it.
func newID() string { return "tsmark-" + rand.Text() }
