package verify_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generated"
)

// Rows of every generated workload are found as often as they were written, or not at all: also rows
// without a tag, and of series that only two tags tell apart.
func TestCountCopies(t *testing.T) {
	t.Parallel()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range generated.Workloads() {
		spec := workload.Spec{Name: w.Name(), Seed: 1, Scale: 30, Start: start, End: start.Add(2 * time.Minute), Interval: 10 * time.Second}
		if spanned, ok := w.(workload.Spanned); ok {
			spec.Start, spec.End = spanned.DefaultSpan()
		}
		t.Run(w.Name(), func(t *testing.T) {
			t.Parallel()
			d, err := w.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			kind := memory.Driver("memory")
			db, err := kind.Open(t.Context(), driver.Env{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Create(t.Context(), d.Schema()); err != nil {
				t.Fatal(err)
			}
			writer, err := db.NewWriter(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			var rows []verify.RunRow
			reader := d.Open()
			for len(rows) < 600 {
				b := new(series.Batch)
				if reader.Next(b, 100) != nil {
					break
				}
				n := len(rows)
				for i := range b.Runs {
					for row := range b.Runs[i].Times {
						rows = append(rows, verify.RunRow{Run: &b.Runs[i], Row: row})
					}
				}
				// Every third row is missing, and every fifth is there twice.
				written := b.CopyRows(func(*series.Run, int) int { n++; return copiesOf(n - 1) })
				if _, err := writer.Write(t.Context(), written); err != nil {
					t.Fatal(err)
				}
			}
			copies, err := verify.CountCopies(t.Context(), verify.Config{Workers: 2}, db, func(q *query.Query, s *series.Schema) (driver.Request, error) { return kind.Render(q, s, nil) }, d.Schema(), 0, rows)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range copies {
				if want := (verify.Copies{Whole: copiesOf(i)}); c != want && !rows[i].Empty() {
					t.Fatalf("%v: %+v, want %+v", rows[i], c, want)
				}
			}
			if !slices.ContainsFunc(copies, func(c verify.Copies) bool { return c.Whole == 2 }) {
				t.Errorf("of %d rows none was found twice", len(rows))
			}
		})
	}
}

func copiesOf(row int) int {
	switch {
	case row%3 == 0:
		return 0
	case row%5 == 0:
		return 2
	}
	return 1
}
