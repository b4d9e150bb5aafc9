package driver

import (
	"errors"
	"time"
)

// Errors that a DB wraps with the operation that failed.
var (
	// ErrUnreachable means that the system does not answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrExisting means that the place holds data that tsmark did not create.
	ErrExisting = errors.New("holds data that tsmark did not create")
)

// Temporary is an error after which the same rows may be sent again: the connection was cut, the server
// is restarting, or it requested a delay. A Writer wraps every error that a retry may fix, and no
// other: a retry does not help a row that the server rejects.
type Temporary struct {
	Err error // what failed, and in which operation
	// After is the delay that the server requested; 0: none.
	After time.Duration
	// Refused means that the server stored none of the rows, as with a 429. Otherwise some or all of
	// them may be stored, for example if the connection was cut before the acknowledgement.
	Refused bool
}

// Error implements error.
func (t *Temporary) Error() string { return t.Err.Error() }

// Unwrap returns the wrapped error.
func (t *Temporary) Unwrap() error { return t.Err }

// AsTemporary returns the Temporary that an error wraps; nil: it does not wrap one.
func AsTemporary(err error) *Temporary {
	t, _ := errors.AsType[*Temporary](err)
	return t
}

// DeniedError is the error of an operation for which the user lacks a right.
type DeniedError struct {
	Err error  // what the server said, which names the right
	Fix string // how to get the right
}

// Error implements error.
func (d *DeniedError) Error() string { return d.Err.Error() + "; " + d.Fix }

// Unwrap returns the wrapped error.
func (d *DeniedError) Unwrap() error { return d.Err }

// NewDeniedError returns the error for a missing right that a statement gives; empty: the statement is not
// known.
func NewDeniedError(err error, grant string) error {
	if grant == "" {
		return &DeniedError{err, "give a user who has this right"}
	}
	return &DeniedError{err, "have an administrator run " + grant + ", or give another user"}
}
