//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// session is one connection, used by one goroutine at a time.
type session struct {
	conn    duck.Connection
	vectors []vector      // of the chunk being read, kept for the next query
	row     []query.Value // handed to the sink
}

var errClosed = errors.New("the connection is closed")

// close releases the connection; a second call does nothing.
func (s *session) close() { duck.Disconnect(&s.conn) }

// exec runs a statement and drops its answer.
func (s *session) exec(ctx context.Context, text string) error {
	_, err := s.query(ctx, text, nil)
	return err
}

// query runs a statement and hands the rows of its answer to the sink, if
// there is one. Without a sink every value is read all the same. It wraps
// ctx's error where that ends it.
func (s *session) query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	switch {
	case s.conn.Ptr == nil:
		return driver.Cost{}, errClosed
	case strings.Contains(text, "\x00"):
		return driver.Cost{}, errors.New("DuckDB would cut the statement off at its NUL character")
	case ctx.Err() != nil:
		return driver.Cost{}, interrupted(ctx)
	}
	var result duck.Result
	defer duck.DestroyResult(&result)
	settle := sqlkit.InterruptWhenDone(ctx, func() { duck.Interrupt(s.conn) })
	state := duck.Query(s.conn, text, &result)
	settle()
	if state != duck.StateSuccess {
		if ctx.Err() != nil {
			return driver.Cost{}, interrupted(ctx)
		}
		return driver.Cost{}, failure(duck.ResultError(&result))
	}
	return s.read(ctx, &result, sink)
}

func interrupted(ctx context.Context) error {
	return fmt.Errorf("DuckDB's statement was interrupted: %w", context.Cause(ctx))
}

// read hands the rows of the result to the sink.
func (s *session) read(ctx context.Context, result *duck.Result, sink query.Sink) (driver.Cost, error) {
	columns := int(duck.ColumnCount(result))
	s.vectors, s.row = s.vectors[:0], s.row[:0]
	for c := range columns {
		v := vector{kind: duck.ColumnType(result, duck.IdxT(c))}
		if !v.known() {
			return driver.Cost{}, fmt.Errorf("column %s of the answer has a type that tsmark does not read (DuckDB's number %d); cast it to BIGINT, DOUBLE, TIMESTAMP or VARCHAR",
				duck.ColumnName(result, duck.IdxT(c)), v.kind)
		}
		s.vectors, s.row = append(s.vectors, v), append(s.row, query.Value{})
	}
	var cost driver.Cost
	for {
		if ctx.Err() != nil {
			return cost, interrupted(ctx)
		}
		chunk := duck.FetchChunk(*result)
		if chunk.Ptr == nil {
			return cost, nil
		}
		err := s.readChunk(chunk, sink, &cost)
		duck.DestroyDataChunk(&chunk)
		if err != nil {
			return cost, err
		}
	}
}

func (s *session) readChunk(chunk duck.DataChunk, sink query.Sink, cost *driver.Cost) error {
	for c := range s.vectors {
		s.vectors[c].point(duck.DataChunkGetVector(chunk, duck.IdxT(c)))
	}
	for r := range int(duck.DataChunkGetSize(chunk)) {
		for c := range s.vectors {
			n, err := s.vectors[c].value(r, &s.row[c])
			if err != nil {
				return fmt.Errorf("row %d, column %d of the answer: %w", cost.Rows, c, err)
			}
			cost.Bytes += int64(n)
		}
		cost.Rows++
		if sink != nil {
			if err := sink.Row(s.row); err != nil {
				return err
			}
		}
	}
	return nil
}
