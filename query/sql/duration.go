package sql

import (
	"fmt"
	"time"
)

// InUnits returns a width in the largest unit that divides it, such as 10m, by the
// system's names of days, hours, minutes, seconds, and milli-, micro- and
// nanoseconds; empty: it has none for that. The last unit that has a name divides
// all widths.
func InUnits(width time.Duration, names [7]string) string {
	in := ""
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		if names[i] == "" {
			continue
		}
		if in = fmt.Sprintf("%d%s", width/unit, names[i]); width%unit == 0 {
			break
		}
	}
	return in
}
