//go:build !linux

package process

import "errors"

type memoryGroup string

var errNoGroups = errors.New("the memory of a server can be limited on Linux alone")

// CanLimitMemory says why Command.Memory cannot be kept on this host; nil: it can.
func CanLimitMemory() error { return errNoGroups }

func limitMemory(Info, int64) (memoryGroup, error) { return "", errNoGroups }

func memoryGroupOf(int) memoryGroup { return "" }

func (memoryGroup) remove() error { return nil }
