package sql

import (
	"fmt"
	"time"
)

// Shift returns a time moved by a duration, by an interval of databases of PostgreSQL's kin.
func Shift(time string, d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%s - INTERVAL '%s'", time, Interval(-d))
	}
	return fmt.Sprintf("%s + INTERVAL '%s'", time, Interval(d))
}

// ShiftWhole returns a time that is a whole number of nanoseconds, moved by a duration.
func ShiftWhole(time string, d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%s - %d", time, -d)
	}
	return fmt.Sprintf("%s + %d", time, d)
}

// WholeSecondOfDay returns the second of the day at which the interval of a time that is a whole number of nanoseconds begins.
// Division is the operator that divides whole numbers.
func WholeSecondOfDay(time string, width time.Duration, division string) string {
	const day = 86_400_000_000_000
	return fmt.Sprintf("(%s %% %d + %[2]d) %% %[2]d %[3]s %[4]d * %[5]d", time, day, division, width.Nanoseconds(), width/1e9)
}

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
