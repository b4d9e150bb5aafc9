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

// A table that promises values everywhere has no NULL, and all of the host
// tables promise it, unless fields appear late.
func TestDense(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, use := range tsbs.Workloads() {
		for _, late := range []uint32{0, 1} {
			spec := workload.Spec{Name: use.Name(), Seed: 123, Scale: 20, Start: start, End: start.Add(2 * time.Hour), Interval: time.Minute, NewFields: late}
			if use.Name() == "cpu-single" && late > 0 {
				continue // it has one field
			}
			d, err := use.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range d.Schema().Tables {
				if want := use.Name() != "iot" && late == 0; table.Dense != want {
					t.Errorf("%s, table %s, %d late fields: dense %v", use.Name(), table.Name, late, table.Dense)
				}
			}
			for r, b := d.Open(), new(series.Batch); ; {
				if err := r.Next(b, 1000); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for i := range b.Runs {
					for f := range b.Runs[i].Columns {
						if n := b.Runs[i].Columns[f].Nulls.Count(b.Runs[i].Rows()); n > 0 && b.Runs[i].Table.Dense {
							t.Fatalf("%s, table %s has %d NULLs", use.Name(), b.Runs[i].Table.Name, n)
						}
					}
				}
			}
		}
	}
}
