package engine

import (
	"testing"
	"time"
)

// A ledger that forgets keeps only batches since the first one that is not acknowledged, and has
// the same watermark as one that does not.
func TestForgettingLedger(t *testing.T) {
	keeps, forgets := newLedger(0), newLedger(0)
	forgets.forgets = true
	for _, l := range []*ledger{keeps, forgets} {
		for n := range 1000 {
			l.read(10, int64(n), int64(n))
			l.begin(n, time.Duration(n))
			if n%2 == 1 { // in pairs, the second batch first
				l.noteAcked(n, time.Duration(n))
				l.noteAcked(n-1, time.Duration(n))
			}
		}
		l.read(10, 1000, 1000)
	}
	if got, want := forgets.watermark.Load(), keeps.watermark.Load(); got != want {
		t.Errorf("watermark %d, want %d", got, want)
	}
	if len(forgets.written) != 1 || forgets.rowsRemoved() != 10_000 {
		t.Errorf("%d batches are kept, and %d rows were removed; want 1 and 10000", len(forgets.written), forgets.rowsRemoved())
	}
}
