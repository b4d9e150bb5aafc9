package prometheus

import (
	"net/http"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// serve returns settings that lead to a server that answers by the function.
func serve(t testing.TB, answer http.HandlerFunc, pairs ...string) *settings {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	s, err := newSettings(conformance.Options(t, Driver(), append(pairs, connection.Host, host, connection.Port, port)...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func protocols() []string { return []string{metric.RemoteWrite1, metric.RemoteWrite2, metric.OTLP} }

// cpuWriter is a writer of batches of ten thousand rows of cpu-only.
func cpuWriter(t testing.TB, protocol string) (driver.Writer, encode.Encoder, *series.Batch) {
	t.Helper()
	schema, b := conformance.CPURows(t)
	d := newDatabase(serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Prometheus-Remote-Write-Samples-Written", "1000000")
		conformance.Accepting(w, r)
	}, metric.OptionProtocol, protocol))
	if err := d.Create(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	d.head.placed.Store(true) // the server has none
	return conformance.Writer(t, d.db()), requests(protocol).Encoder(schema), b
}

func TestWriteAllocatesNothingPerRow(t *testing.T) {
	for _, protocol := range protocols() {
		w, encoder, b := cpuWriter(t, protocol)
		defer conformance.Close(t, w)
		conformance.AllocatesNothingPerRow(t, w, encoder, b)
	}
}

// BenchmarkEncode encodes batches, and BenchmarkWrite writes them to a stub in this
// process.
func BenchmarkEncode(b *testing.B) {
	for _, protocol := range protocols() {
		b.Run(protocol, func(b *testing.B) {
			w, encoder, batch := cpuWriter(b, protocol)
			defer conformance.Close(b, w)
			conformance.BenchmarkEncodes(b, encoder, batch)
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, protocol := range protocols() {
		b.Run(protocol, func(b *testing.B) {
			w, _, batch := cpuWriter(b, protocol)
			defer conformance.Close(b, w)
			conformance.BenchmarkWrites(b, w, batch)
		})
	}
}
