package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// MixedConfig configures a phase that writes and queries at the same time.
type MixedConfig struct {
	LoadConfig               // of the writers
	Queriers   int           // connections querying at once, each one query at a time; at least 1
	Duration   time.Duration // no batch begins later; 0: until the whole dataset is written
	Timeout    time.Duration // a query is cut off after this; 0: never

	// Share is the fraction of batches among all operations, batches and queries: above 0 and below
	// 1. Batches and queries then begin in a fixed order, each when one of its workers is free, so
	// that neither side gets ahead. 0: each side goes at its own rate.
	Share float64
	// RowRate says when rows are due; a batch is due with its last row. Batches wait for a free
	// writer, and none is dropped. Writing ends with the schedule. Nil: writers write as fast as
	// they can.
	RowRate pace.Schedule
	// QueryRate says when queries are due. Nil: each querier runs its next query when it has the
	// answer.
	QueryRate pace.Schedule
	Queue     int // maximum number of QueryRate's arrivals that wait for a querier; arrivals beyond it are dropped

	Loaded   int64         // number of the dataset's first rows, which the target has loaded and settled
	Start    time.Time     // start of the dataset: no window begins earlier
	Lateness time.Duration // lateness of the dataset, from oracle.Survey
	Windows  workload.Windows
	Align    bool   // windows start on a bucket border: query.Query.Align
	Keep     int    // number of answers of each type to keep in full, at least 1; see Sample
	Seed     string // seed of the samples of answers

	Part MixedPart // this client's part, if several clients run the phase
	// Follow, unless nil, follows the phase and works beside it.
	Follow *Follower
}

// MixedQueries is the queries of one type, run in turn. RunMixed moves their windows.
type MixedQueries struct {
	Type    string
	Queries []query.Query
	Weight  int // relative frequency of this type; 0: 1
	// Log records each query; queries whose answers are kept are marked as burn-in. Nil: queries
	// are not recorded. Each querier has its own recorder.
	Log *oplog.Section
}

// Render renders a query for the target; every driver.Driver has one.
type Render func(*query.Query, *series.Schema) (driver.Request, error)

// RunMixed writes the rows behind the loaded rows of the dataset, and meanwhile runs queries of all
// types in turn, by their weights. It then lets the target settle.
//
// Every query lies below the watermark: the time before which every row of the dataset had been
// acknowledged when the query was run. cfg.Windows places it between cfg.Start and the watermark,
// so that its place depends on the query and the watermark alone. No query covers rows written
// meanwhile, so the whole dataset determines the expected answer. A type without a fitting window
// is skipped for now.
//
// With several clients, the watermark is the minimum of the clients' watermarks as last received.
// It may lag behind the true one but is never ahead of it. See MixedPart.
//
// A failed query ends its type: the result is withheld and says why. RunMixed does not compare
// answers; verify.CheckMixed does so from the journal, off the clock. The error is for failures that
// concern more than one type. The phase ends with the writes: queries that are due and wait for a
// querier then are counted and not run. A client that runs only a part of the phase does not let
// the target settle.
func RunMixed(ctx context.Context, cfg MixedConfig, d workload.Dataset, t driver.DB, render Render, types []MixedQueries, progress Progress) (*result.Mixed, *Journal, error) {
	m := newMixed(cfg, d, render, types, progress)
	defer m.close()
	err := m.run(ctx, t)
	journal, figuresErr := m.finish()
	if err == nil {
		err = figuresErr
	}
	if err == nil && m.cfg.Part.Peers == nil {
		m.cfg.Visible.Before = m.cfg.Loaded
		if err = Settle(ctx, m.cfg.LoadConfig, m.start, d.Schema(), t, Loaded{Sample: rowsToLookFor(m.connections), Accepted: m.out.Writes.Rows}, &m.out.Writes); err != nil {
			m.out.Writes.Settled = time.Since(m.start).Seconds()
		}
	}
	return &m.out, journal, err
}

// mixed is the state that all workers of the phase share.
type mixed struct {
	cfg     MixedConfig
	dataset workload.Dataset
	render  Render
	out     result.Mixed

	*loader // of the writes
	ledger  *ledger
	whole   *placedReader   // of the dataset
	reader  workload.Reader // of the rows that this client writes
	least   atomic.Int64    // the watermark of all clients, as last heard

	read    chan *batch
	ready   queues
	queue   chan arrival
	writing atomic.Int64 // workers that have not written all

	types []*mixedType
	order []int        // order of types, repeated
	drawn atomic.Int64 // queries drawn
	early atomic.Int64
	// waiting is the number of queries in the queue when the writes ended.
	waiting atomic.Int64
	lag     *measure.Latency // of all that were due
	lastDue time.Duration    // when the last batch that was handed over was due; RowRate only
}

func newMixed(cfg MixedConfig, d workload.Dataset, render Render, types []MixedQueries, progress Progress) *mixed {
	queue := cfg.Queue
	if cfg.Share > 0 {
		queue = 0 // a query begins at its place among the batches
	}
	m := &mixed{
		cfg: cfg, dataset: d, render: render,
		ledger: newLedger(cfg.Lateness), queue: make(chan arrival, queue), lag: measure.NewLatency(),
		out: cfg.describe(),
	}
	m.ledger.forgets = cfg.Follow != nil
	fill := func(b *batch) error {
		err := m.reader.Next(&b.Batch, cfg.BatchSize)
		b.place = m.whole.rows
		return err
	}
	m.loader = newLoader(cfg.LoadConfig, oplog.Cell{Part: oplog.Mixed, Schedule: m.out.RowRate}, []func(*batch) error{fill}, progress)
	if cfg.Follow != nil {
		m.wrote, m.generation = cfg.Follow.Wrote, cfg.Follow.Generation
	}
	m.supply().rows = cfg.Loaded
	m.read, m.ready = make(chan *batch, cap(m.supply().free)), newQueues(cfg.Workers, 0, cfg.Owner != nil)
	var weights []int
	share, seed := cfg.Part.Share, cfg.Seed
	if !share.Single() { // each client samples its own queries, however many it runs
		seed += fmt.Sprintf(" share %d of %d", share.Index+1, share.Count)
	}
	for _, q := range types {
		keep, count := max(share.CountOf(cfg.Keep), 1), max(share.CountOf(maxCounted/len(types)), 1)
		m.types = append(m.types, newMixedType(q, m.out.QueryRate, cfg.Queriers, keep, count, seed, cfg.Period))
		weights = append(weights, max(q.Weight, 1))
	}
	m.order = interleave(weights)
	return m
}

// run connects all workers, skips the loaded rows, and then runs the clock.
func (m *mixed) run(ctx context.Context, t driver.DB) error {
	defer m.clock.start(m.cfg.LoadConfig.Pulse, false)()
	if err := m.connect(ctx, t); err != nil {
		return err
	}
	readers := make([]*mixedWorker, m.cfg.Queriers)
	for i := range readers {
		querier, err := t.NewQuerier(ctx, i)
		if err != nil {
			return fmt.Errorf("connecting querier %d: %w", i, err)
		}
		readers[i] = &mixedWorker{mixed: m, target: t, worker: i, querier: querier}
		defer func() { readers[i].querier.Close() }() // reading only
	}
	if err := m.skipLoaded(ctx); err != nil {
		return err
	}

	var err error
	if m.start, err = m.cfg.LoadConfig.Start.clock(ctx); err != nil {
		return err
	}
	m.writing.Store(int64(m.cfg.Workers))
	group, groupCtx := errgroup.WithContext(ctx)
	phase, end := context.WithCancel(groupCtx) // ends with the writes
	defer end()
	wanted, enough := context.WithCancel(groupCtx) // ends when no further batch will be written
	defer enough()
	written := end
	if m.cfg.Part.Peers != nil {
		written = func() {}
		group.Go(func() error { return m.follow(groupCtx, end) })
	}
	if f := m.cfg.Follow; f != nil {
		group.Go(func() error { return f.Beside(groupCtx, m.phase(phase.Done())) })
	}
	group.Go(func() error { return m.readAhead(groupCtx, wanted) })
	if m.cfg.Share > 0 {
		group.Go(func() error { return m.alternate(groupCtx, enough) })
	} else {
		group.Go(func() error { return m.dispatchBatches(groupCtx, enough) })
		group.Go(func() error { return m.dispatchQueries(groupCtx, phase) })
	}
	for i, c := range m.connections {
		group.Go(func() error {
			err := m.work(groupCtx, c, m.ready[i], &acks{ledger: m.ledger})
			if err == nil && m.writing.Add(-1) == 0 {
				written() // an error ends the phase by itself
			}
			return err
		})
	}
	for _, r := range readers {
		group.Go(func() error { return r.queryAll(groupCtx, phase) })
	}
	err = group.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return err
}

// supply returns the only supply: all workers share it, since queries refer to the dataset's first
// rows.
func (m *mixed) supply() *supply { return m.supplies[0] }

// skipLoaded skips the rows that the target has. They are the first rows of the dataset, whoever
// wrote them, so every client begins with the same watermark.
func (m *mixed) skipLoaded(ctx context.Context) error {
	m.whole = &placedReader{Reader: m.dataset.Open()}
	newest := int64(math.MinInt64)
	var b series.Batch
	for left := m.cfg.Loaded; left > 0; left -= int64(b.Rows()) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := m.whole.Next(&b, int(min(left, int64(m.cfg.BatchSize)))); errors.Is(err, io.EOF) {
			return fmt.Errorf("%d rows are loaded, but the dataset has %d", m.cfg.Loaded, m.cfg.Loaded-left)
		} else if err != nil {
			return fmt.Errorf("reading the dataset: %w", err)
		}
		_, last := b.Times()
		newest = max(newest, last)
	}
	if m.cfg.Loaded > 0 {
		m.ledger.noteLoaded(newest)
	}
	m.least.Store(m.ledger.watermark.Load())
	m.whole.rows = 0
	if m.reader = m.whole; m.cfg.Part.Own != nil {
		m.reader = m.cfg.Part.Own(m.whole)
	}
	return nil
}

// placedReader counts the rows that were read.
type placedReader struct {
	workload.Reader
	rows int64
}

// Next implements workload.Reader.
func (r *placedReader) Next(b *series.Batch, most int) error {
	err := r.Reader.Next(b, most)
	r.rows += int64(b.Rows())
	return err
}

// describe returns a result that contains the configuration.
func (c *MixedConfig) describe() result.Mixed {
	out := result.Mixed{
		Share: c.Share, Duration: c.Duration.Seconds(), Windows: string(c.Windows),
		Lateness: c.Lateness.Seconds(), Loaded: c.Loaded, Queriers: c.Queriers,
	}
	if out.RowRate, out.QueryRate = c.Schedules(); out.QueryRate != "" {
		out.Queue = c.Queue
	}
	return out
}

// Schedules describes the rates of rows and of queries, as operation logs do; empty: without a rate.
func (c *MixedConfig) Schedules() (rows, queries string) {
	if c.paced(c.RowRate) {
		rows = c.RowRate.String()
	}
	if c.paced(c.QueryRate) {
		queries = c.QueryRate.String()
	}
	return rows, queries
}

// paced reports whether writing or querying follows a rate.
func (c *MixedConfig) paced(rate pace.Schedule) bool { return rate != nil && c.Share == 0 }
