package plan

import (
	"errors"
	"fmt"
)

// ErrInput is wrapped by errors about what the user gave that only show once
// a target is open: the database holds something else, or nothing.
var ErrInput = errors.New("cannot go on")

// BadInput wraps an error in ErrInput, unless it is one already: it is said once.
func BadInput(err error) error {
	if errors.Is(err, ErrInput) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInput, err)
}
