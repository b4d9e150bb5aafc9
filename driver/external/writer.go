//go:build !light

package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/series"
)

// writer sends the batches of a worker over a connection of its own: a stream for each table. It
// implements driver.Writer.
type writer struct {
	*database
	worker  int
	conn    *grpc.ClientConn
	streams map[*series.Table]*stream
	merged  series.Batch // rows of several runs of one table
	order   []uint32     // 0, 1, 2, …
	batches int64
	end     context.CancelFunc // ends all streams
	ctx     context.Context
	used    bool // the program knows the worker
	sent    time.Time
}

// stream is a DoPut.
type stream struct {
	rpc    flight.FlightService_DoPutClient
	out    *flight.Writer
	data   *sender
	encode *encoder
}

// sender sends the messages of a stream and counts their bytes.
type sender struct {
	rpc   flight.FlightService_DoPutClient
	bytes int64
}

// Send implements flight.DataStreamWriter.
func (s *sender) Send(data *flight.FlightData) error {
	s.bytes += int64(len(data.DataHeader) + len(data.DataBody))
	return s.rpc.Send(data)
}

// NewWriter implements driver.Required. The stream of a table opens with its first rows.
func (d *database) NewWriter(_ context.Context, worker int) (driver.Writer, error) {
	conn, err := d.connect()
	if err != nil {
		return nil, err
	}
	w := &writer{database: d, worker: worker, conn: conn, streams: make(map[*series.Table]*stream)}
	w.ctx, w.end = context.WithCancel(d.dial.authorize(context.Background()))
	return w, nil
}

// errNoReceipt is the cause of the end of a stream without receipts.
var errNoReceipt = errors.New("no receipt for a batch")

func (w *writer) patience() time.Duration {
	if w.all.Receipt > 0 {
		return w.all.Receipt
	}
	return writePatience
}

// Write implements driver.Writer. It waits for the receipt of each table's rows before it sends those
// of the next table.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	w.used = true
	w.batches++
	var total driver.Receipt
	err := w.limit(ctx, func() error {
		for i := range b.Runs {
			if run := w.join(b, i); run != nil {
				if err := w.writeRun(run, &total); err != nil {
					return err
				}
			}
		}
		return nil
	})
	total.Sent = w.sent
	return total, err
}

// limit calls do, which uses the streams. They end with ctx, or when do takes too long.
func (w *writer) limit(ctx context.Context, do func() error) error {
	limited, cancel := context.WithTimeoutCause(ctx, w.patience(), fmt.Errorf("%w within %v", errNoReceipt, w.patience()))
	defer cancel()
	stop := context.AfterFunc(limited, w.end)
	defer stop()
	err := do()
	if err == nil {
		return nil
	}
	if limited.Err() != nil {
		return w.explain(limited, err)
	}
	return w.temporary(err, w.explain(ctx, err))
}

// join returns run i of a batch with all other rows of its table; nil: an earlier run had them.
func (w *writer) join(b *series.Batch, i int) *series.Run {
	run, rows, several := &b.Runs[i], 0, false
	for j := range b.Runs {
		if o := &b.Runs[j]; o.Table == run.Table {
			if j < i {
				return nil
			}
			several = several || j != i
			rows += o.Rows()
		}
	}
	if !several {
		return run
	}
	w.merged.Reset()
	all := w.merged.Add(run.Table)
	all.Grow(rows)
	at := 0
	for j := i; j < len(b.Runs); j++ {
		if o := &b.Runs[j]; o.Table == run.Table {
			all.Copy(at, o, w.numbers(o.Rows()))
			at += o.Rows()
		}
	}
	return all
}

// numbers returns 0, 1, 2, and so on.
func (w *writer) numbers(n int) []uint32 {
	list := w.order
	for len(list) < n {
		list = append(list, uint32(len(list)))
	}
	w.order = list
	return list[:n]
}

// writeRun sends the rows of a table and adds their receipt.
func (w *writer) writeRun(run *series.Run, total *driver.Receipt) error {
	s := w.streams[run.Table]
	if s == nil {
		var err error
		if s, err = w.open(run.Table); err != nil {
			return err
		}
		w.streams[run.Table] = s
	}
	batch, err := s.encode.encode(run)
	if err != nil {
		return err
	}
	before := s.data.bytes
	metadata := append(strconv.AppendInt([]byte(`{"batch":`), w.batches, 10), '}')
	err = s.out.WriteWithAppMetadata(batch, metadata)
	w.sent = time.Now()
	if err != nil && !errors.Is(err, io.EOF) { // EOF: the stream has ended, and its status says why
		return err
	}
	result, err := s.rpc.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the stream of table %s ended without a receipt", run.Table.Name)
	case err != nil:
		return err
	}
	var r message.Receipt
	if err := json.Unmarshal(result.AppMetadata, &r); err != nil {
		return fmt.Errorf("a receipt is not the expected JSON: %w", err)
	}
	if r.Batch != w.batches || r.Rows < 0 {
		return fmt.Errorf("batch %d has the receipt of batch %d with %d rows", w.batches, r.Batch, r.Rows)
	}
	if r.WireBytes < 0 {
		r.WireBytes = s.data.bytes - before
	}
	w.addReceipt(total, &r)
	return nil
}

func (w *writer) addReceipt(total *driver.Receipt, r *message.Receipt) {
	total.Rows += r.Rows
	total.WireBytes += r.WireBytes
	total.Service += time.Duration(max(r.ServiceNS, 0))
	if r.Acked {
		total.Acked = time.Now()
	}
}

// open opens the stream of a table.
func (w *writer) open(t *series.Table) (*stream, error) {
	command, err := json.Marshal(message.Put{DB: w.handle, Worker: w.worker, Table: t.Name})
	if err != nil {
		return nil, err
	}
	s := &stream{encode: newEncoder(t)}
	if s.rpc, err = flight.NewFlightServiceClient(w.conn).DoPut(w.ctx); err != nil {
		return nil, err
	}
	s.data = &sender{rpc: s.rpc}
	s.out = flight.NewRecordWriter(s.data, ipc.WithSchema(s.encode.schema))
	s.out.SetFlightDescriptor(&flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: command})
	return s, nil
}

// Flush implements driver.Writer. Like Write it ends in bounded time, and may be tried again.
func (w *writer) Flush(ctx context.Context) (total driver.Receipt, err error) {
	if !w.used {
		return total, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, w.patience(), fmt.Errorf("no answer to action %s within %v", message.ActionFlush, w.patience()))
	defer cancel()
	r, err := request[message.Receipt](limited, w.database, message.ActionFlush, &message.Request{Worker: w.worker})
	if err != nil {
		explained := w.explain(limited, err)
		if limited.Err() != nil {
			return total, explained
		}
		return total, w.temporary(err, explained)
	}
	if r.Rows < 0 {
		return total, w.explain(ctx, fmt.Errorf("the receipt of action %s has %d rows", message.ActionFlush, r.Rows))
	}
	if *r == (message.Receipt{}) {
		return total, nil
	}
	r.WireBytes = max(r.WireBytes, 0)
	total.Sent = time.Now()
	w.addReceipt(&total, r)
	if r.Rows == 0 {
		total = driver.Receipt{} // nothing was buffered
	}
	return total, nil
}

// Close implements driver.Writer.
func (w *writer) Close() error {
	if w.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), w.program.patience(), errors.New("no answer to the end of a writer"))
	defer cancel()
	var problem error
	if w.ctx.Err() == nil {
		stop := context.AfterFunc(ctx, w.end)
		for _, s := range w.streams {
			_ = s.rpc.CloseSend() // Recv reports the error
			if _, err := s.rpc.Recv(); err != nil && !errors.Is(err, io.EOF) && problem == nil {
				problem = w.explain(ctx, err)
			}
		}
		stop()
	}
	if w.used && problem == nil {
		problem = w.do(ctx, message.ActionCloseWorker, &message.Request{Worker: w.worker, Kind: message.WriterWorker})
	}
	w.end()
	_ = w.conn.Close() // all receipts have been read
	w.conn = nil
	return problem
}
