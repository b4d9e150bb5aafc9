package influx

import (
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
)

func TestDurability(t *testing.T) {
	for _, c := range []struct {
		delay, words string
		safety       driver.Safety
	}{
		{"0s", "before it is acknowledged (wal-fsync-delay=0s)", driver.OnDisk},
		{"100ms", "at the latest after 100ms", driver.ByTimer},
		{"", "to users with all privileges only", ""},
	} {
		if got, safety := Durability("wal-fsync-delay", c.delay); !strings.Contains(got, c.words) || safety != c.safety {
			t.Errorf("%q: %s, %s", c.delay, got, safety)
		}
	}
}
