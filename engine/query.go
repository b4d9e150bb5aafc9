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

// QueryConfig configures how the queries of one type are run.
type QueryConfig struct {
	Workers int           // connections querying at once, each one query at a time; at least 1
	BurnIn  int           // queries run first and not recorded
	TimeBox time.Duration // no query starts later than this after the first recorded one; 0: none
	// Least is the minimum number of recorded queries: a closed loop extends its TimeBox for them,
	// up to BoxExtension times. 0: no minimum.
	Least   int
	Timeout time.Duration // a query is cut off after this; 0: never
	// Until ends a closed loop, before its queries or its TimeBox do, once the median is known
	// within this share on both sides, as defined by stats.Stopping; 0: disabled.
	Until float64
	Log   *oplog.Section // records each query; nil: queries are not recorded
	// Share is this client's part of the queries if several clients run them together. Workers and
	// the queue of an open loop are this client's; everything else describes the whole: the source,
	// BurnIn, Least, the schedule and its arrivals.
	Share workload.Share
	Start Start // determines when the clock starts; nil: once all workers are connected and warm
	// First is the place of the first query among those drawn for its type.
	First   int
	WarmUp  WarmUp
	Capture *Capture // keeps answers for comparison; nil: keeps none
	// Client measures the processor time that this process uses for each query. It must not be set
	// for a target that runs in this process.
	Client bool
	// Pulse starts a detector of pauses of this process, which also measures its processor time. It
	// is stopped at the end. Nil: pauses are not detected.
	Pulse func() *pulse.Pulse
}

// BoxExtension is the factor by which a closed loop may exceed its time box to record
// QueryConfig.Least queries.
const BoxExtension = 10

// WarmUp is run on each connection before the clock starts, so that neither the connection nor the
// target's caches are cold. Nothing of it is recorded, and its answers are not compared.
type WarmUp struct {
	Queries []Rendered    // other queries than the measured ones; none: no warm-up
	Time    time.Duration // minimum duration, repeating the queries; 0: as warmUpQueries and warmUpTime allow
}

// A connection is warm after warmUpQueries queries, or after the first query that ends later than
// warmUpTime. Without a warm-up the first to fourth query of a phase took 2.3, 1.3, 1.4 and 1.2
// times the median of the seventh and later ones in DuckDB, 1.5, 1.2, 1.5 and 1.1 times in SQLite,
// and 2.6, 1.3, 1.5 and 0.7 times in PostgreSQL (geometric means over the phases of six rounds, two
// busy cores).
const (
	warmUpQueries = 3
	warmUpTime    = 20 * time.Millisecond
)

// Rendered is a query rendered for the target.
type Rendered struct {
	ID      int
	Request driver.Request
	Rows    int64 // rows expected in the answer; AnyRows: unknown
	Values  int   // values per row, from query.Query.Values
	Free    int64 // maximum bytes of free text per row
	// Columns describes the answer for a Capture, which reads it whole if Whole is set, else into a
	// digest.
	Columns []query.Column
	Whole   bool
}

// AnyRows is the value of Rendered.Rows if the expected answer is unknown: rows are counted and not
// compared.
const AnyRows = -1

// Query runs the queries in order and measures the time from sending each query to the last byte of
// its answer. A wrong number of rows ends the type: the result is withheld and says why. A query
// without an answer ends the type as failed, and so does a lost connection if the target answers on
// a new one. The error is for failures that concern more than the type: the end of ctx, or an
// unreachable target.
//
// If the source renders blocks of queries, the workers pause at the end of a block until the next
// one is rendered. The clock of the time box, of the throughput and of the operation log is paused
// meanwhile.
//
// Query is a closed loop: each worker runs its next query when it has the answer, so a target that
// stalls receives fewer queries. QueryOpen is the open loop.
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

// stage is the range of queries to run before the stop rule is evaluated: all queries if there is
// no rule. The rule is evaluated while no query is in flight, so that it does not slow any of them
// down.
type stage struct {
	cfg   QueryConfig
	count int
	rule  *stats.Stopping // nil: none

	next     atomic.Int64 // query to run
	end      int          // first query that is not run in this stage
	overtime atomic.Bool  // the time box ended
	enough   bool         // the rule was satisfied
}

func newStage(cfg QueryConfig, count int) *stage {
	s := &stage{cfg: cfg, count: count, end: count}
	if cfg.Until > 0 {
		s.rule = stats.NewStopping(cfg.Until)
		s.extend()
	}
	return s
}

// extend extends the stage to the next evaluation.
func (s *stage) extend() { s.end = min(s.cfg.BurnIn+s.rule.Next(), s.count) }

// hasMore reports whether another stage follows, or the rest of this one, whose queries were not
// rendered yet.
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
		s.next.Store(int64(s.end)) // some queries have no recorded time
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

// recordedTimes removes the zeros, which stand for queries without a recorded time.
func recordedTimes(each []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(each), func(seconds float64) bool { return seconds == 0 })
}

// stopRule describes why the last stage ended.
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
