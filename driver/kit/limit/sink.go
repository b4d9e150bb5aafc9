package limit

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tsmark/tsmark/query"
)

// What is kept of the answer to a statement of tsmark's own at most. The lists
// of tables and settings that it asks for, and its mark, are far smaller.
const (
	OwnRows  = 100_000
	OwnBytes = 64 << 20 // of texts
)

// Sink hands the rows of an answer on, as many as may come. What comes beyond is
// an error at once: the answer may have no end.
type Sink struct {
	To    query.Sink
	Rows  int64 // that may come
	Bytes int64 // of texts in them

	rows, bytes int64
}

// Own returns a sink for the answer to a statement of tsmark's own.
func Own(to query.Sink) *Sink { return &Sink{To: to, Rows: OwnRows, Bytes: OwnBytes} }

// Expected returns a sink for an answer of which the number of rows is known, and how many
// bytes of free texts each has at most. Each may have other texts of a KiB beside what any
// answer may have.
func Expected(to query.Sink, rows, free int64) *Sink {
	return &Sink{To: to, Rows: rows, Bytes: OwnBytes + (longRow+free)*rows}
}

const longRow = 1 << 10

// Came returns how many rows have come.
func (s *Sink) Came() int64 { return s.rows }

// Exceeded reports whether more came than may.
func (s *Sink) Exceeded() bool { return s.rows > s.Rows || s.bytes > s.Bytes }

// Row implements query.Sink.
func (s *Sink) Row(row []query.Value) error {
	if s.rows++; s.rows > s.Rows {
		return fmt.Errorf("the answer has more than %d rows, and was read no further", s.Rows)
	}
	for i := range row {
		s.bytes += int64(len(row[i].Text))
	}
	if s.bytes > s.Bytes {
		return fmt.Errorf("the texts of the answer have more than %d bytes, and it was read no further", s.Bytes)
	}
	return s.To.Row(row)
}

// Refused is an error of reading an answer that is none of the connection's: a sink
// took a row no longer, or a value cannot be read.
type Refused struct{ Err error }

// Error implements error.
func (r *Refused) Error() string { return r.Err.Error() }

// AsRefused returns what Refused says of an error, and nil for one that is none.
func AsRefused(err error) error {
	if r, ok := errors.AsType[*Refused](err); ok {
		return r.Err
	}
	return nil
}

// Unread bounds what a connection reads without a row of an answer coming out
// of it, which is what it may have to keep: a value, a line, a message. The zero
// value has read nothing.
type Unread struct{ bytes atomic.Int64 }

// MaxRow is how many bytes of an answer are read at most before there is a row.
const MaxRow = 32 << 20

// Read counts bytes that came. Its error says that a row never ends.
func (u *Unread) Read(bytes int) error {
	if u.bytes.Add(int64(bytes)) > MaxRow {
		return errEndless
	}
	return nil
}

// Row says that a row came out of what was read, or that another answer begins.
// Of rows that came in one read only the first one costs anything.
func (u *Unread) Row() {
	if u.bytes.Load() != 0 {
		u.bytes.Store(0)
	}
}

var errEndless = fmt.Errorf("the answer has no row within %d MiB, and was read no further", MaxRow>>20)

// IsEndless reports whether an error is Unread's.
func IsEndless(err error) bool { return errors.Is(err, errEndless) }
