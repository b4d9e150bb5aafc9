package driver

import (
	"errors"
	"time"
)

// Errors that a DB wraps with what it was doing.
var (
	// ErrUnreachable means that the system does not answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrExisting means that the place holds data that tsmark did not create.
	ErrExisting = errors.New("holds data that tsmark did not create")
)

// Temporary is an error after which the same rows may be sent again: the
// connection was cut, the server restarts, or it asked to be given time. A
// Writer wraps in it whatever a second try may fix, and nothing else: a row
// that the server finds wrong stays wrong.
type Temporary struct {
	Err error // what happened, and in which operation
	// After is how long the server asked to wait; 0: it did not say.
	After time.Duration
	// Refused says that the server stored none of the rows, as with a 429.
	// Else some or all of them may be stored, as where the connection was cut
	// before the acknowledgement came.
	Refused bool
}

// Error implements error.
func (t *Temporary) Error() string { return t.Err.Error() }

// Unwrap returns what happened.
func (t *Temporary) Unwrap() error { return t.Err }

// AsTemporary returns the Temporary that an error wraps; nil: it wraps none.
func AsTemporary(err error) *Temporary {
	t, _ := errors.AsType[*Temporary](err)
	return t
}
