//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

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

// appender appends rows to one table through chunks that it fills in place.
// After an error it can only be discarded.
type appender struct {
	raw     duck.Appender
	chunk   duck.DataChunk
	vectors []duck.Vector
	data    []unsafe.Pointer // of each vector
	valid   []series.Bitmap  // of each vector; nil as long as it has no NULL
	n       int              // rows in the chunk
}

// newAppender opens an appender to a table whose columns have the types.
func newAppender(s *session, table string, types []duck.Type) (*appender, error) {
	a := &appender{
		vectors: make([]duck.Vector, len(types)),
		data:    make([]unsafe.Pointer, len(types)),
		valid:   make([]series.Bitmap, len(types)),
	}
	if duck.AppenderCreateExt(s.conn, "", "main", table, &a.raw) != duck.StateSuccess {
		err := a.failure()
		duck.AppenderDestroy(&a.raw)
		return nil, fmt.Errorf("opening an appender to table %s: %w", table, err)
	}
	logical := make([]duck.LogicalType, len(types))
	for i, t := range types {
		logical[i] = duck.CreateLogicalType(t)
		defer duck.DestroyLogicalType(&logical[i])
	}
	a.chunk = duck.CreateDataChunk(logical)
	a.point()
	return a, nil
}

// point finds the memory of the empty chunk.
func (a *appender) point() {
	for c := range a.vectors {
		a.vectors[c] = duck.DataChunkGetVector(a.chunk, duck.IdxT(c))
		a.data[c] = duck.VectorGetData(a.vectors[c])
		a.valid[c] = nil
	}
	a.n = 0
}

// room returns the number of rows that the chunk still takes, at least 1.
func (a *appender) room() int { return vectorSize - a.n }

// column returns the next rows of a column, to be filled.
func column[T any](a *appender, c, rows int) []T {
	return unsafe.Slice((*T)(a.data[c]), vectorSize)[a.n : a.n+rows]
}

// validity returns the bitmap of the rows of a column that have a value.
func (a *appender) validity(c int) series.Bitmap {
	if a.valid[c] == nil {
		duck.VectorEnsureValidityWritable(a.vectors[c])
		a.valid[c] = unsafe.Slice((*uint64)(duck.VectorGetValidity(a.vectors[c])), vectorSize/64)
	}
	return a.valid[c]
}

// setNull sets one of the next rows to NULL.
func (a *appender) setNull(c, row int) {
	at := a.n + row
	a.validity(c)[at>>6] &^= 1 << (uint(at) & 63)
}

// setNulls sets the next rows to NULL that are marked in nulls, from row lo on.
func (a *appender) setNulls(c int, nulls series.Bitmap, lo, rows int) {
	for w := lo >> 6; w<<6 < lo+rows; w++ {
		marked := nulls[w]
		for ; marked != 0; marked &= marked - 1 {
			row := w<<6 + bits.TrailingZeros64(marked) - lo
			if row < 0 || row >= rows {
				continue
			}
			a.setNull(c, row)
		}
	}
}

// advance takes the next rows, which the caller has filled.
func (a *appender) advance(rows int) error {
	a.n += rows
	if a.n < vectorSize {
		return nil
	}
	return a.spill()
}

// spill passes the chunk to the appender.
func (a *appender) spill() error {
	if a.n == 0 {
		return nil
	}
	duck.DataChunkSetSize(a.chunk, duck.IdxT(a.n))
	if duck.AppendDataChunk(a.raw, a.chunk) != duck.StateSuccess {
		return a.failure()
	}
	duck.DataChunkReset(a.chunk)
	a.point()
	return nil
}

// flush passes everything to the session's transaction.
func (a *appender) flush() error {
	if err := a.spill(); err != nil {
		return err
	}
	if duck.AppenderFlush(a.raw) != duck.StateSuccess {
		return a.failure()
	}
	return nil
}

func (a *appender) failure() error {
	data := duck.AppenderErrorData(a.raw)
	defer duck.DestroyErrorData(&data)
	return failure(duck.ErrorDataMessage(data))
}

// Close releases the appender. It may flush its buffer to the session's transaction, which the caller
// then rolls back.
func (a *appender) Close() {
	duck.DestroyDataChunk(&a.chunk)
	duck.AppenderDestroy(&a.raw)
}
