package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// Retry says how often a batch that failed is sent again. The zero value: not
// at all. Only what driver.Temporary stands for is tried again.
type Retry struct {
	Times  int           // tries of a batch after the first; 0: any number, where Within is set
	Within time.Duration // no try begins later than so long after the batch's first failure; 0: however late
}

// ParseRetry reads a Retry as users write it: a number of tries, a time, or
// both as in 5,60s. An empty text is the zero value. An error is one line.
func ParseRetry(text string) (Retry, error) {
	wrong := fmt.Errorf("%q: want a number of tries, a time with its unit, or both, such as 5, 60s or 5,60s", text)
	var r Retry
	if text == "" {
		return r, nil
	}
	parts := strings.Split(text, ",")
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if n, err := strconv.Atoi(part); err == nil && n > 0 && r.Times == 0 {
			r.Times = n
		} else if d, err := time.ParseDuration(part); err == nil && d > 0 && r.Within == 0 {
			r.Within = d
		} else {
			return Retry{}, wrong
		}
	}
	return r, nil
}

// enabled reports whether anything is tried again.
func (r Retry) enabled() bool { return r != Retry{} }

// String is what ParseRetry reads.
func (r Retry) String() string {
	var parts []string
	if r.Times > 0 {
		parts = append(parts, strconv.Itoa(r.Times))
	}
	if r.Within > 0 {
		parts = append(parts, r.Within.String())
	}
	return strings.Join(parts, ",")
}

// The wait before a try doubles from the first to the longest, unless the
// server asks for more. It is shortened at random, by half at most, so that
// workers that failed together do not come back together.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	// longestPause is the longest that a server may ask for. One that asks for more
	// is as good as gone for a measurement: tries end.
	longestPause = 5 * time.Minute
)

// attempts paces the tries of one operation. Its zero value but for retry and
// random is ready for use.
type attempts struct {
	retry  Retry
	random *rand.Rand
	failed time.Time // when the first try failed
	made   int       // tries after the first
}

// next waits until an operation that failed may be tried again. It returns the
// error that ends its tries: the given one, with what was tried, or ctx's.
func (a *attempts) next(ctx context.Context, failure error) error {
	if !a.retry.enabled() {
		return failure
	}
	if a.failed.IsZero() {
		a.failed = time.Now()
	}
	wait := a.backOff()
	if t := driver.AsTemporary(failure); t != nil {
		wait = max(wait, t.After)
	}
	if a.retry.Times > 0 && a.made >= a.retry.Times {
		return a.giveUp(failure, "")
	}
	if a.retry.Within > 0 && time.Since(a.failed)+wait > a.retry.Within {
		wanted := ""
		if t := driver.AsTemporary(failure); t != nil && t.After > a.retry.Within {
			wanted = fmt.Sprintf(", and the server requests a pause of %v", t.After)
		}
		return a.giveUp(failure, wanted)
	}
	if wait > longestPause {
		return fmt.Errorf("%w (failed after %d retries: the server requests a pause of %v, and tsmark waits at most %v)", failure, a.made, wait, longestPause)
	}
	a.made++
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *attempts) backOff() time.Duration {
	wait := longestWait
	if a.made < 16 { // beyond, the shift would say nothing more
		wait = min(firstWait<<a.made, longestWait)
	}
	return wait/2 + time.Duration(a.random.Int64N(int64(wait/2)+1))
}

// giveUp says what was tried in vain.
func (a *attempts) giveUp(failure error, wanted string) error {
	return fmt.Errorf("%w (failed after %d retries in %v: --retry %s allows no more%s)",
		failure, a.made, time.Since(a.failed).Round(time.Millisecond), a.retry, wanted)
}

// temporary is the error of an operation that does not write: a target that is
// not there may come back.
func temporary(err error) error {
	if errors.Is(err, driver.ErrUnreachable) && driver.AsTemporary(err) == nil {
		return &driver.Temporary{Err: err, Refused: true}
	}
	return err
}
