package input

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unsafe"

	"github.com/tsmark/tsmark/internal/number"
)

// How times are written, in the setting time-format. Anything else is a layout of Go's
// package time, of strptime or of LDML.
const (
	AsText    = "rfc3339"   // 2006-01-02T15:04:05.999Z, with or without a zone, and dates
	AsColumn  = "timestamp" // the column's own type says so
	PerSecond = "s"
)

// Units are the epochs by name, in nanoseconds.
var Units = [...]struct {
	Name string
	Ns   int64
}{{PerSecond, 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}

// UnitOf detects the unit of a time since 1970 from its magnitude: seconds end in the year 5138,
// milliseconds begin in 1973.
func UnitOf(epoch float64) string {
	switch size := math.Abs(epoch); {
	case size < 1e11:
		return "s"
	case size < 1e14:
		return "ms"
	case size < 1e17:
		return "us"
	}
	return "ns"
}

// Clock reads times in one format. It is used by one goroutine.
type Clock struct {
	unit   int64  // nanoseconds; 0: text
	Layout string // of package time; empty: RFC 3339

	Whole bool // times are whole numbers of units, without decimals

	Zone     *Zone // of times without one; nil: UTC
	Zoneless int64 // times without a zone that were read
	Finer    int64 // times with digits beyond nanoseconds

	date [10]byte // of the last time
	day  int64    // its seconds since 1970

	whole []byte // the last time that was a whole number of units, which rows often share
	ns    int64
}

// NewClock returns the clock of a time-format.
func NewClock(format string) (*Clock, error) {
	for _, u := range Units {
		if u.Name == format {
			return &Clock{unit: u.Ns}, nil
		}
	}
	switch {
	case format == AsText, format == AsColumn:
		return &Clock{}, nil
	}
	layout, err := goLayout(format)
	if err != nil {
		return nil, err
	}
	return &Clock{Layout: layout}, nil
}

// Local returns the nanoseconds since 1970 of a time without a zone, read as if it were UTC.
func (c *Clock) Local(ns int64) int64 {
	c.Zoneless++
	if c.Zone == nil {
		return ns
	}
	seconds := ns / 1e9
	if ns%1e9 < 0 {
		seconds--
	}
	return ns + (c.Zone.UTC(seconds)-seconds)*1e9
}

var (
	ErrNoTime   = errors.New("is not a time such as 2006-01-02T15:04:05Z")
	errCalendar = errors.New("has a month, day, hour, minute or second that there is not")
)

// Read returns the nanoseconds since 1970.
func (c *Clock) Read(text []byte) (int64, error) {
	switch {
	case c.unit > 0:
		return c.epoch(text)
	case c.Layout != "":
		// Parse keeps nothing of the text but in its error, which is dropped.
		t, err := time.ParseInLocation(c.Layout, unsafe.String(unsafe.SliceData(text), len(text)), time.UTC)
		if err != nil {
			return 0, fmt.Errorf("is not a time as %s", c.Layout)
		}
		if y := t.Year(); y < MinYear || y > MaxYear {
			return 0, ErrYear
		}
		switch {
		case strings.Contains(c.Layout, "Z07"), strings.Contains(c.Layout, "-07"):
		case !strings.Contains(c.Layout, "MST"):
			return c.Local(t.UnixNano()), nil
		default:
			// Package time makes up an offset of 0 for abbreviations that it does not know, and
			// takes GMT+2 for a name alone.
			if name, _ := t.Zone(); name != "UTC" && name != "GMT" {
				return 0, ZoneError(strings.Clone(name))
			}
		}
		return t.UnixNano(), nil
	}
	return c.Text(text)
}

// ZoneError is the error of a time with an abbreviation of a zone, which several zones may
// share.
type ZoneError string

// Error implements error.
func (e ZoneError) Error() string {
	return fmt.Sprintf("has the zone %s, whose offset its abbreviation does not tell; write times in UTC, or with offsets such as +02:00", string(e))
}

const MinYear, MaxYear = 1678, 2261 // what 64 bits of nanoseconds hold

var ErrYear = fmt.Errorf("is outside the years %d to %d", MinYear, MaxYear)

// epoch reads a number of units, which may have decimals.
func (c *Clock) epoch(text []byte) (int64, error) {
	whole, fraction := text, []byte(nil)
	for i, b := range text {
		if b == '.' {
			whole, fraction = text[:i], text[i+1:]
			break
		}
	}
	n, ok := number.Int(whole)
	if !ok || c.Whole && len(whole) < len(text) {
		return 0, errors.New("is not a number of " + c.unitName() + " since 1970")
	}
	ns := n * c.unit
	if ns/c.unit != n {
		return 0, ErrYear
	}
	if len(whole) == len(text) {
		c.whole, c.ns = append(c.whole[:0], text...), ns
		return ns, nil
	}
	before, part, finer := ns, c.unit, false
	for _, b := range fraction {
		digit := int64(b) - '0'
		if digit < 0 || digit > 9 {
			return 0, errors.New("is not a number of " + c.unitName() + " since 1970")
		}
		if part /= 10; part == 0 && digit > 0 && !finer { // digits beyond nanoseconds are dropped
			finer = true
		}
		if text[0] == '-' {
			ns -= digit * part
		} else {
			ns += digit * part
		}
	}
	if before >= 0 && ns < 0 && text[0] != '-' || before < 0 && ns > 0 {
		return 0, ErrYear
	}
	if finer {
		c.Finer++
	}
	return ns, nil
}

func (c *Clock) unitName() string {
	for _, u := range Units {
		if u.Ns == c.unit {
			return u.Name
		}
	}
	return "?"
}

// Text parses RFC 3339 and similar formats: a blank instead of the T, no seconds, no zone, only a
// date.
func (c *Clock) Text(text []byte) (int64, error) {
	if len(text) < 10 {
		return 0, ErrNoTime
	}
	if string(text[:10]) != string(c.date[:]) {
		day, err := days(text[:10])
		if err != nil {
			return 0, err
		}
		copy(c.date[:], text)
		c.day = day * 24 * 60 * 60
	}
	rest := text[10:]
	if len(rest) == 0 {
		return c.Local(c.day * 1e9), nil
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return 0, ErrNoTime
	}
	seconds, fraction, local, err := c.timeOfDay(rest[1:])
	if err != nil {
		return 0, err
	}
	ns := (c.day+seconds)*1e9 + fraction
	if local {
		return c.Local(ns), nil
	}
	return ns, nil
}

// TimeOfDay reads a time such as 15:04:05.999Z, with or without seconds and a zone: the
// seconds since midnight of UTC, and nanoseconds.
func (c *Clock) TimeOfDay(text []byte) (seconds, fraction int64, err error) {
	seconds, fraction, local, err := c.timeOfDay(text)
	if local {
		c.Zoneless++
	}
	return seconds, fraction, err
}

// timeOfDay is TimeOfDay, and reports whether the time has no zone.
func (c *Clock) timeOfDay(text []byte) (seconds, fraction int64, local bool, err error) {
	if len(text) < 5 || text[2] != ':' {
		return 0, 0, false, ErrNoTime
	}
	hour, ok1 := two(text)
	minute, ok2 := two(text[3:])
	second, ok3 := int64(0), true
	rest := text[5:]
	if len(rest) > 2 && rest[0] == ':' {
		second, ok3 = two(rest[1:])
		rest = rest[3:]
		if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
			rest = rest[1:]
			part, finer := int64(1e9), false
			for len(rest) > 0 && rest[0]-'0' <= 9 {
				if part /= 10; part == 0 && rest[0] > '0' && !finer {
					finer = true
					c.Finer++
				}
				fraction += int64(rest[0]-'0') * part
				rest = rest[1:]
			}
		}
	}
	if !ok1 || !ok2 || !ok3 {
		return 0, 0, false, ErrNoTime
	}
	offset, err := parseOffset(rest)
	switch {
	case err != nil:
		return 0, 0, false, err
	case hour > 23 || minute > 59 || second > 59:
		return 0, 0, false, errCalendar
	}
	return hour*3600 + minute*60 + second - offset, fraction, len(rest) == 0, nil
}

// OddTimeOfDay reports whether a text is a time of day that TimeOfDay does not read, such as
// 3:04 PM or 9:05:30.
func OddTimeOfDay(text []byte) bool {
	for _, layout := range [...]string{"15:04", "15:04:05", "3:04 PM", "3:04PM", "3:04:05 PM", "3:04:05PM", "3:04 pm", "3:04pm", "3:04:05 pm", "3:04:05pm"} {
		if _, err := time.ParseInLocation(layout, string(text), time.UTC); err == nil {
			return true
		}
	}
	return false
}

// parseOffset reads an offset from UTC in seconds.
func parseOffset(text []byte) (int64, error) {
	switch string(text) {
	case "", "Z", "z", " UTC", " GMT", " +0000 UTC", "+00", "+00:00":
		return 0, nil
	}
	if len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	if len(text) < 3 || text[0] != '+' && text[0] != '-' {
		if isAbbreviation(text) {
			return 0, ZoneError(text)
		}
		return 0, ErrNoTime
	}
	hour, ok := two(text[1:])
	minute, rest := int64(0), text[3:]
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var ok2 bool
		minute, ok2 = two(rest)
		ok = ok && ok2 && len(rest) == 2
	}
	if !ok || hour > 23 || minute > 59 {
		return 0, ErrNoTime
	}
	offset := hour*3600 + minute*60
	if text[0] == '-' {
		offset = -offset
	}
	return offset, nil
}

// isAbbreviation reports whether a text looks like that of a zone, such as CEST.
func isAbbreviation(text []byte) bool {
	for _, b := range text {
		if b < 'A' || b > 'Z' {
			return false
		}
	}
	return len(text) >= 2 && len(text) <= 5
}

// two reads two digits.
func two(text []byte) (int64, bool) {
	if len(text) < 2 {
		return 0, false
	}
	a, b := text[0]-'0', text[1]-'0'
	return int64(a)*10 + int64(b), a <= 9 && b <= 9
}

// days returns the days from 1970 to a date such as 2006-01-02.
func days(date []byte) (int64, error) {
	if len(date) != 10 || date[4] != '-' || date[7] != '-' {
		return 0, ErrNoTime
	}
	century, ok1 := two(date)
	years, ok2 := two(date[2:])
	month, ok3 := two(date[5:])
	day, ok4 := two(date[8:])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return 0, ErrNoTime
	}
	year := int(century*100 + years)
	if year < MinYear || year > MaxYear {
		return 0, ErrYear
	}
	t := time.Date(year, time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if t.Day() != int(day) || t.Month() != time.Month(month) {
		return 0, errCalendar
	}
	return t.Unix() / (24 * 60 * 60), nil
}
