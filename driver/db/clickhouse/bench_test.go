package clickhouse

import (
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// encodingLoop returns what puts a batch of cpu-only into a block and encodes it, over and
// over again, and the block.
func encodingLoop(t testing.TB, pairs ...string) (encode func() []byte, rows int) {
	t.Helper()
	o := conformance.Options(t, Driver(), pairs...)
	schema, b := conformance.CPURows(t)
	runs := make([]*series.Run, len(b.Runs))
	for i := range b.Runs {
		runs[i] = &b.Runs[i]
	}
	layout, err := newDesign(o).Layout(schema)
	if err != nil {
		t.Fatal(err)
	}
	to, err := (&loader{layout: layout, options: o}).Rows(b.Runs[0].Table)
	if err != nil {
		t.Fatal(err)
	}
	w := to.(*rowWriter)
	var buffer proto.Buffer
	return func() []byte {
		buffer.Reset()
		if err := w.fill(runs); err != nil {
			t.Fatal(err)
		}
		of := proto.Block{Columns: len(w.block), Rows: b.Rows()}
		if err := of.EncodeRawBlock(&buffer, 0, w.block); err != nil {
			t.Fatal(err)
		}
		return buffer.Buf
	}, b.Rows()
}

// BenchmarkEncode is the client's work on a batch, but for compressing and sending it.
func BenchmarkEncode(b *testing.B) {
	for name, pairs := range map[string][]string{"wide": nil, "normalized": {"layout", "normalized"}, "tsbs": {"layout", "tsbs"}} {
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
	for name, pairs := range map[string][]string{"wide": nil, "normalized": {"layout", "normalized"}, "tsbs": {"layout", "tsbs"}} {
		encode, rows := encodingLoop(t, pairs...)
		encode() // buffers grow
		if n := testing.AllocsPerRun(5, func() { encode() }); n > float64(rows)/1000 {
			t.Errorf("%s: %v allocations in %d rows", name, n, rows)
		}
	}
}

type countingSink struct{ rows, values int }

func (s *countingSink) Row(row []query.Value) error {
	s.rows++
	s.values += len(row)
	return nil
}

// The blocks that are sent can be read, and nothing is allocated per row for it.
func TestReadingAllocatesNothing(t *testing.T) {
	encode, rows := encodingLoop(t)
	block := []byte(frame(t, string(encode())))
	c := httpConn{answer: answer{unread: new(limit.Unread)}}
	sink := new(countingSink)
	read := func() {
		c.answer.begin(sink)
		if err := c.read(&body{from: &repeated{block: block, times: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if sink.rows != rows || sink.values != rows*(1+10+10) {
		t.Errorf("%d rows and %d values of %d rows", sink.rows, sink.values, rows)
	}
	if n := testing.AllocsPerRun(5, read); n > 20 { // of an answer
		t.Errorf("%v allocations in %d rows", n, rows)
	}
}

// BenchmarkRead is the client's work on an answer.
func BenchmarkRead(b *testing.B) {
	encode, rows := encodingLoop(b)
	block := []byte(frame(b, string(encode())))
	c := httpConn{answer: answer{unread: new(limit.Unread)}}
	sink := new(countingSink)
	b.ReportAllocs()
	for b.Loop() {
		c.answer.begin(sink)
		if err := c.read(&body{from: &repeated{block: block, times: 1}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}
