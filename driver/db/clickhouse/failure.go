package clickhouse

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/ClickHouse/ch-go"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
)

// The codes of exceptions that tsmark distinguishes.
const (
	codeUnknownDatabase = 81
	codeUnknownUser     = 192
	codeWrongPassword   = 193
	codeNeedsPassword   = 194
	codeTooManyQueries  = 202
	codeNetwork         = 210
	codeAborted         = 236
	codeMemory          = 241
	codeNoSpace         = 243
	codeTooManyParts    = 252
	codeAccessDenied    = 497
	codeAuthentication  = 516
)

// failure is an exception of the server.
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

// asFailure returns the exception in an error, of either protocol; nil: the error is not an exception.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := ch.AsException(err); ok {
		return &failure{code: int(e.Code), text: e.Message}
	}
	return nil
}

func (c *config) connectingTo() string {
	return fmt.Sprintf("connecting to %s as user %s", c.location(), c.User)
}

// entry explains an exception with which a server refuses a login; nil: it is a different exception.
func (c *config) entry(f *failure) error {
	switch f.code {
	case codeWrongPassword, codeNeedsPassword, codeUnknownUser, codeAuthentication:
		return fmt.Errorf("%s: the server refuses the password; give another user or password (%w)", c.connectingTo(), f)
	case codeUnknownDatabase:
		return fmt.Errorf("%s: there is no such database; create it (CREATE DATABASE %s) or name another one by option database", c.connectingTo(), quoteIdent(c.Database))
	}
	return nil
}

// connecting explains an error of connect, whose own time limit was bounded.
func (c *config) connecting(ctx, bounded context.Context, err error) error {
	to := c.connectingTo()
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	if f := asFailure(err); f != nil {
		if refused := c.entry(f); refused != nil {
			return refused
		}
		return fmt.Errorf("%s: %w", to, f)
	}
	if certificate := (*tls.CertificateVerificationError)(nil); c.tls != nil && bounded.Err() == nil && !errors.As(err, &certificate) {
		return fmt.Errorf("%s: %w over TLS (%s); give the port that speaks it, mostly 9440, or tls=off if it speaks none", to, driver.ErrUnreachable, httpwire.OneLine(plain(err).Error()))
	}
	return connection.ConnectError(bounded, to, c.Timeout, false, err)
}

// plain returns the cause of an error without the library's prefixes.
func plain(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// explain explains an error of a connection. It wraps ctx's error if that ended the operation, a
// driver.Temporary if the operation can be retried, driver.ErrUnreachable if the connection has broken,
// and syscall.ENOSPC if the server's disk is full.
func (c *nativeConn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if own := connection.ClientError(ctx, c.wire, err); own != nil {
		return own
	}
	if f := asFailure(err); f != nil {
		return f.explain(c.of.User)
	}
	return connection.BrokenError(c.of.Address(), plain(err))
}

// explain explains an error of a request. The status takes precedence over the exception.
func (c *httpConn) explain(ctx context.Context, err error) error {
	f := asFailure(err)
	if f == nil || ctx.Err() != nil {
		return err
	}
	if refused := c.of.entry(f); refused != nil {
		return refused
	}
	explained := f.explain(c.of.User)
	if driver.AsTemporary(err) != nil && driver.AsTemporary(explained) == nil {
		return err
	}
	return explained
}

// missingGrant is how a server names the right that a user lacks.
var missingGrant = regexp.MustCompile(`necessary to have (?:the )?grant (.+? ON \S+?)\.?(?:\s|$)`)

// explain returns the exception for a statement of a user as an error for writers and users.
func (f *failure) explain(user string) error {
	switch {
	case f.code == codeNoSpace, strings.Contains(f.text, "No space left on device"), strings.Contains(f.text, "File too large"):
		return fmt.Errorf("%w; free space on the server (%w)", syscall.ENOSPC, f)
	case f.code == codeAborted, f.code == codeNetwork:
		return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, f)}
	case f.code == codeAccessDenied:
		grant := ""
		if m := missingGrant.FindStringSubmatch(f.text); m != nil {
			grant = fmt.Sprintf("GRANT %s TO %s", m[1], user)
		}
		return driver.NewDeniedError(f, grant)
	case slices.Contains([]int{codeTooManyParts, codeTooManyQueries, codeMemory}, f.code):
		return &driver.Temporary{Err: f, Refused: true}
	}
	return f
}

// newID returns a query id, which identifies the query in the server's log.
func newID() string { return "tsmark-" + rand.Text() }
