// Package memory has a database in memory, for tests of the code that drives databases.
package memory

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

// Driver returns a driver whose database keeps its rows in memory. The oracle's code computes
// its answers. All that is opened by one driver is one database.
func Driver(name string) driver.Driver { return SlowDriver(name, 0) }

// SlowDriver is Driver with a database whose rows become visible only some time after they were
// acknowledged. Settle waits for that.
func SlowDriver(name string, delay time.Duration) driver.Driver {
	m := &database{delay: delay}
	return driver.Driver{
		Name: name,
		Help: "rows in memory, for tests",
		Caps: func(driver.Options) driver.Caps {
			way := driver.Way{By: "removal from memory"}
			return driver.Caps{TimePrecision: time.Nanosecond, Embedded: true, MakesColumns: true,
				Changes: driver.Changes{Delete: way, Drop: way, Correct: way, Again: driver.KeepsBoth}}
		},
		Render: func(q *query.Query, _ *series.Schema, _ driver.Options) (driver.Request, error) {
			text, err := json.Marshal(q)
			return driver.Request{Text: string(text)}, err
		},
		Open: func(context.Context, driver.Env, driver.Options) (driver.DB, error) {
			return driver.DB{Required: m, Optional: driver.Optional{
				Grow: m.Grow, DistinctCensus: m.DistinctCensus, ListSeries: m.ListSeries, DeleteSeries: m.DeleteSeries, DropBefore: m.DropBefore, Correct: m.Correct,
			}}, nil
		},
	}
}

// ChangeCaps returns the driver with other capabilities.
func ChangeCaps(d driver.Driver, change func(*driver.Caps)) driver.Driver {
	caps := d.Caps
	d.Caps = func(o driver.Options) driver.Caps {
		c := caps(o)
		change(&c)
		return c
	}
	return d
}

// StandIn returns the driver with databases that name the stand-in for the server.
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

// database is a database whose rows are a dataset.
type database struct {
	delay  time.Duration
	mu     sync.Mutex // guards the fields below
	schema *series.Schema
	// The rows, and when each batch of them was acknowledged.
	batches []*series.Batch
	acked   []time.Time
	note    string
}

func (m *database) Describe(context.Context) (driver.Description, error) {
	return driver.Description{Version: "memory", Durability: "none"}, nil
}

// Objects implements driver.DB.
func (m *database) Objects(context.Context) ([]driver.Object, error) {
	objects, _ := m.Plan(m.schema)
	if m.note != "" {
		objects = append(objects, driver.Object{Name: "note", Note: true})
	}
	return objects, nil
}

// Plan implements driver.DB.
func (m *database) Plan(s *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	if s != nil {
		for _, t := range s.Tables {
			objects = append(objects, driver.Object{Kind: "table", Name: t.Name, Data: true})
		}
	}
	return objects, nil
}

// Create implements driver.DB.
func (m *database) Create(_ context.Context, s *series.Schema) error {
	m.schema = s
	return nil
}

// Grow implements driver.DB: rows that are there have no values of new fields. Readers keep the rows that they began with.
func (m *database) Grow(s *series.Schema) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.schema, m.batches = s, slices.Clone(m.batches)
	for n := range m.batches {
		b := m.batches[n].CopyRows(nil)
		m.batches[n] = b
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

// DeleteSeries implements driver.DB.
func (m *database) DeleteSeries(_ context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(func(run *series.Run, row int) bool {
		found, ok := t.Tag(tag).Values.Append(nil, run.Series[row])
		return run.Table.Name == t.Name && ok && string(found) == value
	})
	return nil
}

// DropBefore implements driver.DB.
func (m *database) DropBefore(_ context.Context, _ *series.Schema, before time.Time) (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(func(run *series.Run, row int) bool { return run.Times[row] < before.UnixNano() })
	return before, nil
}

// Correct implements driver.DB.
func (m *database) Correct(_ context.Context, b *series.Batch) error {
	type key struct {
		table  string
		series uint32
		time   int64
	}
	keyOf := func(run *series.Run, row int) key { return key{run.Table.Name, run.Series[row], run.Times[row]} }
	corrected, stored := map[key]bool{}, map[key]int{}
	for i := range b.Runs {
		for row := range b.Runs[i].Times {
			corrected[keyOf(&b.Runs[i], row)] = true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(func(run *series.Run, row int) bool {
		k := keyOf(run, row)
		if corrected[k] {
			stored[k] = 1
		}
		return corrected[k]
	})
	m.batches = append(m.batches, b.CopyRows(func(run *series.Run, row int) int { return stored[keyOf(run, row)] }))
	m.acked = append(m.acked, time.Time{})
	return nil
}

// remove removes rows from later readers, and batches without rows. Readers keep the rows that they began with.
func (m *database) remove(gone func(run *series.Run, row int) bool) {
	batches, acked := m.batches, m.acked
	m.batches, m.acked = nil, nil
	for i, b := range batches {
		kept := b.CopyRows(func(run *series.Run, row int) int {
			if gone(run, row) {
				return 0
			}
			return 1
		})
		if kept.Rows() > 0 {
			m.batches, m.acked = append(m.batches, kept), append(m.acked, acked[i])
		}
	}
}

// Drop implements driver.DB: all or nothing is there.
func (m *database) Drop(_ context.Context, objects []driver.Object) error {
	m.schema, m.batches, m.acked = nil, nil, nil
	if slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Note }) {
		m.note = ""
	}
	return nil
}

func (m *database) Note(context.Context) (string, error) { return m.note, nil }

func (m *database) SetNote(_ context.Context, text string) error {
	m.note = text
	return nil
}

func (m *database) NewWriter(context.Context, int) (driver.Writer, error) { return writer{m}, nil }
func (m *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return querier{m}, nil
}
func (m *database) Settle(context.Context) error { time.Sleep(m.delay); return nil }
func (m *database) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}
func (m *database) Close() error { return nil }

// Census implements driver.DB.
func (m *database) Census(ctx context.Context, table *series.Table) (driver.Census, error) {
	return m.census(ctx, table, m)
}

// DistinctCensus implements driver.DB.
func (m *database) DistinctCensus(ctx context.Context, table *series.Table) (driver.Census, error) {
	return m.census(ctx, table, &different{m})
}

func (m *database) census(ctx context.Context, table *series.Table, rows workload.Dataset) (driver.Census, error) {
	x, err := oracle.Pass(ctx, rows, nil, nil, func(int) {})
	if err != nil {
		return driver.Census{}, err
	}
	census := driver.Census{Fields: make([]driver.Content, len(table.Fields))}
	for _, c := range x.Survey.Tables {
		if c.Table.Name != table.Name { // the tables may be those of a later command
			continue
		}
		census.Rows, census.Times = c.Rows, contentOf(series.Timestamp, &c.Times)
		for i, f := range table.Fields {
			census.Fields[i] = contentOf(f.Type, &c.Fields[i])
		}
	}
	return census, nil
}

// contentOf returns the content that a database reports which knows as much as the oracle.
func contentOf(t series.Type, c *oracle.Content) driver.Content {
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
func (m *database) ListSeries(_ context.Context, _ *series.Schema, table *series.Table, sink query.Sink) error {
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

// different yields a dataset's different rows, each once.
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
	*b = *b.CopyRows(func(*series.Run, int) int {
		line := string(lines[0])
		lines = lines[1:]
		if r.seen[line] {
			return 0
		}
		r.seen[line] = true
		return 1
	})
	return nil
}

// Schema and Open make the rows a dataset.
func (m *database) Schema() *series.Schema {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.schema
}
func (m *database) Open() workload.Reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	visible := len(m.batches)
	for ; m.delay > 0 && visible > 0; visible-- {
		if time.Since(m.acked[visible-1]) >= m.delay {
			break
		}
	}
	return &reader{m.batches[:visible]}
}

// inWindow yields the batches of a database that have rows in a query's window.
type inWindow struct {
	*database
	query *query.Query
}

func (w inWindow) Open() workload.Reader {
	all := w.database.Open().(*reader)
	_, promql := w.query.AsPromQL()
	if right, _ := w.query.Right(); promql || right != "" { // it reads rows outside of its window
		return all
	}
	start, end := w.query.Bounds()
	var list []*series.Batch
	for _, b := range all.batches {
		if first, last := b.Times(); first < end && last >= start {
			list = append(list, b)
		}
	}
	return &reader{list}
}

type reader struct{ batches []*series.Batch }

func (r *reader) Next(b *series.Batch, _ int) error {
	*b = series.Batch{}
	if len(r.batches) == 0 {
		return io.EOF
	}
	b.Runs = r.batches[0].Runs
	r.batches = r.batches[1:]
	return nil
}

type writer struct{ m *database }

func (w writer) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	kept := b.CopyRows(nil)
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	now := time.Now()
	w.m.batches, w.m.acked = append(w.m.batches, kept), append(w.m.acked, now)
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
}

func (writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (writer) Close() error                                  { return nil }

type querier struct{ m *database }

func (q querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var sent query.Query
	if err := json.Unmarshal([]byte(r.Text), &sent); err != nil {
		return driver.Cost{}, err
	}
	answer, err := oracle.Rows(ctx, inWindow{q.m, &sent}, &sent)
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

func (querier) Close() error { return nil }
