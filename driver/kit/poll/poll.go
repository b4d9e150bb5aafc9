// Package poll waits for a condition by polling.
package poll

import (
	"context"
	"time"
)

// Wait calls look until it reports true or fails. The wait between two calls is first at the
// beginning, and doubles up to longest, so that a short wait is measured as such. If ctx ends, Wait
// returns its cause.
func Wait(ctx context.Context, first, longest time.Duration, look func() (bool, error)) error {
	for wait := first; ; wait = min(2*wait, longest) {
		if done, err := look(); done || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// Idle calls busy at the interval every until it has reported false for the duration long. It returns
// the start of the first call in that series.
func Idle(ctx context.Context, every, long time.Duration, busy func() (bool, error)) (since time.Time, err error) {
	since, before := time.Now(), false
	err = Wait(ctx, every, every, func() (bool, error) {
		at := time.Now()
		now, err := busy()
		if now || before {
			since = at
		}
		before = now
		return !now && time.Since(since) >= long, err
	})
	return since, err
}

// Progress watches a number that changes while work is in progress. The zero value has not seen a
// number.
type Progress struct {
	at    int64
	since time.Time
}

// UnchangedFor returns how long the number has had its current value.
func (p *Progress) UnchangedFor(now int64) time.Duration {
	if p.since.IsZero() || now != p.at {
		p.at, p.since = now, time.Now()
	}
	return time.Since(p.since)
}
