package cassandra

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// encoded returns what makes the batches of rows of cpu-only over and over again.
func encoded(t testing.TB) (encode func(), rows int) {
	t.Helper()
	kind := Driver()
	o, err := kind.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	if err := d.Open().Next(&b, 10_000); err != nil {
		t.Fatal(err)
	}
	w := newWriter(&database{link: newLink(o), layout: newLayout(o)}, d.Schema())
	return func() {
		if _, err := w.encode(&b); err != nil {
			t.Fatal(err)
		}
	}, b.Rows()
}

// BenchmarkEncode is the client's work on a batch, but for what gocql makes of it.
func BenchmarkEncode(b *testing.B) {
	encode, rows := encoded(b)
	b.ReportAllocs()
	for b.Loop() {
		encode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}

// Nothing is allocated per row.
func TestEncodingAllocatesNothing(t *testing.T) {
	encode, rows := encoded(t)
	encode() // memory grows
	if n := testing.AllocsPerRun(5, encode); n > float64(rows)/1000 {
		t.Errorf("%v allocations in %d rows", n, rows)
	}
}
