//go:build !light

package columnar

import (
	"fmt"
	"io"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Flat writes rows of values as a Parquet file, such as figures of runs.
type Flat struct {
	out     *pqfile.Writer
	columns []flatColumn
	rows    int // held back
}

// flatColumn has the values of a column that are held back.
type flatColumn struct {
	FlatColumn
	levels   []int16 // per row, 1 or, where it is NULL, 0
	floats   []float64
	integers []int64
	texts    []pq.ByteArray
	bools    []bool
}

// NewFlat begins a file.
func NewFlat(w io.Writer, columns []FlatColumn) (*Flat, error) {
	f := &Flat{}
	var fields schema.FieldList
	for _, c := range columns {
		logical, physical := parquetType(c.Type)
		node, err := schema.NewPrimitiveNodeLogical(c.Name, pq.Repetitions.Optional, logical, physical, -1, -1)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		fields, f.columns = append(fields, node), append(f.columns, flatColumn{FlatColumn: c})
	}
	root, err := schema.NewGroupNode("tsmark", pq.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	f.out = pqfile.NewParquetWriter(w, root, pqfile.WithWriterProps(pq.NewWriterProperties(pq.WithCreatedBy("tsmark"), pq.WithCompression(compress.Codecs.Snappy))))
	return f, nil
}

// Add adds a row with a value for each column: a float64, int64 (also of timestamps, in
// nanoseconds), string or bool as the column's type says, or nil for NULL.
func (f *Flat) Add(row ...any) error {
	for i := range f.columns {
		c := &f.columns[i]
		level := int16(1)
		switch v := row[i].(type) {
		case nil:
			level = 0
		case float64:
			c.floats = append(c.floats, v)
		case int64:
			c.integers = append(c.integers, v)
		case string:
			c.texts = append(c.texts, pq.ByteArray(v))
		case bool:
			c.bools = append(c.bools, v)
		default:
			return fmt.Errorf("column %s: %T is not a type of Parquet files", c.Name, v)
		}
		c.levels = append(c.levels, level)
	}
	if f.rows++; f.rows == maxRows {
		return f.flush()
	}
	return nil
}

// flush writes the rows that are held back as a row group.
func (f *Flat) flush() error {
	group, err := f.out.AppendBufferedRowGroupChecked()
	if err != nil {
		return err
	}
	for i := range f.columns {
		c := &f.columns[i]
		w, err := group.Column(i)
		if err != nil {
			return err
		}
		switch w := w.(type) {
		case *pqfile.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(c.floats, c.levels, nil)
		case *pqfile.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(c.integers, c.levels, nil)
		case *pqfile.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch(c.texts, c.levels, nil)
		case *pqfile.BooleanColumnChunkWriter:
			_, err = w.WriteBatch(c.bools, c.levels, nil)
		default:
			err = fmt.Errorf("type %v", c.Type)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		c.levels, c.floats, c.integers, c.texts, c.bools = c.levels[:0], c.floats[:0], c.integers[:0], c.texts[:0], c.bools[:0]
	}
	f.rows = 0
	return group.Close()
}

// Close writes the remaining rows and the end of the file.
func (f *Flat) Close() error {
	if f.rows > 0 {
		if err := f.flush(); err != nil {
			return err
		}
	}
	return f.out.Close()
}
