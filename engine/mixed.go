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

// MixedConfig says how to write and query at once.
type MixedConfig struct {
	LoadConfig               // of the writers
	Queriers   int           // connections querying at once, each one query at a time; at least 1
	Duration   time.Duration // no batch begins later; 0: until the whole dataset is written
	Timeout    time.Duration // a query is cut off after this; 0: never

	// Share of all operations, batches and queries, that are batches: above 0
	// and below 1. Neither side then gets ahead of the other: batches and
	// queries begin in a fixed order, each when one of its workers is free. 0:
	// each side goes at its own rate.
	Share float64
	// RowRate says when rows are due; a batch is due with its last row. Batches
	// for which no writer is free wait: nothing is dropped. Writing ends with
	// the schedule. Nil: writers write as fast as they can.
	RowRate pace.Schedule
	// QueryRate says when queries are due. Nil: each querier runs the next one when it has
	// its answer.
	QueryRate pace.Schedule
	Queue     int // arrivals of QueryRate that may wait for a querier; a further one is dropped

	Loaded   int64         // first rows of the dataset, which the target has and has settled
	Start    time.Time     // of the dataset: no window begins earlier
	Lateness time.Duration // of the dataset: oracle.Survey has it
	Windows  workload.Windows
	Align    bool   // windows start on a bucket border: query.Query.Align
	Keep     int    // answers of each type wanted in full, at least 1; see Sample
	Seed     string // of the samples of answers that are kept

	Part MixedPart // what this client does of the phase, where several do it together
}

// MixedQueries is the queries of one type, run in turn. Their windows are
// moved: see Mixed.
type MixedQueries struct {
	Type    string
	Queries []query.Query
	Weight  int // how often it is run in comparison with other types; 0: once
	// Log is where each query that was run is recorded, those whose
	// answers are kept as in the burn-in; nil: nowhere. It costs a recorder a
	// querier.
	Log *oplog.Section
}

// Render puts a query into the target's language: driver.Driver has one.
type Render func(*query.Query, *series.Schema) (driver.Request, error)

// RunMixed writes what follows the loaded rows of the dataset, and meanwhile runs
// queries of all types in turn, by their weights. It then lets the target settle.
//
// Every query lies below the watermark: the time before which, when it was
// run, every row of the dataset had been acknowledged. Config.Windows places
// it between Config.Start and the watermark; so where it lies depends on the
// query and the watermark alone. Rows written meanwhile are not asked for,
// and the whole dataset tells the right answer. A type none of whose windows
// fits yet is passed over.
//
// Of several clients the watermark is the least of theirs, as a client last heard it:
// one that is older than the true one, or equal to it, and never newer. See MixedPart.
//
// A failed query ends its type: the result is withheld and says why. Answers
// are not compared here: verify.RunMixed does it, off the clock, from the journal.
// The error is for what concerns more than a type. The phase ends with the
// writes: queries that are due and wait for a querier then are counted, and not
// run. A client that does a part of it does not let the target settle.
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
	order []int        // of types, which is gone through again and again
	drawn atomic.Int64 // queries drawn
	early atomic.Int64
	// waiting is how many queries were in the queue when the writes ended.
	waiting atomic.Int64
	lag     *measure.Latency // of all that were due
}

func newMixed(cfg MixedConfig, d workload.Dataset, render Render, types []MixedQueries, progress Progress) *mixed {
	queue := cfg.Queue
	if cfg.Share > 0 {
		queue = 0 // a query begins in its place among the batches
	}
	m := &mixed{
		cfg: cfg, dataset: d, render: render,
		ledger: newLedger(cfg.Lateness), queue: make(chan arrival, queue), lag: measure.NewLatency(),
		out: cfg.describe(),
	}
	fill := func(b *batch) error {
		err := m.reader.Next(&b.Batch, cfg.BatchSize)
		b.place = m.whole.rows
		return err
	}
	m.loader = newLoader(cfg.LoadConfig, oplog.Cell{Part: oplog.Mixed, Schedule: m.out.RowRate}, []func(*batch) error{fill}, progress)
	m.supply().rows = cfg.Loaded
	m.read, m.ready = make(chan *batch, cap(m.supply().free)), newQueues(cfg.Workers, 0, cfg.Owner != nil)
	var weights []int
	share, seed := cfg.Part.Share, cfg.Seed
	if !share.Single() { // each client takes a sample of its own queries, however far it comes
		seed += fmt.Sprintf(" share %d of %d", share.Index+1, share.Count)
	}
	for _, q := range types {
		keep, count := max(share.CountOf(cfg.Keep), 1), max(share.CountOf(maxCounted/len(types)), 1)
		m.types = append(m.types, newMixedType(q, m.out.QueryRate, cfg.Queriers, keep, count, seed))
		weights = append(weights, max(q.Weight, 1))
	}
	m.order = interleave(weights)
	return m
}

// run connects everybody, passes over the loaded rows, and then runs the clock.
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

// supply is the only one: queries are about the dataset's first rows.
func (m *mixed) supply() *supply { return m.supplies[0] }

// skipLoaded passes over the rows that the target has. These are the first ones of the
// dataset, whoever wrote them, so each client knows the same watermark to begin with.
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

// describe is what the result says of the configuration.
func (c *MixedConfig) describe() result.Mixed {
	out := result.Mixed{
		Share: c.Share, Duration: c.Duration.Seconds(), Windows: string(c.Windows),
		Lateness: c.Lateness.Seconds(), Loaded: c.Loaded, Queriers: c.Queriers,
	}
	if c.paced(c.RowRate) {
		out.RowRate = c.RowRate.String()
	}
	if c.paced(c.QueryRate) {
		out.QueryRate, out.Queue = c.QueryRate.String(), c.Queue
	}
	return out
}

// paced reports whether a side goes by a rate.
func (c *MixedConfig) paced(rate pace.Schedule) bool { return rate != nil && c.Share == 0 }
