//go:build !linux

package fault

import (
	"context"
	"errors"
)

// limitFiles is for Linux, whose limits can be set from outside.
func (s *Server) limitFiles(context.Context, uint64) error {
	return errors.New("the files of a running process can be limited on Linux only")
}
