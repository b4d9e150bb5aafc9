package pgwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// Link is a connection for occasional statements.
type Link = sqlkit.Link[*Conn]

// NewLink returns a link that is not connected yet. A single link closes its connection after each Do,
// for servers that accept one at a time.
func NewLink(c *Config, single bool) *Link {
	return sqlkit.NewLink(func(ctx context.Context) (*Conn, error) { return Connect(ctx, c) }, single)
}

// Conn is one connection, used by one goroutine at a time. It implements
// sqlkit.Conn.
type Conn struct {
	config  *Config
	pg      *pgconn.PgConn
	unread  *limit.Unread // bytes read since the last row
	columns []column      // of the current result; reused for the next one
	row     []query.Value // passed to the sink
	cut     bool          // stopped in the middle of a result
}

// Connect opens a connection. Its error wraps driver.ErrUnreachable if no server answers, and ctx's
// error if ctx ended the attempt.
func Connect(ctx context.Context, c *Config) (*Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, c.pg)
	if err != nil {
		return nil, c.connecting(ctx, err)
	}
	return &Conn{config: c, pg: pg, unread: unreadOf(pg.Conn())}, nil
}

// Closed reports whether the connection was closed or has broken.
func (c *Conn) Closed() bool { return c.cut || c.pg.IsClosed() }

// Ping returns an error if the server no longer answers.
func (c *Conn) Ping(ctx context.Context) error { return c.Exec(ctx, "-- ping") }

// farewell limits the time for telling the server that a connection ends.
const farewell = time.Second

// Close ends the connection; a second call does nothing.
func (c *Conn) Close() error {
	if c.pg.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), min(farewell, c.config.Timeout))
	defer cancel()
	if err := c.pg.Close(ctx); err != nil && !c.cut {
		return fmt.Errorf("closing the connection: %w", err)
	}
	return nil
}

// binary requests all columns of a result in binary format.
var binary = []int16{pgtype.BinaryFormatCode}

// Query implements sqlkit.Conn, with the extended protocol. The bytes of its cost are those of the
// messages with the rows.
func (c *Conn) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	c.unread.Row()
	cost, err := c.read(c.pg.ExecParams(ctx, text, nil, nil, nil, binary), sink)
	return cost, c.explain(ctx, err)
}

// QueryReadOnly runs one statement in a transaction of its own, which the statement begin makes
// read-only, and which is rolled back. The three statements are sent together.
func (c *Conn) QueryReadOnly(ctx context.Context, begin, text string, sink query.Sink) (driver.Cost, error) {
	return c.readOnly(ctx, begin, func(b *pgconn.Batch) { b.ExecParams(text, nil, nil, nil, binary) }, sink)
}

// readOnly is QueryReadOnly for the statement that add queues.
func (c *Conn) readOnly(ctx context.Context, begin string, add func(*pgconn.Batch), sink query.Sink) (cost driver.Cost, err error) {
	c.unread.Row()
	batch := new(pgconn.Batch)
	batch.ExecParams(begin, nil, nil, nil, nil)
	add(batch)
	batch.ExecParams("ROLLBACK", nil, nil, nil, nil)
	results := c.pg.ExecBatch(ctx, batch)
	for n := 0; err == nil && results.NextResult(); n++ {
		if n == 1 {
			cost, err = c.read(results.ResultReader(), sink)
		}
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err != nil {
		c.Rollback(ctx)
	}
	return cost, c.explain(ctx, err)
}

// QuerySimple runs one statement with the simple protocol, in which values are texts.
func (c *Conn) QuerySimple(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	c.unread.Row()
	results := c.pg.Exec(ctx, text)
	var cost driver.Cost
	var err error
	answers := 0
	for err == nil && results.NextResult() {
		if answers++; answers == 1 {
			cost, err = c.read(results.ResultReader(), sink)
		}
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil && answers > 1 {
		err = fmt.Errorf("not one statement but %d: %q", answers, text)
	}
	return cost, c.explain(ctx, err)
}

// read passes the rows of a result to the sink. If it cannot decode a value, or the sink rejects a row,
// it stops reading, because the rest may never end, and closes the connection.
func (c *Conn) read(r *pgconn.ResultReader, sink query.Sink) (driver.Cost, error) {
	cost, err := c.readRows(r, sink)
	if err != nil {
		err, c.cut = &limit.Refused{Err: err}, true
		_ = c.pg.Conn().Close() // otherwise the library would read the result to its end
	}
	if _, closed := r.Close(); err == nil {
		err = closed
	}
	return cost, err
}

// readRows passes rows to the sink. Its error does not come from the connection.
func (c *Conn) readRows(r *pgconn.ResultReader, sink query.Sink) (cost driver.Cost, err error) {
	err = c.describe(r.FieldDescriptions(), sink == nil)
	for err == nil && r.NextRow() {
		c.unread.Row()
		values := r.Values()
		if len(values) != len(c.columns) {
			err = fmt.Errorf("row %d of the answer has %d columns, not %d", cost.Rows+1, len(values), len(c.columns))
			break
		}
		cost.Rows++
		cost.Bytes += rowHeader
		for i, src := range values {
			cost.Bytes += 4 + int64(len(src)) // a value follows its length
			if src == nil {
				c.row[i] = query.Value{}
			} else if err = c.columns[i].decode(src, &c.row[i]); err != nil {
				err = fmt.Errorf("row %d, column %s of the answer: %w", cost.Rows, c.columns[i].name, err)
				break
			}
		}
		if err == nil && sink != nil {
			err = sink.Row(c.row)
		}
	}
	return cost, err
}

// rowHeader is the size in bytes of a row's message before its columns: type, length and number of
// columns.
const rowHeader = 1 + 4 + 2

// describe prepares the decoders of a result's columns. If rows are only counted, columns may have any
// type.
func (c *Conn) describe(fields []pgconn.FieldDescription, counted bool) error {
	c.columns, c.row = c.columns[:0], c.row[:0]
	for i := range fields {
		decode := decoderOf(fields[i].DataTypeOID, fields[i].Format)
		if decode == nil && counted {
			decode = func([]byte, *query.Value) error { return nil }
		}
		if decode == nil {
			return fmt.Errorf("column %s of the answer has a type that tsmark does not read (OID %d); cast it to bigint, double precision, timestamptz or text",
				fields[i].Name, fields[i].DataTypeOID)
		}
		c.columns, c.row = append(c.columns, column{fields[i].Name, decode}), append(c.row, query.Value{})
	}
	return nil
}

// Commit ends a transaction. It continues for limit.Grace after ctx ends: if a commit were interrupted,
// its outcome would be unknown.
func (c *Conn) Commit(ctx context.Context) error {
	ctx, cancel := limit.Outlive(ctx)
	defer cancel()
	return c.Exec(ctx, "COMMIT")
}

// Rollback undoes the open transaction, if there is one, with the same grace. It returns no error,
// since the caller already has the error that led to it.
func (c *Conn) Rollback(ctx context.Context) {
	if c.Closed() || !c.InTransaction() {
		return
	}
	ctx, cancel := limit.Outlive(ctx)
	defer cancel()
	_ = c.Exec(ctx, "ROLLBACK")
}

// Exec implements sqlkit.Conn, with the simple protocol. A text may contain several statements.
func (c *Conn) Exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		c.unread.Row()
		if err := c.pg.Exec(ctx, text).Close(); err != nil {
			return c.explain(ctx, err)
		}
	}
	return nil
}

// Copy runs a COPY FROM STDIN with the data of the reader, and returns the number of rows that the
// server counted. Statements may precede it, as in "BEGIN; COPY …".
func (c *Conn) Copy(ctx context.Context, text string, from io.Reader) (int64, error) {
	c.unread.Row()
	source := &copySource{from: from}
	defer source.end()
	tag, err := c.pg.CopyFrom(ctx, source, text)
	return tag.RowsAffected(), c.explain(ctx, err)
}

// copySource is the reader of a COPY until it has ended. If a connection breaks, the library returns
// while another of its goroutines may still be reading.
type copySource struct {
	from io.Reader

	mu    sync.Mutex // guards the following fields; held while from is read
	ended bool
}

// Read implements io.Reader.
func (s *copySource) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, io.ErrClosedPipe
	}
	return s.from.Read(p)
}

// end waits for a read in progress, and prevents further reads.
func (s *copySource) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// Prepare prepares a statement under a name.
func (c *Conn) Prepare(ctx context.Context, name, text string) (*pgconn.StatementDescription, error) {
	c.unread.Row()
	statement, err := c.pg.Prepare(ctx, name, text, nil)
	return statement, c.explain(ctx, err)
}

// ExecPrepared runs a prepared statement and drops its result. A nil parameter is NULL; formats has the
// format of each parameter, or one for all.
func (c *Conn) ExecPrepared(ctx context.Context, name string, parameters [][]byte, formats []int16) error {
	c.unread.Row()
	_, err := c.pg.ExecPrepared(ctx, name, parameters, formats, nil).Close()
	return c.explain(ctx, err)
}

// InTransaction reports whether a transaction is open, or has failed and must still be ended.
func (c *Conn) InTransaction() bool { return c.pg.TxStatus() != 'I' }

var errClosed = errors.New("the connection is closed")
