package metric

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Points that are queued have come once their number stands for five of the server's
// intervals, or a second; without a count all are there.
func TestSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Settling
		for _, of := range []struct{ interval, looks, quiet time.Duration }{
			{interval: time.Second, looks: time.Second, quiet: 5 * time.Second},
			{interval: 500 * time.Millisecond, looks: 500 * time.Millisecond, quiet: 2500 * time.Millisecond},
			{interval: 50 * time.Millisecond, looks: 200 * time.Millisecond, quiet: time.Second},
		} {
			begin, looks := time.Now(), int64(0)
			grows := func(context.Context) (int64, error) {
				looks++
				return min(looks, 3), nil
			}
			if err := s.Await(t.Context(), of.interval, grows); err != nil {
				t.Fatal(err)
			}
			// The number grew until the third look, and was constant from the fourth on.
			if took, idle := time.Since(begin), s.IdleSince().Sub(begin); idle != 3*of.looks || took != idle+of.quiet {
				t.Errorf("every %v: it waited for %v, idle after %v", of.interval, took, idle)
			}
		}
		begin := time.Now()
		if err := s.Await(t.Context(), time.Second, nil); err != nil || time.Since(begin) != 0 || s.IdleSince() != begin {
			t.Errorf("%v, after %v", err, time.Since(begin))
		}
		gone := errors.New("gone")
		if err := s.Await(t.Context(), time.Second, func(context.Context) (int64, error) { return 0, gone }); !errors.Is(err, gone) || s.IdleSince() != begin {
			t.Error(err)
		}
	})
}
