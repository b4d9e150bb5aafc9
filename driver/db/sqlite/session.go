package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	lib "modernc.org/sqlite/lib"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// library is a connection of SQLite's code: its own in C, or its translation to Go. The driver in the
// package that compiles it would allocate for every value; here, values are passed as cells, those of
// many rows in one call.
type library interface {
	// compile compiles the first statement of a text, and returns the text after it. c is nil if the
	// text has no statement.
	compile(text string) (c compiled, rest string, code int32)
	// message explains a result code by the most recent error.
	message(code int32) string
	interrupt() // ends the statement that runs, from another goroutine
	close()
}

// compiled is a statement of a library.
type compiled interface {
	columns() int
	// row steps to the next row and reads its columns.
	row([]cell) (code int32)
	// run binds all parameters and steps. The texts must not change before reset.
	run(cells []cell, texts []byte) (code int32)
	reset(texts bool) // says whether there were texts
	finalize()
}

// cell is a value in the layout of the C code. For a bound text, integer is its offset in all texts;
// for a text that was read, it is the address, which is valid until the next row.
type cell struct {
	integer      int64
	number       float64
	kind, length int32
}

// session implements sqlkit.Session.
type session struct {
	library               // nil: closed
	row     []query.Value // passed to the sink
	cells   []cell
}

// Close implements sqlkit.Session.
func (s *session) Close() {
	if !s.Closed() {
		s.library.close()
		s.library = nil
	}
}

// Closed implements sqlkit.Session.
func (s *session) Closed() bool { return s.library == nil }

// Query implements sqlkit.Session.
func (s *session) Query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error) {
	if s.Closed() {
		return driver.Cost{}, sqlkit.ErrClosed
	}
	return sqlkit.Interruptible(ctx, "SQLite", s.interrupt, func() (driver.Cost, error) {
		c, err := s.prepare(text)
		if err != nil {
			return driver.Cost{}, err
		}
		defer c.finalize()
		return s.read(c, sink)
	})
}

// prepare compiles the only statement of the text.
func (s *session) prepare(text string) (compiled, error) {
	switch {
	case s.Closed():
		return nil, sqlkit.ErrClosed
	case strings.Contains(text, "\x00"):
		return nil, errors.New("SQLite would cut the statement off at its NUL character")
	}
	c, rest, code := s.compile(text)
	if code != lib.SQLITE_OK {
		return nil, explain(code, s.message(code))
	}
	if c != nil && strings.TrimSpace(rest) == "" {
		return c, nil
	}
	if c != nil {
		c.finalize()
	}
	return nil, fmt.Errorf("not one statement: %q", text)
}

// CheckText implements sqlkit.Session: SQLite compiles the text, which is one statement, and
// again as a subquery, which can only read.
func (s *session) CheckText(text string) error {
	for _, one := range []string{text, sqlkit.Parenthesize("SELECT EXISTS", text)} {
		c, err := s.prepare(one)
		if err != nil {
			return err
		}
		c.finalize()
	}
	return nil
}

// read runs the statement and passes its rows to the sink.
func (s *session) read(c compiled, sink query.Sink) (cost driver.Cost, err error) {
	s.row, s.cells = s.row[:0], s.cells[:0]
	for range c.columns() {
		s.row, s.cells = append(s.row, query.Value{}), append(s.cells, cell{})
	}
	for {
		switch code := c.row(s.cells); code {
		case lib.SQLITE_ROW:
		case lib.SQLITE_DONE:
			return cost, nil
		default:
			return cost, explain(code, s.message(code))
		}
		for i := range s.cells {
			cost.Bytes += int64(s.cells[i].length)
			s.row[i] = s.cells[i].value()
		}
		cost.Rows++
		if sink != nil {
			if err := sink.Row(s.row); err != nil {
				return cost, err
			}
		}
	}
}

// value returns the value that was read. A text points to SQLite's memory. Times are integers, because
// SQLite has no type for them.
func (c *cell) value() query.Value {
	switch c.kind {
	case lib.SQLITE_INTEGER:
		return query.Value{Kind: query.Int, Int: c.integer}
	case lib.SQLITE_FLOAT:
		return query.Value{Kind: query.Float, Float: c.number}
	case lib.SQLITE_NULL:
		return query.Value{}
	}
	v := query.Value{Kind: query.Text}
	if c.length > 0 {
		v.Text = unsafe.Slice((*byte)(memory(uintptr(c.integer))), c.length)
	}
	return v
}

// memory converts an address outside Go's heap to a pointer.
func memory(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// statement is a compiled statement without a result. It collects its parameters in order, and binds
// them when it runs.
type statement struct {
	compiled
	s     *session
	cells []cell
	texts []byte
}

// statement compiles a statement.
func (s *session) statement(text string) (*statement, error) {
	c, err := s.prepare(text)
	if err != nil {
		return nil, err
	}
	return &statement{compiled: c, s: s, texts: make([]byte, 0, 64)}, nil // an address, also of an empty text
}

func (st *statement) bindInt(v int64) {
	st.cells = append(st.cells, cell{kind: lib.SQLITE_INTEGER, integer: v})
}

func (st *statement) bindFloat(v float64) {
	st.cells = append(st.cells, cell{kind: lib.SQLITE_FLOAT, number: v})
}

func (st *statement) bindNull() { st.cells = append(st.cells, cell{kind: lib.SQLITE_NULL}) }

// bindBytes binds a copy of a text or a blob.
func (st *statement) bindBytes(kind int32, v []byte) {
	st.cells = append(st.cells, cell{kind: kind, integer: int64(len(st.texts)), length: int32(len(v))})
	st.texts = append(st.texts, v...)
}

// exec runs the statement, and clears its parameters.
func (st *statement) exec() (err error) {
	if code := st.run(st.cells, st.texts); code != lib.SQLITE_DONE {
		err = explain(code, st.s.message(code))
	}
	st.reset(len(st.texts) > 0)
	st.cells, st.texts = st.cells[:0], st.texts[:0]
	return err
}
