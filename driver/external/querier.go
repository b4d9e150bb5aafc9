//go:build !light

package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/driver/kit/arrowrows"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// querier runs queries over a connection of its own. It implements driver.Querier.
type querier struct {
	*database
	worker int
	conn   *grpc.ClientConn
	client flight.FlightServiceClient
	rows   arrowrows.Rows
	ticket []byte
	used   bool // the program knows the worker

	exchange flight.FlightService_DoExchangeClient // between two queries; nil: none is open
	end      context.CancelFunc                    // ends the exchange
}

// NewQuerier implements driver.Required.
func (d *database) NewQuerier(_ context.Context, worker int) (driver.Querier, error) {
	conn, err := d.connect()
	if err != nil {
		return nil, err
	}
	return &querier{database: d, worker: worker, conn: conn, client: flight.NewFlightServiceClient(conn)}, nil
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	members, ok := r.Plan.(plan)
	if !ok {
		var err error
		if members, err = ticketMembers(&message.Ticket{Text: r.Text, UserText: r.UserText}); err != nil {
			return driver.Cost{}, err
		}
	}
	q.used = true
	q.ticket = append(q.ticket[:0], `{"db":`...)
	q.ticket = append(q.ticket, q.quoted...)
	q.ticket = strconv.AppendInt(append(q.ticket, `,"worker":`...), int64(q.worker), 10)
	if sink == nil {
		q.ticket = append(q.ticket, `,"count":true`...)
	}
	q.ticket = append(append(append(q.ticket, ','), members...), '}')
	return q.read(ctx, q.ticket, sink)
}

// read reads an answer to its end.
func (q *querier) read(ctx context.Context, ticket []byte, sink query.Sink) (cost driver.Cost, err error) {
	in := &receiver{cost: &cost}
	done, err := q.request(ctx, ticket, in)
	if err != nil {
		return cost, q.explain(ctx, err)
	}
	defer func() { done(err == nil && !in.ended) }()
	defer func() {
		if p := recover(); p != nil { // offsets or indexes of its arrays are wrong
			err = fmt.Errorf("%s sent malformed Arrow data: %v", q.title(), p)
		}
	}()
	rows := int64(0)
	if sink == nil {
		for err == nil {
			_, err = in.Recv()
			in.unread.Row() // nothing is kept
		}
	} else {
		rows, err = q.give(in, sink)
	}
	switch refused := cmp.Or(limit.AsRefused(err), limit.AsRefused(in.failed)); {
	case refused != nil:
		return cost, refused
	case in.failed != nil:
		return cost, q.explain(ctx, in.failed)
	case err != nil && !errors.Is(err, io.EOF):
		return cost, fmt.Errorf("%s sent malformed Arrow data: %s", q.title(), oneLine(err.Error()))
	}
	var last message.Answered
	if err := json.Unmarshal(in.last, &last); err != nil {
		if err := q.overdue(ctx); err != nil {
			return cost, err
		}
		return cost, fmt.Errorf("%s: the answer ended after %d rows without the metadata of its last message", q.title(), rows)
	}
	if sink != nil && last.Rows != rows {
		return cost, fmt.Errorf("%s: the answer has %d rows, and its last message announces %d", q.title(), rows, last.Rows)
	}
	cost.Rows, cost.Service = last.Rows, time.Duration(max(last.ServiceNS, 0))
	if last.Bytes > 0 {
		cost.Bytes = last.Bytes
	}
	return cost, nil
}

// request sends a ticket and sets where the answer comes from. It uses the exchange if the database has
// one: a call for each ticket takes about twice as long. Done releases the stream; whole: the answer was
// read to its end.
func (q *querier) request(ctx context.Context, ticket []byte, in *receiver) (done func(whole bool), err error) {
	ticket = slices.Clone(ticket)
	if !q.exchanges {
		authorized, cancel := context.WithCancel(q.dial.authorize(ctx)) // ends a stream that is not read to its end
		if in.stream, err = q.client.DoGet(authorized, &flight.Ticket{Ticket: ticket}); err != nil {
			cancel()
			return nil, err
		}
		return func(bool) { cancel() }, nil
	}
	if q.exchange == nil {
		var forever context.Context
		forever, q.end = context.WithCancel(q.dial.authorize(context.WithoutCancel(ctx)))
		if q.exchange, err = q.client.DoExchange(forever); err != nil {
			q.endExchange()
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, q.end)
	in.stream, in.exchange = q.exchange, true
	if err = q.exchange.Send(&flight.FlightData{AppMetadata: ticket}); err != nil && !errors.Is(err, io.EOF) { // EOF: Recv has the status
		stop()
		q.endExchange()
		return nil, err
	}
	return func(whole bool) {
		if !stop() || !whole {
			q.endExchange()
		}
	}, nil
}

// endExchange ends the exchange, if one is open, and with it a query that runs.
func (q *querier) endExchange() {
	if q.end != nil {
		q.end()
	}
	q.exchange, q.end = nil, nil
}

// give passes the rows of an answer to a sink, whose errors it returns as limit.Refused.
func (q *querier) give(in *receiver, sink query.Sink) (rows int64, err error) {
	budget := &budget{Allocator: memory.DefaultAllocator}
	reader, err := flight.NewRecordReader(in, ipc.WithAllocator(budget))
	if err != nil {
		return 0, err
	}
	defer reader.Release()
	for reader.Next() {
		batch := reader.RecordBatch()
		rows += batch.NumRows()
		in.cost.Rows = rows
		if batch.NumRows() > 0 {
			in.unread.Row()
		}
		budget.used = 0
		if err := q.rows.Give(batch, sink); err != nil {
			return rows, &limit.Refused{Err: err}
		}
	}
	return rows, reader.Err()
}

// mostUnpacked is the number of bytes that a record batch may have once it is decompressed.
const mostUnpacked = 8 * limit.MaxRow

// budget limits the memory for decompressed record batches. Arrow turns its panic into an error.
type budget struct {
	memory.Allocator
	used int
}

// Allocate implements memory.Allocator.
func (b *budget) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b *budget) Reallocate(size int, old []byte) []byte {
	b.check(size - len(old))
	return b.Allocator.Reallocate(size, old)
}

func (b *budget) check(size int) {
	if b.used += max(size, 0); b.used > mostUnpacked || size > mostUnpacked {
		panic(fmt.Errorf("a record batch has more than %d MiB", mostUnpacked>>20))
	}
}

// receiver receives the messages of an answer.
type receiver struct {
	stream   flight.DataStreamReader
	exchange bool // further answers follow a message that has only metadata
	ended    bool // the stream has ended
	cost     *driver.Cost
	unread   limit.Unread
	last     []byte // the last metadata
	failed   error  // with which the stream ended, unless it was complete
}

// Recv implements flight.DataStreamReader. It skips messages that have only metadata.
func (r *receiver) Recv() (*flight.FlightData, error) {
	for {
		data, err := r.stream.Recv()
		if err != nil {
			r.ended = true
			if !errors.Is(err, io.EOF) {
				r.failed = err
			}
			return nil, err
		}
		if len(data.AppMetadata) > 0 {
			r.last = data.AppMetadata
		}
		n := len(data.DataHeader) + len(data.DataBody) + len(data.AppMetadata)
		r.cost.Bytes += int64(n)
		if err := r.unread.Read(n); err != nil {
			r.failed = &limit.Refused{Err: err}
			return nil, r.failed
		}
		if len(data.DataHeader) > 0 {
			return data, nil
		}
		if r.exchange && len(data.AppMetadata) > 0 {
			return nil, io.EOF
		}
	}
}

// Close implements driver.Querier.
func (q *querier) Close() error {
	if q.conn == nil {
		return nil
	}
	var err error
	if q.used {
		ctx, cancel := context.WithTimeout(context.Background(), q.patience())
		defer cancel()
		err = q.do(ctx, message.ActionCloseWorker, &message.Request{Worker: q.worker, Kind: message.QuerierWorker})
	}
	q.endExchange()
	_ = q.conn.Close() // all answers have been read
	q.conn = nil
	return err
}

// listSeries implements driver.Optional.
func (d *database) listSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error {
	ticket, err := json.Marshal(message.Ticket{DB: d.handle, ListSeries: t.Name, Schema: message.FromSchema(s)})
	if err != nil {
		return err
	}
	conn, err := d.connect()
	if err != nil {
		return err
	}
	one := *d
	one.exchanges = false
	q := &querier{database: &one, conn: conn, client: flight.NewFlightServiceClient(conn)}
	defer q.Close()
	_, err = q.read(ctx, ticket, sink)
	return err
}
