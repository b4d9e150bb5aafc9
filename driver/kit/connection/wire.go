package connection

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
)

// Dial connects to an address, and negotiates encryption unless that is nil. With an error, connected
// reports whether the server had accepted the connection.
func Dial(ctx context.Context, network, address string, encryption *tls.Config) (conn net.Conn, connected bool, err error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil || encryption == nil {
		return raw, err == nil, err
	}
	encrypted := tls.Client(raw, encryption)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, true, err
	}
	return encrypted, true, nil
}

// ConnectError explains in one line why connecting failed without a response from the server. The
// operation doing had the time-out, which may have ended bounded. The server may not speak TLS if
// withoutTLS is set: it had accepted the connection that was to be encrypted.
func ConnectError(bounded context.Context, doing string, timeout time.Duration, withoutTLS bool, err error) error {
	var waited time.Duration
	if bounded.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) { // a library may have a deadline of its own
		waited = timeout
	}
	failed := DescribeError(doing, "give tls=insecure where the network between can be", waited, err)
	if withoutTLS { // a server without TLS waits for more data
		return fmt.Errorf("%w; if it has no TLS, give tls=off where the network between can be trusted", failed)
	}
	return failed
}

// ClientError explains an error that the client caused: its context has ended, its sink rejected a row,
// or the result exceeded a limit of conn, which may be nil. It returns nil for errors of the server or
// the connection.
func ClientError(ctx context.Context, conn *limit.Conn, err error) error {
	switch refused := limit.AsRefused(err); {
	case ctx.Err() != nil:
		return fmt.Errorf("the statement was interrupted: %w", context.Cause(ctx))
	case refused != nil:
		return refused
	case conn != nil:
		return conn.Endless()
	}
	return nil
}

// BrokenError is the error of an operation whose connection to an address broke. Rows may have been
// stored, and can be sent again.
func BrokenError(address string, err error) error {
	return &driver.Temporary{Err: fmt.Errorf("%w: the connection to %s is gone (%s)", driver.ErrUnreachable, address, printable.OneLine(err.Error()))}
}
