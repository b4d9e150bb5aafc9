package encode_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// BenchmarkIoTDB is line protocol of the iotdb workload's rows: of its default
// mix of types, and of all of one type.
func BenchmarkIoTDB(b *testing.B) {
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, mix := range []struct{ name, types string }{
		{"default", ""}, {"bool", "1"}, {"int32", "0:1"}, {"int64", "0:0:1"}, {"float", "0:0:0:1"}, {"double", "0:0:0:0:1"}, {"text", "0:0:0:0:0:1"},
		{"timestamp", "0:0:0:0:0:0:0:0:1"},
	} {
		b.Run(mix.name, func(b *testing.B) {
			dataset, err := iotdb.Workload().Dataset(workload.Spec{
				Name: "iotdb", Seed: 1, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: time.Second,
				Settings: workload.Settings{"iotdb.types": mix.types},
			})
			if err != nil {
				b.Fatal(err)
			}
			var batch series.Batch
			if err := dataset.Open().Next(&batch, 1000); err != nil {
				b.Fatal(err)
			}
			encoder := encode.NewLineProtocol(dataset.Schema())
			var text []byte
			b.ReportAllocs()
			for b.Loop() {
				text = encoder.Append(text[:0], &batch)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/1e4, "ns/point")
			b.ReportMetric(float64(len(text))/1e4, "B/point")
		})
	}
}
