package tdengine

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/query"
)

// blockOf is a message with a block of one column for each kind, of fixed size or not,
// and the rows given; nil is NULL.
func blockOf(kinds []byte, rows [][]any) []byte {
	le := binary.LittleEndian
	head := make([]byte, blockAt+blockHead)
	var infos, lengths, data []byte
	for i, kind := range kinds {
		infos = append(le.AppendUint32(append(infos, kind), 0), nil...)
		marks, values := make([]byte, (len(rows)+7)/8), []byte(nil)
		if kind == typeVarchar || kind == typeNchar {
			marks = nil
		}
		for r, row := range rows {
			switch v := row[i].(type) {
			case nil:
				if marks == nil && r == 0 || kind == typeVarchar || kind == typeNchar {
					marks = le.AppendUint32(marks, math.MaxUint32)
					continue
				}
				marks[r/8] |= 1 << (7 - r%8)
				values = append(values, make([]byte, widths[kind])...)
			case string:
				marks = le.AppendUint32(marks, uint32(len(values)))
				text := []byte(v)
				if kind == typeNchar {
					text = nil
					for _, c := range v {
						text = le.AppendUint32(text, uint32(c))
					}
				}
				values = append(le.AppendUint16(values, uint16(len(text))), text...)
			case int:
				values = append(values, le.AppendUint64(nil, uint64(v))[:widths[kind]]...)
			case float64:
				values = le.AppendUint64(values, math.Float64bits(v))
			}
		}
		lengths = le.AppendUint32(lengths, uint32(len(values)))
		data = append(append(data, marks...), values...)
	}
	le.PutUint32(head[blockAt+8:], uint32(len(rows)))
	le.PutUint32(head[blockAt+12:], uint32(len(kinds)))
	return slices.Concat(head, infos, lengths, data)
}

var everyKind = []byte{typeTimestamp, typeDouble, typeBigint, typeInt, typeSmallint, typeTinyint, typeBool, typeVarchar, typeNchar, typeUTinyint}

func everyRow() [][]any {
	return [][]any{
		{1_451_606_400_000, 1.5, math.MinInt64, -7, -2, -1, 1, "abc", "Ωμέγα-服务器", 255},
		{-1, nil, math.MaxInt64, nil, 2, nil, nil, nil, nil, nil},
		{0, math.MaxFloat64, nil, 7, nil, 1, 0, "", "", 0},
	}
}

// Values of each type are read as they are, with their NULLs.
func TestBlock(t *testing.T) {
	b := block{unit: 1_000_000}
	var answer query.Answer
	n, err := b.read(blockOf(everyKind, everyRow()), len(everyKind), &answer)
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	var got []string
	for _, row := range answer.Rows {
		var texts []string
		for _, v := range row {
			texts = append(texts, v.String())
		}
		got = append(got, strings.Join(texts, " "))
	}
	want := []string{
		"2016-01-01T00:00:00Z 1.5 -9223372036854775808 -7 -2 -1 true abc Ωμέγα-服务器 255",
		"1969-12-31T23:59:59.999Z NULL 9223372036854775807 NULL 2 NULL NULL NULL NULL NULL",
		"1970-01-01T00:00:00Z 1.7976931348623157e+308 NULL 7 NULL 1 false   0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestBlockBrokenOff checks that a block truncated at any byte is an error, and so is one with other
// columns.
func TestBlockBrokenOff(t *testing.T) {
	whole := blockOf(everyKind, everyRow())
	for n := range whole {
		b := block{unit: 1}
		if _, err := b.read(whole[:n], len(everyKind), nil); err == nil {
			t.Errorf("%d of %d bytes are read as a whole block", n, len(whole))
		}
	}
	b := block{unit: 1}
	if _, err := b.read(whole, 2, nil); err == nil || errors.Is(err, errShort) {
		t.Errorf("%v", err)
	}
}

func FuzzBlock(f *testing.F) {
	f.Add(blockOf(everyKind, everyRow()), len(everyKind))
	f.Add(blockOf([]byte{typeVarchar}, [][]any{{"x"}, {nil}}), 1)
	f.Fuzz(func(t *testing.T, message []byte, columns int) {
		b := block{unit: 1_000_000}
		rows := int64(0)
		n, err := b.read(message, columns, query.SinkFunc(func(row []query.Value) error {
			rows++
			if len(row) != columns {
				t.Errorf("a row of %d values, want %d", len(row), columns)
			}
			return nil
		}))
		if err == nil && n != rows {
			t.Errorf("%d rows told, %d given", n, rows)
		}
	})
}

// Literals read back: SQL's escapes within JSON's.
func TestLiteral(t *testing.T) {
	for text, want := range map[string]string{
		"plain":     `'plain'`,
		"o'brien":   `'o\'brien'`,
		`a "b" \c`:  `'a "b" \\c'`,
		"two\nrows": "'two\nrows'",
		"\tΩ":       "'\tΩ'",
	} {
		if got := string(appendLiteral(nil, []byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// BenchmarkEncode is the client's work on a batch, but for sending it.
func BenchmarkEncode(b *testing.B) {
	schema, batch := conformance.CPURows(b)
	o, err := resolve()
	if err != nil {
		b.Fatal(err)
	}
	w := (&database{name: "tsmark", design: newDesign(o)}).newWriter(nil, schema)
	for _, t := range w.tables {
		for s := range schema.Series {
			t.known.Set(int(s))
		}
	}
	bytes := 0
	encode := func() {
		err := w.gather(batch)
		if err == nil {
			bytes, err = 0, w.statements(func() error { bytes += len(w.out); return nil })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	encode()
	b.ReportAllocs()
	b.SetBytes(int64(bytes))
	for b.Loop() {
		encode()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
}

// BenchmarkBlock is the client's work on an answer.
func BenchmarkBlock(b *testing.B) {
	rows := make([][]any, 4096)
	for i := range rows {
		rows[i] = []any{1_451_606_400_000 + i, float64(i) / 7, "host_12"}
	}
	message := blockOf([]byte{typeTimestamp, typeDouble, typeVarchar}, rows)
	sink := query.SinkFunc(func([]query.Value) error { return nil })
	of := block{unit: 1_000_000}
	b.ReportAllocs()
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		if _, err := of.read(message, 3, sink); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}

func resolve() (map[string]string, error) {
	d := Driver()
	return d.Resolve(nil)
}
