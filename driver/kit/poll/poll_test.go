package poll_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver/kit/poll"
)

// looks waits until n checks were made, and returns the time of each.
func looks(ctx context.Context, n int, failure error) ([]time.Duration, error) {
	var at []time.Duration
	begin := time.Now()
	err := poll.Wait(ctx, time.Millisecond, 5*time.Millisecond, func() (bool, error) {
		at = append(at, time.Since(begin))
		if len(at) < n {
			return false, nil
		}
		return failure == nil, failure
	})
	return at, err
}

// The first look is at once; the waits grow, and not for ever.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := []time.Duration{0, 1e6, 3e6, 7e6, 12e6, 17e6}
		if at, err := looks(t.Context(), 6, nil); err != nil || !slices.Equal(at, want) {
			t.Errorf("%v, %v", at, err)
		}
		failed := errors.New("failed")
		if at, err := looks(t.Context(), 3, failed); err != failed || !slices.Equal(at, want[:3]) {
			t.Errorf("%v, %v", at, err)
		}
	})
}

// The end of the context ends a wait, not a look.
func TestUntilEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 8*time.Millisecond, late)
		defer cancel()
		begin := time.Now()
		at, err := looks(ctx, 100, nil)
		if err != late || len(at) != 4 || time.Since(begin) != 8*time.Millisecond {
			t.Errorf("%v, %v after %v", at, err, time.Since(begin))
		}
		if at, err := looks(ctx, 1, nil); err != nil || len(at) != 1 {
			t.Errorf("nothing was to be waited for: %v, %v", at, err)
		}
	})
}

// TestIdle checks that Idle returns once the condition has held long enough, counted from the first of
// an unbroken series of checks that found it true.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		looks := []bool{false, true, true, false, true, false}
		since, err := poll.Idle(t.Context(), time.Second, 3*time.Second, func() (bool, error) {
			busy := len(looks) > 0 && looks[0]
			if len(looks) > 0 {
				looks = looks[1:]
			}
			return busy, nil
		})
		if err != nil || since.Sub(begin) != 5*time.Second || time.Since(begin) != 8*time.Second {
			t.Errorf("idle since %v, seen after %v: %v", since.Sub(begin), time.Since(begin), err)
		}
		failed := errors.New("failed")
		if _, err := poll.Idle(t.Context(), time.Second, time.Second, func() (bool, error) { return false, failed }); err != failed {
			t.Error(err)
		}
	})
}

// TestProgress checks that the duration starts when the number is first seen or changes.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p poll.Progress
		for i, c := range []struct {
			now  int64
			want time.Duration
		}{{0, 0}, {0, time.Second}, {0, 2 * time.Second}, {7, 0}, {7, time.Second}, {0, 0}} {
			if got := p.UnchangedFor(c.now); got != c.want {
				t.Errorf("look %d: %v, want %v", i, got, c.want)
			}
			time.Sleep(time.Second)
		}
	})
}
