package pgwire

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tsmark/tsmark/driver/kit/limit"
)

// maxMessage is the largest size in bytes of one message from the server, such as a row, and therefore
// of a value: half of limit.MaxRow, within which a row must be complete.
const maxMessage = limit.MaxRow / 2

// limitReads wraps a dialer so that its connections limit the bytes read without a row.
func limitReads(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &limit.Conn{Conn: c}, nil
	}
}

// unreadOf returns the limit of a connection that bounded made, possibly below a TLS connection.
func unreadOf(c net.Conn) *limit.Unread {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secured.NetConn()
	}
	if own, ok := c.(*limit.Conn); ok {
		return &own.Unread
	}
	return new(limit.Unread)
}
