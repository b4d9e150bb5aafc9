//go:build !linux

// Package powerloss simulates power failures, on Linux only.
package powerloss

import (
	"context"
	"errors"
	"fmt"
)

// Disk is a file system whose power can fail.
type Disk struct {
	Dir string
}

// ErrUnavailable is wrapped by New's error.
var ErrUnavailable = errors.New("a power failure cannot be simulated here")

// New returns an error.
func New(context.Context, string, int64) (*Disk, error) {
	return nil, fmt.Errorf("%w: it needs Linux", ErrUnavailable)
}

// Stale returns none.
func Stale() ([]*Disk, error) { return nil, nil }

// Sync, Fail, Recover and Remove are for Linux, where New makes a Disk.
func (*Disk) Sync() error                   { return ErrUnavailable }
func (*Disk) Fail() error                   { return ErrUnavailable }
func (*Disk) Recover(context.Context) error { return ErrUnavailable }
func (*Disk) Remove(context.Context) error  { return ErrUnavailable }
