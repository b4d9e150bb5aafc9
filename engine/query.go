package engine

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// QueryConfig says how to run the queries of one type.
type QueryConfig struct {
	Workers int           // connections querying at once, each one query at a time; at least 1
	BurnIn  int           // queries run first and not recorded
	TimeBox time.Duration // no query starts later than this after the first recorded one; 0: none
	// Least is how many queries are to be recorded: for them a closed loop extends
	// its TimeBox, up to BoxExtension times. 0: what comes is enough.
	Least   int
	Timeout time.Duration // a query is cut off after this; 0: never
	// Until ends a closed loop, before its queries or its TimeBox do, once the
	// median is known to this share on both sides, as stats.Stopping has it; 0:
	// it does not.
	Until float64
	Log   *oplog.Section // where each query is recorded; nil: nowhere
	// Share is the part of the queries that this client runs, of several that run them
	// together. Workers and the queue of an open loop are this client's, and everything
	// else is the whole's: the source, BurnIn, Least, the schedule and its arrivals.
	Share workload.Share
	Start Start // says when the clock starts; nil: once all workers are connected and warm
	// First is the place of the first query among those drawn for its type.
	First   int
	WarmUp  WarmUp
	Capture *Capture // keeps answers to be compared; nil: none
	// Client says that the processor time is measured that this process itself uses for each
	// query: not for a target that runs in it.
	Client bool
	// Pulse begins what notices that this process stands still, and measures its processor
	// time; it is stopped when all has run. Nil: nothing does.
	Pulse func() *pulse.Pulse
}

// BoxExtension is how many times its time box a closed loop may take to record
// QueryConfig.Least queries.
const BoxExtension = 10

// WarmUp is what each connection runs before the clock starts, so that
// neither it nor the target's caches are cold where others' are not. Nothing of
// it is recorded, and the rows of its answers are not compared.
type WarmUp struct {
	Queries []Rendered    // others than those that are measured; none: no warm-up
	Time    time.Duration // at least so long, over and over; 0: as many as warmUpQueries and warmUpTime allow
}

// A connection is warm after so many queries, or after the first one behind which
// so much time had passed. Without a warm-up the first to fourth query of a phase
// took 2.3, 1.3, 1.4 and 1.2 times the median of those from the seventh on in
// DuckDB, 1.5, 1.2, 1.5 and 1.1 times in SQLite, and 2.6, 1.3, 1.5 and 0.7 times
// in PostgreSQL (geometric means over the phases of six rounds, two busy cores).
const (
	warmUpQueries = 3
	warmUpTime    = 20 * time.Millisecond
)

// Rendered is a query rendered for the target.
type Rendered struct {
	ID      int
	Request driver.Request
	Rows    int64 // that the answer must have; AnyRows: nobody knows
	Values  int   // in each of them, as query.Query.Values has it
	Free    int64 // bytes of free texts that each has at most
	// Columns are those of the answer, for a Capture, which reads it whole or else
	// into a digest.
	Columns []query.Column
	Whole   bool
}

// AnyRows stands in Rendered.Rows of queries whose answers nobody knows: their rows
// are counted, and compared with nothing.
const AnyRows = -1

// Query runs the queries in their order and measures the time
// from sending each to the last byte of its answer. A wrong number of rows
// ends the type: the result is withheld and says why. A query without an answer ends
// it as failed, as does a connection that breaks, where the target answers on a new one. The error
// is for what concerns more than the type: ctx's end, or a target that is
// gone.
//
// Where the source renders no more than a block of them, the workers pause at its
// end until the next one is rendered; the clock stands still meanwhile, that of
// the time box, of the throughput and of the operation log.
//
// It is a closed loop: each worker runs its next query when it has the answer, so a target
// that stalls gets fewer. QueryOpen is the open one.
func Query(ctx context.Context, cfg QueryConfig, t driver.DB, source Source, progress Progress) (*result.Queries, error) {
	l := newLoop(cfg, "", source, progress)
	stage := newStage(l.cfg, l.count)
	work := func(ctx context.Context, w *worker) error {
		end := l.renderedEnd(stage.end)
		for {
			i := int(stage.next.Add(1) - 1)
			if i >= end || ctx.Err() != nil {
				return ctx.Err()
			}
			if i >= l.cfg.BurnIn && l.overtime() {
				stage.overtime.Store(true)
				return nil
			}
			if err := w.query(ctx, i, nil); err != nil {
				return err
			}
		}
	}
	more := func(ctx context.Context) (bool, error) {
		if !stage.hasMore(l) {
			return false, nil
		}
		return true, l.load(ctx, int(stage.next.Load()))
	}
	err := l.load(ctx, 0)
	if err == nil {
		err = l.run(ctx, t, work, more, nil)
	}
	if err == nil && !l.out.WithoutFigure() {
		l.out.Stopped = stage.stopRule()
	}
	out, figuresErr := l.figures()
	return out, errors.Join(err, figuresErr)
}

// stage is the queries that are run until the stop rule looks: all of them
// where there is none. It looks while no query is on its way, so that looking
// makes none of them slower.
type stage struct {
	cfg   QueryConfig
	count int
	rule  *stats.Stopping // nil: none

	next     atomic.Int64 // query to run
	end      int          // first query that is not run in this stage
	overtime atomic.Bool  // the time box ended
	enough   bool         // the rule has seen enough
}

func newStage(cfg QueryConfig, count int) *stage {
	s := &stage{cfg: cfg, count: count, end: count}
	if cfg.Until > 0 {
		s.rule = stats.NewStopping(cfg.Until)
		s.extend()
	}
	return s
}

// extend lets the stage go on to the next look.
func (s *stage) extend() { s.end = min(s.cfg.BurnIn+s.rule.Next(), s.count) }

// hasMore reports whether another stage follows the one that has ended, or more of
// it, of which the queries were not rendered yet.
func (s *stage) hasMore(l *loop) bool {
	if rendered := l.renderedEnd(s.end); rendered < s.end && !s.overtime.Load() {
		s.next.Store(int64(rendered))
		return true
	}
	if s.overtime.Load() || s.end >= s.count {
		return false
	}
	times := recordedTimes(l.tally.QuerySeconds()[s.cfg.BurnIn:s.end])
	if missing := s.rule.Next() - len(times); missing > 0 {
		s.next.Store(int64(s.end)) // some have no time
		s.end = min(s.end+missing, s.count)
		return true
	}
	if s.enough = s.rule.HasEnough(times); s.enough {
		return false
	}
	s.next.Store(int64(s.end))
	s.extend()
	return true
}

// recordedTimes returns the times without those that were not recorded.
func recordedTimes(each []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(each), func(seconds float64) bool { return seconds == 0 })
}

// stopRule says what ended the last stage.
func (s *stage) stopRule() string {
	rule := result.StoppedByCount
	if s.overtime.Load() {
		rule = result.StoppedByTime
	}
	switch {
	case s.rule == nil:
		return rule
	case s.enough:
		return result.StoppedByInterval(s.cfg.Until)
	}
	return result.StoppedBefore(rule, s.cfg.Until)
}
