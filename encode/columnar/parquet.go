//go:build !light

package columnar

import (
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// parquetFile writes one table as Parquet, a row group at a time.
type parquetFile struct {
	out *pqfile.Writer
	*parquetEncoder
}

// parquetEncoder encodes the columns of a row group in parallel. All files of
// a dataset share it.
type parquetEncoder struct {
	present []int16          // definition levels of rows that all have a value
	scratch []parquetScratch // per goroutine
}

// parquetScratch is the memory of one goroutine.
type parquetScratch struct {
	levels []int16 // per row, 1 or, where it is NULL, 0
	codes  []int32 // per row, position among the row group's own values
	valid  []byte  // of codes
	cells  cells

	local  []int32    // per value of the tag, 1 + its position among the row group's own; 0: not there
	used   []int32    // the row group's own values
	texts  texts.List // the same as text
	floats []float64  // the same as numbers
}

func openParquet(rows int) func(io.Writer, *table) (file, error) {
	e := &parquetEncoder{
		present: make([]int16, rows),
		scratch: make([]parquetScratch, runtime.GOMAXPROCS(0)),
	}
	for i := range e.present {
		e.present[i] = 1
	}
	return func(w io.Writer, t *table) (file, error) {
		root, properties, err := parquetSchema(t.of)
		if err != nil {
			return nil, err
		}
		return &parquetFile{pqfile.NewParquetWriter(w, root, pqfile.WithWriterProps(properties)), e}, nil
	}
}

// parquetSchema returns the columns of a table and how they are stored.
func parquetSchema(of *series.Table) (*schema.GroupNode, *pq.WriterProperties, error) {
	properties := []pq.WriterProperty{
		pq.WithCreatedBy("tsmark"),
		// Twice as fast as zstd, and hardly larger where integers are.
		pq.WithCompression(compress.Codecs.Snappy),
		pq.WithDictionaryDefault(false),
		// A row group's dictionary is shorter than its rows.
		pq.WithDictionaryPageSizeLimit(texts.Max),
	}
	var columns schema.FieldList
	var err error
	add := func(name string, repetition pq.Repetition, logical schema.LogicalType, physical pq.Type) {
		node, bad := schema.NewPrimitiveNodeLogical(name, repetition, logical, physical, -1, -1)
		if bad != nil && err == nil {
			err = fmt.Errorf("column %s: %w", name, bad)
		}
		columns = append(columns, node)
	}
	add(timeColumn, pq.Repetitions.Required, schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), pq.Types.Int64)
	properties = append(properties, pq.WithEncodingFor(timeColumn, pq.Encodings.DeltaBinaryPacked))
	for i := range of.Tags {
		key := of.Tags[i].Key
		if of.Tags[i].Numeric() {
			add(key, pq.Repetitions.Optional, schema.NoLogicalType{}, pq.Types.Double)
		} else {
			add(key, pq.Repetitions.Optional, schema.StringLogicalType{}, pq.Types.ByteArray)
		}
		// Writing dictionary codes bypasses the statistics, which would then report no NULLs.
		properties = append(properties, pq.WithDictionaryFor(key, true), pq.WithStatsFor(key, false))
	}
	for _, f := range of.Fields {
		logical, physical := parquetType(f.Type)
		add(f.Name, pq.Repetitions.Optional, logical, physical)
		if physical == pq.Types.Int64 || physical == pq.Types.Int32 {
			properties = append(properties, pq.WithEncodingFor(f.Name, pq.Encodings.DeltaBinaryPacked))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	root, err := schema.NewGroupNode(of.Name, pq.Repetitions.Required, columns, -1)
	return root, pq.NewWriterProperties(properties...), err
}

// parquetType returns what a field's values mean in a file, and how they lie in it.
func parquetType(t series.Type) (schema.LogicalType, pq.Type) {
	none := schema.NoLogicalType{}
	switch t {
	case series.Bool:
		return none, pq.Types.Boolean
	case series.Int32:
		return none, pq.Types.Int32
	case series.Float32:
		return none, pq.Types.Float
	case series.Float:
		return none, pq.Types.Double
	case series.Text:
		return schema.StringLogicalType{}, pq.Types.ByteArray
	case series.Blob:
		return none, pq.Types.ByteArray
	case series.Timestamp:
		return schema.NewTimestampLogicalType(true, schema.TimeUnitNanos), pq.Types.Int64
	case series.Date:
		return schema.DateLogicalType{}, pq.Types.Int32
	}
	return none, pq.Types.Int64
}

func (p *parquetFile) write(t *table) error {
	group, err := p.out.AppendBufferedRowGroupChecked()
	if err != nil {
		return err
	}
	var next atomic.Int64
	var workers errgroup.Group
	for i := range p.scratch {
		workers.Go(func() error {
			for {
				column := int(next.Add(1) - 1)
				if column >= group.NumColumns() {
					return nil
				}
				w, err := group.Column(column)
				if err != nil {
					return err
				}
				if err := p.column(w, t, column, &p.scratch[i]); err != nil {
					return fmt.Errorf("column %s: %w", w.Descr().Name(), err)
				}
			}
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	return group.Close()
}

// column writes one column of a row group.
func (e *parquetEncoder) column(w pqfile.ColumnChunkWriter, t *table, i int, s *parquetScratch) error {
	switch tag := i - 1; {
	case i == 0:
		if _, err := w.(*pqfile.Int64ColumnChunkWriter).WriteBatch(t.times, nil, nil); err != nil {
			return err
		}
	case tag < len(t.tags):
		if err := e.tag(w, t.tags[tag], t.series, s); err != nil {
			return err
		}
	default:
		at := tag - len(t.tags)
		if err := e.field(w, &t.fields[at], t.of.Fields[at].Length, t.rows(), s); err != nil {
			return err
		}
		// Long texts may have ended a page, behind which there is nothing to flush: the
		// library panics then.
		if buffered, ok := w.(interface{ EstimatedBufferedValueBytes() int64 }); t.fields[at].free != nil && ok && buffered.EstimatedBufferedValueBytes() == 0 {
			return nil
		}
	}
	// Otherwise closing the row group does it, one column after the other.
	return w.(interface{ FlushCurrentPage() error }).FlushCurrentPage()
}

// field writes the column of a field, whose texts have a length.
func (e *parquetEncoder) field(w pqfile.ColumnChunkWriter, c *column, length, rows int, s *parquetScratch) (err error) {
	levels := e.levels(c.valid, c.nulls, rows, s)
	// Not WriteBatch, which makes a text for an assertion at every value.
	switch w := w.(type) {
	case *pqfile.Int64ColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(c.ints, levels, nil, c.valid, 0)
	case *pqfile.Float64ColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(c.floats, levels, nil, c.valid, 0)
	case *pqfile.Int32ColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(s.cells.asShorts(c.ints), levels, nil, c.valid, 0)
	case *pqfile.Float32ColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(s.cells.asSingles(c.floats), levels, nil, c.valid, 0)
	case *pqfile.BooleanColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(s.cells.asBools(c.ints), levels, nil, c.valid, 0)
	case *pqfile.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatchSpacedWithError(s.cells.asArrays(c, length), levels, nil, c.valid, 0)
	}
	return err
}

// levels returns the definition levels of a column.
func (e *parquetEncoder) levels(valid []byte, nulls, rows int, s *parquetScratch) []int16 {
	if nulls == 0 {
		return e.present[:rows]
	}
	s.levels = s.levels[:0]
	for row := range rows {
		s.levels = append(s.levels, int16(valid[row>>3]>>(row&7)&1))
	}
	return s.levels
}

// tag writes the column of a tag: the values that the row group has as its
// dictionary, and the position of each row's among them.
func (e *parquetEncoder) tag(w pqfile.ColumnChunkWriter, t *tag, of []uint32, s *parquetScratch) error {
	nulls := s.encode(t, of)
	// The encoder's type is internal to the library, which offers no other way
	// than this to write codes; Put hashes the text of every row.
	encoder, ok := w.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
	if !ok {
		return fmt.Errorf("%T takes no dictionary", w.CurrentEncoder())
	}
	if err := encoder.PutDictionary(s.dictionary(t)); err != nil {
		return err
	}
	codes := newArray(arrow.PrimitiveTypes.Int32, len(of), s.valid, nulls, arrow.Int32Traits.CastToBytes(s.codes))
	return w.WriteDictIndices(codes, e.levels(s.valid, nulls, len(of), s), nil)
}

// encode fills codes, valid and used, and returns how many rows lack the tag.
func (s *parquetScratch) encode(t *tag, of []uint32) (nulls int) {
	if n := t.values.Len(); len(s.local) < n {
		s.local = make([]int32, n)
	}
	if n := (len(of) + 7) / 8; len(s.valid) < n {
		s.valid = make([]byte, n)
	}
	setAll(s.valid)
	s.codes, s.used = s.codes[:0], s.used[:0]
	for row, in := range of {
		code := t.codes[in-t.first]
		if code == absent {
			clearBit(s.valid, row)
			nulls++
			s.codes = append(s.codes, 0)
			continue
		}
		if s.local[code] == 0 {
			s.used = append(s.used, code)
			s.local[code] = int32(len(s.used))
		}
		s.codes = append(s.codes, s.local[code]-1)
	}
	for _, code := range s.used {
		s.local[code] = 0
	}
	return nulls
}

// dictionary returns the row group's own values.
func (s *parquetScratch) dictionary(t *tag) arrow.Array {
	if t.numbers != nil {
		s.floats = s.floats[:0]
		for _, code := range s.used {
			s.floats = append(s.floats, t.numbers[code])
		}
		return newArray(arrow.PrimitiveTypes.Float64, len(s.used), nil, 0, arrow.Float64Traits.CastToBytes(s.floats))
	}
	s.texts.Reset()
	for _, code := range s.used {
		s.texts.Add(t.values.Text(code))
	}
	return newStrings(&s.texts)
}

func (p *parquetFile) close() error {
	// Close forgets the error of writing the footer; it writes none again.
	if err := p.out.FlushWithFooter(); err != nil {
		return err
	}
	return p.out.Close()
}
