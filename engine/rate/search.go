package rate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/result"
)

// Search configures the search for the highest rate that keeps an objective. The
// zero value is a good default.
type Search struct {
	From      float64 // arrivals a second of the first try; 0: 100
	To        float64 // highest rate to try; 0: pace.MaxRate
	Precision float64 // largest accepted distance to a failing rate, as a fraction; 0: 0.05
	Tries     int     // maximum number; 0: 24, which is enough from 100/s to 10,000,000/s at 0.05
}

// Find doubles the rate while it is kept, or halves it while it is not, and
// then tries the geometric mean of the highest rate that was kept and the
// lowest that was not, until the two are close enough. It assumes that every rate
// above a failing one fails too. Rates are rounded to four digits.
//
// Try returns why a rate fails; empty: it is kept. An error of it ends the search
// and is returned with the results so far.
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
		next := nextRate(found, limit)
		if next == 0 {
			break
		}
		rate = next
	}
	return found, nil
}

// nextRate returns the rate to try next; 0: the search is over.
func nextRate(found result.RateSearch, limit float64) float64 {
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
