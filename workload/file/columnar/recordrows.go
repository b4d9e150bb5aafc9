//go:build !light

package columnar

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/input"
)

// Rows is the rows of a file of record batches.
type Rows struct {
	Source  Source
	table   *input.Table
	time    string
	columns []string
	roles   []input.Role
	missing []int

	batch  arrow.RecordBatch
	group  int
	Filled int   // group of the last rows
	first  int64 // row of the group that batch begins with
	at     int   // rows of batch that were read
	row    int   // of batch, that is being read: for errors
	times  []int64
	tags   []tagColumn // of batch
	text   []byte
}

// tagColumn is a column of a record batch that is a tag.
type tagColumn struct {
	place  int // of the tag in its table
	column arrow.Array
}

// NewRows checks that the columns of a file can be what the table has.
func NewRows(source Source, t *input.Table, time string) (*Rows, error) {
	schema, err := source.Schema()
	if err != nil {
		return nil, err
	}
	r := &Rows{Source: source, table: t, time: time}
	for _, f := range schema.Fields() {
		r.columns = append(r.columns, f.Name)
	}
	if r.roles, r.missing, err = t.Roles(r.columns, time); err != nil {
		return nil, err
	}
	for i, f := range schema.Fields() {
		found, _ := ColumnType(f.Type)
		switch {
		case slices.Contains(r.columns[:i], f.Name):
			return nil, fmt.Errorf("has two columns %q; write the file again with other names", f.Name)
		case r.roles[i].What != input.RoleIgnored && found == 0 && f.Type.ID() != arrow.NULL:
			return nil, fmt.Errorf("column %s has type %s, which cannot be loaded; leave it out of time, tags and fields", f.Name, f.Type)
		case r.roles[i].What != input.RoleField:
			continue
		}
		of := &t.Fields[r.roles[i].Place]
		if found != 0 && input.MergeTypes(found, of.Type) != of.Type && !HoldsTexts(f.Type) {
			return nil, fmt.Errorf("column %s has type %s in the file, which is not %s; write %s:%s in fields", f.Name, f.Type, of.Type, input.QuoteName(f.Name), input.MergeTypes(found, of.Type))
		}
	}
	return r, nil
}

// ColumnType returns the type of field that a column becomes; 0: none that there is.
// Text stands for texts, whatever they hold.
func ColumnType(t arrow.DataType) (series.Type, int64) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return series.Timestamp, int64(t.Unit.Multiplier())
	case *arrow.DictionaryType:
		if kind, _ := ColumnType(t.ValueType); kind == series.Text {
			return series.Text, 0
		}
		return 0, 0
	}
	switch t.ID() {
	case arrow.BOOL:
		return series.Bool, 0
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.UINT8, arrow.UINT16:
		return series.Int32, 0
	case arrow.INT64, arrow.UINT32, arrow.UINT64:
		return series.Int, 0
	case arrow.FLOAT16, arrow.FLOAT32:
		return series.Float32, 0
	case arrow.FLOAT64, arrow.DECIMAL32, arrow.DECIMAL64, arrow.DECIMAL128, arrow.DECIMAL256:
		return series.Float, 0
	case arrow.DATE32, arrow.DATE64:
		return series.Date, 0
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW:
		return series.Text, 0
	}
	return 0, 0
}

func HoldsTexts(t arrow.DataType) bool {
	kind, _ := ColumnType(t)
	return kind == series.Text
}

// Next fills rows until the filler is full, or returns io.EOF after the last one.
func (r *Rows) Next(f *input.Filler) (err error) {
	// The library panics for some files that are damaged.
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the file " + ReadProblem(p))
		}
	}()
	for {
		for r.batch == nil || r.at == int(r.batch.NumRows()) {
			if r.batch, r.group, r.first, err = r.Source.Next(); err != nil {
				r.row, r.at, r.batch = 0, 0, nil
				if damaged := (*unpack.Damaged)(nil); !errors.Is(err, io.EOF) && !errors.Is(err, input.ErrYear) && !errors.As(err, &damaged) {
					err = errors.New("the file " + ReadProblem(err))
				}
				return err
			}
			if r.at, r.row = 0, 0; f.ByGroup && f.Row > 0 && r.group != r.Filled {
				return nil
			}
		}
		n, err := r.fitting(min(int(r.batch.NumRows())-r.at, f.Room), input.MaxBatchText-f.Bytes)
		if err == nil {
			err = r.take(f, n)
		}
		if err != nil {
			return err
		}
		r.at += n
		r.Filled = r.group
		if f.Full() {
			return nil
		}
	}
}

// fitting returns how many of the next n rows fit into a batch with room for that many more bytes
// of free texts: at least one.
func (r *Rows) fitting(n, room int) (int, error) {
	most := n
	for i := range int(r.batch.NumCols()) {
		role := r.roles[r.roleOf(r.batch.ColumnName(i), i)]
		if role.What != input.RoleField || !r.table.Fields[role.Place].Free() {
			continue
		}
		column := r.batch.Column(i)
		for row, size := 0, 0; row < most; row++ {
			if r.row = r.at + row; column.IsNull(r.row) {
				continue
			}
			text, err := r.TextOf(column, r.row)
			if err != nil {
				return 0, err
			}
			if size += len(text); size > room {
				most = max(row, 1)
			}
		}
	}
	return most, nil
}

// Place returns the place of the row at hand, without the file.
func (r *Rows) Place() input.Error {
	return input.Error{RowGroup: r.group, Row: r.first + int64(r.row)}
}

// take takes the next n rows of the batch.
func (r *Rows) take(f *input.Filler, n int) error {
	f.Reserve(r.table, n)
	base := f.Row
	r.times, r.tags = r.times[:0], r.tags[:0]
	for i := range int(r.batch.NumCols()) {
		// A reader of some columns alone has these alone.
		at := r.roleOf(r.batch.ColumnName(i), i)
		column := r.batch.Column(i)
		switch role := r.roles[at]; role.What {
		case input.RoleTime:
			if err := r.readTimes(f, column, n); err != nil {
				return err
			}
		case input.RoleField:
			if err := r.readField(f, role.Place, column, n); err != nil {
				return err
			}
			f.Row = base
		case input.RoleTag:
			r.tags = append(r.tags, tagColumn{role.Place, column})
		}
	}
	for row := range n {
		for _, i := range r.missing {
			f.SetNull(i)
		}
		f.Finder.Begin(r.table)
		r.row = r.at + row
		for _, tag := range r.tags {
			if tag.column.IsNull(r.row) {
				continue
			}
			text, err := r.TextOf(tag.column, r.row)
			if err == nil {
				err = f.TagText(tag.place, text, true)
			}
			if err != nil {
				return err
			}
		}
		if _, err := f.Finish(r.times[row]); err != nil {
			return err
		}
	}
	return nil
}

// roleOf returns the place of a column among those of the file, which is the guess
// where all are read.
func (r *Rows) roleOf(name string, guess int) int {
	for at := guess; at < len(r.columns); at++ {
		if r.columns[at] == name {
			return at
		}
	}
	return 0
}

// readTimes reads the times of the next n rows.
func (r *Rows) readTimes(f *input.Filler, column arrow.Array, n int) error {
	kind, unit := ColumnType(column.DataType())
	if kind == series.Timestamp && unit > 0 {
		local := isLocal(column.DataType())
		values := column.(*array.Timestamp).Values()[r.at : r.at+n]
		for row, v := range values {
			r.row = r.at + row
			if column.IsNull(r.row) {
				return input.MissingTimeError(r.time)
			}
			ns := int64(v) * unit
			if ns/unit != int64(v) {
				return farTime(r.time, column.ValueStr(r.row))
			}
			if local {
				ns = f.Clock.Local(ns)
			}
			r.times = append(r.times, ns)
		}
		return nil
	}
	for row := range n {
		r.row = r.at + row
		if column.IsNull(r.row) {
			return input.MissingTimeError(r.time)
		}
		text, err := r.epochOf(column, r.row)
		if err != nil {
			return err
		}
		if f.Absent(text) {
			return input.MissingTimeError(r.time)
		}
		t, err := f.Time(r.time, text)
		if err != nil {
			return err
		}
		r.times = append(r.times, t)
	}
	return nil
}

// isLocal reports whether a type has times without a zone.
func isLocal(t arrow.DataType) bool {
	of, ok := t.(*arrow.TimestampType)
	return ok && of.TimeZone == ""
}

// readField sets a field in the next n rows.
func (r *Rows) readField(f *input.Filler, place int, column arrow.Array, n int) error {
	base, of := f.Row, &f.Table.Fields[place]
	c := &f.Run.Columns[place]
	switch {
	case column.DataType().ID() == arrow.NULL:
		for row := range n {
			f.Row = base + row
			f.SetNull(place)
		}
		return nil
	case HoldsTexts(column.DataType()) || of.Type.Textual():
		for row := range n {
			f.Row, r.row = base+row, r.at+row
			if column.IsNull(r.row) {
				f.SetNull(place)
				continue
			}
			text, err := r.TextOf(column, r.row)
			if err == nil {
				err = f.Field(place, text, true)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case of.Type.UsesInts():
		into := c.Ints[base : base+n]
		if err := r.ints(into, column, of); err != nil {
			return err
		}
		if of.Type == series.Timestamp && f.Clock.Zone != nil && isLocal(column.DataType()) {
			for i := range into {
				if !column.IsNull(r.at + i) {
					into[i] = f.Clock.Local(into[i])
				}
			}
		}
	default:
		into := c.Floats[base : base+n]
		if err := r.floats(into, column, of); err != nil {
			return err
		}
	}
	if column.NullN() > 0 {
		for row := range n {
			if column.IsNull(r.at + row) {
				f.Row = base + row
				f.SetNull(place)
			}
		}
	}
	return nil
}

// epochOf is TextOf, except that numbers have no exponent.
func (r *Rows) epochOf(column arrow.Array, row int) ([]byte, error) {
	switch a := column.(type) {
	case *array.Float64:
		r.text = strconv.AppendFloat(r.text[:0], a.Value(row), 'f', -1, 64)
	case *array.Float32:
		r.text = strconv.AppendFloat(r.text[:0], float64(a.Value(row)), 'f', -1, 32)
	default:
		return r.TextOf(column, row)
	}
	return r.text, nil
}

// farTime is the error of a time that 64 bits of nanoseconds do not hold.
func farTime(column, value string) error {
	return fmt.Errorf("column %s: %s %w; %s, or leave the column out", column, value, input.ErrYear, input.CorrectLine)
}

// nanoseconds converts times to nanoseconds; unit is the length of their unit in nanoseconds.
func (r *Rows) nanoseconds(values []int64, unit int64, column arrow.Array, of *series.Field) error {
	if unit == 1 {
		return nil
	}
	most := math.MaxInt64 / unit
	for i, v := range values {
		if v > most || v < -most {
			if r.row = r.at + i; !column.IsNull(r.row) {
				return farTime(of.Name, column.ValueStr(r.row))
			}
			v = 0
		}
		values[i] = v * unit
	}
	return nil
}

// WholeNumber is the types that columns have numbers of.
type WholeNumber interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func widen[T WholeNumber](into []int64, from []T) {
	for i := range into {
		into[i] = int64(from[i])
	}
}

func toFloats[T WholeNumber | ~float32 | ~float64](into []float64, from []T) {
	for i := range into {
		into[i] = float64(from[i])
	}
}

// ints reads whole numbers, from the row that is next on.
func (r *Rows) ints(into []int64, column arrow.Array, of *series.Field) error {
	at := r.at
	switch a := column.(type) {
	case *array.Int64:
		copy(into, a.Values()[at:])
	case *array.Int32:
		widen(into, a.Values()[at:])
	case *array.Int16:
		widen(into, a.Values()[at:])
	case *array.Int8:
		widen(into, a.Values()[at:])
	case *array.Uint8:
		widen(into, a.Values()[at:])
	case *array.Uint16:
		widen(into, a.Values()[at:])
	case *array.Uint32:
		widen(into, a.Values()[at:])
	case *array.Uint64:
		for i := range into {
			v := a.Value(at + i)
			if v > math.MaxInt64 && !a.IsNull(at+i) {
				r.row = at + i
				return fmt.Errorf("column %s: %d is more than 64 bits with a sign hold; write %s:%s in fields", of.Name, v, input.QuoteName(of.Name), series.Float)
			}
			into[i] = int64(v)
		}
	case *array.Date32:
		widen(into, a.Values()[at:])
		if of.Type == series.Timestamp {
			return r.nanoseconds(into, nsOfDay, a, of)
		}
	case *array.Date64:
		widen(into, a.Values()[at:])
		if of.Type == series.Timestamp {
			return r.nanoseconds(into, 1e6, a, of)
		}
		for i, ms := range into {
			into[i] = (ms - ((ms%msOfDay)+msOfDay)%msOfDay) / msOfDay // the day that it is in, also before 1970
		}
	case *array.Timestamp:
		_, unit := ColumnType(a.DataType())
		widen(into, a.Values()[at:])
		return r.nanoseconds(into, unit, a, of)
	case *array.Boolean:
		for i := range into {
			into[i] = 0
			if a.Value(at + i) {
				into[i] = 1
			}
		}
	default:
		return fmt.Errorf("column %s has type %s, which is not %s", of.Name, column.DataType(), of.Type)
	}
	return nil
}

// floats reads numbers, from the row that is next on.
func (r *Rows) floats(into []float64, column arrow.Array, of *series.Field) error {
	at := r.at
	switch a := column.(type) {
	case *array.Float64:
		copy(into, a.Values()[at:])
	case *array.Float32:
		toFloats(into, a.Values()[at:])
	case *array.Float16:
		for i := range into {
			into[i] = float64(a.Value(at + i).Float32())
		}
	case *array.Int64:
		toFloats(into, a.Values()[at:])
	case *array.Int32:
		toFloats(into, a.Values()[at:])
	case *array.Int16:
		toFloats(into, a.Values()[at:])
	case *array.Int8:
		toFloats(into, a.Values()[at:])
	case *array.Uint8:
		toFloats(into, a.Values()[at:])
	case *array.Uint16:
		toFloats(into, a.Values()[at:])
	case *array.Uint32:
		toFloats(into, a.Values()[at:])
	case *array.Uint64:
		toFloats(into, a.Values()[at:])
	default:
		if of, ok := a.DataType().(arrow.DecimalType); ok && decimals(into, a, at, of.GetScale()) {
			break
		}
		return fmt.Errorf("column %s has type %s, which is not %s", of.Name, column.DataType(), of.Type)
	}
	if of.Type == series.Float32 {
		for i := range into {
			into[i] = float64(float32(into[i]))
		}
	}
	return nil
}

// TextOf returns a value that is not NULL as text, valid until the next call.
func (r *Rows) TextOf(column arrow.Array, row int) ([]byte, error) {
	switch a := column.(type) {
	case *array.String:
		return bytesOf(a.Value(row)), nil
	case *array.LargeString:
		return bytesOf(a.Value(row)), nil
	case *array.StringView:
		return bytesOf(a.Value(row)), nil
	case *array.Binary:
		return a.Value(row), nil
	case *array.LargeBinary:
		return a.Value(row), nil
	case *array.BinaryView:
		return a.Value(row), nil
	case *array.Dictionary:
		return r.TextOf(a.Dictionary(), a.GetValueIndex(row))
	case *array.Int64:
		r.text = strconv.AppendInt(r.text[:0], a.Value(row), 10)
	case *array.Int32:
		r.text = strconv.AppendInt(r.text[:0], int64(a.Value(row)), 10)
	case *array.Int16:
		r.text = strconv.AppendInt(r.text[:0], int64(a.Value(row)), 10)
	case *array.Int8:
		r.text = strconv.AppendInt(r.text[:0], int64(a.Value(row)), 10)
	case *array.Uint64:
		r.text = strconv.AppendUint(r.text[:0], a.Value(row), 10)
	case *array.Uint32:
		r.text = strconv.AppendUint(r.text[:0], uint64(a.Value(row)), 10)
	case *array.Uint16:
		r.text = strconv.AppendUint(r.text[:0], uint64(a.Value(row)), 10)
	case *array.Uint8:
		r.text = strconv.AppendUint(r.text[:0], uint64(a.Value(row)), 10)
	case *array.Date32:
		r.text = a.Value(row).ToTime().AppendFormat(r.text[:0], dateLayout)
	case *array.Date64:
		r.text = a.Value(row).ToTime().AppendFormat(r.text[:0], dateLayout)
	case *array.Float64:
		r.text = strconv.AppendFloat(r.text[:0], a.Value(row), 'g', -1, 64)
	case *array.Float32:
		r.text = strconv.AppendFloat(r.text[:0], float64(a.Value(row)), 'g', -1, 32)
	case *array.Boolean:
		r.text = strconv.AppendBool(r.text[:0], a.Value(row))
	default:
		r.text = append(r.text[:0], column.ValueStr(row)...)
	}
	return r.text, nil
}

// bytesOf returns a string's bytes, which must not be changed.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
