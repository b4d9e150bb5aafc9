package victoriametrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/series"
)

// Rows of several months are as many requests of remote write, and one of line protocol.
func TestMonths(t *testing.T) {
	table := conformance.Table("usage")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 3}
	var b series.Batch
	conformance.Fill(b.Add(table), 6, 0, 3)
	january := time.Date(2016, 1, 31, 23, 59, 59, 0, time.UTC)
	for row, after := range []int{0, 0, 0, 1, 0, 86400 * 300} {
		b.Runs[0].Times[row] = january.Add(time.Duration(after) * time.Second).UnixNano()
	}
	for protocol, want := range map[string]int{protocolLine: 1, metric.RemoteWrite1: 3, metric.OTLP: 3} {
		requests := 0
		d := newDatabase(serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			conformance.Accepting(w, r)
		}, metric.OptionProtocol, protocol))
		if err := d.Create(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		w := conformance.Writer(t, d.db())
		receipt, err := w.Write(t.Context(), &b)
		if err != nil || receipt.Rows != 6 || requests != want || receipt.Acked.IsZero() || receipt.WireBytes == 0 {
			t.Errorf("%s: %d requests, %+v, %v", protocol, requests, receipt, err)
		}
		conformance.Close(t, w)
	}
}
