package pgwire

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tsmark/tsmark/driver/limit"
)

// maxMessage is the most bytes of one message of the server's, such as a row,
// and so of a value: half of limit.MaxRow, within which rows must come.
const maxMessage = limit.MaxRow / 2

// boundedConn is a connection that reads no endless answer.
type boundedConn struct {
	net.Conn
	unread limit.Unread
}

// Read implements net.Conn.
func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if endless := c.unread.Read(n); endless != nil {
		return 0, endless
	}
	return n, err
}

// bounded has a dialer make connections that read no endless answer.
func bounded(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &boundedConn{Conn: c}, nil
	}
}

// unreadOf returns what bounds the reading of a connection that bounded made,
// maybe with encryption on top.
func unreadOf(c net.Conn) *limit.Unread {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secured.NetConn()
	}
	if own, ok := c.(*boundedConn); ok {
		return &own.unread
	}
	return new(limit.Unread)
}

// refused is an error of reading an answer that is none of the connection's: a
// sink took a row no longer, or a value cannot be read.
type refused struct{ err error }

// Error implements error.
func (r *refused) Error() string { return r.err.Error() }
