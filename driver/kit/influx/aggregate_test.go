package influx

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// An aggregate is filled from the bucket of the first row to that of the last one, a day
// at a time and without a gap; a bucket that is longer is filled at once.
func TestInSlices(t *testing.T) {
	begin := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(after time.Duration) *query.Value {
		return &query.Value{Kind: query.Time, Int: begin.Add(after).UnixNano()}
	}
	for name, c := range map[string]struct {
		times  driver.Content
		bucket time.Duration
		want   []time.Duration // borders, since begin
	}{
		"no row":       {driver.Content{Min: new(query.Value), Max: new(query.Value)}, time.Hour, nil},
		"one row":      {driver.Content{Min: at(90 * time.Minute), Max: at(90 * time.Minute)}, time.Hour, []time.Duration{time.Hour, 25 * time.Hour}},
		"two days":     {driver.Content{Min: at(90 * time.Minute), Max: at(25 * time.Hour)}, time.Hour, []time.Duration{time.Hour, 25 * time.Hour, 49 * time.Hour}},
		"no divisor":   {driver.Content{Min: at(0), Max: at(20 * time.Hour)}, 7 * time.Hour, []time.Duration{-3 * time.Hour, 18 * time.Hour, 39 * time.Hour}},
		"long buckets": {driver.Content{Min: at(0), Max: at(time.Hour)}, 48 * time.Hour, []time.Duration{-24 * time.Hour, 24 * time.Hour}},
	} {
		var borders []time.Duration
		err := InSlices(&query.Materialized{Table: "cpu", Bucket: c.bucket}, &c.times, func(from, to time.Time) error {
			if len(borders) == 0 {
				borders = append(borders, from.Sub(begin))
			}
			if last := borders[len(borders)-1]; from.Sub(begin) != last {
				t.Errorf("%s: from %v after %v", name, from.Sub(begin), last)
			}
			borders = append(borders, to.Sub(begin))
			return nil
		})
		if err != nil || !slices.Equal(borders, c.want) {
			t.Errorf("%s: borders %v, want %v, error %v", name, borders, c.want, err)
		}
	}
	full := errors.New("disk full")
	if err := InSlices(&query.Materialized{Table: "cpu", Bucket: time.Hour}, &driver.Content{Min: at(0), Max: at(72 * time.Hour)}, func(time.Time, time.Time) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}
