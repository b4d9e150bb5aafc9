package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// revision is the revision of the native protocol. From the next one on, servers send sparse columns in
// a sparse format, which ch-go does not support.
const revision = 54453

// nativeConn is a connection of the native protocol.
type nativeConn struct {
	of     *config
	client *ch.Client
	wire   *limit.Conn
	answer answer
}

// native opens a connection of the native protocol.
func (c *config) native(ctx context.Context) (conn, error) {
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out := &nativeConn{of: c}
	raw, _, err := connection.Dial(bounded, "tcp", c.Address(), c.tls)
	if err != nil {
		return nil, c.connecting(ctx, bounded, err)
	}
	out.wire = &limit.Conn{Conn: raw}
	out.answer.unread = &out.wire.Unread
	options := ch.Options{
		Database: c.Database, User: c.User, Password: c.Password, ClientName: "tsmark",
		Compression: ch.CompressionLZ4, ProtocolVersion: revision, ReadTimeout: ch.NoTimeout, HandshakeTimeout: c.Timeout,
	}
	for _, s := range c.settings {
		options.Settings = append(options.Settings, ch.Setting{Key: s.name, Value: s.value})
	}
	if out.client, err = ch.Connect(bounded, out.wire, options); err != nil {
		_ = raw.Close()
		return nil, c.connecting(ctx, bounded, err)
	}
	return out, nil
}

// do sends a query and reads its result. The library keeps waiting for a silent server after ctx has
// ended: do then closes the connection, which makes the server end the query too.
func (c *nativeConn) do(ctx context.Context, q ch.Query) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("querying: %w", context.Cause(ctx))
	}
	c.wire.Unread.Row()
	stop := context.AfterFunc(ctx, func() { _ = c.wire.Conn.Close() })
	err := c.client.Do(ctx, q)
	if !stop() && !c.Closed() {
		_ = c.Close()
	}
	if err != nil && !ch.IsException(err) {
		_ = c.Close() // the connection is in an undefined state
	}
	return c.explain(ctx, err)
}

// Query implements sqlkit.Conn. The bytes of its cost are all bytes received.
func (c *nativeConn) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	begin := c.wire.BytesRead()
	c.answer.begin(sink)
	err := c.do(ctx, ch.Query{
		Body: text, QueryID: newID(), Result: &c.answer,
		OnResult: func(context.Context, proto.Block) error { return nil }, // the answer has passed the rows on
	})
	return driver.Cost{Rows: c.answer.rows, Bytes: c.wire.BytesRead() - begin}, err
}

// Exec implements sqlkit.Conn.
func (c *nativeConn) Exec(ctx context.Context, texts ...string) error {
	return sqlkit.Exec(ctx, c, texts...)
}

// Insert implements conn.
func (c *nativeConn) Insert(ctx context.Context, statement string, columns proto.Input) (int64, time.Time, error) {
	err := c.do(ctx, ch.Query{Body: statement + " VALUES", QueryID: newID(), Input: columns})
	return size(columns), c.wire.LastWrite(), err
}

// Ping implements sqlkit.Remote.
func (c *nativeConn) Ping(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, c.of.Timeout)
	defer cancel()
	stop := context.AfterFunc(bounded, func() { _ = c.wire.Conn.Close() })
	defer stop()
	c.wire.Unread.Row()
	return c.client.Ping(bounded)
}

// Closed implements sqlkit.Remote.
func (c *nativeConn) Closed() bool { return c.client.IsClosed() }

// Close implements sqlkit.Remote.
func (c *nativeConn) Close() error {
	if err := c.client.Close(); err != nil && !errors.Is(err, ch.ErrClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the connection: %w", err)
	}
	return nil
}
