package iotdb

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/apache/iotdb-client-go/v2/rpc"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/query"
)

// encodingLoop returns a function that repeatedly encodes the tablets of a cpu-only batch.
func encodingLoop(t testing.TB, pairs ...string) (encode func(), rows int) {
	t.Helper()
	o := conformance.Options(t, Driver(), pairs...)
	schema, b := conformance.CPURows(t)
	w := newWriter(&database{model: newModel(o), options: o}, &conn{}, schema)
	return func() {
		if err := w.encode(b); err != nil {
			t.Fatal(err)
		}
	}, b.Rows()
}

var variants = map[string][]string{"aligned": nil, "not aligned": {"aligned", "false"}, "tables": {"model", "table"}}

// BenchmarkEncode is the client's work on a batch, but for sending it.
func BenchmarkEncode(b *testing.B) {
	for name, pairs := range variants {
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
	for name, pairs := range variants {
		encode, rows := encodingLoop(t, pairs...)
		encode() // buffers grow
		if n := testing.AllocsPerRun(5, encode); n > float64(rows)/1000 {
			t.Errorf("%s: %v allocations in %d rows", name, n, rows)
		}
	}
}

// block is one of an answer with a column of INT64 without NULLs.
func block(rows int) []byte {
	b := binary.BigEndian.AppendUint32(nil, 1)
	b = append(b, dataInt64)
	b = binary.BigEndian.AppendUint32(b, uint32(rows))
	b = append(b, encoded64, encoded64)
	for range 2 {
		b = append(b, 0)
		for row := range rows {
			b = binary.BigEndian.AppendUint64(b, uint64(row))
		}
	}
	return b
}

// reading returns what reads a block over and over again.
func reading(t testing.TB, rows int) func() {
	t.Helper()
	timed := false
	var a answer
	if err := a.begin(&rpc.TSExecuteStatementResp{Columns: []string{"x"}, DataTypeList: []string{"INT64"}, IgnoreTimeStamp: &timed}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	data := block(rows)
	return func() {
		sum := int64(0)
		n, err := a.block(data, func(values []query.Value) (int64, error) {
			sum += values[1].Int
			return 1, nil
		})
		if err != nil || n != int64(rows) || sum != int64(rows)*int64(rows-1)/2 {
			t.Fatalf("%d rows, sum %d: %v", n, sum, err)
		}
	}
}

// BenchmarkRead is the client's work on a block of an answer.
func BenchmarkRead(b *testing.B) {
	const rows = 1000
	read := reading(b, rows)
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
}

// Nor is anything per row of an answer.
func TestReadingAllocatesNothing(t *testing.T) {
	read := reading(t, 1000)
	read()
	if n := testing.AllocsPerRun(5, read); n > 2 {
		t.Errorf("%v allocations", n)
	}
}

// TestShortBlocks checks that a block truncated at any byte is an error, and is never read beyond its
// end.
func TestShortBlocks(t *testing.T) {
	timed := false
	var a answer
	if err := a.begin(&rpc.TSExecuteStatementResp{Columns: []string{"x"}, DataTypeList: []string{"INT64"}, IgnoreTimeStamp: &timed}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	whole := block(3)
	for n := range whole {
		if _, err := a.block(whole[:n], func([]query.Value) (int64, error) { return 1, nil }); err == nil {
			t.Errorf("the first %d of %d bytes give no error", n, len(whole))
		}
	}
}
