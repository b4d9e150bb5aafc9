package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// config is the address of a server and the user to connect as.
type config struct {
	*mysql.Config
	host, port string
	timeout    time.Duration
	sessions   *sync.Map // the server's numbers of open connections
	begin      []string  // statements on each new connection
}

// sqlMode makes invalid and truncated values errors, whatever the server's own mode.
const sqlMode = "STRICT_ALL_TABLES"

func newConfig(s connection.Settings) *config {
	c := &config{Config: mysql.NewConfig(), host: s.Host, port: s.Port, timeout: s.Timeout, sessions: new(sync.Map)}
	c.Net, c.Addr = "tcp", net.JoinHostPort(s.Host, s.Port)
	if strings.HasPrefix(s.Host, "/") {
		c.Net, c.Addr, c.host = "unix", s.Host, "127.0.0.1"
	}
	c.User, c.Passwd, c.DBName, c.ParseTime, c.CheckConnLiveness = s.User, s.Password, s.Database, true, false
	c.Logger = mysql.Logger(&mysql.NopLogger{}) // errors contain its messages
	c.Params = map[string]string{"sql_mode": "'" + sqlMode + "'", "time_zone": "'+00:00'", "max_error_count": "64"}
	c.TLS = s.Encryption()
	return c
}

// config is newConfig for a variant. A system without MySQL's settings is told only the time zone.
func (v variant) config(o driver.Options) *config {
	c := newConfig(connection.NewSettings(o))
	if v.quirks != nil {
		c.begin = v.quirks.Session
	}
	if v.quirks.Lack(sqlkit.LacksCatalogs) {
		delete(c.Params, "sql_mode")
		delete(c.Params, "max_error_count")
	}
	return c
}

func (c *config) address() string  { return net.JoinHostPort(c.host, c.port) }
func (c *config) location() string { return fmt.Sprintf("database %s at %s", c.DBName, c.address()) }

func (c *config) place() string {
	return fmt.Sprintf("database %s at %s", c.DBName, driver.AddressPlace(c.host, c.port))
}

// conn is one connection, used by one goroutine at a time. It implements sqlkit.Remote.
type conn struct {
	of   *config
	my   library
	wire *limit.Conn
	id   int64 // the connection's number on the server
	cut  bool  // stopped in the middle of a result
	// Its transactions are read-only.
	confined bool

	dest    []sqldriver.Value
	row     []query.Value // passed to the sink
	columns []string      // types
}

// library is the interface of a connection of go-sql-driver/mysql. It is used without database/sql,
// whose pool would choose connections by itself.
type library interface {
	sqldriver.Conn
	sqldriver.ConnPrepareContext
	sqldriver.ExecerContext
	sqldriver.QueryerContext
	sqldriver.Pinger
	sqldriver.Validator
}

// connect opens a connection. Its error wraps driver.ErrUnreachable if no server answers, and ctx's
// error if ctx ended the attempt.
func (c *config) connect(ctx context.Context) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	out := &conn{of: c}
	own := c.Clone()
	own.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		to, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		out.wire = &limit.Conn{Conn: to}
		return out.wire, nil
	}
	connector, err := mysql.NewConnector(own)
	if err != nil {
		return nil, err
	}
	my, err := connector.Connect(bounded)
	if err != nil {
		return nil, c.connecting(ctx, bounded, err)
	}
	out.my = my.(library)
	err = out.rows(bounded, "SELECT CONNECTION_ID()", func(row []query.Value) error { out.id = row[0].Int; return nil })
	if err == nil {
		err = out.withoutCache(bounded)
	}
	if err == nil {
		err = out.Exec(bounded, c.begin...)
	}
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	c.sessions.Store(out.id, nil)
	return out, nil
}

// withoutCache makes the session take no results from the query cache of MariaDB, and of MySQL before
// 8.
func (c *conn) withoutCache(ctx context.Context) error {
	on := false
	err := c.rows(ctx, showCache, func(row []query.Value) error { on = row[1].String() != cacheOff; return nil })
	if err != nil || !on {
		return err
	}
	if err := c.Exec(ctx, setCacheOff); err != nil {
		return fmt.Errorf("turning off the query cache, which would answer queries that were run before: %w", err)
	}
	return nil
}

const (
	showCache   = "SHOW SESSION VARIABLES LIKE 'query\\_cache\\_type'"
	cacheOff    = "OFF"
	setCacheOff = "SET SESSION query_cache_type = " + cacheOff
)

// Confine implements sqlkit.Confiner. Functions in a text cannot change tables in a read-only
// transaction.
func (c *conn) Confine(ctx context.Context) error {
	if c.confined {
		return nil
	}
	err := c.Exec(ctx, "SET SESSION TRANSACTION READ ONLY")
	c.confined = err == nil
	return err
}

// Ping implements sqlkit.Remote.
func (c *conn) Ping(ctx context.Context) error { return c.my.Ping(ctx) }

// Closed implements sqlkit.Remote.
func (c *conn) Closed() bool { return c.cut || !c.my.IsValid() }

// farewell limits the time for telling the server that a connection ends.
const farewell = time.Second

// Close implements sqlkit.Remote.
func (c *conn) Close() error {
	c.of.sessions.Delete(c.id)
	if c.Closed() {
		return nil
	}
	_ = c.wire.SetDeadline(time.Now().Add(farewell))
	if err := c.my.Close(); err != nil {
		return fmt.Errorf("closing the connection: %w", err)
	}
	return nil
}

// Query implements sqlkit.Conn with a prepared statement, whose result is binary. The bytes of its cost
// are all bytes received.
func (c *conn) Query(ctx context.Context, text string, sink query.Sink) (cost driver.Cost, err error) {
	if err := ctx.Err(); err != nil {
		return cost, fmt.Errorf("querying: %w", context.Cause(ctx))
	}
	c.wire.Unread.Row()
	begin := c.wire.BytesRead()
	statement, err := c.my.PrepareContext(ctx, text)
	if err == nil {
		var rows sqldriver.Rows
		if rows, err = statement.(sqldriver.StmtQueryContext).QueryContext(ctx, nil); err == nil {
			cost.Rows, err = c.read(rows, sink)
		}
		if !c.Closed() {
			_ = statement.Close()
		}
	}
	cost.Bytes = c.wire.BytesRead() - begin
	return cost, c.explain(ctx, err)
}

// rows passes the rows of a result to a function. The result has texts: preparing SHOW WARNINGS would
// clear the warnings.
func (c *conn) rows(ctx context.Context, text string, each query.SinkFunc) error {
	c.wire.Unread.Row()
	rows, err := c.my.QueryContext(ctx, text, nil)
	if err == nil {
		_, err = c.read(rows, each)
	}
	return c.explain(ctx, err)
}

// read passes the rows of a result to the sink. If the sink rejects a row, it stops reading, because
// the rest may never end, and closes the connection.
func (c *conn) read(rows sqldriver.Rows, sink query.Sink) (n int64, err error) {
	columns := len(rows.Columns())
	c.dest, c.row, c.columns = make([]sqldriver.Value, columns), make([]query.Value, columns), c.columns[:0]
	for i := range columns {
		c.columns = append(c.columns, rows.(sqldriver.RowsColumnTypeDatabaseTypeName).ColumnTypeDatabaseTypeName(i))
	}
	for {
		if err := rows.Next(c.dest); err != nil {
			if closed := rows.Close(); err == io.EOF {
				err = closed
			}
			return n, err
		}
		c.wire.Unread.Row()
		n++
		for i, v := range c.dest {
			if err = decode(v, c.columns[i], &c.row[i]); err != nil {
				err = fmt.Errorf("row %d, column %s of the answer: %w", n, rows.Columns()[i], err)
				break
			}
		}
		if err == nil && sink != nil {
			err = sink.Row(c.row)
		}
		if err != nil {
			c.cut = true
			_ = c.wire.Close()
			_ = rows.Close()
			return n, &limit.Refused{Err: err}
		}
	}
}

// Exec implements sqlkit.Conn.
func (c *conn) Exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := c.exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement and returns the number of rows it has changed.
func (c *conn) exec(ctx context.Context, text string) (int64, error) {
	c.wire.Unread.Row()
	result, err := c.my.ExecContext(ctx, text, nil)
	if err != nil {
		return 0, c.explain(ctx, err)
	}
	return result.RowsAffected()
}

// prepare prepares a statement for run.
func (c *conn) prepare(ctx context.Context, text string) (sqldriver.Stmt, error) {
	c.wire.Unread.Row()
	statement, err := c.my.PrepareContext(ctx, text)
	return statement, c.explain(ctx, err)
}

// run runs a prepared statement and returns the number of rows it has changed.
func (c *conn) run(ctx context.Context, statement sqldriver.Stmt, parameters []sqldriver.NamedValue) (int64, error) {
	c.wire.Unread.Row()
	result, err := statement.(sqldriver.StmtExecContext).ExecContext(ctx, parameters)
	if err != nil {
		return 0, c.explain(ctx, err)
	}
	return result.RowsAffected()
}

// commit and rollback continue for limit.Grace after ctx ends: if a commit were interrupted, its
// outcome would be unknown.
func (c *conn) commit(ctx context.Context) error {
	ctx, cancel := limit.Outlive(ctx)
	defer cancel()
	return c.Exec(ctx, "COMMIT")
}

func (c *conn) rollback(ctx context.Context) {
	if c.Closed() {
		return
	}
	ctx, cancel := limit.Outlive(ctx)
	defer cancel()
	_ = c.Exec(ctx, "ROLLBACK") // the caller returns the earlier error
}

// kill makes the server end the statement of this connection. The library only stops waiting for it,
// and a running statement would slow down the next measurements.
func (c *conn) kill() {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if other, err := c.of.connect(ctx); err == nil {
		_ = other.Exec(ctx, fmt.Sprintf("KILL %d", c.id)) // the statement may have ended
		_ = other.Close()
	}
}
