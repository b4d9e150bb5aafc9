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

// Visibility configures how a load checks, on the clock, that its rows are visible: it queries some
// of its rows, and counts the rows of the target. A target that acknowledges rows and stores them
// later has not settled until then. The zero value checks nothing.
type Visibility struct {
	Render Render // nil: no rows are queried
	// Before is the number of rows that the tables had before the load; below 0: unknown, and rows
	// are not counted.
	Before int64
	Count  bool // count the rows if the target has CountRows
	// Patience is how long the visible rows may remain unchanged before the clock stops: the census
	// then finds the lost rows, or waits for them. 0: two seconds.
	Patience time.Duration
	// Schema is the schema of a load of lines, whose rows are only counted.
	Schema *series.Schema
}

const (
	// drawnRows is the number of random rows, and of rows of its last batch, that each worker
	// remembers; lookedRows is how many of each are queried.
	drawnRows       = 8
	lookedRows      = 10
	visiblePatience = 2 * time.Second // see Visibility.Patience
	// countedTables is the maximum number of tables whose rows are counted.
	countedTables = 50
)

// NotCounted is why nothing was checked where no rows are queried and the target cannot count its
// rows in the chosen layout.
const NotCounted = "the target does not count its rows"

// The interval between two checks, which grows.
const (
	firstSight   = time.Millisecond
	longestSight = 50 * time.Millisecond
)

// written remembers some rows that a worker wrote: some of its last batch, and some drawn at random
// from all. It allocates nothing per batch.
type written struct {
	random      *mathrand.Rand // unpredictable; nil: no rows are remembered
	last, drawn [drawnRows]placed
	lasts       int // number of rows in last
	draws       int // number of rows in drawn
	batches     int64
}

// placed identifies a row.
type placed struct {
	table  *series.Table
	series uint32
	time   int64
	field  int // a field that has a value
}

func newWritten() *written {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	return &written{random: mathrand.New(mathrand.NewChaCha8(seed))}
}

// add remembers some rows of a batch.
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

// take stores the place of a row; false: the row has no value, and some systems do not store such
// rows.
func (p *placed) take(run *series.Run, row int) bool {
	for f := range run.Columns {
		if !run.Lacks(f, row) {
			p.table, p.series, p.time, p.field = run.Table, run.Series[row], run.Times[row], f
			return true
		}
	}
	return false
}

// rowsToLookFor returns some of the rows that the workers of a load remember: last rows and random
// ones.
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

// Loaded describes the rows that a load has written.
type Loaded struct {
	Sample   []oracle.Row // rows to query; nil: none
	Accepted int64        // rows
}

// sight checks whether rows are visible.
type sight struct {
	cfg     Visibility
	target  driver.DB
	schema  *series.Schema
	lookups []oracle.Lookup // of rows not seen yet
	loaded  Loaded
	querier driver.Querier // for lookups; nil: not connected

	tables  []*series.Table // tables to count; nil: none
	counted int64
	out     result.Visible
}

// newSight prepares the check; nil: there is nothing to check.
func newSight(cfg Visibility, schema *series.Schema, t driver.DB, w Loaded) *sight {
	s := &sight{cfg: cfg, target: t, schema: schema, loaded: w}
	if cfg.Render != nil {
		s.lookups = oracle.Lookups(schema, w.Sample)
	}
	if cfg.Count && cfg.Before >= 0 && t.CountRows != nil && len(schema.Tables) <= countedTables {
		s.tables = schema.Tables
	}
	if len(s.lookups) == 0 && s.tables == nil {
		return nil
	}
	return s
}

// await repeats the check until all rows are visible or, once settled is closed, no further rows
// have become visible for a while. It returns the time of the last check.
func (s *sight) await(ctx context.Context, settled <-chan struct{}) (at time.Time, err error) {
	defer s.disconnect()
	var progress poll.Progress
	since := time.Time{} // start of the time without further visible rows
	err = poll.Wait(ctx, firstSight, longestSight, func() (bool, error) {
		begin := time.Now()
		done, err := s.look(ctx)
		at = time.Now()
		s.out.Attempts++
		s.out.Seconds = at.Sub(begin).Seconds()
		if done || err != nil {
			return done, err
		}
		unchanged := progress.UnchangedFor(int64(s.out.Rows)<<40 + s.counted)
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

// look checks once for the rows not seen yet, and reports whether all are visible.
func (s *sight) look(ctx context.Context) (bool, error) {
	for len(s.lookups) > 0 {
		seen, err := s.sees(ctx, &s.lookups[0])
		switch {
		case err != nil && answered(ctx, err): // the system does not support the query
			s.out.Unchecked, s.lookups = err.Error(), nil
		case err != nil || !seen:
			return false, err
		default:
			s.out.Rows++
			s.lookups = s.lookups[1:]
		}
	}
	s.disconnect() // counting may need the only connection that the server accepts
	if s.tables == nil {
		return true, nil
	}
	s.counted = 0
	for _, t := range s.tables {
		n, err := s.target.CountRows(ctx, t)
		if err != nil && answered(ctx, err) {
			s.out.Unchecked, s.tables = err.Error(), nil
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if n < 0 {
			s.tables = nil
			if s.out.Rows == 0 {
				s.out.Unchecked = NotCounted
			}
			return true, nil
		}
		s.counted += n
	}
	s.out.Counted = s.counted
	return s.counted >= s.cfg.Before+s.loaded.Accepted, nil
}

// answered reports whether the target rejected a query for good: it is reachable, and another try
// cannot help.
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
	return Sees(ctx, s.querier, s.cfg.Render, s.schema, l)
}

// Sees reports whether a querier sees a row, with its values if the lookup has them.
func Sees(ctx context.Context, q driver.Querier, render Render, schema *series.Schema, l *oracle.Lookup) (bool, error) {
	request, err := render(&l.Query, schema)
	if err != nil {
		return false, err
	}
	columns, wanted := l.Query.Columns(l.Table), l.Answer()
	seen := false
	_, err = q.Do(ctx, request, query.SinkFunc(func(row []query.Value) error {
		same := len(row) >= len(wanted)
		for i := 0; same && i < len(wanted); i++ {
			same = columns[i].Matches(wanted[i], row[i])
		}
		seen = seen || same
		return nil
	}))
	return seen, err
}

// disconnect closes the connection used for lookups.
func (s *sight) disconnect() {
	if s.querier != nil {
		s.querier.Close() // reading only
		s.querier = nil
	}
}
