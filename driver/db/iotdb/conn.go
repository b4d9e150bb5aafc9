package iotdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apache/iotdb-client-go/v2/common"
	"github.com/apache/iotdb-client-go/v2/rpc"
	"github.com/apache/thrift/lib/go/thrift"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// config is the address of a server and the user to connect as.
type config struct {
	connection.Settings
	fetch   int32             // rows per fetch
	session map[string]string // configuration of the session
}

func newConfig(o driver.Options) *config {
	c := &config{Settings: connection.NewSettings(o), fetch: int32(o.Int(optionFetchSize)), session: map[string]string{"sql_dialect": o[optionModel], "version": "V_1_0"}}
	if o[optionModel] == modelTable { // the database of a session, which need not exist yet
		c.session["db"], _ = newModel(o).names()
	}
	return c
}

// conn is a session over a connection of its own, used by one goroutine at a time. It implements
// sqlkit.Remote.
type conn struct {
	of        *config
	net       *limit.Conn
	wire      *wire
	rpc       *rpc.IClientRPCServiceClient
	session   int64
	statement int64
	unit      time.Duration // of the server's times
	broken    bool

	answer answer // reused
}

// connect opens a session. Its error wraps driver.ErrUnreachable if no server answers, and ctx's error
// if ctx ended the attempt.
func (c *config) connect(ctx context.Context) (*conn, error) {
	bounded, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	to, connected, err := connection.Dial(bounded, "tcp", c.Address(), c.Encryption())
	if err != nil {
		return nil, c.connecting(ctx, bounded, connected, err)
	}
	out := &conn{of: c, net: &limit.Conn{Conn: to}}
	out.wire = newWire(out.net)
	protocol := thrift.NewTBinaryProtocolConf(out.wire, &thrift.TConfiguration{MaxMessageSize: math.MaxInt32, MaxFrameSize: maxFrame})
	out.rpc = rpc.NewIClientRPCServiceClient(thrift.NewTStandardClient(protocol, protocol))
	if err := out.login(bounded); err != nil {
		_ = out.net.Close()
		return nil, c.connecting(ctx, bounded, true, err)
	}
	return out, nil
}

// login opens the session, with times in UTC.
func (c *conn) login(ctx context.Context) error {
	request := rpc.NewTSOpenSessionReq()
	request.ClientProtocol = rpc.TSProtocolVersion_IOTDB_SERVICE_PROTOCOL_V3
	request.ZoneId, request.Username, request.Password = "UTC", c.of.User, &c.of.Password
	request.Configuration = c.of.session
	return c.call(ctx, func(ctx context.Context) error {
		reply, err := c.rpc.OpenSession(ctx, request)
		if err != nil {
			return err
		}
		if err := statusError(reply.Status); err != nil {
			return err
		}
		if reply.SessionId == nil {
			return errors.New("the server opened no session; is this IoTDB 1.3 or newer?")
		}
		precision := cmp.Or(reply.Configuration["timestamp_precision"], "ms")
		if c.unit = units[precision]; c.unit == 0 {
			return fmt.Errorf("the server's times are in %q", precision)
		}
		c.session = *reply.SessionId
		c.statement, err = c.rpc.RequestStatementId(ctx, c.session)
		return err
	})
}

// call makes the connection end whatever do waits for when ctx ends. After an error that does not come
// from the server, the state of the connection is undefined, and call closes it.
func (c *conn) call(ctx context.Context, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if c.broken {
		return fmt.Errorf("%w: the connection to %s is closed", driver.ErrUnreachable, c.of.Address())
	}
	c.wire.begin()
	c.net.Unread.Row()
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	err := do(context.WithoutCancel(ctx))
	stopped := stop()
	var own *failure
	if !stopped || err != nil && !errors.As(err, &own) {
		c.broken = true
		_ = c.net.Close()
	}
	if !stopped && err != nil {
		return fmt.Errorf("the statement was interrupted: %w", context.Cause(ctx))
	}
	return err
}

// callWithTimeout is call with the time-out of the option, for writes.
func (c *conn) callWithTimeout(ctx context.Context, do func(context.Context) error) error {
	bounded, cancel := context.WithTimeoutCause(ctx, c.of.Timeout, errSilent)
	defer cancel()
	err := c.call(bounded, do)
	if errors.Is(err, errSilent) && ctx.Err() == nil {
		return &driver.Temporary{Err: fmt.Errorf("%w: %s did not answer within %v; the option %s allows more", driver.ErrUnreachable, c.of.Address(), c.of.Timeout, connection.Timeout)}
	}
	return c.explain(ctx, err)
}

var errSilent = errors.New("no answer in time")

// Ping implements sqlkit.Remote.
func (c *conn) Ping(ctx context.Context) error {
	return c.call(ctx, func(ctx context.Context) error {
		_, err := c.rpc.GetTimeZone(ctx, c.session)
		return err
	})
}

// Closed implements sqlkit.Remote.
func (c *conn) Closed() bool { return c.broken }

// farewell limits the time for telling the server that a session ends.
const farewell = time.Second

// Close implements sqlkit.Remote.
func (c *conn) Close() error {
	if c.broken {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = c.call(ctx, func(ctx context.Context) error { // the server also ends it with the connection
		_, err := c.rpc.CloseSession(ctx, &rpc.TSCloseSessionReq{SessionId: c.session})
		return err
	})
	c.broken = true
	_ = c.net.Close()
	return nil
}

// Exec implements sqlkit.Conn.
func (c *conn) Exec(ctx context.Context, texts ...string) error {
	return sqlkit.Exec(ctx, c, texts...)
}

// Query implements sqlkit.Conn. The columns are those of the server's result.
func (c *conn) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	return c.query(ctx, text, plain{sink})
}

// reader receives the rows of a result.
type reader interface {
	// columns receives the names and the types of the columns.
	columns(names, types []string) error
	// take receives the values of a row, with the time first if there is one.
	take(values []query.Value) (rows int64, err error)
	// end is called after all rows.
	end() (rows int64, err error)
}

// plain passes rows on as they arrive.
type plain struct{ sink query.Sink }

func (plain) columns([]string, []string) error { return nil }
func (plain) end() (int64, error)              { return 0, nil }
func (p plain) take(values []query.Value) (int64, error) {
	if p.sink == nil {
		return 1, nil
	}
	return 1, p.sink.Row(values)
}

// longest is the server's time limit for a statement if the context has no deadline; its default is a
// minute.
const longest = time.Hour

// query runs a statement and reads its result to the end.
func (c *conn) query(ctx context.Context, text string, to reader) (cost driver.Cost, err error) {
	err = c.patiently(ctx, func() error {
		cost, err = c.queryOnce(ctx, text, to)
		return err
	})
	return cost, err
}

// patiently retries while the server sends the statement to a region that it has just dropped with a
// database of the same name: it soon learns of the new region.
func (c *conn) patiently(ctx context.Context, do func() error) error {
	begin := time.Now()
	return poll.Wait(ctx, 10*time.Millisecond, time.Second, func() (bool, error) {
		err := do()
		if code(err) == errDispatch && time.Since(begin) < c.of.Timeout {
			return false, nil
		}
		return true, err
	})
}

func (c *conn) queryOnce(ctx context.Context, text string, to reader) (cost driver.Cost, err error) {
	begin := c.net.BytesRead()
	patience := longest
	if deadline, ok := ctx.Deadline(); ok {
		patience = max(time.Until(deadline), time.Second)
	}
	milliseconds := patience.Milliseconds()
	err = c.call(ctx, func(ctx context.Context) error {
		reply, err := c.rpc.ExecuteStatementV2(ctx, &rpc.TSExecuteStatementReq{
			SessionId: c.session, Statement: text, StatementId: c.statement, FetchSize: &c.of.fetch, Timeout: &milliseconds,
		})
		if err != nil {
			return err
		}
		if err := statusError(reply.Status); err != nil {
			return err
		}
		if reply.QueryId == nil || len(reply.Columns) == 0 && len(reply.QueryResult_) == 0 {
			cost.Rows, err = to.end()
			return refusing(err)
		}
		if err := c.answer.begin(reply, c.unit); err != nil {
			return err
		}
		if err := to.columns(c.answer.names, c.answer.types); err != nil {
			return err
		}
		cost.Rows, err = c.read(ctx, reply, text, milliseconds, to)
		return err
	})
	cost.Bytes = c.net.BytesRead() - begin
	return cost, c.explain(ctx, err)
}

// read decodes the blocks of a result, and fetches the remaining ones.
func (c *conn) read(ctx context.Context, reply *rpc.TSExecuteStatementResp, text string, milliseconds int64, to reader) (rows int64, err error) {
	blocks, more := reply.QueryResult_, reply.MoreData != nil && *reply.MoreData
	for {
		for _, block := range blocks {
			n, err := c.answer.block(block, func(values []query.Value) (int64, error) {
				c.net.Unread.Row()
				return to.take(values)
			})
			rows += n
			if err != nil {
				return rows, refusing(err)
			}
		}
		if !more {
			break
		}
		fetched, err := c.rpc.FetchResultsV2(ctx, &rpc.TSFetchResultsReq{
			SessionId: c.session, Statement: text, FetchSize: c.of.fetch, QueryId: *reply.QueryId, IsAlign: true, Timeout: &milliseconds, StatementId: &c.statement,
		})
		if err == nil {
			err = statusError(fetched.Status)
		}
		if err != nil {
			return rows, err
		}
		blocks, more = fetched.QueryResult_, fetched.HasResultSet && (fetched.MoreData == nil || *fetched.MoreData)
	}
	n, err := to.end()
	if rows += n; err != nil {
		return rows, refusing(err)
	}
	// The server keeps the resources of the statement until it is closed.
	closed, err := c.rpc.CloseOperation(ctx, &rpc.TSCloseOperationReq{SessionId: c.session, QueryId: reply.QueryId, StatementId: &c.statement})
	if err == nil {
		err = statusError(closed)
	}
	return rows, err
}

// write makes a call that returns a status.
func (c *conn) write(ctx context.Context, send func(context.Context) (*common.TSStatus, error)) error {
	return c.patiently(ctx, func() error {
		return c.callWithTimeout(ctx, func(ctx context.Context) error {
			status, err := send(ctx)
			if err != nil {
				return err
			}
			return statusError(status)
		})
	})
}
