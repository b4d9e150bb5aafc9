package driver_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
)

// TestOffset checks that the clock's true offset is within the reported bounds wherever in the round
// trip, and in the unit of the clock, the server read it.
func TestOffset(t *testing.T) {
	sent := time.Date(2026, 1, 1, 0, 0, 0, 123456789, time.UTC)
	for _, trip := range []time.Duration{0, time.Millisecond, time.Minute} {
		for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond, time.Second} {
			for _, is := range []time.Duration{0, -time.Hour, 300 * time.Millisecond} {
				for part := range 5 {
					at := sent.Add(trip * time.Duration(part) / 4)
					r := driver.Reading{Sent: sent, Received: sent.Add(trip), Server: at.Add(is).Truncate(unit), Unit: unit}
					ahead, uncertain := r.Offset()
					if off := ahead - is; max(off, -off) > uncertain+1 || uncertain != trip/2+unit/2 {
						t.Errorf("trip %v, unit %v, true offset %v: told %v within %v", trip, unit, is, ahead, uncertain)
					}
				}
			}
		}
	}
}

func TestAdviseOn(t *testing.T) {
	concerns := []driver.Concern{
		{Setting: "a", Wrong: driver.Is("off"), Effect: "e", Fix: "f"},
		{Setting: "b", Wrong: driver.IsNot("0")},
		{Setting: "unknown", Wrong: driver.IsNot("0")},
	}
	found := driver.AdviseOn(concerns, map[string]string{"a": "off", "b": "0"})
	if len(found) != 1 || found[0] != (driver.Advice{Setting: "a", Value: "off", Effect: "e", Fix: "f"}) {
		t.Errorf("%+v", found)
	}
	if found := driver.AdviseOn(concerns, map[string]string{"a": "on", "b": "5"}); len(found) != 1 || found[0].Value != "5" {
		t.Errorf("%+v", found)
	}
}
