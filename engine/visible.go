package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
)

// Visibility says how a load finds out on the clock that its rows are visible: it queries
// rows of it, and has the target count them. A target that acknowledges rows and stores them
// later has not settled until then. The zero value does not look.
type Visibility struct {
	Render Render // nil: no rows are queried
	// Before is how many rows the tables had before the load; below 0: how many rows they
	// should have is not known, and they are not counted.
	Before int64
	Count  bool // rows are counted if the target has CountRows
	// Patience is for how long nothing further may become visible before the clock stops: the
	// census then finds what is lost, or waits for it. 0: two seconds.
	Patience time.Duration
	// Schema is that of lines, whose rows are counted alone.
	Schema *series.Schema
}

const (
	// drawnRows is how many of its rows each worker remembers that were drawn at random, and
	// how many of its last batch; lookedRows is how many of each are looked for.
	drawnRows       = 8
	lookedRows      = 10
	visiblePatience = 2 * time.Second // see Visibility.Patience
	// countedTables is of how many tables rows are counted at most.
	countedTables = 50
)

// The time between two looks.
const (
	firstSight   = time.Millisecond
	longestSight = 50 * time.Millisecond
)

// written is what a worker remembers of the rows that it wrote: some of its last batch, and
// some drawn at random from all. It allocates nothing per batch.
type written struct {
	random      *mathrand.Rand // nobody can foresee it; nil: nothing is remembered
	last, drawn [drawnRows]placed
	lasts       int // of last
	draws       int // of drawn
	batches     int64
}

// placed is where a row is.
type placed struct {
	table  *series.Table
	series uint32
	time   int64
	field  int // that has a value
}

func newWritten() *written {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &written{random: mathrand.New(mathrand.NewChaCha8(seed))}
}

// add remembers rows of a batch.
func (w *written) add(b *series.Batch) {
	if w == nil || len(b.Runs) == 0 {
		return
	}
	w.lasts = 0
	for i := len(b.Runs) - 1; i >= 0 && w.lasts < drawnRows; i-- {
		if rows := b.Runs[i].Rows(); rows > 0 && w.last[w.lasts].take(&b.Runs[i], rows-1) {
			w.lasts++
		}
	}
	w.batches++
	run := &b.Runs[w.random.IntN(len(b.Runs))]
	slot := w.draws
	if slot == drawnRows {
		slot = int(w.random.Int64N(w.batches))
	}
	if slot < drawnRows && run.Rows() > 0 && w.drawn[slot].take(run, w.random.IntN(run.Rows())) && slot == w.draws {
		w.draws++
	}
}

// take notes a row; false: it has no value, and there are systems in which it does not exist.
func (p *placed) take(run *series.Run, row int) bool {
	for f := range run.Columns {
		if !run.Lacks(f, row) {
			p.table, p.series, p.time, p.field = run.Table, run.Series[row], run.Times[row], f
			return true
		}
	}
	return false
}

// rowsToLookFor returns some of the rows that the workers of a load remember: the last ones and others.
func rowsToLookFor(connections []*connection) []oracle.Row {
	var lasts, drawn []placed
	var random *mathrand.Rand
	for _, c := range connections {
		if w := c.written; w != nil {
			random = w.random
			lasts, drawn = append(lasts, w.last[:w.lasts]...), append(drawn, w.drawn[:w.draws]...)
		}
	}
	var rows []oracle.Row
	for _, list := range [][]placed{lasts, drawn} {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, p := range list[:min(len(list), lookedRows)] {
			rows = append(rows, oracle.Row{Table: p.table, Series: p.series, Time: p.time, Fields: []int{p.field}})
		}
	}
	return rows
}

// Loaded is what a load has written, for Settle to look for.
type Loaded struct {
	Sample   []oracle.Row // rows that are looked for; nil: none is
	Accepted int64        // rows
}

// sight is a look at whether rows are visible.
type sight struct {
	cfg     Visibility
	target  driver.DB
	schema  *series.Schema
	lookups []oracle.Lookup // of rows that were not seen yet
	loaded  Loaded
	querier driver.Querier // for lookups; nil: none is open

	tables  []*series.Table // that are counted; nil: none is
	counted int64
	out     result.Visible
}

// newSight prepares a look; nil: there is nothing to look for.
func newSight(cfg Visibility, schema *series.Schema, t driver.DB, w Loaded) *sight {
	s := &sight{cfg: cfg, target: t, schema: schema, loaded: w}
	if cfg.Render != nil {
		s.lookups = oracle.Lookups(w.Sample)
	}
	if cfg.Count && cfg.Before >= 0 && t.CountRows != nil && len(schema.Tables) <= countedTables {
		s.tables = schema.Tables
	}
	if len(s.lookups) == 0 && s.tables == nil {
		return nil
	}
	return s
}

// await looks until all is visible, or, once settled is closed, nothing further has become so
// for a while. It returns when all was.
func (s *sight) await(ctx context.Context, settled <-chan struct{}) (at time.Time, err error) {
	defer s.disconnect()
	var progress poll.Progress
	since := time.Time{} // nothing further became visible
	err = poll.Until(ctx, firstSight, longestSight, func() (bool, error) {
		begin := time.Now()
		done, err := s.look(ctx)
		at = time.Now()
		s.out.Looks++
		s.out.Seconds = at.Sub(begin).Seconds()
		if done || err != nil {
			return done, err
		}
		unchanged := progress.Stands(int64(s.out.Rows)<<40 + s.counted)
		select {
		case <-settled:
		default:
			since = at
			return false, nil
		}
		if min(unchanged, at.Sub(since)) < cmp.Or(s.cfg.Patience, visiblePatience) {
			return false, nil
		}
		s.out.Missing = s.missing()
		return true, nil
	})
	return at, err
}

// missing describes the rows that are not visible.
func (s *sight) missing() string {
	if n := len(s.lookups); n > 0 {
		return fmt.Sprintf("%d of %d rows that were looked for", n, n+s.out.Rows)
	}
	return fmt.Sprintf("%d of %d rows", s.cfg.Before+s.loaded.Accepted-s.counted, s.cfg.Before+s.loaded.Accepted)
}

// look looks once for what was not seen yet, and reports whether all is there.
func (s *sight) look(ctx context.Context) (bool, error) {
	for len(s.lookups) > 0 {
		seen, err := s.sees(ctx, &s.lookups[0])
		switch {
		case err != nil && answered(ctx, err): // the system has no such query, or cannot run it
			s.out.Unlooked, s.lookups = err.Error(), nil
		case err != nil || !seen:
			return false, err
		default:
			s.out.Rows++
			s.lookups = s.lookups[1:]
		}
	}
	s.disconnect() // counting may need the only connection that the server takes
	if s.tables == nil {
		return true, nil
	}
	s.counted = 0
	for _, t := range s.tables {
		n, err := s.target.CountRows(ctx, t)
		if err != nil && answered(ctx, err) {
			s.out.Unlooked, s.tables = err.Error(), nil
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if n < 0 {
			s.tables = nil
			return true, nil
		}
		s.counted += n
	}
	s.out.Counted = s.counted
	return s.counted >= s.cfg.Before+s.loaded.Accepted, nil
}

// answered reports whether a query failed by what the target has against it: neither is the
// target gone, nor may another try help.
func answered(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, driver.ErrUnreachable) && driver.AsTemporary(err) == nil
}

// sees reports whether a row is visible.
func (s *sight) sees(ctx context.Context, l *oracle.Lookup) (bool, error) {
	if s.querier == nil {
		var err error
		if s.querier, err = s.target.NewQuerier(ctx, 0); err != nil {
			return false, fmt.Errorf("connecting to look for rows: %w", err)
		}
	}
	request, err := s.cfg.Render(&l.Query, s.schema)
	if err != nil {
		return false, err
	}
	column, at := query.Column{Kind: query.Time}, query.Value{Kind: query.Time, Int: l.Time}
	seen := false
	_, err = s.querier.Do(ctx, request, query.SinkFunc(func(row []query.Value) error {
		seen = seen || len(row) > 0 && column.Matches(at, row[0])
		return nil
	}))
	return seen, err
}

// disconnect closes the connection that rows are looked for with.
func (s *sight) disconnect() {
	if s.querier != nil {
		s.querier.Close() // reading only
		s.querier = nil
	}
}
