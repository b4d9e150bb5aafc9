//go:build !light

package columnar

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// arrowFile writes one table as an Arrow IPC file, a record batch at a time.
// Nothing is compressed: values are written as they lie in the table, and can
// be mapped into memory by a reader.
type arrowFile struct {
	out          *ipc.FileWriter
	schema       *arrow.Schema
	dictionaries []arrow.Array // per text tag; the file has one for all batches
	shared       *arrowScratch
}

// arrowScratch is the columns of tags and fields in a batch. All files of a
// dataset share it.
type arrowScratch struct {
	tags   []arrowTag
	fields []cells
}

type arrowTag struct {
	codes   []int32
	numbers []float64
	valid   []byte
}

func openArrow(int) func(io.Writer, *table) (file, error) {
	shared := &arrowScratch{}
	return func(w io.Writer, t *table) (file, error) {
		a := &arrowFile{
			schema:       ArrowSchema(t.of),
			dictionaries: make([]arrow.Array, len(t.tags)),
			shared:       shared,
		}
		for i, of := range t.tags {
			if of.numbers == nil {
				a.dictionaries[i] = newStrings(&of.values)
			}
		}
		if more := len(t.tags) - len(shared.tags); more > 0 {
			shared.tags = append(shared.tags, make([]arrowTag, more)...)
		}
		if more := len(t.fields) - len(shared.fields); more > 0 {
			shared.fields = append(shared.fields, make([]cells, more)...)
		}
		var err error
		a.out, err = ipc.NewFileWriter(w, ipc.WithSchema(a.schema))
		return a, err
	}
}

// ArrowSchema returns the schema of a table's rows: the time, the tags and the fields.
func ArrowSchema(of *series.Table) *arrow.Schema {
	columns := []arrow.Field{{Name: timeColumn, Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}}}
	for i := range of.Tags {
		var kind arrow.DataType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
		if of.Tags[i].Numeric() {
			kind = arrow.PrimitiveTypes.Float64
		}
		columns = append(columns, arrow.Field{Name: of.Tags[i].Key, Type: kind, Nullable: true})
	}
	for _, f := range of.Fields {
		columns = append(columns, arrow.Field{Name: f.Name, Type: arrowType(f.Type), Nullable: true})
	}
	return arrow.NewSchema(columns, nil)
}

func arrowType(t series.Type) arrow.DataType {
	switch t {
	case series.Bool:
		return arrow.FixedWidthTypes.Boolean
	case series.Int32:
		return arrow.PrimitiveTypes.Int32
	case series.Float32:
		return arrow.PrimitiveTypes.Float32
	case series.Float:
		return arrow.PrimitiveTypes.Float64
	case series.Text:
		return arrow.BinaryTypes.String
	case series.Blob:
		return arrow.BinaryTypes.Binary
	case series.Timestamp:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	case series.Date:
		return arrow.FixedWidthTypes.Date32
	}
	return arrow.PrimitiveTypes.Int64
}

// field returns the array of a field's values.
func (a *arrowFile) field(c *column, of *series.Field, rows int, memory *cells) arrow.Array {
	kind := arrowType(of.Type)
	var values []byte
	switch of.Type {
	case series.Bool:
		values = memory.asBits(c.ints)
	case series.Int32, series.Date:
		values = arrow.Int32Traits.CastToBytes(memory.asShorts(c.ints))
	case series.Float32:
		values = arrow.Float32Traits.CastToBytes(memory.asSingles(c.floats))
	case series.Float:
		values = arrow.Float64Traits.CastToBytes(c.floats)
	case series.Text, series.Blob:
		t := memory.asTexts(c, of.Length)
		return newArray(kind, rows, c.valid, c.nulls, arrow.Int32Traits.CastToBytes(t.Offsets), t.Bytes)
	default:
		values = arrow.Int64Traits.CastToBytes(c.ints)
	}
	return newArray(kind, rows, c.valid, c.nulls, values)
}

func (a *arrowFile) write(t *table) error {
	rows := t.rows()
	types := a.schema.Fields()
	columns := make([]arrow.Array, 0, len(types))
	add := func(valid []byte, nulls int, values []byte) {
		columns = append(columns, newArray(types[len(columns)].Type, rows, valid, nulls, values))
	}
	add(nil, 0, arrow.Int64Traits.CastToBytes(t.times))
	for i, of := range t.tags {
		c := &a.shared.tags[i]
		nulls := c.fill(of, t.series)
		if of.numbers != nil {
			add(c.valid, nulls, arrow.Float64Traits.CastToBytes(c.numbers))
			continue
		}
		codes := newArray(arrow.PrimitiveTypes.Int32, rows, c.valid, nulls, arrow.Int32Traits.CastToBytes(c.codes))
		columns = append(columns, array.NewDictionaryArray(types[len(columns)].Type, codes, a.dictionaries[i]))
	}
	for i := range t.fields {
		columns = append(columns, a.field(&t.fields[i], &t.of.Fields[i], rows, &a.shared.fields[i]))
	}
	return a.out.Write(array.NewRecordBatch(a.schema, columns, int64(rows)))
}

// fill makes the column of the series' values and returns how many lack it.
func (c *arrowTag) fill(t *tag, of []uint32) (nulls int) {
	if n := (len(of) + 7) / 8; len(c.valid) < n {
		c.valid = make([]byte, n)
	}
	setAll(c.valid)
	c.codes, c.numbers = c.codes[:0], c.numbers[:0]
	for row, in := range of {
		code := t.codes[in-t.first]
		if code == absent {
			clearBit(c.valid, row)
			nulls++
		}
		switch {
		case t.numbers == nil:
			c.codes = append(c.codes, max(code, 0))
		case code == absent:
			c.numbers = append(c.numbers, 0)
		default:
			c.numbers = append(c.numbers, t.numbers[code])
		}
	}
	return nulls
}

func (a *arrowFile) close() error { return a.out.Close() }

// newArray returns an array over memory that stays the caller's.
func newArray(kind arrow.DataType, rows int, valid []byte, nulls int, values ...[]byte) arrow.Array {
	buffers := []*memory.Buffer{nil}
	for _, v := range values {
		buffers = append(buffers, memory.NewBufferBytes(v))
	}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid[:(rows+7)/8])
	}
	return array.MakeFromData(array.NewData(kind, rows, buffers, nil, nulls, 0))
}

// newStrings returns the texts as an array over their memory.
func newStrings(t *texts.List) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(t.Offsets)), memory.NewBufferBytes(t.Bytes)}
	return array.MakeFromData(array.NewData(arrow.BinaryTypes.String, t.Len(), buffers, nil, 0, 0))
}
