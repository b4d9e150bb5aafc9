package fault

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Endless hands the part over again and again until the reader goes away, after
// a beginning.
func Endless(w io.Writer, begin, part string) {
	if _, err := io.WriteString(w, begin); err != nil {
		return
	}
	for parts := strings.Repeat(part, 1+(64<<10)/len(part)); ; {
		if _, err := io.WriteString(w, parts); err != nil {
			return
		}
	}
}

// EndlessAnswer is an HTTP server's answer that Endless writes.
func EndlessAnswer(begin, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { Endless(w, begin, part) }
}

// endlessHeap is the maximum growth of the heap while an endless answer
// is read.
const endlessHeap = 512 << 20

// EndsBounded calls a function that reads an endless answer, and fails the test
// unless it ends with an error of one line and without much memory, for which
// a minute is enough on any machine.
func EndsBounded(t testing.TB, do func() error) error {
	t.Helper()
	before := liveHeap()
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	for deadline := time.Now().Add(time.Minute); ; {
		select {
		case err := <-ended:
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("not an error of one line: %q", err)
			}
			return err
		case <-time.After(20 * time.Millisecond):
		}
		// A busy machine may have much garbage in memory: only live memory beyond the
		// bound is too much.
		if heap() > before+endlessHeap {
			if live := liveHeap(); live > before+endlessHeap {
				t.Fatalf("the heap has grown by %d MiB, and it goes on", (live-before)>>20)
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
}

// heap returns the bytes that are in use, or not yet freed.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// liveHeap returns the bytes that are in use.
func liveHeap() uint64 {
	runtime.GC()
	return heap()
}
