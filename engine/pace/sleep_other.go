//go:build !linux

package pace

import "time"

// spin is the last part of a wait, in which a pacer does not sleep: about what
// time.Sleep overshoots by. At a thousand arrivals a second or more this keeps
// a processor busy; Linux has a better way.
const spin = time.Millisecond

// sleeper sleeps by time.Sleep.
type sleeper struct{}

func (sleeper) open() error                 { return nil }
func (sleeper) sleep(d time.Duration) error { time.Sleep(d); return nil }
func (sleeper) close() error                { return nil }
