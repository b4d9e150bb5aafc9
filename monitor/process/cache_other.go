//go:build !linux

package process

import "errors"

const canDrop = false

func dropAll(string) error { return errors.ErrUnsupported }

func dropFileCache(string) error { return errors.ErrUnsupported }

func residentBytes(string) (size, resident int64, err error) { return 0, 0, errors.ErrUnsupported }
