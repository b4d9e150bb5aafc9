//go:build !light

package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/tsmark/tsmark/workload/file/input"
)

const (
	nsOfDay = 24 * 60 * 60 * 1e9
	msOfDay = 24 * 60 * 60 * 1e3

	dateLayout = "2006-01-02"
)

// recordRows is the number of Parquet rows decoded at a time.
const recordRows = 16 << 10

// maxPiece is the maximum size of one allocation for a file of record batches: damaged files
// contain absurd sizes.
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

// Source reads record batches one after the other.
type Source interface {
	// Next returns the next batch, which is valid until the following call, or io.EOF. Group is
	// its row group, or its own number, and row is its first row in the group.
	Next() (batch arrow.RecordBatch, group int, row int64, err error)
	Schema() (*arrow.Schema, error)
	// Restrict makes Next skip the row groups that are not wanted.
	Restrict(wanted func(group int) bool)
}

// wantedGroups selects the row groups to read of a source; the zero value selects all.
type wantedGroups struct{ wanted func(group int) bool }

func (w *wantedGroups) Restrict(wanted func(group int) bool) { w.wanted = wanted }

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

// openParquet opens a Parquet file and reads its wanted flat columns. A nil function selects all
// columns except INT96 columns if there are others: an inspection of types does not need their
// values, and an out-of-range value must not prevent loading a file without that column.
func openParquet(f *os.File, wanted func(name string) bool) (*parquetSource, error) {
	in, err := file.NewParquetReader(f)
	if err != nil {
		return nil, fmt.Errorf("is not a Parquet file that can be read (%w); %s", err, input.CopyAgain)
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

// invalidINT96 returns the row of the first INT96 value of the row group that does not fit in 64
// bits of nanoseconds, with the error; nil: all values fit. INT96 can represent all years, and the
// library's error does not name the row.
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

func (p *parquetSource) Schema() (*arrow.Schema, error) {
	var fields []arrow.Field
	for i := range p.of.Manifest.Fields {
		fields = append(fields, *p.of.Manifest.Fields[i].Field)
	}
	return arrow.NewSchema(fields, nil), nil
}

func (p *parquetSource) Next() (arrow.RecordBatch, int, int64, error) {
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

func (a *arrowFileSource) Schema() (*arrow.Schema, error) { return a.of.Schema(), nil }

func (a *arrowFileSource) Next() (arrow.RecordBatch, int, int64, error) {
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

func (a *arrowStreamSource) Schema() (*arrow.Schema, error) { return a.of.Schema(), nil }

func (a *arrowStreamSource) Next() (arrow.RecordBatch, int, int64, error) {
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
