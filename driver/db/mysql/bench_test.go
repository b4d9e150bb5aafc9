package mysql

import (
	"io"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/series"
)

// encodingLoop returns what encodes a batch of cpu-only over and over again.
func encodingLoop(t testing.TB, pairs ...string) (encode func(), rows int) {
	t.Helper()
	o := conformance.Options(t, Driver(), pairs...)
	schema, b := conformance.CPURows(t)
	runs := make([]*series.Run, len(b.Runs))
	for i := range b.Runs {
		runs[i] = &b.Runs[i]
	}
	if o[optionMethod] == methodInsert {
		e, p := newEncoder(o, b.Runs[0].Table), newParameters(o, schema, b.Runs[0].Table)
		return func() {
			p.reset()
			for row := range b.Runs[0].Rows() {
				if row%rowsPrepared == 0 {
					p.values = p.values[:0]
				}
				if _, err := e.row(p, &b.Runs[0], row); err != nil {
					t.Fatal(err)
				}
			}
		}, b.Rows()
	}
	r := newReader(o, schema, b.Runs[0].Table)
	packet := make([]byte, 16<<10) // as large as the library's
	return func() {
		r.reset(runs)
		for {
			if _, err := r.Read(packet); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}, b.Rows()
}

// BenchmarkEncode is the client's work on a batch, but for sending it.
func BenchmarkEncode(b *testing.B) {
	for name, pairs := range map[string][]string{"normalized": nil, "wide": {"layout", "wide"}, "bigint": {"times", "bigint"},
		"narrow": {"layout", "narrow"}, "insert": {"method", "insert"}} {
		b.Run(name, func(b *testing.B) {
			encode, rows := encodingLoop(b, pairs...)
			b.ReportAllocs()
			for b.Loop() {
				encode()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}

// Nothing is allocated per row.
func TestEncodingAllocatesNothing(t *testing.T) {
	for name, pairs := range map[string][]string{"normalized": nil, "wide": {"layout", "wide"}, "narrow": {"layout", "narrow"},
		"insert": {"method", "insert"}, "insert-wide": {"method", "insert", "layout", "wide"}} {
		encode, rows := encodingLoop(t, pairs...)
		encode() // buffers grow
		if n := testing.AllocsPerRun(5, encode); n > float64(rows)/1000 {
			t.Errorf("%s: %v allocations in %d rows", name, n, rows)
		}
	}
}
