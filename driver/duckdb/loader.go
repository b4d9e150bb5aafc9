//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"fmt"
	"math/bits"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/series"
)

// vectorSize is the number of rows in a full chunk, fixed when DuckDB is
// built.
const vectorSize = 2048

// loader appends rows to one table through chunks that it fills in place.
// After an error it can only be discarded.
type loader struct {
	appender duck.Appender
	chunk    duck.DataChunk
	vectors  []duck.Vector
	data     []unsafe.Pointer // of each vector
	valid    []series.Bitmap  // of each vector; nil as long as it has no NULL
	n        int              // rows in the chunk
}

// newLoader opens an appender to a table whose columns have the types.
func newLoader(s *session, table string, types []duck.Type) (*loader, error) {
	l := &loader{
		vectors: make([]duck.Vector, len(types)),
		data:    make([]unsafe.Pointer, len(types)),
		valid:   make([]series.Bitmap, len(types)),
	}
	if duck.AppenderCreateExt(s.conn, "", "main", table, &l.appender) != duck.StateSuccess {
		err := l.failure()
		duck.AppenderDestroy(&l.appender)
		return nil, fmt.Errorf("opening an appender to table %s: %w", table, err)
	}
	logical := make([]duck.LogicalType, len(types))
	for i, t := range types {
		logical[i] = duck.CreateLogicalType(t)
		defer duck.DestroyLogicalType(&logical[i])
	}
	l.chunk = duck.CreateDataChunk(logical)
	l.point()
	return l, nil
}

// point finds the memory of the empty chunk.
func (l *loader) point() {
	for c := range l.vectors {
		l.vectors[c] = duck.DataChunkGetVector(l.chunk, duck.IdxT(c))
		l.data[c] = duck.VectorGetData(l.vectors[c])
		l.valid[c] = nil
	}
	l.n = 0
}

// room returns the number of rows that the chunk still takes, at least 1.
func (l *loader) room() int { return vectorSize - l.n }

// column returns the next rows of a column, to be filled.
func column[T any](l *loader, c, rows int) []T {
	return unsafe.Slice((*T)(l.data[c]), vectorSize)[l.n : l.n+rows]
}

// validity returns the bitmap of the rows of a column that have a value.
func (l *loader) validity(c int) series.Bitmap {
	if l.valid[c] == nil {
		duck.VectorEnsureValidityWritable(l.vectors[c])
		l.valid[c] = unsafe.Slice((*uint64)(duck.VectorGetValidity(l.vectors[c])), vectorSize/64)
	}
	return l.valid[c]
}

// setNull makes the first of the next rows NULL.
func (l *loader) setNull(c int) { l.setNullAt(c, 0) }

// setNullAt makes one of the next rows NULL.
func (l *loader) setNullAt(c, row int) {
	at := l.n + row
	l.validity(c)[at>>6] &^= 1 << (uint(at) & 63)
}

// setNulls makes those of the next rows NULL that are marked from row lo of
// nulls on.
func (l *loader) setNulls(c int, nulls series.Bitmap, lo, rows int) {
	for w := lo >> 6; w<<6 < lo+rows; w++ {
		marked := nulls[w]
		for ; marked != 0; marked &= marked - 1 {
			row := w<<6 + bits.TrailingZeros64(marked) - lo
			if row < 0 || row >= rows {
				continue
			}
			l.setNullAt(c, row)
		}
	}
}

// advance takes the next rows, which the caller has filled.
func (l *loader) advance(rows int) error {
	l.n += rows
	if l.n < vectorSize {
		return nil
	}
	return l.spill()
}

// spill hands the chunk to the appender.
func (l *loader) spill() error {
	if l.n == 0 {
		return nil
	}
	duck.DataChunkSetSize(l.chunk, duck.IdxT(l.n))
	if duck.AppendDataChunk(l.appender, l.chunk) != duck.StateSuccess {
		return l.failure()
	}
	duck.DataChunkReset(l.chunk)
	l.point()
	return nil
}

// flush hands everything to the session's transaction.
func (l *loader) flush() error {
	if err := l.spill(); err != nil {
		return err
	}
	if duck.AppenderFlush(l.appender) != duck.StateSuccess {
		return l.failure()
	}
	return nil
}

func (l *loader) failure() error {
	data := duck.AppenderErrorData(l.appender)
	defer duck.DestroyErrorData(&data)
	return failure(duck.ErrorDataMessage(data))
}

// discard releases the loader. The appender may hand what it holds to the
// session's transaction, which the caller then rolls back.
func (l *loader) discard() {
	duck.DestroyDataChunk(&l.chunk)
	duck.AppenderDestroy(&l.appender)
}
