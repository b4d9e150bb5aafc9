// Package boundtest holds parsers of foreign bytes to bounds of time and memory, in tests and
// while they are fuzzed.
package boundtest

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
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

// Damage changes a byte, or puts an extreme number where a length or an offset may be.
func Damage(content []byte, random *rand.Rand) {
	extremes := []uint64{0, 1, math.MaxUint8, math.MaxInt16, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64, uint64(len(content))}
	number := extremes[random.IntN(len(extremes))]
	switch at := random.IntN(len(content)-8) &^ 3; random.IntN(3) {
	case 0:
		content[random.IntN(len(content))] = byte(random.Uint32())
	case 1:
		binary.LittleEndian.PutUint32(content[at:], uint32(number))
	case 2:
		binary.LittleEndian.PutUint64(content[at:], number)
	}
}
