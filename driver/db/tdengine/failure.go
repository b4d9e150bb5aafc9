package tdengine

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/printable"
)

// The server's errors that the driver handles.
const (
	errNoDatabase   = 0x0388
	errNoTable      = 0x2603
	errDiskFull     = 0x0129
	errVnodeFull    = 0x0505
	errNoVnodes     = 0x03ba
	errNoAuth       = 0x0357
	errNoUser       = 0x0351
	errNoPassword   = 0x0352
	errBadUser      = 0x0353
	errLoginDenied  = 0x0003
	errPasswordSize = 0x0356
)

// unready are the errors of a server that is starting, or that has an unavailable component.
var unready = map[int]bool{
	0x0005: true, 0x000b: true, 0x0014: true, 0x0015: true, 0x0017: true, 0x0018: true, 0x0019: true, 0x0020: true, 0x0021: true, 0x0022: true, 0x0023: true, 0x0024: true,
	0x0334: true, 0x0503: true, 0x0510: true, 0x0511: true, 0x0903: true, 0x090c: true, 0x0911: true, 0x0914: true, 0x0915: true, 0x0917: true,
}

// busy are the errors of a server that temporarily accepts no rows.
var busy = map[int]bool{0x050c: true, 0x0102: true, 0x0531: true}

// failure is a server's error for a request.
type failure struct {
	code    int
	message string
}

// Error is one line.
func (f *failure) Error() string {
	return fmt.Sprintf("%s (error 0x%04x)", printable.OneLine(f.message), f.code)
}

// code is the number of an error that a server reported; 0: another error.
func code(err error) int {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.code & 0xffff
	}
	return 0
}

// connecting explains an error of connect, whose own time limit was bounded. The server may have
// accepted the connection before.
func (c *config) connecting(ctx, bounded context.Context, connected bool, err error) error {
	to := fmt.Sprintf("connecting to TDengine at %s as user %s", c.Address(), c.User)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", to, context.Cause(ctx))
	}
	switch n := code(err); {
	case n == 0:
	case n == errNoAuth, n == errNoUser, n == errNoPassword, n == errBadUser, n == errLoginDenied, n == errPasswordSize:
		return fmt.Errorf("%s: the server refuses the password; give another user or password (%w)", to, err)
	case unready[n]:
		return &driver.Temporary{Err: fmt.Errorf("%s: %w: %w", to, driver.ErrUnreachable, err), Refused: true}
	default:
		return fmt.Errorf("%s: %w", to, err)
	}
	return connection.ConnectError(bounded, to, c.Timeout, connected && c.Encryption() != nil, err)
}

// explain explains an error of a connection. It wraps ctx's error if that ended the operation, a
// driver.Temporary if the operation can be retried, driver.ErrUnreachable if the connection has broken,
// and syscall.ENOSPC if the server's disk is full.
func (c *conn) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	switch own := connection.ClientError(ctx, c.net, err); {
	case own != nil:
		return own
	case driver.AsTemporary(err) != nil, errors.Is(err, driver.ErrUnreachable):
		return err
	}
	if _, said := errors.AsType[*failure](err); said {
		return explainFailure(err)
	}
	return connection.BrokenError(c.of.Address(), err)
}

// explainFailure applies failed's explanation to a *failure.
func explainFailure(err error) error {
	switch n := code(err); {
	case n == errDiskFull, n == errVnodeFull:
		return fmt.Errorf("%w; free space on the server (%w)", syscall.ENOSPC, err)
	case n == errNoVnodes:
		return fmt.Errorf("the server has not enough free vnodes for the vgroups of this database; lower the option %s, drop unneeded databases, or raise supportVnodes in taos.cfg (%w)", optionVgroups, err)
	case busy[n]:
		return &driver.Temporary{Err: err, Refused: true}
	case unready[n]:
		return &driver.Temporary{Err: fmt.Errorf("%w: %w", driver.ErrUnreachable, err)}
	}
	return err
}
