package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// QueryConfig says how to ask the queries of one type.
type QueryConfig struct {
	Workers int            // connections asking at once, each one query at a time; at least 1
	BurnIn  int            // queries asked first and not recorded
	TimeBox time.Duration  // no query starts later than this after the first recorded one; 0: none
	Timeout time.Duration  // a query is cut off after this; 0: never
	Log     *oplog.Section // where each query is recorded; nil: nowhere
}

// Question is a query rendered for the target.
type Question struct {
	ID      int
	Request target.Request
	Rows    int64 // that the answer must have
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
	var next atomic.Int64
	err := a.run(ctx, t, func(ctx context.Context, w *worker) error {
		for {
			i := int(next.Add(1) - 1)
			if i >= len(questions) || ctx.Err() != nil {
				return ctx.Err()
			}
			if first := a.first.Load(); i >= cfg.BurnIn && first >= 0 && cfg.TimeBox > 0 &&
				time.Since(a.origin)-time.Duration(first) >= cfg.TimeBox {
				return nil
			}
			if _, err := w.ask(ctx, i, nil); err != nil {
				return err
			}
		}
	}, nil)
	return &a.out, err
}
