package encode_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// message reads a message of protobuf: each field's number with its bytes, or its
// number as eight bytes.
func message(t testing.TB, text []byte, field func(number int, value []byte)) {
	t.Helper()
	for len(text) > 0 {
		tag, n := binary.Uvarint(text)
		if n <= 0 {
			t.Fatal("a tag is cut off")
		}
		text = text[n:]
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(text)
			if n <= 0 {
				t.Fatal("a number is cut off")
			}
			field(int(tag>>3), binary.LittleEndian.AppendUint64(nil, v))
			text = text[n:]
		case 1:
			field(int(tag>>3), text[:8])
			text = text[8:]
		case 2:
			length, n := binary.Uvarint(text)
			if n <= 0 || length > uint64(len(text)-n) {
				t.Fatal("a field is cut off")
			}
			field(int(tag>>3), text[n:][:length])
			text = text[n+int(length):]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
	}
}

// decodeSamples returns the samples of a request by their series' labels. Each series must
// be there once, and its labels in order.
func decodeSamples(t testing.TB, request []byte, symbols bool) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var texts []string
	numbers := map[bool][2]int{false: {0, 1}, true: {4, 5}}[symbols]
	message(t, request, func(number int, value []byte) {
		switch number {
		case numbers[0]:
			texts = append(texts, string(value))
			return
		case numbers[1]:
		default:
			t.Fatalf("field %d of a request", number)
		}
		var labels, samples []string
		message(t, value, func(number int, value []byte) {
			switch {
			case number == 1 && symbols:
				var refs []string
				for len(value) > 0 {
					ref, n := binary.Uvarint(value)
					if refs = append(refs, texts[ref]); len(refs) == 2 {
						labels, refs = append(labels, fmt.Sprintf("%s=%q", refs[0], refs[1])), nil
					}
					value = value[n:]
				}
				if refs != nil {
					t.Fatal("a label without a value")
				}
			case number == 1:
				pair := [3]string{}
				message(t, value, func(number int, value []byte) { pair[number] = string(value) })
				labels = append(labels, fmt.Sprintf("%s=%q", pair[1], pair[2]))
			case number == 2:
				v, ms := 0.0, uint64(0)
				message(t, value, func(number int, value []byte) {
					if number == 1 {
						v = math.Float64frombits(binary.LittleEndian.Uint64(value))
					} else {
						ms = binary.LittleEndian.Uint64(value)
					}
				})
				samples = append(samples, fmt.Sprintf("%v@%d", v, ms))
			default:
				t.Fatalf("field %d of a series", number)
			}
		})
		name := strings.Join(labels, ",")
		if !slices.IsSorted(labels) {
			t.Errorf("the labels %s are not in order", name)
		}
		if out[name] != nil {
			t.Errorf("the series %s is there twice", name)
		}
		out[name] = samples
	})
	if symbols && len(request) > 0 && texts[0] != "" {
		t.Errorf("the first symbol is %q", texts[0])
	}
	return out
}

// someBatch returns random rows of two tables; one table has NULLs and short rows.
func someBatch(r *rand.Rand) (*series.Schema, *series.Batch) {
	tags := []series.Tag{{Key: "host", Values: series.Numbered{Prefix: "h"}}, {Key: "Zone", Values: present{0: "a", 2: "Ω"}}, {Key: "w", Type: series.Float, Values: present{1: "0.5"}}}
	sparse := &series.Table{Name: "load", Tags: tags, Widths: []uint32{2, 1, 3, 3}, Fields: []series.Field{{Name: "n", Type: series.Int}, {Name: "f", Type: series.Float}, {Name: "b", Type: series.Bool}}}
	dense := &series.Table{Name: "disk", Tags: tags[:1], Dense: true, Fields: []series.Field{{Name: "free", Type: series.Float32}}}
	schema := &series.Schema{Tables: []*series.Table{sparse, dense}, Series: 4}
	b := new(series.Batch)
	for range 1 + r.IntN(4) {
		table := schema.Tables[r.IntN(2)]
		run := b.Add(table)
		run.Grow(1 + r.IntN(20))
		for row := range run.Times {
			run.Series[row] = uint32(r.IntN(4))
			run.Times[row] = r.Int64N(5e18) / 1e6 * 1e6
			for f := range run.Columns {
				if c := &run.Columns[f]; table.Fields[f].Type.UsesInts() {
					c.Ints[row] = r.Int64N(1000) - 500
				} else {
					c.Floats[row] = float64(float32(r.NormFloat64()))
				}
				if table == sparse && r.IntN(3) == 0 {
					run.SetNull(f, row)
				}
			}
		}
	}
	return schema, b
}

// expectedSamples returns the samples of a batch by their series' labels.
func expectedSamples(b *series.Batch) map[string][]string {
	out := map[string][]string{}
	for i := range b.Runs {
		run := &b.Runs[i]
		for row, s := range run.Series {
			add := func(field string, v float64) {
				labels := []string{fmt.Sprintf("__name__=%q", run.Table.Name+"."+field)}
				for _, tag := range run.Table.Tags {
					if value, ok := tag.Values.Append(nil, s); ok {
						labels = append(labels, fmt.Sprintf("%s=%q", tag.Key, value))
					}
				}
				slices.Sort(labels)
				name := strings.Join(labels, ",")
				out[name] = append(out[name], fmt.Sprintf("%v@%d", v, run.Times[row]/1e6))
			}
			values := 0
			for f, field := range run.Table.Fields {
				if run.Lacks(f, row) {
					continue
				}
				values++
				if field.Type.UsesInts() {
					add(field.Name, float64(run.Columns[f].Ints[row]))
				} else {
					add(field.Name, run.Columns[f].Floats[row])
				}
			}
			if values == 0 {
				add("none", 1)
			}
		}
	}
	return out
}

func remoteWrite(symbols bool) encode.RemoteWrite {
	return encode.RemoteWrite{
		Metric: func(t *series.Table, field string) string { return t.Name + "." + field },
		Label:  func(tag string) string { return tag }, Null: "none", Symbols: symbols,
	}
}

// A request has the samples of a batch, each series once, in both versions, and also
// where the encoder has had other batches before.
func TestRemoteWrite(t *testing.T) {
	for _, symbols := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		schema, _ := someBatch(r)
		encoder := remoteWrite(symbols).New(schema)
		for range 300 {
			like, b := someBatch(r)
			for i := range b.Runs { // of the encoder's schema
				b.Runs[i].Table = schema.Tables[slices.Index(like.Tables, b.Runs[i].Table)]
			}
			if diff := cmp.Diff(expectedSamples(b), decodeSamples(t, encoder.Append(nil, b), symbols)); diff != "" {
				t.Fatalf("symbols %v (-want +got):\n%s", symbols, diff)
			}
		}
	}
}

// Times are there to the millisecond, whatever bytes they take.
func FuzzRemoteWrite(f *testing.F) {
	f.Add(int64(0), int64(0), 1.5, "h", false)
	f.Add(int64(1451606400_000_000_000), int64(9e18), math.Inf(1), "", true)
	f.Fuzz(func(t *testing.T, first, second int64, v float64, tag string, symbols bool) {
		if first < 0 || second < 0 || v != v || tag == "" {
			t.Skip()
		}
		table := &series.Table{Name: "t", Tags: []series.Tag{{Key: "k", Values: present{0: tag}}}, Fields: []series.Field{{Name: "f", Type: series.Float}}}
		var b series.Batch
		run := b.Add(table)
		run.Grow(2)
		run.Times, run.Columns[0].Floats = []int64{first, second}, []float64{v, -v}
		run.Series[0], run.Series[1] = 0, 0
		request := remoteWrite(symbols).New(&series.Schema{Tables: []*series.Table{table}, Series: 1}).Append(nil, &b)
		if diff := cmp.Diff(expectedSamples(&b), decodeSamples(t, request, symbols)); diff != "" {
			t.Error(diff)
		}
	})
}
