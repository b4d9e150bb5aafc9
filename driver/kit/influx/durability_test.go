package influx

import (
	"strings"
	"testing"
)

func TestDurability(t *testing.T) {
	for delay, want := range map[string]string{"0s": "before it is acknowledged (wal-fsync-delay=0s)", "100ms": "at the latest after 100ms", "": "to users with all privileges only"} {
		if got := Durability("wal-fsync-delay", delay); !strings.Contains(got, want) {
			t.Errorf("%q: %s", delay, got)
		}
	}
}
