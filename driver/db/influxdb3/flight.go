//go:build !light

package influxdb3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/arrowrows"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// maxMessage limits a message of a result, which is a batch of rows. The server splits batches at 2
// MiB.
const maxMessage = limit.MaxRow

// flightConn is a connection over gRPC that runs queries. It implements driver.Querier.
type flightConn struct {
	settings *settings
	conn     *grpc.ClientConn // nil: not connected
	client   flight.FlightServiceClient
	rows     arrowrows.Rows
}

func newFlight(s *settings) *flightConn { return &flightConn{settings: s} }

func (c *flightConn) wire() *httpwire.Config { return &c.settings.wire }

// connect opens a connection if none exists, or if the existing one is waiting to try again: it then
// finds a restarted server immediately.
func (c *flightConn) connect() error {
	if c.conn != nil && c.conn.GetState() == connectivity.TransientFailure {
		if err := c.Close(); err != nil {
			return err
		}
	}
	if c.conn != nil {
		return nil
	}
	wire := c.wire()
	secured := insecure.NewCredentials()
	if wire.TLS != nil {
		secured = credentials.NewTLS(wire.TLS.Clone())
	}
	conn, err := grpc.NewClient("passthrough:///"+wire.Address(),
		grpc.WithTransportCredentials(secured),
		grpc.WithNoProxy(), // a proxy's work would be measured as the server's
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, MaxDelay: time.Second}, MinConnectTimeout: wire.Timeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		// Without retries by the client, and without a flow-control window that grows by pinging the
		// server, each measurement is of one call.
		grpc.WithDisableRetry(), grpc.WithInitialWindowSize(8<<20), grpc.WithInitialConnWindowSize(8<<20), grpc.WithReadBufferSize(128<<10),
	)
	if err != nil {
		return err
	}
	c.conn, c.client = conn, flight.NewFlightServiceClient(conn)
	return nil
}

// Do implements driver.Querier. A truncated result is an error.
func (c *flightConn) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	cost, err := c.do(ctx, r.Text, sink)
	if err != nil {
		return cost, fmt.Errorf("querying InfluxDB 3: %w", err)
	}
	return cost, nil
}

// do runs a statement. It returns an error of the sink unchanged.
func (c *flightConn) do(ctx context.Context, statement string, sink query.Sink) (driver.Cost, error) {
	var cost driver.Cost
	if ctx.Err() != nil {
		return cost, context.Cause(ctx)
	}
	if err := c.connect(); err != nil {
		return cost, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends streams that were not read to their end
	defer cancel()
	headers := []string{"database", c.settings.database}
	if c.settings.token != "" {
		headers = append(headers, "authorization", "Bearer "+c.settings.token)
	}
	ctx = metadata.AppendToOutgoingContext(ctx, headers...)
	ticket, err := json.Marshal(map[string]string{"database": c.settings.database, "sql_query": statement, "query_type": "sql"})
	if err == nil {
		err = c.read(ctx, &flight.Ticket{Ticket: ticket}, sink, &cost)
	}
	if err == nil {
		return cost, nil
	}
	if own := limit.AsRefused(err); own != nil {
		return cost, own
	}
	return cost, c.explain(ctx, cost.Rows, err)
}

// read reads an answer to its end.
func (c *flightConn) read(ctx context.Context, ticket *flight.Ticket, sink query.Sink, cost *driver.Cost) error {
	stream, err := c.client.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	counted := &counted{stream: stream, cost: cost}
	reader, err := flight.NewRecordReader(counted)
	if err != nil {
		return counted.cause(err)
	}
	defer reader.Release()
	for reader.Next() {
		batch := reader.RecordBatch()
		cost.Rows += batch.NumRows()
		if batch.NumRows() > 0 {
			counted.unread.Row()
		}
		if err := c.rows.Give(batch, sink); err != nil {
			return &limit.Refused{Err: err}
		}
	}
	if err := reader.Err(); err != nil && !errors.Is(err, io.EOF) {
		return counted.cause(err)
	}
	return nil
}

// counted counts the data of a response.
type counted struct {
	stream flight.FlightService_DoGetClient
	cost   *driver.Cost
	unread limit.Unread
	failed error // the error with which the stream ended, unless it was complete
}

// Recv implements flight.DataStreamReader.
func (r *counted) Recv() (*flight.FlightData, error) {
	data, err := r.stream.Recv()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			r.failed = err
		}
		return nil, err
	}
	n := len(data.DataHeader) + len(data.DataBody) + len(data.AppMetadata)
	r.cost.Bytes += int64(n)
	if err := r.unread.Read(n); err != nil {
		r.failed = &limit.Refused{Err: err}
		return nil, r.failed
	}
	return data, nil
}

// cause is the error of the stream, which Arrow's reader may have rephrased.
func (r *counted) cause(err error) error {
	if r.failed != nil {
		return r.failed
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it has no schema", io.ErrUnexpectedEOF)
	}
	return err
}

// Close implements driver.Querier.
func (c *flightConn) Close() error {
	if c.conn == nil {
		return nil
	}
	conn := c.conn
	c.conn, c.client = nil, nil
	return conn.Close()
}

// console runs tsmark's own statements, one after the other. It takes as long as the
// context says or, where that has no end, as the time-out does.
type console struct {
	conn *flightConn
	mu   sync.Mutex
}

// run runs a statement and passes the rows of the result to the sink.
func (c *console) run(ctx context.Context, statement string, sink query.Sink) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	patient, cancel := c.conn.wire().Patient(ctx)
	defer cancel()
	_, err := c.conn.do(patient, statement, sink)
	return err
}

// queryRows runs a statement and returns its rows.
func (c *console) queryRows(ctx context.Context, statement string) ([][]query.Value, error) {
	var answer query.Answer
	err := c.run(ctx, statement, limit.NewOwnSink(&answer))
	return answer.Rows, err
}
