package metric

import (
	"net/http"
	"testing"

	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/series"
)

// twoSamples is a request of remote write 2.0 with two samples.
func twoSamples() [][]byte {
	table := &series.Table{Name: "up", Metric: &series.Metric{Kind: series.Gauge, Family: "up"}, Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}}}
	var b series.Batch
	run := b.Add(table)
	run.Grow(2)
	run.Series, run.Times, run.Columns[0].Floats = []uint32{0, 0}, []int64{1e9, 2e9}, []float64{1, 2}
	r := Requests{Protocol: RemoteWrite2, Metric: Name, Label: func(tag string) string { return tag }}
	return [][]byte{r.Encoder(&series.Schema{Tables: []*series.Table{table}, Series: 1}).Append(nil, &b)}
}

// A server that has written fewer samples than it was sent, or does not say how many, has not stored the batch.
func TestWrittenCounts(t *testing.T) {
	request := twoSamples()
	stub.Says(t, writtenCounts(request, http.Header{}, nil), "the server does not take remote write 2.0; give protocol=remote-write-1")
	stub.Says(t, writtenCounts(request, http.Header{writtenSamples: {"1"}}, nil), "the server wrote 1 of the 2 samples of a batch")
	if err := writtenCounts(request, http.Header{writtenSamples: {"2"}}, nil); err != nil {
		t.Error(err)
	}
}

// OTLP's servers answer 200 and name the number of data points that they refuse.
func TestPartialSuccess(t *testing.T) {
	refusal := append([]byte{0x0a, 10, 0x08, 3, 0x12, 6}, "no way"...)
	stub.Says(t, partialSuccess(nil, nil, refusal), "the server refused 3 data points of a batch: no way")
	warning := append([]byte{0x0a, 8, 0x12, 6}, "beware"...)
	for _, body := range [][]byte{nil, warning, {0x0a, 0}, []byte("OK")} {
		if err := partialSuccess(nil, nil, body); err != nil {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// Requests have the headers that the specifications require.
func TestHeaders(t *testing.T) {
	for protocol, want := range map[string][3]string{
		RemoteWrite1: {"application/x-protobuf", "0.1.0", "snappy"},
		RemoteWrite2: {"application/x-protobuf;proto=io.prometheus.write.v2.Request", "2.0.0", "snappy"},
		OTLP:         {"application/x-protobuf", "", "gzip"},
	} {
		e := Requests{Protocol: protocol}.Endpoint(lineproto.Endpoint{})
		if got := [3]string{e.Header.Get("Content-Type"), e.Header.Get("X-Prometheus-Remote-Write-Version"), string(e.Compress)}; got != want {
			t.Errorf("%s: %q, want %q", protocol, got, want)
		}
	}
}
