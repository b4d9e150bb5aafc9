package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Memory returns a kind of target that keeps its rows in memory, for testing
// what drives targets. It is as right as the oracle, by whose code it answers:
// what it shows is what becomes of the rows that were written to it. All that
// is opened of one kind is one database.
func Memory(name string) driver.Driver { return Delayed(name, 0) }

// Delayed is Memory whose rows become visible only some time after they were
// acknowledged. Settle waits for that.
func Delayed(name string, delay time.Duration) driver.Driver {
	m := &memory{delay: delay}
	return driver.Driver{
		Name: name,
		Help: "rows in memory, for tests",
		Caps: func(driver.Options) driver.Caps {
			return driver.Caps{TimePrecision: time.Nanosecond, Embedded: true, MakesColumns: true}
		},
		Render: func(q *query.Query, _ *series.Schema, _ driver.Options) (driver.Request, error) {
			text, err := json.Marshal(q)
			return driver.Request{Text: string(text)}, err
		},
		Open: func(context.Context, driver.Env, driver.Options) (driver.DB, error) {
			return driver.DB{Required: m, Optional: driver.Optional{Grow: m.Grow, DistinctCensus: m.DistinctCensus, ListSeries: m.ListSeries}}, nil
		},
	}
}

// Capable returns the kind with other capabilities.
func Capable(kind driver.Driver, change func(*driver.Caps)) driver.Driver {
	caps := kind.Caps
	kind.Caps = func(o driver.Options) driver.Caps {
		c := caps(o)
		change(&c)
		return c
	}
	return kind
}

// StandIn returns the driver with databases that say what answers in place of a server.
func StandIn(d driver.Driver, what string) driver.Driver {
	open := d.Open
	d.StandIn = what
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.Required = &standIn{db.Required, what}
		return db, err
	}
	return d
}

type standIn struct {
	driver.Required
	what string
}

// Describe implements driver.DB.
func (s *standIn) Describe(ctx context.Context) (driver.Description, error) {
	d, err := s.Required.Describe(ctx)
	d.StandIn = s.what
	return d, err
}

// memory is a database; its rows are a dataset.
type memory struct {
	delay  time.Duration
	mu     sync.Mutex // guards what follows
	schema *series.Schema
	// The rows, and when each batch of them was acknowledged.
	batches []*series.Batch
	acked   []time.Time
	note    string
}

func (m *memory) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "memory", Durability: "none"}, nil
}

// Objects implements driver.DB.
func (m *memory) Objects(context.Context) ([]driver.Object, error) {
	objects, _ := m.Plan(m.schema)
	if m.note != "" {
		objects = append(objects, driver.Object{Name: "note", Note: true})
	}
	return objects, nil
}

// Plan implements driver.DB.
func (m *memory) Plan(s *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	if s != nil {
		for _, t := range s.Tables {
			objects = append(objects, driver.Object{Kind: "table", Name: t.Name, Data: true})
		}
	}
	return objects, nil
}

// Create implements driver.DB.
func (m *memory) Create(_ context.Context, s *series.Schema) error {
	m.schema = s
	return nil
}

// Grow implements driver.DB: rows that are there have no values of new fields.
func (m *memory) Grow(s *series.Schema) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.schema = s
	for _, b := range m.batches {
		for i := range b.Runs {
			run := &b.Runs[i]
			rows, had := run.Rows(), len(run.Columns)
			run.Table = s.Table(run.Table.Name)
			run.Columns = append(run.Columns, make([]series.Column, len(run.Table.Fields)-had)...)
			run.Grow(rows)
			for f := had; f < len(run.Columns); f++ {
				for row := range rows {
					run.SetNull(f, row)
				}
			}
		}
	}
	return nil
}

// Drop implements driver.DB: all or nothing is there.
func (m *memory) Drop(_ context.Context, objects []driver.Object) error {
	m.schema, m.batches, m.acked = nil, nil, nil
	if slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Note }) {
		m.note = ""
	}
	return nil
}

func (m *memory) Note(context.Context) (string, error) { return m.note, nil }

func (m *memory) SetNote(_ context.Context, text string) error {
	m.note = text
	return nil
}

func (m *memory) NewWriter(context.Context, int) (driver.Writer, error) { return memoryWriter{m}, nil }
func (m *memory) NewQuerier(context.Context, int) (driver.Querier, error) {
	return memoryQuerier{m}, nil
}
func (m *memory) Settle(context.Context) error { time.Sleep(m.delay); return nil }
func (m *memory) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}
func (m *memory) Close() error { return nil }

// Census implements driver.DB.
func (m *memory) Census(ctx context.Context, table *series.Table) (driver.Census, error) {
	return m.census(ctx, table, m)
}

// DistinctCensus implements driver.DB.
func (m *memory) DistinctCensus(ctx context.Context, table *series.Table) (driver.Census, error) {
	return m.census(ctx, table, &different{m})
}

func (m *memory) census(ctx context.Context, table *series.Table, rows workload.Dataset) (driver.Census, error) {
	x, err := oracle.Pass(ctx, rows, nil, nil, func(int) {})
	if err != nil {
		return driver.Census{}, err
	}
	census := driver.Census{Fields: make([]driver.Content, len(table.Fields))}
	for _, c := range x.Survey.Tables {
		if c.Table.Name != table.Name { // the tables may be those of a later command
			continue
		}
		census.Rows, census.Times = c.Rows, told(series.Timestamp, &c.Times)
		for i, f := range table.Fields {
			census.Fields[i] = told(f.Type, &c.Fields[i])
		}
	}
	return census, nil
}

// told is what a target tells that knows what the oracle does.
func told(t series.Type, c *oracle.Content) driver.Content {
	sum := query.Value{Kind: query.Float, Float: c.Float}
	if t.UsesInts() {
		sum = query.Value{Kind: query.Int, Int: int64(c.Whole.Low)}
	}
	if c.Count == 0 {
		sum = query.Value{}
	}
	return driver.Content{Count: c.Count, Sum: &sum, Min: &c.Min, Max: &c.Max}
}

// ListSeries implements driver.DB.
func (m *memory) ListSeries(_ context.Context, _ *series.Schema, table *series.Table, sink query.Sink) error {
	reader, seen := m.Open(), make(map[uint32]bool)
	var batch series.Batch
	for reader.Next(&batch, 0) == nil {
		for i := range batch.Runs {
			run := &batch.Runs[i]
			for _, id := range run.Series {
				if run.Table.Name != table.Name || seen[id] {
					continue
				}
				seen[id] = true
				if err := sink.Row(tagsOf(table, id)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// tagsOf returns the tags of a series.
func tagsOf(table *series.Table, id uint32) []query.Value {
	row := make([]query.Value, len(table.Tags))
	for i := range table.Tags {
		text, ok := table.Tags[i].Values.Append(nil, id)
		switch number, err := strconv.ParseFloat(string(text), 64); {
		case !ok:
		case table.Tags[i].Numeric() && err == nil:
			row[i] = query.Value{Kind: query.Float, Float: number}
		default:
			row[i] = query.Value{Kind: query.Text, Text: text}
		}
	}
	return row
}

// different is a dataset's rows, each different one once.
type different struct{ workload.Dataset }

func (d *different) Open() workload.Reader {
	return &differentReader{d.Dataset.Open(), encode.NewLineProtocol(d.Schema()), make(map[string]bool)}
}

type differentReader struct {
	workload.Reader
	lines encode.Encoder
	seen  map[string]bool
}

func (r *differentReader) Next(b *series.Batch, max int) error {
	if err := r.Reader.Next(b, max); err != nil {
		return err
	}
	lines := bytes.SplitAfter(r.lines.Append(nil, b), []byte("\n"))
	*b = *keep(b, func(row int64) bool {
		line := string(lines[row])
		defer func() { r.seen[line] = true }()
		return !r.seen[line]
	})
	return nil
}

// Schema and Open make what was written a dataset.
func (m *memory) Schema() *series.Schema { return m.schema }
func (m *memory) Open() workload.Reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	visible := len(m.batches)
	for ; m.delay > 0 && visible > 0; visible-- {
		if time.Since(m.acked[visible-1]) >= m.delay {
			break
		}
	}
	return &memoryReader{m.batches[:visible]}
}

// inWindow is those batches of a memory that have rows at times which a query is about.
type inWindow struct {
	*memory
	query *query.Query
}

func (w inWindow) Open() workload.Reader {
	all := w.memory.Open().(*memoryReader)
	start, end := w.query.Bounds()
	var list []*series.Batch
	for _, b := range all.batches {
		if first, last := b.Times(); first < end && last >= start {
			list = append(list, b)
		}
	}
	return &memoryReader{list}
}

type memoryReader struct{ batches []*series.Batch }

func (r *memoryReader) Next(b *series.Batch, _ int) error {
	*b = series.Batch{}
	if len(r.batches) == 0 {
		return io.EOF
	}
	b.Runs = r.batches[0].Runs
	r.batches = r.batches[1:]
	return nil
}

type memoryWriter struct{ m *memory }

func (w memoryWriter) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	kept := keep(b, func(int64) bool { return true })
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	now := time.Now()
	w.m.batches, w.m.acked = append(w.m.batches, kept), append(w.m.acked, now)
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
}

func (memoryWriter) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (memoryWriter) Close() error                                  { return nil }

// keep copies the rows of a batch whose place in it is wanted.
func keep(b *series.Batch, wanted func(row int64) bool) *series.Batch {
	var kept series.Batch
	at := int64(0)
	for i := range b.Runs {
		from, rows := &b.Runs[i], []uint32(nil)
		for row := range from.Times {
			if wanted(at) {
				rows = append(rows, uint32(row))
			}
			at++
		}
		to := kept.Add(from.Table)
		to.Grow(len(rows))
		to.Copy(0, from, rows)
	}
	return &kept
}

type memoryQuerier struct{ m *memory }

func (q memoryQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var asked query.Query
	if err := json.Unmarshal([]byte(r.Text), &asked); err != nil {
		return driver.Cost{}, err
	}
	answer, err := oracle.Rows(ctx, inWindow{q.m, &asked}, &asked)
	if err != nil {
		return driver.Cost{}, err
	}
	for i, row := range answer.Rows {
		if sink == nil {
			continue
		}
		if err := sink.Row(row); err != nil {
			return driver.Cost{Rows: int64(i)}, err
		}
	}
	return driver.Cost{Rows: int64(len(answer.Rows))}, nil
}

func (memoryQuerier) Close() error { return nil }
