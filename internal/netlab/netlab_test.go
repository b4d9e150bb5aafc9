package netlab

import (
	"testing"
	"time"
)

// Packets come later by the delay of their sender, or never, as often as told.
func TestPass(t *testing.T) {
	n, now := newNetwork(3, 7), time.Unix(0, 0)
	n.set(1, Link{Delay: 30 * time.Millisecond, Loss: 0.25})
	arrived := 0
	for range 10_000 {
		due, arrives := n.pass(1, 2, now)
		if arrives {
			arrived++
			if due.Sub(now) != 30*time.Millisecond {
				t.Fatalf("due after %v", due.Sub(now))
			}
		}
	}
	if arrived < 7_300 || arrived > 7_700 || n.lost != 10_000-arrived {
		t.Errorf("%d of 10,000 arrive, %d are lost", arrived, n.lost)
	}
	n.cut(2, 0, true)
	if _, arrives := n.pass(0, 2, now); arrives {
		t.Error("a packet passes a cut")
	}
	if _, arrives := n.pass(0, 1, now); !arrives {
		t.Error("a cut between others holds a packet back")
	}
	n.cut(0, 2, false)
	if due, arrives := n.pass(2, 0, now); !arrives || due != now {
		t.Error("a cut that has ended holds a packet back")
	}
}
