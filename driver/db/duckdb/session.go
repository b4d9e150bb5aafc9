//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// session implements sqlkit.Session.
type session struct {
	conn    duck.Connection
	vectors []vector      // of the chunk being read, kept for the next query
	row     []query.Value // passed to the sink
}

// Close implements sqlkit.Session.
func (s *session) Close() { duck.Disconnect(&s.conn) }

// Closed implements sqlkit.Session.
func (s *session) Closed() bool { return s.conn.Ptr == nil }

// Query implements sqlkit.Session.
func (s *session) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	switch {
	case s.Closed():
		return driver.Cost{}, sqlkit.ErrClosed
	case strings.Contains(text, "\x00"):
		return driver.Cost{}, errNUL
	}
	return sqlkit.Interruptible(ctx, "DuckDB", func() { duck.Interrupt(s.conn) }, func() (driver.Cost, error) {
		var result duck.Result
		defer duck.DestroyResult(&result)
		if duck.Query(s.conn, text, &result) != duck.StateSuccess {
			return driver.Cost{}, failure(duck.ResultError(&result))
		}
		return s.read(ctx, &result, sink)
	})
}

// CheckText implements sqlkit.Session: DuckDB parses and binds the text.
func (s *session) CheckText(text string) error {
	switch {
	case s.Closed():
		return sqlkit.ErrClosed
	case strings.Contains(text, "\x00"):
		return errNUL
	}
	if err := checkFunctions(text); err != nil {
		return err
	}
	var statements duck.ExtractedStatements
	n := duck.ExtractStatements(s.conn, text, &statements)
	defer duck.DestroyExtracted(&statements)
	switch {
	case n == 0:
		return failure(cmp.Or(duck.ExtractStatementsError(statements), "the text is empty"))
	case n > 1:
		return fmt.Errorf("the text has %d statements; a query is one", n)
	}
	var statement duck.PreparedStatement
	prepared := duck.PrepareExtractedStatement(s.conn, statements, 0, &statement)
	defer duck.DestroyPrepare(&statement)
	if prepared != duck.StateSuccess {
		return failure(duck.PrepareError(statement))
	}
	if duck.PreparedStatementType(statement) != duck.StatementTypeSelect {
		return errors.New("DuckDB parses the text as a statement that does more than read; write a SELECT")
	}
	return nil
}

// refusedFunctions matches names of functions that have effects when a SELECT with them is prepared,
// and of functions that run a text as SQL. enable_logging with a file ends the process with an uncaught
// exception if access to files is off. DuckDB's names have no escapes, so a call must contain the
// function's name.
var refusedFunctions = regexp.MustCompile(`(?i)\b((enable|disable|truncate)\w*_log(ging|s)|write_log|query|query_table|json_execute_serialized_sql|(force_)?checkpoint|(enable|disable)_profil\w+)\b`)

// checkFunctions refuses a text with such a name.
func checkFunctions(text string) error {
	if name := refusedFunctions.FindString(text); name != "" {
		return fmt.Errorf("the text has the word %s, the name of a DuckDB function that changes settings or runs a text as SQL; leave it out, or give a column of that name another one", name)
	}
	return nil
}

// errNUL is the error of a text that DuckDB would truncate.
var errNUL = errors.New("DuckDB would cut the statement off at its NUL character")

// failure converts DuckDB's message to an error, without the stack trace of fatal ones. The error of a
// full disk wraps syscall.ENOSPC.
func failure(message string) error {
	message, _, _ = strings.Cut(message, "\n\nStack Trace:")
	message, _, _ = strings.Cut(message, "\nStack Trace:")
	if full := syscall.ENOSPC; strings.Contains(strings.ToLower(message), full.Error()) {
		return fmt.Errorf("%w; free space there, or choose another file system (%s)", full, message)
	}
	return errors.New(message)
}

// read passes the rows of the result to the sink.
func (s *session) read(ctx context.Context, result *duck.Result, sink query.Sink) (driver.Cost, error) {
	columns := int(duck.ColumnCount(result))
	s.vectors, s.row = s.vectors[:0], s.row[:0]
	for c := range columns {
		v := newVector(result, duck.IdxT(c))
		if !v.isKnown() {
			return driver.Cost{}, fmt.Errorf("column %s of the answer has a type that tsmark does not read (DuckDB's number %d); cast it to BIGINT, DOUBLE, TIMESTAMP or VARCHAR",
				duck.ColumnName(result, duck.IdxT(c)), v.kind)
		}
		s.vectors, s.row = append(s.vectors, v), append(s.row, query.Value{})
	}
	var cost driver.Cost
	for {
		if ctx.Err() != nil {
			return cost, ctx.Err()
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
