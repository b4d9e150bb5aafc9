package tsbs_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// All rows have times within the schema's bounds, including trucks' late rows, some of them with
// the end as their time in TSBS.
func TestTimes(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 7, 0, time.UTC)
	for _, use := range tsbs.Workloads() {
		for _, spec := range []workload.Spec{
			{Scale: 5, Start: start.Add(-7 * time.Second), End: start.Add(24*time.Hour - 7*time.Second), Interval: 10 * time.Second},
			{Scale: 5, End: start.Add(24 * time.Hour), Interval: 10 * time.Second},
			{Scale: 20, End: start.Add(3 * time.Hour), Interval: 45 * time.Second, NewFields: 1},
			{Scale: 20, End: start.Add(time.Hour), Interval: 1500 * time.Millisecond, InARow: 7},
		} {
			spec.Name, spec.Seed = use.Name(), 123
			if spec.Start.IsZero() {
				spec.Start = start
			}
			if use.Name() == "cpu-single" {
				spec.NewFields = 0 // it has one field
			}
			d, err := use.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			s := d.Schema()
			first, last, step := s.First.UnixNano(), s.Last.UnixNano(), int64(s.Step)
			if step == 0 {
				t.Fatalf("%s: nobody knows the step", use.Name())
			}
			for r, b := d.Open(), new(series.Batch); ; {
				if err := r.Next(b, 1000); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for i := range b.Runs {
					for _, at := range b.Runs[i].Times {
						if at < first || at > last || at%step != 0 {
							t.Fatalf("%s: a row at %v; want multiples of %v from %v to %v", use.Name(), time.Unix(0, at).UTC(), s.Step, s.First, s.Last)
						}
					}
				}
			}
		}
	}
}
