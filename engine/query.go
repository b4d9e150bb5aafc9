package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// QueryConfig says how to ask the queries of one type.
type QueryConfig struct {
	Workers int           // connections asking at once, each one query at a time; at least 1
	BurnIn  int           // queries asked first and not recorded
	TimeBox time.Duration // no query starts later than this after the first recorded one; 0: none
	Timeout time.Duration // a query is cut off after this; 0: never
	// Until ends a closed loop, before its questions or its TimeBox do, once the
	// median is known to this share on both sides, as stats.Stopping has it; 0:
	// it does not.
	Until float64
	Log   *oplog.Section // where each query is recorded; nil: nowhere
}

// Question is a query rendered for the target.
type Question struct {
	ID      int
	Request target.Request
	Rows    int64 // that the answer must have
	Values  int   // in each of them, as query.Query.Values has it
}

// Query asks the questions in their order and measures the time
// from sending each to the last byte of its answer. A wrong number of rows or
// a failed query ends the type: the result is withheld and says why. The error
// is for what concerns more than the type: ctx's end, or a target that is
// gone.
//
// It is a closed loop: each worker asks when it has its answer, so a target
// that stalls is asked less. QueryOpen is the open one.
func Query(ctx context.Context, cfg QueryConfig, t target.Target, questions []Question, progress Progress) (*result.Queries, error) {
	a := newAsker(cfg, questions, progress)
	stage := newStage(cfg, len(questions))
	err := a.run(ctx, t, func(ctx context.Context, w *worker) error {
		end := stage.end
		for {
			i := int(stage.next.Add(1) - 1)
			if i >= end || ctx.Err() != nil {
				return ctx.Err()
			}
			if first := a.first.Load(); i >= cfg.BurnIn && first >= 0 && cfg.TimeBox > 0 &&
				time.Since(a.origin)-time.Duration(first) >= cfg.TimeBox {
				stage.overtime.Store(true)
				return nil
			}
			if _, err := w.ask(ctx, i, nil); err != nil {
				return err
			}
		}
	}, func() bool { return stage.more(a.out.Each) }, nil)
	if err == nil && a.out.Withheld == "" {
		a.out.Stopped = stage.stopped()
	}
	return &a.out, err
}

// stage is the questions that are asked until the stop rule looks: all of them
// where there is none. It looks while no query is on its way, so that looking
// makes none of them slower.
type stage struct {
	cfg       QueryConfig
	questions int
	rule      *stats.Stopping // nil: none

	next     atomic.Int64 // question to ask
	end      int          // first question that is not asked in this stage
	overtime atomic.Bool  // the time box ended
	enough   bool         // the rule has seen enough
}

func newStage(cfg QueryConfig, questions int) *stage {
	s := &stage{cfg: cfg, questions: questions, end: questions}
	if cfg.Until > 0 {
		s.rule = stats.NewStopping(cfg.Until)
		s.extend()
	}
	return s
}

// extend lets the stage go on to the next look.
func (s *stage) extend() { s.end = min(s.cfg.BurnIn+s.rule.Next(), s.questions) }

// more reports whether another stage follows the one that has ended. Each has
// the times of all questions, in their order.
func (s *stage) more(each []float64) bool {
	if s.overtime.Load() || s.end == s.questions {
		return false
	}
	if s.enough = s.rule.Enough(each[s.cfg.BurnIn:s.end]); s.enough {
		return false
	}
	s.next.Store(int64(s.end))
	s.extend()
	return true
}

// stopped says what ended the last stage.
func (s *stage) stopped() string {
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
