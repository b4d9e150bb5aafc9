package conformance

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

// endlessHeap is how much the heap may grow while something reads an answer that
// has no end.
const endlessHeap = 512 << 20

// EndsBounded calls what reads an answer that has no end, and fails the test
// unless it ends with an error of one line and without much memory, for which
// a minute is enough on any machine.
func EndsBounded(t testing.TB, do func() error) error {
	t.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	for deadline := time.Now().Add(time.Minute); ; {
		select {
		case err := <-ended:
			runtime.ReadMemStats(&m)
			if most = max(most, m.HeapAlloc); most-before > endlessHeap {
				t.Errorf("the heap grew by %d MiB", (most-before)>>20)
			}
			if err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("not an error of one line: %q", err)
			}
			return err
		case <-time.After(20 * time.Millisecond):
		}
		runtime.ReadMemStats(&m)
		if most = max(most, m.HeapAlloc); most-before > 2*endlessHeap {
			t.Fatalf("the heap has grown by %d MiB, and it goes on", (most-before)>>20)
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
}
