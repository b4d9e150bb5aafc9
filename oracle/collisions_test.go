package oracle_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The survey finds the rows whose tags and time an earlier row has, and without the earlier ones the
// dataset has no such rows.
func TestCollisions(t *testing.T) {
	type identity struct {
		table *series.Table
		tags  string
		time  int64
	}
	spec := workload.Spec{Name: "iot", Scale: 4000, Start: time.Unix(1451606400, 0).UTC(), End: time.Unix(1451606410, 0).UTC(), Interval: 10 * time.Second}
	for seed, want := range map[int64]int{28: 1, 36: 1, 52: 2, 1: 0} {
		spec.Seed = seed
		d, err := tsbs.IoT().Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		var older []int64
		last := make(map[identity]int64)
		var batch series.Batch
		row := int64(0)
		for r := d.Open(); ; {
			if err := r.Next(&batch, 1000); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for i := range batch.Runs {
				run := &batch.Runs[i]
				for at, id := range run.Series {
					var tags []byte
					for _, tag := range run.Table.Tags {
						text, ok := tag.Values.Append(nil, id)
						value := query.Value{Kind: query.Text, Text: text}
						if !ok {
							value = query.Value{}
						}
						tags = value.AppendKey(tags)
					}
					key := identity{run.Table, string(tags), run.Times[at]}
					if before, ok := last[key]; ok {
						older = append(older, before)
					}
					last[key] = row
					row++
				}
			}
		}
		survey := pass(t, d).Survey
		var found []int64
		for _, c := range survey.Collisions {
			found = append(found, c.Older)
		}
		if !slices.Equal(found, older) || len(found) != want || survey.Repeats != (want > 0) {
			t.Errorf("seed %d: rows %d collide with later ones, want %d", seed, found, older)
		}
		kept := pass(t, workload.WithoutRows(d, found)).Survey
		if kept.Rows != row-int64(len(older)) || len(kept.Collisions) > 0 {
			t.Errorf("seed %d: %d rows of %d, %d collisions", seed, kept.Rows, row, len(kept.Collisions))
		}
	}
}

func pass(t *testing.T, d workload.Dataset) *oracle.Expectations {
	t.Helper()
	x, err := oracle.Pass(t.Context(), d, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
