package encode_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// typedBatch is a batch with a field of each type: a row of NULLs but for one value,
// one of the least and one of the largest values.
func typedBatch(textual bool) (*series.Schema, *series.Batch) {
	table := &series.Table{Name: "g", Tags: []series.Tag{{Key: "device", Values: series.Numbered{Prefix: "d_"}}}}
	for _, kind := range series.Types() {
		f := series.Field{Name: kind.String(), Type: kind}
		if kind.Textual() {
			f.Length = 3
		}
		if textual || !kind.Textual() {
			table.Fields = append(table.Fields, f)
		}
	}
	var b series.Batch
	run := b.Add(table)
	run.Grow(3)
	copy(run.Series, []uint32{0, 0, 1})
	copy(run.Times, []int64{1, 2, 3})
	least := map[series.Type]int64{series.Int32: math.MinInt32, series.Int: math.MinInt64, series.Timestamp: -1_000_000_000, series.Date: -1}
	most := map[series.Type]int64{
		series.Bool: 1, series.Int32: math.MaxInt32, series.Int: math.MaxInt64, series.Timestamp: 1640995200123000000, series.Date: 18993,
		series.Text: series.Texts(3) - 1, series.Blob: 62*62*36 + 62*11 + 3,
	}
	for i, f := range table.Fields {
		c := &run.Columns[i]
		switch {
		case f.Type.UsesInts():
			c.Ints[0], c.Ints[1], c.Ints[2] = 0, least[f.Type], most[f.Type]
		case f.Type == series.Float32:
			c.Floats[0], c.Floats[1], c.Floats[2] = 0, math.SmallestNonzeroFloat32, float64(float32(0.1))
		default:
			c.Floats[0], c.Floats[1], c.Floats[2] = 0, -0.1, 0.1
		}
		if f.Type != series.Bool {
			run.SetNull(i, 0)
		}
	}
	return &series.Schema{Tables: []*series.Table{table}, Series: 2}, &b
}

// Every type is written in the way of the format.
func TestTypes(t *testing.T) {
	schema, batch := typedBatch(true)
	cassandra, err := encode.NewCassandra(schema)
	if err != nil {
		t.Fatal(err)
	}
	single := "0.000000000000000000000000000000000000000000001401298464324817"
	for name, test := range map[string]struct {
		encoder encode.Encoder
		want    string
	}{
		"line protocol": {encode.NewLineProtocol(schema), "" +
			"g,device=d_0 bool=f 1\n" +
			"g,device=d_0 bool=f,int32=-2147483648i,int=-9223372036854775808i,float32=" + single + `,float=-0.1,text="000",timestamp=-1000000000i,date=-1i,blob="000" 2` + "\n" +
			`g,device=d_1 bool=t,int32=2147483647i,int=9223372036854775807i,float32=0.10000000149011612,float=0.1,text="zzz",timestamp=1640995200123000000i,date=18993i,blob="aB3" 3` + "\n"},
		"line protocol with times": {encode.LineProtocol{
			Times: true, Singles: true, WholeBools: func(*series.Table) bool { return true }}.New(schema), "" +
			"g,device=d_0 bool=0i 1\n" +
			`g,device=d_0 bool=0i,int32=-2147483648i,int=-9223372036854775808i,float32=0.` + strings.Repeat("0", 44) + `1,float=-0.1,text="000",timestamp=-1000000t,date=-86400000000t,blob="000" 2` + "\n" +
			`g,device=d_1 bool=1i,int32=2147483647i,int=9223372036854775807i,float32=0.1,float=0.1,text="zzz",timestamp=1640995200123000t,date=1640995200000000t,blob="aB3" 3` + "\n"},
		"timescaledb": {encode.NewTimescaleDB(schema), "" +
			"tags,device=d_0\ng,1,false,,,,,,,,\n" +
			"tags,device=d_0\ng,2,false,-2147483648,-9223372036854775808," + single + ",-0.1,000,-1000000000,1969-12-31,000\n" +
			"tags,device=d_1\ng,3,true,2147483647,9223372036854775807,0.10000000149011612,0.1,zzz,1640995200123000000,2022-01-01,aB3\n"},
		"cassandra": {cassandra, "" +
			"series_boolean,g,device=d_0,bool,1970-01-01,1,false\n" +
			"series_boolean,g,device=d_0,bool,1970-01-01,2,false\n" +
			"series_bigint,g,device=d_0,int32,1970-01-01,2,-2147483648\n" +
			"series_bigint,g,device=d_0,int,1970-01-01,2,-9223372036854775808\n" +
			"series_float,g,device=d_0,float32,1970-01-01,2,0." + strings.Repeat("0", 44) + "1\n" +
			"series_double,g,device=d_0,float,1970-01-01,2,-0.1\n" +
			"series_blob,g,device=d_0,text,1970-01-01,2,0x303030\n" +
			"series_bigint,g,device=d_0,timestamp,1970-01-01,2,-1000000000\n" +
			"series_bigint,g,device=d_0,date,1970-01-01,2,-1\n" +
			"series_blob,g,device=d_0,blob,1970-01-01,2,0x303030\n" +
			"series_boolean,g,device=d_1,bool,1970-01-01,3,true\n" +
			"series_bigint,g,device=d_1,int32,1970-01-01,3,2147483647\n" +
			"series_bigint,g,device=d_1,int,1970-01-01,3,9223372036854775807\n" +
			"series_float,g,device=d_1,float32,1970-01-01,3,0.1\n" +
			"series_double,g,device=d_1,float,1970-01-01,3,0.1\n" +
			"series_blob,g,device=d_1,text,1970-01-01,3,0x7a7a7a\n" +
			"series_bigint,g,device=d_1,timestamp,1970-01-01,3,1640995200123000000\n" +
			"series_bigint,g,device=d_1,date,1970-01-01,3,18993\n" +
			"series_blob,g,device=d_1,blob,1970-01-01,3,0x614233\n"},
	} {
		if got := string(test.encoder.Append(nil, batch)); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, test.want)
		}
	}
}

// Prometheus has numbers only: a time is its seconds, a text is refused.
func TestPrometheusTypes(t *testing.T) {
	schema, _ := typedBatch(true)
	want := "its samples are numbers, and field text of table g is of type text; leave such fields out, as by iotdb.types, or choose another format"
	if _, err := encode.NewPrometheus(schema); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	schema, batch := typedBatch(false)
	encoder, err := encode.NewPrometheus(schema)
	if err != nil {
		t.Fatal(err)
	}
	got := encoder.Append(nil, batch)
	// A sample's value is behind the byte 0x09: 1640995200.123 seconds, and
	// those at which 2022-01-01 begins.
	for name, bits := range map[string]string{"timestamp": "3bdf0760e673d841", "date": "00000060e673d841"} {
		value, _ := hex.DecodeString("09" + bits)
		if !bytes.Contains(got, value) {
			t.Errorf("no sample of the %s with the value %s", name, bits)
		}
	}
}

// BenchmarkTypes is line protocol of a field of each type.
func BenchmarkTypes(b *testing.B) {
	schema, batch := typedBatch(true)
	encoder := encode.NewLineProtocol(schema)
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = encoder.Append(text[:0], batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/19, "ns/value")
}

// Nothing is allocated for a value of any type.
func TestTypesAllocateNothing(t *testing.T) {
	schema, batch := typedBatch(true)
	for name, encoder := range map[string]encode.Encoder{"line protocol": encode.NewLineProtocol(schema), "timescaledb": encode.NewTimescaleDB(schema)} {
		text := encoder.Append(nil, batch)
		if n := testing.AllocsPerRun(100, func() { text = encoder.Append(text[:0], batch) }); n > 0 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
}
