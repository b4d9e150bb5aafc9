package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/result"
)

// FindMaxRate runs the queries at several constant rates, each as QueryOpen does, and returns the
// figures of the highest rate that is kept: the target is not saturated, no query is cut off, and
// the response time meets the objective. If no rate is kept it returns the figures of the lowest
// one. A rate that fails is tried a second time.
//
// cfg.Schedule is ignored; each try is limited by cfg.TimeBox or cfg.Count, and one of them is
// required. A try is extended until enough queries count for the objective's percentile (see
// rate.Objective.MinimumCount): answers that are captured for verification do not count, nor do
// queries during which the client was paused. It becomes at most ten times as long as its limit,
// or a minute. A try that is inconclusive even then ends the search, since a lower rate would bring
// even fewer queries. A withheld result ends the search and is returned.
func FindMaxRate(ctx context.Context, cfg OpenConfig, s rate.Search, keep rate.Objective, t driver.DB, source Source, progress Progress) (*result.Queries, error) {
	return FindMaxRateBy(ctx, cfg, s, keep, func(ctx context.Context, cfg OpenConfig) (*result.Queries, error) {
		return QueryOpen(ctx, cfg, t, source, progress)
	})
}

// FindMaxRateBy is FindMaxRate with a function that runs the queries of each try, as QueryOpen
// would.
func FindMaxRateBy(ctx context.Context, cfg OpenConfig, s rate.Search, keep rate.Objective, run func(context.Context, OpenConfig) (*result.Queries, error)) (*result.Queries, error) {
	var best *result.Queries
	kept, log, box, count := false, cfg.Log, cfg.TimeBox, cfg.Count
	var undecided result.RateTry
	warm := result.WarmUp{}
	search, err := s.Find(ctx, func(ctx context.Context, rate float64) (string, error) {
		cfg.Schedule = pace.Constant(rate)
		cfg.TimeBox, cfg.Count = tryTime(box, keep.MinimumCount(), rate), count
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
				longer, more := min(2*cfg.TimeBox, longestTry(box)), min(2*cfg.Count, maxExtension*count)
				if longer > cfg.TimeBox || more > cfg.Count {
					cfg.TimeBox, cfg.Count = longer, more
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

// Errors that end a search and are not returned.
var (
	errNoFigure = errors.New("the queries have no figure")
	errTooFew   = errors.New("too few answers")
)

// maxExtension is how many times longer than its limit a try may take.
const maxExtension = 10

// longestTry returns the longest duration of a try; 0: there is no time box. A minute brings 100
// answers of a target that answers two queries a second, however short the time box is.
func longestTry(box time.Duration) time.Duration {
	if box == 0 {
		return 0
	}
	return max(maxExtension*box, time.Minute)
}

// tryTime returns the duration of a try that needs a number of answers at a rate: the time box, or
// longer. It allows for a quarter more arrivals than needed, since not every query counts. Without
// a time box it is 0.
func tryTime(box time.Duration, least int64, rate float64) time.Duration {
	if box == 0 || least == 1 {
		return box
	}
	enough := min(1.25*float64(least)/rate, longestTry(box).Seconds()) // seconds, bounded before it becomes a Duration
	return max(box, time.Duration(enough*float64(time.Second)))
}

// sound reports whether the schedule was kept and every query was answered.
func sound(q *result.Queries) bool { return q.Open.Saturated == "" && q.AtLeast == 0 }

// failure returns why a rate is not kept; empty: it is kept.
func failure(q *result.Queries, keep rate.Objective) string {
	switch {
	case q.Open.Saturated != "":
		return q.Open.Saturated
	case q.AtLeast > 0:
		return fmt.Sprintf("%d %s cut off", q.AtLeast, english.PluralWord(int(q.AtLeast), "query was", "queries were"))
	}
	return keep.MissedBy(q.Open.Response.Summary)
}
