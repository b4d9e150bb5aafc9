package witness

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tsmark/tsmark/internal/boundtest"
)

// Half floats and decimals are those of the format.
func TestArrowNumbers(t *testing.T) {
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 1: 5.960464477539063e-08} {
		if got := half(bits); got != want {
			t.Errorf("%x is %v, want %v", bits, got, want)
		}
	}
	if got := string(decimal([]byte{0xf9, 0xff, 0xff, 0xff}, 2)); got != "-7e-2" {
		t.Errorf("got %s", got)
	}
}

// A small file whose batch is large when it is decompressed, and one with decimals that no
// database has, end in one line before memory or time is spent.
func TestArrowBounds(t *testing.T) {
	const mark = 19088743
	schema := arrow.NewSchema([]arrow.Field{{Name: "time", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: &arrow.Decimal256Type{Precision: 70, Scale: mark}}}, nil)
	write := func(rows int) []byte {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, rows), nil)
		b.Field(1).(*array.Decimal256Builder).AppendValues(make([]decimal256.Num, rows), nil)
		record := b.NewRecordBatch()
		defer record.Release()
		var out bytes.Buffer
		w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
		if err := errors.Join(w.Write(record), w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	// The schema has the scale, and before or after it the number of bits.
	marks := [2][]byte{binary.LittleEndian.AppendUint32(nil, mark), {0, 1, 0, 0}}
	change := func(content []byte, scale, bits uint32) []byte {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			to := [2][]byte{binary.LittleEndian.AppendUint32(nil, scale), binary.LittleEndian.AppendUint32(nil, bits)}
			content = bytes.Replace(content, slices.Concat(marks[order[0]], marks[order[1]]), slices.Concat(to[order[0]], to[order[1]]), 1)
		}
		return content
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"as it is": {change(write(1000), 2, 256), ""},
		"batch":    {change(write(1<<20), 2, 256), "more than 16 MiB when they are decompressed"},
		"scale":    {write(1), `column "v" has decimals of scale 19088743`},
		"size":     {change(write(1), 2, 1<<20), `column "v" has decimals of 131072 bytes`},
	} {
		path := filepath.Join(t.TempDir(), "t.arrow")
		if err := os.WriteFile(path, c.content, 0o666); err != nil {
			t.Fatal(err)
		}
		r := arrowReader{&File{Path: path, Rows: 1000}, 16 << 20}
		rows := 0
		err := r.read(t.Context(), []column{{name: "time"}, {name: "v"}}, []span{{0, 1000}}, func(int64, []value) { rows++ })
		if c.want == "" && (err != nil || rows != 1000) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || rows > 0) {
			t.Errorf("%s: %d rows, %v; want %q", name, rows, err, c.want)
		}
	}
}

// A schema whose many fields share one long name takes no memory for each of them.
func TestArrowNames(t *testing.T) {
	const fields, name = 2000, 1 << 20
	var b []byte
	shorts := func(all ...uint16) {
		for _, n := range all {
			b = binary.LittleEndian.AppendUint16(b, n)
		}
	}
	words := func(all ...int) {
		for _, n := range all {
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
	}
	words(16)
	shorts(12, 12, 0, 8, 4, 0)  // where a message has its header, and that it is a schema
	words(12, 16, headerSchema) // at 16
	shorts(8, 8, 0, 4)          // where a schema has its fields
	words(8, 4)                 // at 36
	words(fields)               // at 44
	for i := range fields {
		words(4*(fields-i) + 12)
	}
	shorts(12, 16, 4, 0, 12, 8) // where a field has its name, its kind and its type
	words(12, 20, 12, typeText)
	shorts(4, 4)
	words(4, name)
	message := append(b, make([]byte, name+4)...)
	content := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(message)))
	path := filepath.Join(t.TempDir(), "t.arrow")
	if err := os.WriteFile(path, slices.Concat(content, message, make([]byte, 8)), 0o666); err != nil {
		t.Fatal(err)
	}
	boundtest.Hold(t, func() {
		for doing, err := range map[string]error{
			"checking": CheckMetadata(path), "reading": arrowReader{&File{Path: path}, 64 << 20}.read(t.Context(), nil, nil, nil),
		} {
			if err == nil || !strings.Contains(err.Error(), "more than 256 MiB of names") {
				t.Errorf("%s: %v", doing, err)
			}
		}
	})
}

// Numbers whose exponents take long to compute with are not compared; all others are.
func TestExact(t *testing.T) {
	for text, want := range map[string]bool{"1.5": true, "-7e-2": true, "1e2000": true, "1e999999": false, "1e-999999": false, "1p999999": false, "1e9999999999999999999": false, strings.Repeat("9", 3000): false} {
		if _, ok := exact(text); ok != want {
			t.Errorf("%.20s: %v", text, ok)
		}
	}
}
