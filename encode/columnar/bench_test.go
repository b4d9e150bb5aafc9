package columnar_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// counter counts the bytes written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func BenchmarkWrite(b *testing.B) {
	for _, format := range columnar.Formats() {
		for _, use := range tsbs.Workloads() {
			b.Run(format.Name+"/"+use.Name(), func(b *testing.B) {
				start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
				dataset, err := use.Dataset(workload.Spec{Name: use.Name(), Seed: 123, Scale: 100, Start: start,
					End: start.Add(10 * 24 * time.Hour), Interval: 10 * time.Second, MaxPoints: 1_000_000})
				if err != nil {
					b.Fatal(err)
				}
				// The same rows are written time and again, so that drawing
				// them is not measured.
				batches := batches(b, dataset, 1024)
				rows := 0
				var bytes counter
				b.ReportAllocs()
				for b.Loop() {
					w, err := format.New(dataset.Schema(), func(string) (io.Writer, error) { return &bytes, nil })
					if err != nil {
						b.Fatal(err)
					}
					for _, batch := range batches {
						if err := w.Write(batch); err != nil {
							b.Fatal(err)
						}
						rows += batch.Rows()
					}
					if err := w.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
				b.ReportMetric(float64(bytes)/float64(rows), "B/row")
			})
		}
	}
}

// batches reads all rows.
func batches(tb testing.TB, d workload.Dataset, rows int) []*series.Batch {
	var all []*series.Batch
	for r := d.Open(); ; {
		b := &series.Batch{}
		if err := r.Next(b, rows); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			tb.Fatal(err)
		}
		all = append(all, b)
	}
}
