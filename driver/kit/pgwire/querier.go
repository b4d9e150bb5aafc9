package pgwire

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Protocol is the protocol for sending queries.
type Protocol string

// The protocols.
const (
	Extended Protocol = "extended" // parsed and planned again each time; binary results
	Prepared Protocol = "prepared" // each text is parsed on its first use, and cached; binary results
	Simple   Protocol = "simple"   // text results
)

// Protocols lists the protocols.
func Protocols() []Protocol { return []Protocol{Extended, Prepared, Simple} }

// maxPrepared is the number of statements that a querier caches. The oldest is evicted first.
const maxPrepared = 256

// Querier implements driver.Querier over a connection, which it reopens after it broke.
type Querier struct {
	// ReadOnly is the statement that begins a read-only transaction, in which users' texts run. Empty:
	// the server has no such transactions.
	ReadOnly string

	config   *Config
	protocol Protocol
	conn     *Conn
	prepared map[string]*pgconn.StatementDescription
	names    [maxPrepared]string // texts, by the number in the statement's name
	next     int                 // number of the next statement
}

// NewQuerier connects.
func NewQuerier(ctx context.Context, c *Config, p Protocol) (*Querier, error) {
	q := &Querier{config: c, protocol: p}
	if err := q.connect(ctx); err != nil {
		return nil, err
	}
	return q, nil
}

func (q *Querier) connect(ctx context.Context) (err error) {
	q.conn, err = Connect(ctx, q.config)
	q.prepared, q.next = make(map[string]*pgconn.StatementDescription), 0
	clear(q.names[:])
	return err
}

// Do implements driver.Querier. It first reopens a connection that broke in an earlier call, for
// example when a query was cancelled.
func (q *Querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.conn == nil {
		return driver.Cost{}, errClosed
	}
	if err := ctx.Err(); err != nil {
		return driver.Cost{}, fmt.Errorf("querying: %w", err)
	}
	if q.conn.Closed() {
		again := *q
		if err := again.connect(ctx); err != nil {
			return driver.Cost{}, err
		}
		*q = again
	}
	confined := r.UserText && q.ReadOnly != ""
	switch {
	case q.protocol == Prepared:
		statement, err := q.prepare(ctx, r.Text)
		if err != nil {
			return driver.Cost{}, err
		}
		if confined {
			return q.conn.readOnly(ctx, q.ReadOnly, func(b *pgconn.Batch) { b.ExecPrepared(statement.Name, nil, nil, binary) }, sink)
		}
		cost, err := q.conn.read(q.conn.pg.ExecStatement(ctx, statement, nil, nil, binary), sink)
		return cost, q.conn.explain(ctx, err)
	case confined && q.protocol == Simple:
		// The simple protocol itself allows several statements in a text, and one of them could end the
		// transaction.
		return q.conn.readOnly(ctx, q.ReadOnly, func(b *pgconn.Batch) { b.ExecParams(r.Text, nil, nil, nil, nil) }, sink)
	case confined:
		return q.conn.QueryReadOnly(ctx, q.ReadOnly, r.Text, sink)
	case q.protocol == Simple:
		return q.conn.QuerySimple(ctx, r.Text, sink)
	}
	return q.conn.Query(ctx, r.Text, sink)
}

// prepare returns the prepared statement of a text, and prepares it if necessary.
func (q *Querier) prepare(ctx context.Context, text string) (*pgconn.StatementDescription, error) {
	pg := q.conn.pg
	q.conn.unread.Row()
	statement := q.prepared[text]
	if statement == nil {
		name := "tsmark" + strconv.Itoa(q.next)
		if old := q.names[q.next]; old != "" {
			if err := pg.Deallocate(ctx, name); err != nil {
				return nil, q.conn.explain(ctx, err)
			}
			delete(q.prepared, old)
			q.names[q.next] = ""
		}
		var err error
		if statement, err = pg.Prepare(ctx, name, text, nil); err != nil {
			return nil, q.conn.explain(ctx, err)
		}
		q.prepared[text], q.names[q.next] = statement, text
		q.next = (q.next + 1) % maxPrepared
	}
	return statement, nil
}

// Close implements driver.Querier.
func (q *Querier) Close() error {
	if q.conn == nil {
		return nil
	}
	err := q.conn.Close()
	q.conn = nil
	return err
}
