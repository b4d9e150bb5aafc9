package owndata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tsmark/tsmark/internal/unpack"
	"github.com/tsmark/tsmark/series"
)

const (
	nsOfDay = 24 * 60 * 60 * 1e9
	msOfDay = 24 * 60 * 60 * 1e3

	dateLayout = "2006-01-02"
)

// recordRows is how many rows of Parquet are decoded at once.
const recordRows = 16 << 10

// maxPiece bounds a piece of memory that a file of record batches may need: damaged ones name
// sizes that nobody has.
const maxPiece = 2 << 30

// bounded is an allocator that panics for larger pieces.
type bounded struct{ memory.Allocator }

// Allocate implements memory.Allocator.
func (b bounded) Allocate(size int) []byte {
	fits(size)
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b bounded) Reallocate(size int, piece []byte) []byte {
	fits(size)
	return b.Allocator.Reallocate(size, piece)
}

func fits(size int) {
	if size < 0 || size > maxPiece {
		panic(fmt.Sprintf("it says that a piece of it takes %d bytes of memory, and %d are the most", size, maxPiece))
	}
}

// recordSource reads record batches one after the other.
type recordSource interface {
	// next returns the next one, which is valid until the call after; io.EOF: there is
	// none. Group is its row group, or its own number, and row its first row in that.
	next() (batch arrow.RecordBatch, group int, row int64, err error)
	schema() (*arrow.Schema, error)
	// only has next leave out the row groups that are not wanted.
	only(wanted func(group int) bool)
}

// wantedGroups says which row groups of a source are read; its zero value: all.
type wantedGroups struct{ wanted func(group int) bool }

func (w *wantedGroups) only(wanted func(group int) bool) { w.wanted = wanted }

func (w *wantedGroups) wants(group int) bool { return w.wanted == nil || w.wanted(group) }

// parquetSource reads row group by row group.
type parquetSource struct {
	wantedGroups
	of      *pqarrow.FileReader
	columns []int // leaves to read
	group   int   // that is read; -1: none yet
	row     int64
	records pqarrow.RecordReader
}

// openParquet begins to read those columns of a Parquet file that are wanted and flat.
// nil wants all but INT96 columns beside others: who looks at types needs none of their values, and one that is
// out of range must not refuse a file that is loaded without its column.
func openParquet(f *os.File, wanted func(name string) bool) (*parquetSource, error) {
	in, err := file.NewParquetReader(f)
	if err != nil {
		return nil, fmt.Errorf("is no Parquet file that can be read (%w); %s", err, copyAgain)
	}
	of, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{BatchSize: recordRows}, bounded{memory.DefaultAllocator})
	if err != nil {
		return nil, err
	}
	p := &parquetSource{of: of, group: -1, columns: []int{}}
	var skipped []int
	for i := range of.Manifest.Fields {
		field := &of.Manifest.Fields[i]
		if len(field.Children) > 0 || !field.IsLeaf() {
			continue
		}
		switch {
		case wanted == nil && p.isINT96(field.ColIndex):
			skipped = append(skipped, field.ColIndex)
		case wanted == nil || wanted(field.Field.Name):
			p.columns = append(p.columns, field.ColIndex)
		}
	}
	if len(p.columns) == 0 {
		p.columns = append(p.columns, skipped...)
	}
	return p, nil
}

func (p *parquetSource) isINT96(column int) bool {
	return p.of.ParquetReader().MetaData().Schema.Column(column).PhysicalType() == parquet.Types.Int96
}

// invalidINT96 returns the row of the first INT96 value of the row group that 64 bits of
// nanoseconds do not hold, and what is wrong with it; nil: there is none. INT96 holds all years, and
// the library's error does not say where the value stands.
func (p *parquetSource) invalidINT96() (row int64, problem error) {
	rows := p.of.ParquetReader().RowGroup(p.group)
	for _, column := range p.columns {
		if !p.isINT96(column) {
			continue
		}
		of, err := rows.Column(column)
		if err != nil {
			return 0, nil
		}
		values, levels := make([]parquet.Int96, recordRows), make([]int16, recordRows)
		for row := int64(0); of.HasNext(); {
			n, _, err := of.(*file.Int96ColumnChunkReader).ReadBatch(recordRows, values, levels, nil)
			if err != nil || n == 0 {
				return 0, nil
			}
			at := 0
			for _, level := range levels[:n] {
				if level == of.Descriptor().MaxDefinitionLevel() {
					if _, err := values[at].ToTimestamp(); err != nil {
						return row, farTime(of.Descriptor().Name(), values[at].ToTime().Format(time.RFC3339Nano))
					}
					at++
				}
				row++
			}
		}
	}
	return 0, nil
}

func (p *parquetSource) schema() (*arrow.Schema, error) {
	var fields []arrow.Field
	for i := range p.of.Manifest.Fields {
		fields = append(fields, *p.of.Manifest.Fields[i].Field)
	}
	return arrow.NewSchema(fields, nil), nil
}

func (p *parquetSource) next() (arrow.RecordBatch, int, int64, error) {
	for {
		if p.records != nil {
			if p.records.Next() {
				batch, row := p.records.RecordBatch(), p.row
				p.row += batch.NumRows()
				return batch, p.group, row, nil
			}
			err := p.records.Err()
			p.records.Release()
			p.records = nil
			if err != nil && !errors.Is(err, io.EOF) {
				if row, far := p.invalidINT96(); far != nil {
					return nil, p.group, row, far
				}
				return nil, p.group, p.row, err
			}
		}
		if p.group++; p.group >= p.of.ParquetReader().NumRowGroups() || len(p.columns) == 0 {
			return nil, p.group, 0, io.EOF
		}
		if !p.wants(p.group) {
			continue
		}
		p.row = 0
		var err error
		if p.records, err = p.of.GetRecordReader(context.Background(), p.columns, []int{p.group}); err != nil {
			return nil, p.group, 0, err
		}
	}
}

// arrowFileSource reads an Arrow IPC file.
type arrowFileSource struct {
	wantedGroups
	of    *ipc.FileReader
	group int
	last  arrow.RecordBatch
}

func (a *arrowFileSource) schema() (*arrow.Schema, error) { return a.of.Schema(), nil }

func (a *arrowFileSource) next() (arrow.RecordBatch, int, int64, error) {
	if a.last != nil {
		a.last.Release()
		a.last = nil
	}
	for a.group < a.of.NumRecords() && !a.wants(a.group) {
		a.group++
	}
	if a.group == a.of.NumRecords() {
		return nil, a.group, 0, io.EOF
	}
	var err error
	a.last, err = a.of.RecordBatchAt(a.group)
	a.group++
	return a.last, a.group - 1, 0, err
}

// arrowStreamSource reads an Arrow IPC stream.
type arrowStreamSource struct {
	wantedGroups
	of    *ipc.Reader
	group int
}

func (a *arrowStreamSource) schema() (*arrow.Schema, error) { return a.of.Schema(), nil }

func (a *arrowStreamSource) next() (arrow.RecordBatch, int, int64, error) {
	for a.of.Next() {
		if a.group++; a.wants(a.group - 1) {
			return a.of.RecordBatch(), a.group - 1, 0, nil
		}
	}
	err := a.of.Err()
	if err == nil {
		err = io.EOF
	}
	return nil, a.group, 0, err
}

// recordFile is the rows of a file of record batches.
type recordFile struct {
	source  recordSource
	table   *table
	time    string
	columns []string
	roles   []role
	missing []int

	batch  arrow.RecordBatch
	group  int
	filled int   // group of the last rows
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

// newRecordFile checks that the columns of a file can be what the table has.
func newRecordFile(source recordSource, t *table, time string) (*recordFile, error) {
	schema, err := source.schema()
	if err != nil {
		return nil, err
	}
	r := &recordFile{source: source, table: t, time: time}
	for _, f := range schema.Fields() {
		r.columns = append(r.columns, f.Name)
	}
	if r.roles, r.missing, err = t.roles(r.columns, time); err != nil {
		return nil, err
	}
	for i, f := range schema.Fields() {
		found, _ := columnType(f.Type)
		switch {
		case slices.Contains(r.columns[:i], f.Name):
			return nil, fmt.Errorf("has two columns %q; write the file again with other names", f.Name)
		case r.roles[i].what != left && found == 0 && f.Type.ID() != arrow.NULL:
			return nil, fmt.Errorf("column %s has type %s, which cannot be loaded; leave it out of time, tags and fields", f.Name, f.Type)
		case r.roles[i].what != isField:
			continue
		}
		of := &t.Fields[r.roles[i].place]
		if found != 0 && merged(found, of.Type) != of.Type && !textual(f.Type) {
			return nil, fmt.Errorf("column %s has type %s in the file, which is no %s; write %s:%s in fields", f.Name, f.Type, of.Type, quoteName(f.Name), merged(found, of.Type))
		}
	}
	return r, nil
}

// columnType returns the type of field that a column becomes; 0: none that there is.
// Text stands for texts, whatever they hold.
func columnType(t arrow.DataType) (series.Type, int64) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return series.Timestamp, int64(t.Unit.Multiplier())
	case *arrow.DictionaryType:
		if kind, _ := columnType(t.ValueType); kind == series.Text {
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

func textual(t arrow.DataType) bool {
	kind, _ := columnType(t)
	return kind == series.Text
}

// next implements rows.
func (r *recordFile) next(f *filler) (err error) {
	// The library panics for some files that are damaged.
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the file " + unread(p))
		}
	}()
	for {
		for r.batch == nil || r.at == int(r.batch.NumRows()) {
			if r.batch, r.group, r.first, err = r.source.next(); err != nil {
				r.row, r.at, r.batch = 0, 0, nil
				if damaged := (*unpack.Damaged)(nil); !errors.Is(err, io.EOF) && !errors.Is(err, errYear) && !errors.As(err, &damaged) {
					err = errors.New("the file " + unread(err))
				}
				return err
			}
			if r.at, r.row = 0, 0; f.apart && f.row > 0 && r.group != r.filled {
				return nil
			}
		}
		n, err := r.fitting(min(int(r.batch.NumRows())-r.at, f.left), maxBatchText-f.bytes)
		if err == nil {
			err = r.take(f, n)
		}
		if err != nil {
			return err
		}
		r.at += n
		r.filled = r.group
		if f.full() {
			return nil
		}
	}
}

// fitting returns how many of the next n rows a batch has room for that takes so many more
// bytes of free texts: one at least.
func (r *recordFile) fitting(n, room int) (int, error) {
	most := n
	for i := range int(r.batch.NumCols()) {
		role := r.roles[r.roleOf(r.batch.ColumnName(i), i)]
		if role.what != isField || !r.table.Fields[role.place].Free() {
			continue
		}
		column := r.batch.Column(i)
		for row, size := 0, 0; row < most; row++ {
			if r.row = r.at + row; column.IsNull(r.row) {
				continue
			}
			text, err := r.textOf(column, r.row)
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

// place implements rows.
func (r *recordFile) place() Error { return Error{RowGroup: r.group, Row: r.first + int64(r.row)} }

// take takes the next n rows of the batch.
func (r *recordFile) take(f *filler, n int) error {
	f.reserve(r.table, n)
	base := f.row
	r.times, r.tags = r.times[:0], r.tags[:0]
	for i := range int(r.batch.NumCols()) {
		// A reader of some columns alone has these alone.
		at := r.roleOf(r.batch.ColumnName(i), i)
		column := r.batch.Column(i)
		switch role := r.roles[at]; role.what {
		case isTime:
			if err := r.readTimes(f, column, n); err != nil {
				return err
			}
		case isField:
			if err := r.readField(f, role.place, column, n); err != nil {
				return err
			}
			f.row = base
		case isTag:
			r.tags = append(r.tags, tagColumn{role.place, column})
		}
	}
	for row := range n {
		for _, i := range r.missing {
			f.setNull(i)
		}
		f.finder.begin(r.table)
		r.row = r.at + row
		for _, tag := range r.tags {
			if tag.column.IsNull(r.row) {
				continue
			}
			text, err := r.textOf(tag.column, r.row)
			if err == nil {
				err = f.tagText(tag.place, text, true)
			}
			if err != nil {
				return err
			}
		}
		if _, err := f.finish(r.times[row]); err != nil {
			return err
		}
	}
	return nil
}

// roleOf returns the place of a column among those of the file, which is the guess
// where all are read.
func (r *recordFile) roleOf(name string, guess int) int {
	for at := guess; at < len(r.columns); at++ {
		if r.columns[at] == name {
			return at
		}
	}
	return 0
}

// readTimes reads the times of the next n rows.
func (r *recordFile) readTimes(f *filler, column arrow.Array, n int) error {
	kind, unit := columnType(column.DataType())
	if kind == series.Timestamp && unit > 0 {
		values := column.(*array.Timestamp).Values()[r.at : r.at+n]
		for row, v := range values {
			r.row = r.at + row
			if column.IsNull(r.row) {
				return noTime(r.time)
			}
			ns := int64(v) * unit
			if ns/unit != int64(v) {
				return farTime(r.time, column.ValueStr(r.row))
			}
			r.times = append(r.times, ns)
		}
		return nil
	}
	for row := range n {
		r.row = r.at + row
		if column.IsNull(r.row) {
			return noTime(r.time)
		}
		text, err := r.epochOf(column, r.row)
		if err != nil {
			return err
		}
		if f.absent(text) {
			return noTime(r.time)
		}
		t, err := f.time(r.time, text)
		if err != nil {
			return err
		}
		r.times = append(r.times, t)
	}
	return nil
}

// readField sets a field in the next n rows.
func (r *recordFile) readField(f *filler, place int, column arrow.Array, n int) error {
	base, of := f.row, &f.table.Fields[place]
	c := &f.run.Columns[place]
	switch {
	case column.DataType().ID() == arrow.NULL:
		for row := range n {
			f.row = base + row
			f.setNull(place)
		}
		return nil
	case textual(column.DataType()) || of.Type.Textual():
		for row := range n {
			f.row, r.row = base+row, r.at+row
			if column.IsNull(r.row) {
				f.setNull(place)
				continue
			}
			text, err := r.textOf(column, r.row)
			if err == nil {
				err = f.field(place, text, true)
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
	default:
		into := c.Floats[base : base+n]
		if err := r.floats(into, column, of); err != nil {
			return err
		}
	}
	if column.NullN() > 0 {
		for row := range n {
			if column.IsNull(r.at + row) {
				f.row = base + row
				f.setNull(place)
			}
		}
	}
	return nil
}

// epochOf is textOf, but that numbers have no exponent.
func (r *recordFile) epochOf(column arrow.Array, row int) ([]byte, error) {
	switch a := column.(type) {
	case *array.Float64:
		r.text = strconv.AppendFloat(r.text[:0], a.Value(row), 'f', -1, 64)
	case *array.Float32:
		r.text = strconv.AppendFloat(r.text[:0], float64(a.Value(row)), 'f', -1, 32)
	default:
		return r.textOf(column, row)
	}
	return r.text, nil
}

// farTime is the error of a time that 64 bits of nanoseconds do not hold.
func farTime(column, value string) error {
	return fmt.Errorf("column %s: %s %w; %s, or leave the column out", column, value, errYear, correct)
}

// nanoseconds turns times in units of so many nanoseconds into nanoseconds.
func (r *recordFile) nanoseconds(values []int64, unit int64, column arrow.Array, of *series.Field) error {
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

// wholeNumber is the types that columns have numbers of.
type wholeNumber interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func widen[T wholeNumber](into []int64, from []T) {
	for i := range into {
		into[i] = int64(from[i])
	}
}

func toFloats[T wholeNumber | ~float32 | ~float64](into []float64, from []T) {
	for i := range into {
		into[i] = float64(from[i])
	}
}

// ints reads whole numbers, from the row that is next on.
func (r *recordFile) ints(into []int64, column arrow.Array, of *series.Field) error {
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
				return fmt.Errorf("column %s: %d is more than 64 bits with a sign hold; write %s:%s in fields", of.Name, v, quoteName(of.Name), series.Float)
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
		_, unit := columnType(a.DataType())
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
		return fmt.Errorf("column %s has type %s, which is no %s", of.Name, column.DataType(), of.Type)
	}
	return nil
}

// floats reads numbers, from the row that is next on.
func (r *recordFile) floats(into []float64, column arrow.Array, of *series.Field) error {
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
		return fmt.Errorf("column %s has type %s, which is no %s", of.Name, column.DataType(), of.Type)
	}
	if of.Type == series.Float32 {
		for i := range into {
			into[i] = float64(float32(into[i]))
		}
	}
	return nil
}

// textOf returns a value that is not NULL as text, valid until the next call.
func (r *recordFile) textOf(column arrow.Array, row int) ([]byte, error) {
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
		return r.textOf(a.Dictionary(), a.GetValueIndex(row))
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

// bytesOf returns a string's bytes, which nobody may change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
