package pgwire

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tsmark/tsmark/driver/kit/limit"
)

// maxMessage is the most bytes of one message of the server's, such as a row,
// and so of a value: half of limit.MaxRow, within which rows must come.
const maxMessage = limit.MaxRow / 2

// bounded has a dialer make connections that read no endless answer.
func bounded(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &limit.Conn{Conn: c}, nil
	}
}

// unreadOf returns what bounds the reading of a connection that bounded made,
// maybe with encryption on top.
func unreadOf(c net.Conn) *limit.Unread {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secured.NetConn()
	}
	if own, ok := c.(*limit.Conn); ok {
		return &own.Unread
	}
	return new(limit.Unread)
}
