//go:build !light

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/query"
)

// Limits of a record batch of an answer.
const (
	batchRows  = 4096
	batchBytes = 4 << 20 // of texts
)

// DoGet implements flight.FlightServer.
func (s *server) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	return s.get(stream.Context(), t.Ticket, stream)
}

// DoExchange implements flight.FlightServer: it answers tickets, one after another.
func (s *server) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	for {
		data, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.get(stream.Context(), data.AppMetadata, stream); err != nil {
			return err
		}
	}
}

// get sends the answer to a ticket.
func (s *server) get(ctx context.Context, text []byte, stream flight.DataStreamWriter) error {
	begin := time.Now()
	var ticket message.Ticket
	if err := json.Unmarshal(text, &ticket); err != nil {
		return status.Errorf(codes.InvalidArgument, "ticket: %v", err)
	}
	db, err := s.find(ticket.DB)
	if err != nil {
		return err
	}
	out := &sender{stream: stream}
	for _, c := range ticket.Columns {
		out.names, out.kinds = append(out.names, c.Name), append(out.kinds, message.Kinds()[c.Kind])
	}
	cost, err := db.answer(ctx, &ticket, out)
	if err != nil {
		return statusOf(err)
	}
	if !ticket.Count {
		cost.Rows = out.rows
	}
	last, err := json.Marshal(message.Answered{Rows: cost.Rows, Bytes: cost.Bytes, ServiceNS: int64(time.Since(begin))})
	if err != nil {
		return err
	}
	return out.end(last)
}

// answer passes the answer to a ticket to the sender, or only counts its rows.
func (d *database) answer(ctx context.Context, t *message.Ticket, out *sender) (driver.Cost, error) {
	if t.ListSeries != "" {
		return driver.Cost{}, d.listSeries(ctx, t, out)
	}
	request, err := d.server.request(t.Text, t.UserText, t.Plan)
	if err != nil {
		return driver.Cost{}, err
	}
	q, err := d.querier(ctx, t.Worker)
	if err != nil {
		return driver.Cost{}, err
	}
	q.Lock()
	defer q.Unlock()
	if t.Count {
		return q.of.Do(ctx, request, nil)
	}
	return q.of.Do(ctx, request, out)
}

func (d *database) listSeries(ctx context.Context, t *message.Ticket, out *sender) error {
	if d.of.ListSeries == nil {
		return errNoFunction(message.FunctionListSeries)
	}
	text, err := json.Marshal(t.Schema)
	if err != nil {
		return err
	}
	schema, table, err := d.table(&message.Request{Table: t.ListSeries, Schema: text})
	if err != nil {
		return err
	}
	return d.of.ListSeries(ctx, schema, table, out)
}

// querier returns the querier of a worker.
func (d *database) querier(ctx context.Context, worker int) (*querier, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q := d.queriers[worker]; q != nil {
		return q, nil
	}
	of, err := d.of.NewQuerier(context.WithoutCancel(ctx), worker)
	if err != nil {
		return nil, err
	}
	d.queriers[worker] = &querier{of: of}
	return d.queriers[worker], nil
}

// sender sends rows as record batches. It implements query.Sink. Its columns have the types of the
// values in the first batch, or else of the ticket.
type sender struct {
	stream flight.DataStreamWriter
	names  []string
	kinds  []query.Kind // Null: not known yet

	rows    int64
	held    query.Answer // rows of the first batch, whose types are not decided yet
	bytes   int
	out     *flight.Writer
	builder *array.RecordBuilder // nil: the first batch is not complete
	built   int
}

// Row implements query.Sink.
func (s *sender) Row(row []query.Value) error {
	s.rows++
	for i := range row {
		s.bytes += len(row[i].Text)
	}
	if s.builder == nil {
		if err := s.held.Row(row); err != nil {
			return err
		}
		if len(s.held.Rows) < batchRows && s.bytes < batchBytes {
			return nil
		}
		return s.begin()
	}
	if err := s.add(row); err != nil {
		return err
	}
	if s.built < batchRows && s.bytes < batchBytes {
		return nil
	}
	return s.flush()
}

// begin decides the types and sends the rows of the first batch.
func (s *sender) begin() error {
	rows := s.held.Rows
	if len(s.kinds) != len(rows[0]) {
		s.names, s.kinds = make([]string, len(rows[0])), make([]query.Kind, len(rows[0]))
		for i := range s.names {
			s.names[i] = fmt.Sprintf("column%d", i+1)
		}
	}
	fields := make([]arrow.Field, len(s.kinds))
	for i := range s.kinds {
		found := query.Null
		for _, row := range rows {
			switch kind := row[i].Kind; {
			case kind == query.Null, kind == query.Int && found == query.Float:
			default:
				found = kind
			}
		}
		if found != query.Null {
			s.kinds[i] = found
		}
		fields[i] = arrow.Field{Name: s.names[i], Type: typeOf(s.kinds[i]), Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	s.builder = array.NewRecordBuilder(memory.DefaultAllocator, schema)
	s.out = flight.NewRecordWriter(s.stream, ipc.WithSchema(schema))
	s.held.Rows = nil
	for _, row := range rows {
		if err := s.add(row); err != nil {
			return err
		}
	}
	return s.flush()
}

func typeOf(k query.Kind) arrow.DataType {
	switch k {
	case query.Time:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	case query.Int:
		return arrow.PrimitiveTypes.Int64
	case query.Float:
		return arrow.PrimitiveTypes.Float64
	case query.Bool:
		return arrow.FixedWidthTypes.Boolean
	case query.Date:
		return arrow.FixedWidthTypes.Date32
	}
	return arrow.BinaryTypes.Binary // texts may be bytes
}

// largestExact is the largest integer up to which doubles represent all integers.
const largestExact = 1 << 53

func (s *sender) add(row []query.Value) error {
	s.built++
	for i := range row {
		v, to := &row[i], s.builder.Field(i)
		if v.Kind == query.Null {
			to.AppendNull()
			continue
		}
		if v.Kind == query.Int && s.kinds[i] == query.Float && v.Int <= largestExact && v.Int >= -largestExact {
			to.(*array.Float64Builder).Append(float64(v.Int))
			continue
		}
		if v.Kind != s.kinds[i] {
			return errors.New("values of one column have several types")
		}
		switch b := to.(type) {
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(v.Int))
		case *array.Int64Builder:
			b.Append(v.Int)
		case *array.Float64Builder:
			b.Append(v.Float)
		case *array.BooleanBuilder:
			b.Append(v.Int != 0)
		case *array.Date32Builder:
			b.Append(arrow.Date32(v.Int))
		case *array.BinaryBuilder:
			b.Append(v.Text)
		}
	}
	return nil
}

// flush sends the rows of the builder.
func (s *sender) flush() error {
	batch := s.builder.NewRecordBatch()
	defer batch.Release()
	s.built, s.bytes = 0, 0
	return s.out.Write(batch)
}

// end sends the remaining rows, and the last message, which has only the metadata.
func (s *sender) end(metadata []byte) error {
	if s.builder == nil && len(s.held.Rows) > 0 {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.built > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	return s.stream.Send(&flight.FlightData{AppMetadata: metadata})
}
