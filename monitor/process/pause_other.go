//go:build !unix

package process

import (
	"context"
	"errors"
	"fmt"
)

// Pause is not supported here: its error wraps errors.ErrUnsupported.
func (p *Process) Pause(context.Context) error {
	return fmt.Errorf("cannot pause process %d: %w", p.info.PID, errors.ErrUnsupported)
}

// Continue does nothing, as nothing is paused.
func (p *Process) Continue(context.Context) error { return nil }
