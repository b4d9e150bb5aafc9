package limit

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tsmark/tsmark/query"
)

// The limits of results of tsmark's own statements. The lists of tables and settings that it reads, and
// its mark, are far smaller.
const (
	OwnRows  = 100_000
	OwnBytes = 64 << 20 // of texts
)

// Sink passes on the rows of a result up to a limit. Any row beyond it is an error immediately, because
// the result may never end.
type Sink struct {
	To    query.Sink
	Rows  int64 // that may come
	Bytes int64 // of texts in them

	rows, bytes int64
}

// NewOwnSink returns a sink for the answer to a statement of tsmark's own.
func NewOwnSink(to query.Sink) *Sink { return &Sink{To: to, Rows: OwnRows, Bytes: OwnBytes} }

// NewSink returns a sink for a result with a known number of rows and a known largest size in bytes of
// each row's free texts. In addition, each row may have a KiB of other texts, and the result as a whole
// OwnBytes.
func NewSink(to query.Sink, rows, free int64) *Sink {
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

// Refused is an error of reading a result that does not come from the connection: the sink rejected a
// row, or a value cannot be decoded.
type Refused struct{ Err error }

// Error implements error.
func (r *Refused) Error() string { return r.Err.Error() }

// AsRefused returns the error inside a Refused, and nil for any other error.
func AsRefused(err error) error {
	if r, ok := errors.AsType[*Refused](err); ok {
		return r.Err
	}
	return nil
}

// Unread limits the bytes that a connection reads without completing a row of a result. It may have to
// buffer them: a value, a line, a message. The zero value has read nothing.
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

// Row records that the bytes read so far have produced a row, or that another result begins. Only the
// first of several rows in one read costs anything.
func (u *Unread) Row() {
	if u.bytes.Load() != 0 {
		u.bytes.Store(0)
	}
}

var errEndless = fmt.Errorf("the answer has no row within %d MiB, and was read no further", MaxRow>>20)

// IsEndless reports whether an error is Unread's.
func IsEndless(err error) bool { return errors.Is(err, errEndless) }
