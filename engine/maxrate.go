package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/result"
)

// FindMaxRate runs the queries at several steady rates, each as QueryOpen does, and
// returns what was measured at the highest one that is kept: nothing of it is
// saturated, no query is cut off, and the response time meets the objective.
// Where no rate is kept these are the figures of the lowest one. A rate that
// fails is tried a second time. cfg.Schedule
// does not count; cfg.TimeBox or cfg.Count, one of which must be given, says
// how long a try takes. A time box becomes longer, up to ten times, where at
// that rate too few queries come to tell the objective's percentile (see
// rate.Objective.MinimumCount), and once more where too few of those that came count, since
// the client stood still during some. A try that cannot be judged even so ends the
// search as its last one, since a lower rate would bring even fewer. A withheld
// result ends the search and is returned.
func FindMaxRate(ctx context.Context, cfg OpenConfig, s rate.Search, keep rate.Objective, t driver.DB, source Source, progress Progress) (*result.Queries, error) {
	return FindMaxRateBy(ctx, cfg, s, keep, func(ctx context.Context, cfg OpenConfig) (*result.Queries, error) {
		return QueryOpen(ctx, cfg, t, source, progress)
	})
}

// FindMaxRateBy is FindMaxRate where somebody else runs the queries of each try, as
// QueryOpen would.
func FindMaxRateBy(ctx context.Context, cfg OpenConfig, s rate.Search, keep rate.Objective, run func(context.Context, OpenConfig) (*result.Queries, error)) (*result.Queries, error) {
	var best *result.Queries
	kept, log, box := false, cfg.Log, cfg.TimeBox
	var undecided result.RateTry
	warm := result.WarmUp{}
	search, err := s.Find(ctx, func(ctx context.Context, rate float64) (string, error) {
		cfg.Schedule = pace.Constant(rate)
		cfg.TimeBox = tryTime(box, keep.MinimumCount(), rate)
		var q *result.Queries
		var err error
		failed := ""
		// One stall of the machine must not end a doubling: a rate fails if it
		// fails twice.
		for attempt, failures := 1, 0; failures < 2; attempt++ {
			cfg.Log = log.WithSchedule(cfg.Schedule.String(), attempt)
			q, err = run(ctx, cfg)
			cfg.WarmUp.Time = 0 // the target is warm, if not the next try's connections
			warm.Add(q.WarmUp)
			if err == nil && q.WithoutFigure() {
				err = errNoFigure
			}
			failed = failure(q, keep)
			if err == nil && sound(q) && q.Open.Response.Count < keep.MinimumCount() {
				if longer := min(2*cfg.TimeBox, maxExtension*box); longer > cfg.TimeBox {
					cfg.TimeBox = longer
					continue
				}
				undecided, err = result.RateTry{Rate: rate, Failed: failed}, errTooFew
			}
			if failed == "" || err != nil {
				break
			}
			failures++
		}
		if best == nil || err == errNoFigure || err == nil && (failed == "" || !kept) {
			best = q
		}
		kept = kept || failed == ""
		return failed, err
	})
	search.Objective = keep.String()
	best.Open.Search = &search
	best.Sample.Captured, best.WarmUp = cfg.Capture.SampleSize(), warm // all tries are one sample
	if errors.Is(err, errTooFew) {
		search.Tries = append(search.Tries, undecided)
	}
	if errors.Is(err, errNoFigure) || errors.Is(err, errTooFew) {
		err = nil // the result says it
	}
	return best, err
}

// What ends a search without being an error of it.
var (
	errNoFigure = errors.New("the queries have no figure")
	errTooFew   = errors.New("too few answers")
)

// maxExtension is how many times longer than the time box a try may take.
const maxExtension = 10

// tryTime is how long a try takes that needs so many answers at a rate: the time
// box, or longer. A quarter more arrivals are due than are needed, since queries do
// not count during which the client stood still. Without a time box it is 0.
func tryTime(box time.Duration, least int64, rate float64) time.Duration {
	if box == 0 || least == 1 {
		return box
	}
	enough := min(1.25*float64(least)/rate, maxExtension*box.Seconds()) // seconds, bounded before it becomes a Duration
	return max(box, time.Duration(enough*float64(time.Second)))
}

// sound reports whether a rate was kept to and every query was answered.
func sound(q *result.Queries) bool { return q.Open.Saturated == "" && q.AtLeast == 0 }

// failure says why a rate is not kept; empty: it is.
func failure(q *result.Queries, keep rate.Objective) string {
	switch {
	case q.Open.Saturated != "":
		return q.Open.Saturated
	case q.AtLeast > 0:
		return fmt.Sprintf("%d queries were cut off", q.AtLeast)
	}
	return keep.MissedBy(q.Open.Response.Summary)
}
