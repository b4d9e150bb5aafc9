// Package boundtest holds parsers of foreign bytes to bounds of time and memory, in tests and
// while they are fuzzed.
package boundtest

import (
	"runtime"
	"testing"
	"time"
)

// What a call may cost: a few kilobytes of input need far less, on any machine.
const (
	mostTime   = 20 * time.Second
	mostMemory = 512 << 20 // bytes allocated in all
)

// Hold makes a call and fails the test if it costs more.
func Hold(t testing.TB, call func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	call()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; took > mostTime || used > mostMemory {
		t.Errorf("it took %v and %d MiB", took, used>>20)
	}
}
