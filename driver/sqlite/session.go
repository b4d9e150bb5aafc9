package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// session is one connection of a SQLite library to a file, used by one goroutine
// at a time.
type session interface {
	// query runs a statement and hands the rows of its answer to the sink, if there
	// is one. Without a sink every value is read all the same. It wraps ctx's error
	// where that ends it.
	query(ctx context.Context, text string, sink query.Sink) (driver.Cost, error)
	// prepare compiles the only statement of the text.
	prepare(text string) (statement, error)
	// rollback undoes the open transaction, if SQLite has not done so already.
	rollback()
	// close releases the connection; a second call does nothing.
	close()
	closed() bool
}

// statement is a compiled statement of a session. Its parameters are numbered
// from 1. Binding one fails only where the number is wrong or memory is at its
// end, and is not checked: run reports the latter.
type statement interface {
	bindInt(i int32, v int64)
	bindFloat(i int32, v float64)
	bindNull(i int32)
	bindText(i int32, v []byte) // a copy
	bindBlob(i int32, v []byte) // a copy
	// run executes a statement that has no answer. What was bound may be gone
	// afterwards.
	run() error
	// finalize releases the statement; a second call does nothing.
	finalize()
}

var errClosed = errors.New("the connection is closed")

// exec runs statements one after the other and drops their answers.
func exec(ctx context.Context, s session, texts ...string) error {
	for _, text := range texts {
		if _, err := s.query(ctx, text, nil); err != nil {
			return err
		}
	}
	return nil
}

// compilable reports what no library is asked to compile.
func compilable(text string, closed bool) error {
	switch {
	case closed:
		return errClosed
	case strings.Contains(text, "\x00"):
		return errors.New("SQLite would cut the statement off at its NUL character")
	}
	return nil
}

func severalStatements(text string) error { return fmt.Errorf("not one statement: %q", text) }

func interrupted(ctx context.Context) error {
	return fmt.Errorf("SQLite's statement was interrupted: %w", context.Cause(ctx))
}
