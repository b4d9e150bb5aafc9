package opentsdb

import (
	"net/http"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// serve returns a database at a server that answers by the function.
func serve(t testing.TB, answer http.HandlerFunc, pairs ...string) *database {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	s, err := newSettings(conformance.Options(t, Driver(), append(pairs, connection.Host, host, connection.Port, port)...))
	if err != nil {
		t.Fatal(err)
	}
	return newDatabase(s)
}

// cpuWriter is a writer of batches of ten thousand rows of cpu-only.
func cpuWriter(t testing.TB) (driver.Writer, encode.Encoder, *series.Batch) {
	t.Helper()
	schema, b := conformance.CPURows(t)
	d := serve(t, stub.Saying(http.StatusOK, "", `{"success":1,"failed":0,"errors":[]}`))
	d.Prepare(d.settings.points(schema), schema)
	return conformance.Writer(t, d.db()), d.settings.points(schema), b
}

func TestWriteAllocatesNothingPerRow(t *testing.T) {
	w, encoder, b := cpuWriter(t)
	defer conformance.Close(t, w)
	conformance.AllocatesNothingPerRow(t, w, encoder, b)
}

// BenchmarkEncode encodes batches, and BenchmarkWrite writes them to a stub in this
// process.
func BenchmarkEncode(b *testing.B) {
	w, encoder, batch := cpuWriter(b)
	defer conformance.Close(b, w)
	conformance.BenchmarkEncodes(b, encoder, batch)
}

func BenchmarkWrite(b *testing.B) {
	w, _, batch := cpuWriter(b)
	defer conformance.Close(b, w)
	conformance.BenchmarkWrites(b, w, batch)
}
