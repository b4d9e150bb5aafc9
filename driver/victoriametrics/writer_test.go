package victoriametrics

import (
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/series"
)

// Rows of several months are as many requests of remote write, and one of line protocol.
func TestMonths(t *testing.T) {
	table := conformance.Table("usage")
	schema := &series.Schema{Tables: []*series.Table{table}, Series: 3}
	var b series.Batch
	conformance.Fill(b.Add(table), 6, time.Date(2016, 1, 31, 23, 59, 59, 0, time.UTC).UnixNano(), 3)
	b.Runs[0].Times[3] = time.Date(2016, 2, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	b.Runs[0].Times[5] = time.Date(2016, 12, 31, 0, 0, 0, 0, time.UTC).UnixNano()
	for i := range b.Runs[0].Times[:3] {
		b.Runs[0].Times[i] = b.Runs[0].Times[0]
	}
	b.Runs[0].Times[4] = b.Runs[0].Times[0]
	for protocol, want := range map[string]int{protocolLine: 1, protocolRemote: 3} {
		requests := 0
		d := newDatabase(served(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			conformance.Accepting(w, r)
		}, optionProtocol, protocol))
		if err := d.Create(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		w := conformance.Writer(t, d)
		receipt, err := w.Write(t.Context(), &b)
		if err != nil || receipt.Rows != 6 || requests != want || receipt.Acked.IsZero() || receipt.WireBytes == 0 {
			t.Errorf("%s: %d requests, %+v, %v", protocol, requests, receipt, err)
		}
		conformance.Close(t, w)
	}
}
