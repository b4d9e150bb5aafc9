package victoriametrics

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

func protocols() []string { return []string{protocolLine, metric.RemoteWrite1, metric.OTLP} }

// cpuWriter is a writer of batches of ten thousand rows of cpu-only.
func cpuWriter(t testing.TB, pairs ...string) (driver.Writer, encode.Encoder, *series.Batch) {
	t.Helper()
	schema, b := conformance.CPURows(t)
	d := newDatabase(serve(t, conformance.Accepting, pairs...))
	if err := d.Create(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	return conformance.Writer(t, d.db()), encoder(*d.protocol.Load(), schema), b
}

func TestWriteAllocatesNothingPerRow(t *testing.T) {
	for _, protocol := range protocols() {
		w, encoder, b := cpuWriter(t, metric.OptionProtocol, protocol)
		defer conformance.Close(t, w)
		conformance.AllocatesNothingPerRow(t, w, encoder, b)
	}
}

// BenchmarkWrite writes to a stub in this process.
func BenchmarkWrite(b *testing.B) {
	for _, protocol := range protocols() {
		b.Run(protocol, func(b *testing.B) {
			w, _, batch := cpuWriter(b, metric.OptionProtocol, protocol)
			defer conformance.Close(b, w)
			conformance.BenchmarkWrites(b, w, batch)
		})
	}
}
