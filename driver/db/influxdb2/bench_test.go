package influxdb2

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/query"
)

// manyRows returns a response with n rows.
func manyRows(n int) string {
	return "#datatype,string,long,dateTime:RFC3339,string,double,long\r\n,result,table,_time,hostname,a,b\r\n" +
		strings.Repeat(",_result,0,2016-01-01T00:00:00Z,host_17,58.5,61\r\n", n) + "\r\n"
}

var cpuColumns = newColumns(timeColumn, "hostname", "a", "b")

// Reading a row allocates nothing.
func TestReadAllocatesNothingPerRow(t *testing.T) {
	allocations := func(rows int) float64 {
		var r reader
		text, sink := manyRows(rows), query.SinkFunc(func([]query.Value) error { return nil })
		return testing.AllocsPerRun(5, func() {
			if cost, err := r.read(strings.NewReader(text), cpuColumns, sink); err != nil || cost.Rows != int64(rows) {
				t.Fatal(cost, err)
			}
		})
	}
	if small, large := allocations(10), allocations(10_000); large > small+100 {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", small, large)
	}
}

func BenchmarkRead(b *testing.B) {
	text := manyRows(1000)
	for name, sink := range map[string]query.Sink{"rows": query.SinkFunc(func([]query.Value) error { return nil }), "drained": nil} {
		b.Run(name, func(b *testing.B) {
			var r reader
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.read(strings.NewReader(text), cpuColumns, sink); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
