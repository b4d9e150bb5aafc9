package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/result"
)

// Search says how to look for the highest rate that keeps an objective. The
// zero value is a good one.
type Search struct {
	From      float64 // arrivals a second to try first; 0: 100
	To        float64 // never tried beyond; 0: pace.MaxRate
	Precision float64 // how close a failing rate must come, as a fraction; 0: 0.05
	Tries     int     // at most; 0: 24, which is enough from 100/s to 10,000,000/s at 0.05
}

// Find doubles the rate while it is kept, or halves it while it is not, and
// then tries the geometric mean of the highest rate that was kept and the
// lowest that was not, until the two are close enough. It is right where a rate
// above one that fails would fail too. Rates are rounded to four digits.
//
// Try says why a rate fails; empty: it is kept. An error of it ends the search
// and is returned with what was found by then.
func (s Search) Find(ctx context.Context, try func(ctx context.Context, rate float64) (failed string, err error)) (result.RateSearch, error) {
	limit, tries := cmp.Or(s.To, pace.MaxRate), cmp.Or(s.Tries, 24)
	found := result.RateSearch{Precision: cmp.Or(s.Precision, 0.05)}
	rate := min(cmp.Or(s.From, 100), limit)
	for range tries {
		failed, err := try(ctx, rate)
		if err != nil {
			return found, fmt.Errorf("trying %v: %w", pace.Constant(rate), err)
		}
		found.Tries = append(found.Tries, result.RateTry{Rate: rate, Failed: failed})
		if failed == "" {
			found.Kept = rate
		} else {
			found.Failed = rate
		}
		next := following(found, limit)
		if next == 0 {
			break
		}
		rate = next
	}
	return found, nil
}

// following returns the rate to try next; 0: none is left.
func following(found result.RateSearch, limit float64) float64 {
	switch {
	case found.Failed == 0 && found.Kept < limit:
		return min(2*found.Kept, limit)
	case found.Kept == 0 && found.Failed > pace.MinRate:
		return max(found.Failed/2, pace.MinRate)
	case found.Failed == 0, found.Kept == 0, found.Failed/found.Kept-1 <= found.Precision:
		return 0
	}
	// To four digits, the only error being one of range, which no mean has.
	middle, _ := strconv.ParseFloat(strconv.FormatFloat(math.Sqrt(found.Kept*found.Failed), 'g', 4, 64), 64)
	if middle <= found.Kept || middle >= found.Failed {
		return 0
	}
	return middle
}

// FindMaxRate runs the queries at several steady rates, each as QueryOpen does, and
// returns what was measured at the highest one that is kept: nothing of it is
// saturated, no query is cut off, and the response time meets the objective.
// Where no rate is kept these are the figures of the lowest one. A rate that
// fails is tried a second time. cfg.Schedule
// does not count; cfg.TimeBox or cfg.Count, one of which must be given, says
// how long a try takes. A time box becomes longer, up to ten times, where at
// that rate too few queries come to tell the objective's percentile (see
// Objective.Least), and once more where too few of those that came count, since
// the client stood still during some. A try that cannot be judged even so ends the
// search as its last one, since a lower rate would bring even fewer. A withheld
// result ends the search and is returned.
func FindMaxRate(ctx context.Context, cfg OpenConfig, s Search, keep Objective, t driver.DB, source Source, progress Progress) (*result.Queries, error) {
	return FindMaxRateBy(ctx, cfg, s, keep, func(ctx context.Context, cfg OpenConfig) (*result.Queries, error) {
		return QueryOpen(ctx, cfg, t, source, progress)
	})
}

// FindMaxRateBy is FindMaxRate where somebody else runs the queries of each try, as
// QueryOpen would.
func FindMaxRateBy(ctx context.Context, cfg OpenConfig, s Search, keep Objective, run func(context.Context, OpenConfig) (*result.Queries, error)) (*result.Queries, error) {
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
func failure(q *result.Queries, keep Objective) string {
	switch {
	case q.Open.Saturated != "":
		return q.Open.Saturated
	case q.AtLeast > 0:
		return fmt.Sprintf("%d queries were cut off", q.AtLeast)
	}
	return keep.MissedBy(q.Open.Response.Summary)
}
