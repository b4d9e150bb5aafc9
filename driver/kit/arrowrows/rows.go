//go:build !light

// Package arrowrows reads record batches of Arrow as rows of answers.
package arrowrows

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tsmark/tsmark/query"
)

// Rows passes record batches on as rows. It allocates per batch and not per row.
type Rows struct {
	row     []query.Value
	columns []column
}

// column is a column of a batch, with the decoder of its values.
type column struct {
	kind   query.Kind
	of     arrow.Array
	nulls  bool  // some values are NULL
	unit   int64 // nanoseconds of a time's unit
	ints   []int64
	floats []float64
	small  arrow.Array // for whole numbers of other sizes, and for reals
	bools  *array.Boolean
	texts  texts
	index  *array.Dictionary // whose values the other columns are; nil: no dictionary
}

// texts is a column of texts.
type texts interface{ Value(int) string }

// blobs is a column of bytes.
type blobs struct {
	of interface{ ValueString(int) string }
}

// Value implements texts.
func (b blobs) Value(i int) string { return b.of.ValueString(i) }

// Give passes the rows of a batch to a sink. If the sink is nil, it still checks the columns.
func (r *Rows) Give(batch arrow.RecordBatch, sink query.Sink) error {
	r.columns = r.columns[:0]
	for i, of := range batch.Columns() {
		c, err := columnOf(of)
		if err != nil {
			return fmt.Errorf("column %s of the answer: %w", batch.ColumnName(i), err)
		}
		r.columns = append(r.columns, c)
	}
	if sink == nil {
		return nil
	}
	if cap(r.row) < len(r.columns) {
		r.row = make([]query.Value, len(r.columns))
	}
	r.row = r.row[:len(r.columns)]
	for i := range int(batch.NumRows()) {
		for c := range r.columns {
			r.row[c] = r.columns[c].value(i)
		}
		if err := sink.Row(r.row); err != nil {
			return err
		}
	}
	return nil
}

// columnOf returns the column for an array.
func columnOf(of arrow.Array) (column, error) {
	if d, ok := of.(*array.Dictionary); ok {
		c, err := columnOf(d.Dictionary())
		c.index, c.of, c.nulls = d, d, d.NullN() > 0
		return c, err
	}
	c := column{of: of, nulls: of.NullN() > 0}
	switch a := of.(type) {
	case *array.Int64:
		c.kind, c.ints = query.Int, a.Int64Values()
	case *array.Float64:
		c.kind, c.floats = query.Float, a.Float64Values()
	case *array.Timestamp:
		c.kind, c.unit = query.Time, int64(unitOf(a.DataType().(*arrow.TimestampType).Unit))
		c.ints = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(a.TimestampValues()))
	case *array.Boolean:
		c.kind, c.bools = query.Bool, a
	case *array.String:
		c.kind, c.texts = query.Text, a
	case *array.LargeString:
		c.kind, c.texts = query.Text, a
	case *array.StringView:
		c.kind, c.texts = query.Text, a
	case *array.Binary:
		c.kind, c.texts = query.Text, blobs{a}
	case *array.LargeBinary:
		c.kind, c.texts = query.Text, blobs{a}
	case *array.BinaryView:
		c.kind, c.texts = query.Text, blobs{a}
	case *array.Date32:
		c.kind, c.small = query.Date, of
	case *array.Int32, *array.Int16, *array.Int8, *array.Uint64, *array.Uint32, *array.Uint16, *array.Uint8:
		c.kind, c.small = query.Int, of
	case *array.Float32:
		c.kind, c.small = query.Float, of
	case *array.Null:
		c.kind = query.Null
	default:
		return c, fmt.Errorf("tsmark does not read values of the type %v", of.DataType())
	}
	return c, nil
}

func unitOf(u arrow.TimeUnit) time.Duration {
	switch u {
	case arrow.Second:
		return time.Second
	case arrow.Millisecond:
		return time.Millisecond
	case arrow.Microsecond:
		return time.Microsecond
	}
	return time.Nanosecond
}

// value returns a value of the column, whose text belongs to the batch.
func (c *column) value(i int) query.Value {
	if c.nulls && c.of.IsNull(i) {
		return query.Value{}
	}
	if c.index != nil {
		i = c.index.GetValueIndex(i)
		if c.index.Dictionary().IsNull(i) {
			return query.Value{}
		}
	}
	v := query.Value{Kind: c.kind}
	switch {
	case c.kind == query.Null:
	case c.floats != nil:
		v.Float = c.floats[i]
	case c.kind == query.Time:
		v.Int = c.ints[i] * c.unit
	case c.ints != nil:
		v.Int = c.ints[i]
	case c.texts != nil:
		text := c.texts.Value(i)
		v.Text = unsafe.Slice(unsafe.StringData(text), len(text)) // Sink does not allow changes
	case c.bools != nil:
		if c.bools.Value(i) {
			v.Int = 1
		}
	default:
		c.smallNumber(i, &v)
	}
	return v
}

// smallNumber decodes a number of a rarer type, or a date.
func (c *column) smallNumber(i int, v *query.Value) {
	switch a := c.small.(type) {
	case *array.Int32:
		v.Int = int64(a.Value(i))
	case *array.Int16:
		v.Int = int64(a.Value(i))
	case *array.Int8:
		v.Int = int64(a.Value(i))
	case *array.Uint64:
		v.Int = int64(a.Value(i))
	case *array.Uint32:
		v.Int = int64(a.Value(i))
	case *array.Uint16:
		v.Int = int64(a.Value(i))
	case *array.Uint8:
		v.Int = int64(a.Value(i))
	case *array.Date32:
		v.Int = int64(a.Value(i))
	case *array.Float32:
		v.Float = float64(a.Value(i))
	}
}
