// Package retry decides whether and when a failed operation is tried again.
package retry

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

// Policy says how often a failed batch is sent again. The zero value never sends one again.
// Only errors that wrap driver.Temporary are retried.
type Policy struct {
	Times  int           // tries of a batch after the first; 0: any number, where Within is set
	Within time.Duration // time after the batch's first failure in which tries begin; 0: no limit
}

// Parse reads a Policy as users write it: a number of tries, a time, or
// both as in 5,60s. An empty text is the zero value. An error is one line.
func Parse(text string) (Policy, error) {
	wrong := fmt.Errorf("%q: want a number of tries, a time with its unit, or both, such as 5, 60s or 5,60s", text)
	var r Policy
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
			return Policy{}, wrong
		}
	}
	return r, nil
}

// Enabled reports whether failed operations are tried again.
func (r Policy) Enabled() bool { return r != Policy{} }

// String returns the policy in the form that Parse reads.
func (r Policy) String() string {
	var parts []string
	if r.Times > 0 {
		parts = append(parts, strconv.Itoa(r.Times))
	}
	if r.Within > 0 {
		parts = append(parts, r.Within.String())
	}
	return strings.Join(parts, ",")
}

// The wait before a try doubles from firstWait to longestWait, unless the server
// requests a longer one. It is shortened at random, by at most half, so that
// workers that failed together do not return together.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	// longestPause is the longest pause that a server may request. A longer one
	// ends the tries: for a measurement the server is gone.
	longestPause = 5 * time.Minute
)

// Attempts paces the tries of one operation.
type Attempts struct {
	policy Policy
	random *rand.Rand // shortens the waits
	failed time.Time  // when the first try failed
	made   int        // tries after the first
}

// NewAttempts returns the attempts of one operation.
func NewAttempts(policy Policy, random *rand.Rand) *Attempts {
	return &Attempts{policy: policy, random: random}
}

// Next waits until an operation that failed may be tried again. It returns the error
// that ends its tries: the failure with the number of retries, or ctx's error.
func (a *Attempts) Next(ctx context.Context, failure error) error {
	if !a.policy.Enabled() {
		return failure
	}
	if a.failed.IsZero() {
		a.failed = time.Now()
	}
	wait := a.backOff()
	if t := driver.AsTemporary(failure); t != nil {
		wait = max(wait, t.After)
	}
	if a.policy.Times > 0 && a.made >= a.policy.Times {
		return a.giveUp(failure, "")
	}
	if a.policy.Within > 0 && time.Since(a.failed)+wait > a.policy.Within {
		wanted := ""
		if t := driver.AsTemporary(failure); t != nil && t.After > a.policy.Within {
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

func (a *Attempts) backOff() time.Duration {
	wait := longestWait
	if a.made < 16 { // a larger shift changes nothing
		wait = min(firstWait<<a.made, longestWait)
	}
	return wait/2 + time.Duration(a.random.Int64N(int64(wait/2)+1))
}

// giveUp returns the failure with the number and duration of its retries.
func (a *Attempts) giveUp(failure error, wanted string) error {
	return fmt.Errorf("%w (failed after %d retries in %v: --retry %s allows no more%s)",
		failure, a.made, time.Since(a.failed).Round(time.Millisecond), a.policy, wanted)
}

// Temporary marks the error of an operation that does not write as temporary if the
// target is unreachable, since it may come back.
func Temporary(err error) error {
	if errors.Is(err, driver.ErrUnreachable) && driver.AsTemporary(err) == nil {
		return &driver.Temporary{Err: err, Refused: true}
	}
	return err
}
