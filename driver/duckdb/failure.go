//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// failure makes an error of DuckDB's message, without the stack trace that
// fatal ones carry. That of a full disk wraps syscall.ENOSPC.
func failure(message string) error {
	message, _, _ = strings.Cut(message, "\n\nStack Trace:")
	message, _, _ = strings.Cut(message, "\nStack Trace:")
	if full := syscall.ENOSPC; strings.Contains(strings.ToLower(message), full.Error()) {
		return fmt.Errorf("%w; free space there, or choose another file system (%s)", full, message)
	}
	return errors.New(message)
}
