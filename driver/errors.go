package driver

import "errors"

// Errors that a DB wraps with what it was doing.
var (
	// ErrUnreachable means that the system does not answer.
	ErrUnreachable = errors.New("cannot be reached")
	// ErrNoMark means that the database holds nothing that tsmark loaded.
	ErrNoMark = errors.New("holds no dataset of tsmark's")
	// ErrForeign means that the place holds data that tsmark did not create.
	ErrForeign = errors.New("holds data that tsmark did not create")
)
