package witness

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// clock reads times that are texts or numbers, by package time.
type clock struct {
	unit   int64    // nanoseconds, of numbers; 0: texts
	likely int      // layout of the last time
	layout []string // that texts may have
	local  bool     // the last time had no zone
}

// matches compares a time as a file has it, which may be without a zone, with one of UTC: the latter
// is turned into a local time, and not the other way round as the load's reader does.
func (c *comparison) matches(unit int64, n int64, local bool, want int64) verdict {
	if c.zone == nil || !local {
		return compareTime(n, unit, want)
	}
	_, offset := time.Unix(0, want).In(c.zone).Zone()
	found := compareTime(n, unit, want+int64(offset)*1e9)
	if found == differs {
		at := time.Unix(n/(1e9/unit), n%(1e9/unit)*unit).UTC()
		if unit > 1e9 {
			at = time.Unix(n*(unit/1e9), 0).UTC()
		}
		same := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), c.zone)
		if same.Hour() != at.Hour() || same.Minute() != at.Minute() {
			return unknown // clocks skipped it
		}
	}
	return found
}

// matchesTyped is matches of a column with times, which may have a zone or none.
func (c *comparison) matchesTyped(unit int64, n int64, want int64) verdict {
	if c.zone != nil && compareTime(n, unit, want) == same {
		return same
	}
	return c.matches(unit, n, true, want)
}

// newClock returns the clock of a time-format.
func newClock(format string) clock {
	switch format {
	case "s":
		return clock{unit: 1e9}
	case "ms":
		return clock{unit: 1e6}
	case "us":
		return clock{unit: 1e3}
	case "ns":
		return clock{unit: 1}
	case "", "rfc3339", "timestamp":
		var all []string
		for _, base := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
			for _, zone := range []string{"Z07:00", "", "Z0700", "Z07", " -07:00", " -0700", " -07", " UTC", " -0700 UTC"} {
				all = append(all, base+zone)
			}
		}
		return clock{layout: all}
	}
	return clock{layout: []string{format}}
}

// read returns the nanoseconds since 1970 of a text or number; false: it is not understood.
func (c *clock) read(v *value) (int64, bool) {
	if c.local = false; c.unit > 0 {
		return c.count(v)
	}
	if v.kind != isText {
		return 0, false
	}
	text := strings.TrimSpace(string(v.text))
	if len(c.layout) > 1 && len(text) > 10 {
		text = strings.ToUpper(text)
		if text[10] == ' ' {
			text = text[:10] + "T" + text[11:]
		}
	}
	for i := range c.layout {
		at := (c.likely + i) % len(c.layout)
		// In UTC: the zone of this machine says nothing of the file's times.
		t, err := time.ParseInLocation(c.layout[at], text, time.UTC)
		if err != nil {
			continue
		}
		if strings.Contains(c.layout[at], "MST") && !strings.Contains(c.layout[at], "07") {
			if name, _ := t.Zone(); name != "UTC" && name != "GMT" {
				return 0, false // an abbreviation, whose offset package time does not know
			}
		}
		c.likely, c.local = at, !strings.Contains(c.layout[at], "07") && !strings.Contains(c.layout[at], "UTC") && !strings.Contains(c.layout[at], "MST")
		return t.UnixNano(), true
	}
	return 0, false
}

// count parses a number of units, which may have decimals. Digits beyond nanoseconds are dropped.
func (c *clock) count(v *value) (int64, bool) {
	text := strings.TrimSpace(string(v.text))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && v.kind == isText {
		v = &value{kind: isInt, int: n}
	}
	switch v.kind {
	case isInt:
		ns := v.int * c.unit
		return ns, ns/c.unit == v.int
	case isFloat:
		text = strconv.FormatFloat(v.float, 'f', -1, 64)
	case isSingle:
		text = strconv.FormatFloat(v.float, 'f', -1, 32)
	case isText, isDigits:
	default:
		return 0, false
	}
	n, ok := exact(text)
	if !ok {
		return 0, false
	}
	n.Mul(n, new(big.Rat).SetInt64(c.unit))
	whole := new(big.Int).Quo(n.Num(), n.Denom()) // towards zero
	return whole.Int64(), whole.IsInt64()
}
