package input

import (
	"fmt"
	"time"
	_ "time/tzdata" // the same zones on every machine
)

// Zone is where times without an offset are. It is used by one goroutine.
type Zone struct {
	location *time.Location

	Skipped  int64 // times that clocks skipped when they went forward
	Repeated int64 // times that clocks showed twice when they went back

	// Local seconds from first to last, not included, have the offset.
	first, last, offset int64
}

// NewZone returns a zone by its name in the IANA database.
func NewZone(name string) (*Zone, error) {
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q; write a name such as Europe/Athens or America/New_York", name)
	}
	return &Zone{location: location}, nil
}

// day is so long that no two changes of clocks follow each other within it.
const day = 24 * 60 * 60

// UTC returns the seconds since 1970 of a local time, which is as many seconds of its own clock since
// 1970. A time that clocks skipped counts from before they changed, and of two equal ones it is the
// first, as in Python and Java.
func (z *Zone) UTC(local int64) int64 {
	if local >= z.first && local < z.last {
		return local - z.offset
	}
	before, after := z.offsetAt(local-day), z.offsetAt(local+day)
	early, late := local-before, local-after
	fitsBefore, fitsAfter := z.offsetAt(early) == before, z.offsetAt(late) == after
	switch {
	case before == after:
		start, end := time.Unix(early, 0).In(z.location).ZoneBounds()
		z.first, z.last, z.offset = local, local+1, before
		if !start.IsZero() {
			z.first = min(local, start.Unix()+before+day)
		}
		if !end.IsZero() {
			z.last = max(local+1, end.Unix()+before-day)
		}
		return early
	case fitsBefore && fitsAfter:
		z.Repeated++
		return min(early, late)
	case fitsAfter:
		return late
	case !fitsBefore:
		z.Skipped++
	}
	return early
}

func (z *Zone) offsetAt(seconds int64) int64 {
	_, offset := time.Unix(seconds, 0).In(z.location).Zone()
	return int64(offset)
}
