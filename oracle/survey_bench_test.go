package oracle

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// BenchmarkSurvey surveys one batch of cpu-only: its contents, and also its size as line protocol.
func BenchmarkSurvey(b *testing.B) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		b.Fatal(err)
	}
	var batch series.Batch
	if err := d.Open().Next(&batch, batchRows); err != nil {
		b.Fatal(err)
	}
	for name, v := range map[string]*Surveyor{"contents": NewSurveyor(d.Schema()), "contents and size": newSurveyor(d)} {
		b.Run(name, func(b *testing.B) {
			v.Add(&batch)
			b.ReportAllocs()
			for b.Loop() {
				v.Add(&batch)
			}
			b.ReportMetric(float64(batch.Rows())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
