package encode_test

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// present has a value for the series it lists only.
type present map[uint32]string

func (p present) Append(dst []byte, s uint32) ([]byte, bool) {
	v, ok := p[s]
	return append(dst, v...), ok
}

func mixedBatch() (*series.Schema, *series.Batch) {
	load := &series.Table{
		Name:   "load",
		Tags:   []series.Tag{{Key: "host", Values: series.Numbered{Prefix: "h"}}, {Key: "zone", Values: present{0: "a"}}},
		Fields: []series.Field{{Name: "count", Type: series.Int}, {Name: "a_field_with_a_name_of_more_than_thirty_two_bytes", Type: series.Float}},
	}
	disk := &series.Table{Name: "disk", Tags: load.Tags[:1], Fields: []series.Field{{Name: "free", Type: series.Int}}}
	schema := &series.Schema{Tables: []*series.Table{load, disk}, Series: 2}
	var b series.Batch
	run := b.Add(load)
	run.Grow(4)
	run.Series = []uint32{0, 1, 0, 1}
	run.Times = []int64{5, 5, -7, 8}
	run.Columns[0] = series.Column{Ints: []int64{1023, -1 << 63, 0, 0}, Nulls: series.Bitmap{0b1100}}
	run.Columns[1] = series.Column{Floats: []float64{0.1, 1e21, -2.5, 0}, Nulls: series.Bitmap{0b1000}}
	run = b.Add(disk)
	run.Grow(1)
	run.Series, run.Times, run.Columns[0].Ints = []uint32{1}, []int64{9}, []int64{1024}
	return schema, &b
}

func TestNullsAndMixedTables(t *testing.T) {
	schema, batch := mixedBatch()
	for _, test := range []struct {
		encoder encode.Encoder
		want    string
	}{
		{encode.NewLineProtocol(schema), "" +
			"load,host=h0,zone=a count=1023i,a_field_with_a_name_of_more_than_thirty_two_bytes=0.1 5\n" +
			"load,host=h1 count=-9223372036854775808i,a_field_with_a_name_of_more_than_thirty_two_bytes=1000000000000000000000 5\n" +
			"load,host=h0,zone=a a_field_with_a_name_of_more_than_thirty_two_bytes=-2.5 -7\n" +
			"disk,host=h1 free=1024i 9\n"},
		{encode.NewTimescaleDB(schema), "" +
			"tags,host=h0,zone=a\nload,5,1023,0.1\n" +
			"tags,host=h1,zone=\nload,5,-9223372036854775808,1000000000000000000000\n" +
			"tags,host=h0,zone=a\nload,-7,,-2.5\n" +
			"tags,host=h1,zone=\nload,8,,\n" +
			"tags,host=h1\ndisk,9,1024\n"},
	} {
		if got := string(test.encoder.Append(nil, batch)); got != test.want {
			t.Errorf("got\n%swant\n%s", got, test.want)
		}
	}
}

// Characters that are special to a reader of lines are escaped, a row without values is kept, and
// names follow the system's rules.
func TestLineProtocolOfASystem(t *testing.T) {
	table := &series.Table{
		Name:   "our table",
		Tags:   []series.Tag{{Key: "a=b", Values: present{0: `x, y=z\`, 1: ""}}, {Key: "w", Type: series.Float, Values: present{0: "0.5"}}},
		Fields: []series.Field{{Name: "ö,m", Type: series.Int}, {Name: "n", Type: series.Float}},
	}
	var b series.Batch
	run := b.Add(table)
	run.Grow(3)
	run.Series, run.Times = []uint32{0, 1, 2}, []int64{1, 2, 3}
	run.Columns[0] = series.Column{Ints: []int64{7, 0, 0}, Nulls: series.Bitmap{0b110}}
	run.Columns[1] = series.Column{Floats: []float64{0, 0, 0}, Nulls: series.Bitmap{0b111}}
	encoder := encode.LineProtocol{
		Escape: ` ,=\`,
		Table:  func(name string) string { return strings.ReplaceAll(name, "our", "my") },
		Column: func(name string) string { return strings.ReplaceAll(name, "ö", "o") },
		Null:   func(series.Type) string { return "none" },
	}.New(&series.Schema{Tables: []*series.Table{table}, Series: 3})
	want := `my\ table,a\=b=x\,\ y\=z\\ w=0.5,o\,m=7i 1` + "\n" +
		`my\ table,a\=b= o\,m=none 2` + "\n" +
		`my\ table o\,m=none 3` + "\n"
	if got := string(encoder.Append(nil, &b)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A system may want another field in rows that have none, and coarser times.
func TestLineProtocolUnits(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "a", Type: series.Int}}}
	var b series.Batch
	run := b.Add(table)
	run.Grow(2)
	run.Series, run.Times = []uint32{0, 0}, []int64{-2_000_000, 7_000_000}
	run.Columns[0] = series.Column{Ints: []int64{5, 0}, Nulls: series.Bitmap{0b10}}
	encoder := encode.LineProtocol{
		NullName: "none", Null: func(series.Type) string { return "t" },
	}.New(&series.Schema{Tables: []*series.Table{table}, Series: 1})
	if got, want := string(encoder.Append(nil, &b)), "t a=5i -2000000\nt none=t 7000000\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
