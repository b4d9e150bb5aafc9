package kairosdb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
)

// The interval of checks whether the note is visible.
const (
	look   = 50 * time.Millisecond
	relook = time.Second
)

// visible waits until the note of a time is visible.
func (d *database) visible(ctx context.Context, at int64) error {
	deadline := time.Now().Add(d.settings.wire.Timeout)
	return poll.Wait(ctx, look, relook, func() (bool, error) {
		notes, err := d.notes(ctx)
		if err != nil {
			return false, err
		}
		newest, err := notes.Newest()
		if newest != at && time.Now().After(deadline) {
			err = errors.New("the note was written, and is not there")
		}
		return newest == at, err
	})
}

// Settle implements driver.DB. H2 stores each point before the server responds. For Cassandra, points
// are queued, and the server does not report the queue: Settle counts the points until no more appear.
func (d *database) Settle(ctx context.Context) error {
	var count func(context.Context) (int64, error)
	if d.settings.queued {
		count = d.count
	}
	if err := d.Await(ctx, d.settings.handOn, count); err != nil {
		return fmt.Errorf("settling KairosDB at %s: %w", d.Address(), err)
	}
	return nil
}

// count returns how many points the tables have.
func (d *database) count(ctx context.Context) (int64, error) {
	r := request{Start: metric.Earliest, End: metric.Latest}
	for _, t := range d.Tables() {
		for _, f := range metric.StoredMetrics(t) {
			r.Metrics = append(r.Metrics, subQuery{Name: metric.Name(t, f), Aggregators: []aggregator{wholeWindow("count")}, ExcludeTags: true})
		}
	}
	if len(r.Metrics) == 0 {
		return 0, nil
	}
	answers, err := d.find(ctx, &r)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for i := range answers {
		n, err := answers[i].count()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
