package plan

import (
	"errors"
	"fmt"
)

// ErrInput is wrapped by errors in user input that are found only once a target is open: the
// database holds other data, or none.
var ErrInput = errors.New("cannot go on")

// BadInput wraps an error in ErrInput, unless it already wraps it.
func BadInput(err error) error {
	if errors.Is(err, ErrInput) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInput, err)
}

// UnreachedError is the problem of a target whose driver is a program that does not answer.
type UnreachedError struct{ Problem error }

func (e *UnreachedError) Error() string { return e.Problem.Error() }
func (e *UnreachedError) Unwrap() error { return e.Problem }
