package driver

import (
	"context"
	"time"
)

// Watcher is a DB whose Settle must watch its server for a while before it
// can say that the server is idle. That wait is not the server's work.
type Watcher interface {
	// IdleSince returns when the idleness began that the last Settle which
	// succeeded has found: at the first look that found the server idle. It is
	// after that Settle began.
	IdleSince() time.Time
}

// Settled waits until a target has settled, and returns when it had.
func Settled(ctx context.Context, t DB) (time.Time, error) {
	if err := t.Settle(ctx); err != nil {
		return time.Time{}, err
	}
	if w, ok := As[Watcher](t); ok {
		return w.IdleSince(), nil
	}
	return time.Now(), nil
}

// Incomplete is a DB whose Footprint leaves out something that the data
// needs on disk.
type Incomplete interface {
	// LeftOut says what the last Footprint did not count, to stand behind
	// "without": "the index and the series file: no folder of the server's can be
	// read here". Empty: nothing.
	LeftOut() string
}

// LeftOut says what a target's last Footprint did not count; empty: nothing.
func LeftOut(t DB) string {
	if i, ok := As[Incomplete](t); ok {
		return i.LeftOut()
	}
	return ""
}

// Kept is a DB whose system does maintenance by itself, at moments of its own
// choosing, on which the speed of queries depends: PostgreSQL's autovacuum.
type Kept interface {
	// Upkeep says in words what was done to the objects since they were made, and
	// what is left to do; empty: nothing can be told. It is cheap.
	Upkeep(context.Context, []Object) (string, error)
}
