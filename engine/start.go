package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/engine/pace"
)

// Start is called once, when all workers of a phase are connected and warm. It returns the time at
// which the phase starts its clock, so that several clients can begin together. Its error ends the
// phase. A nil Start is the current time. A phase that fails earlier does not call it.
type Start func(context.Context) (time.Time, error)

// clock waits until the clock starts, and returns that time with a monotonic reading.
func (s Start) clock(ctx context.Context) (time.Time, error) {
	if s == nil {
		return time.Now(), nil
	}
	at, err := s(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("waiting for the start: %w", err)
	}
	now := time.Now()
	pacer, err := pace.NewPacer(now)
	if err != nil {
		return time.Time{}, err
	}
	defer pacer.Close()
	_, err = pacer.Wait(ctx, at.Sub(now))
	return now.Add(at.Sub(now)), err
}
