//go:build !light

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external/message"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database is an open database.
type database struct {
	server *server
	of     driver.DB

	mu       sync.Mutex
	schema   *series.Schema // as created; nil: not known
	writers  map[int]*writer
	queriers map[int]*querier
}

// writer is a worker's writer, which its streams share.
type writer struct {
	sync.Mutex
	of driver.Writer // nil: it failed, or is not open yet
}

// querier is a worker's querier.
type querier struct {
	sync.Mutex
	of driver.Querier
}

func newDatabase(s *server, of driver.DB) *database {
	return &database{server: s, of: of, writers: make(map[int]*writer), queriers: make(map[int]*querier)}
}

// writer returns the writer of a worker, which may not be open yet.
func (d *database) writer(worker int) *writer {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writers[worker] == nil {
		d.writers[worker] = new(writer)
	}
	return d.writers[worker]
}

// close closes the database and everything that is open in it.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var problems []error
	for _, w := range d.writers {
		problems = append(problems, w.close())
	}
	for _, q := range d.queriers {
		problems = append(problems, q.of.Close())
	}
	return errors.Join(append(problems, d.of.Close())...)
}

func (w *writer) close() error {
	w.Lock()
	defer w.Unlock()
	if w.of == nil {
		return nil
	}
	err := w.of.Close()
	w.of = nil
	return err
}

// closeWorker closes a worker's connection.
func (d *database) closeWorker(worker int, kind string) error {
	d.mu.Lock()
	w, q := d.writers[worker], d.queriers[worker]
	switch kind {
	case message.WriterWorker:
		delete(d.writers, worker)
	case message.QuerierWorker:
		delete(d.queriers, worker)
	}
	d.mu.Unlock()
	switch {
	case kind == message.WriterWorker && w != nil:
		return w.close()
	case kind == message.QuerierWorker && q != nil:
		q.Lock()
		defer q.Unlock()
		return q.of.Close()
	}
	return nil
}

// setSchema decodes a schema whose rows will come, with tags that it learns from them.
func (d *database) setSchema(r *message.Request, keep bool) (*series.Schema, error) {
	schema, err := decodeSchema(r.Schema)
	if err != nil {
		return nil, err
	}
	for _, t := range schema.Tables {
		learnTags(t, schema.Series) // the same ones again for tables with the same series
	}
	if keep {
		d.mu.Lock()
		d.schema = schema
		d.mu.Unlock()
	}
	return schema, nil
}

// table returns a table of the schema, or of the one in the request.
func (d *database) table(r *message.Request) (*series.Schema, *series.Table, error) {
	d.mu.Lock()
	schema := d.schema
	d.mu.Unlock()
	if schema == nil || schema.Table(r.Table) == nil {
		var err error
		if schema, err = d.setSchema(r, false); err != nil {
			return nil, nil, err
		}
	}
	if t := schema.Table(r.Table); t != nil {
		return schema, t, nil
	}
	return nil, nil, status.Errorf(codes.InvalidArgument, "table %q is not in the schema", r.Table)
}

// errNoFunction is the error of an optional function that the database lacks.
func errNoFunction(action string) error {
	return fmt.Errorf("%w: the system has no %s", query.ErrUnsupported, action)
}

// act runs an action on the database.
func (d *database) act(ctx context.Context, action string, r *message.Request) (any, error) {
	switch action {
	case message.ActionDescribe:
		return d.of.Describe(ctx)
	case message.ActionObjects:
		list, err := d.of.Objects(ctx)
		return message.Objects{Objects: message.FromObjects(list)}, err
	case message.ActionPlan, message.ActionCreate, message.ActionGrow:
		return d.prepare(ctx, action, r)
	case message.ActionDrop:
		return nil, d.of.Drop(ctx, message.DriverObjects(r.Objects))
	case message.ActionNote:
		text, err := d.of.Note(ctx)
		return message.Text{Text: text}, err
	case message.ActionSetNote:
		return nil, d.of.SetNote(ctx, r.Text)
	case message.ActionSettle:
		return nil, d.of.Settle(ctx)
	case message.ActionCensus:
		return d.census(ctx, r, d.of.Census)
	case message.ActionDistinctCensus:
		if d.of.DistinctCensus == nil {
			return nil, errNoFunction(action)
		}
		return d.census(ctx, r, d.of.DistinctCensus)
	case message.ActionFootprint:
		size, err := d.of.Footprint(ctx)
		return message.Footprint{Bytes: &size.Bytes, Without: size.Without, Pending: size.Pending, Parts: size.Parts}, err
	case message.ActionFlush:
		return d.flush(ctx, r)
	case message.ActionCloseWorker:
		return nil, d.closeWorker(r.Worker, r.Kind)
	}
	return d.actOptional(ctx, action, r)
}

func (d *database) prepare(ctx context.Context, action string, r *message.Request) (any, error) {
	schema, err := d.setSchema(r, action != message.ActionPlan)
	if err != nil {
		return nil, err
	}
	switch action {
	case message.ActionCreate:
		return nil, d.of.Create(ctx, schema)
	case message.ActionGrow:
		if d.of.Grow == nil {
			return nil, errNoFunction(action)
		}
		var known message.Schema
		if err := json.Unmarshal(r.Schema, &known); err != nil {
			return nil, err
		}
		for i := range known.Tables {
			t := &known.Tables[i]
			if len(t.Known) > 0 && len(t.Tags) == 0 {
				return nil, fmt.Errorf("table %s has no tags, and its series are known by them", t.Name)
			}
			if len(t.Known) > 0 {
				schema.Table(t.Name).Tags[0].Values.(learnedTag).learn(t)
			}
		}
		return nil, d.of.Grow(schema)
	}
	list, err := d.of.Plan(schema)
	return message.Objects{Objects: message.FromObjects(list)}, err
}

func (d *database) census(ctx context.Context, r *message.Request, count func(context.Context, *series.Table) (driver.Census, error)) (any, error) {
	_, t, err := d.table(r)
	if err != nil {
		return nil, err
	}
	c, err := count(ctx, t)
	if err != nil {
		return nil, err
	}
	return message.FromCensus(&c), nil
}

func (d *database) flush(ctx context.Context, r *message.Request) (any, error) {
	w := d.writer(r.Worker)
	w.Lock()
	defer w.Unlock()
	if w.of == nil {
		return message.Receipt{}, nil
	}
	begin := time.Now()
	receipt, err := w.of.Flush(ctx)
	return receiptOf(0, &receipt, time.Since(begin)), err
}

// receiptOf returns a receipt as messages have it.
func receiptOf(batch int64, r *driver.Receipt, service time.Duration) message.Receipt {
	return message.Receipt{Batch: batch, Rows: r.Rows, WireBytes: r.WireBytes, ServiceNS: int64(service), Acked: !r.Acked.IsZero()}
}

// actOptional runs an action that only some systems have.
func (d *database) actOptional(ctx context.Context, action string, r *message.Request) (any, error) {
	switch {
	case action == message.ActionCountRows && d.of.CountRows != nil:
		_, t, err := d.table(r)
		if err != nil {
			return nil, err
		}
		rows, err := d.of.CountRows(ctx, t)
		return message.Rows{Rows: rows}, err
	case action == message.ActionClock && d.of.ReadClock != nil:
		now, err := d.of.ReadClock(ctx)
		return message.Clock{Time: timeOf(now.Server), Unit: now.Unit.String()}, err
	case action == message.ActionExplain && d.of.Explain != nil:
		request, err := d.server.request(r.Text, r.UserText, r.Plan)
		if err != nil {
			return nil, err
		}
		plan, err := d.of.Explain(ctx, request)
		return message.Plan{Plan: plan}, err
	case action == message.ActionMetrics && d.of.ReadMetrics != nil:
		metrics, err := d.of.ReadMetrics(ctx)
		return message.Metrics{Metrics: metrics}, err
	case action == message.ActionFlushMemory && d.of.FlushMemory != nil:
		return nil, d.of.FlushMemory(ctx)
	case action == message.ActionCheckText && d.of.CheckText != nil:
		return nil, d.of.CheckText(ctx, r.Text)
	case action == message.ActionFreeSpace && d.of.FreeSpace != nil:
		folder, free, err := d.of.FreeSpace(ctx)
		return message.FreeSpace{Folder: folder, Free: &free}, err
	case action == message.ActionProcesses && d.of.ListProcesses != nil:
		addresses, err := d.of.ListProcesses(ctx)
		return message.Processes{Addresses: addresses}, err
	case action == message.ActionStep:
		for _, s := range d.of.Steps {
			if s.Name == r.Name {
				return nil, s.Do(ctx)
			}
		}
		return nil, status.Errorf(codes.InvalidArgument, "step %q is unknown", r.Name)
	}
	return nil, errNoFunction(action)
}
