package driver

import "errors"

// Errors that a DB wraps with what it was doing.
var (
	// ErrUnreachable means that the system does not answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrExisting means that the place holds data that tsmark did not create.
	ErrExisting = errors.New("holds data that tsmark did not create")
)
