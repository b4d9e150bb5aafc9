package metric

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Points that are queued have come once their number stands; without a count all are there.
func TestSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Settling
		begin, looks := time.Now(), int64(0)
		grows := func(context.Context) (int64, error) {
			looks++
			return min(looks, 3), nil
		}
		if err := s.Await(t.Context(), grows); err != nil {
			t.Fatal(err)
		}
		// Looked at each second: it grew until the third look, and stood from the fourth on.
		if took, idle := time.Since(begin), s.IdleSince().Sub(begin); idle != 3*recount || took != idle+quiet {
			t.Errorf("it waited for %v, idle after %v", took, idle)
		}
		begin = time.Now()
		if err := s.Await(t.Context(), nil); err != nil || time.Since(begin) != 0 || s.IdleSince() != begin {
			t.Errorf("%v, after %v", err, time.Since(begin))
		}
		gone := errors.New("gone")
		if err := s.Await(t.Context(), func(context.Context) (int64, error) { return 0, gone }); !errors.Is(err, gone) || s.IdleSince() != begin {
			t.Error(err)
		}
	})
}
