package tsbs

import (
	"time"

	"github.com/tsmark/tsmark/workload"
)

// epochs is the clock that TSBS's simulators share: how many hosts exist in
// the epoch, at what time, and when rows end.
type epochs struct {
	index, count uint64
	time         int64 // of the epoch, nanoseconds since 1970
	interval     int64
	scale        uint32
	initial      uint64
	hosts        uint64 // number of hosts that exist in the epoch, counted from the first
	left         uint64 // rows to be made yet, those of hosts that do not exist included

	groups, group, next uint32 // interleaved groups; next is the group of the next row of an existing host
}

// newEpochs starts at the first epoch of a dataset whose hosts make the given
// number of rows in each.
func newEpochs(s workload.Spec, rowsPerHost uint64) epochs {
	e := epochs{
		count:    uint64(s.End.Sub(s.Start) / s.Interval),
		time:     s.Start.UnixNano(),
		interval: int64(s.Interval),
		scale:    s.Scale,
		initial:  uint64(s.InitialScale),
		groups:   max(s.Groups, 1),
		group:    s.Group,
	}
	if e.initial == 0 {
		e.initial = uint64(s.Scale)
	}
	e.hosts = e.initial
	e.left = e.count * uint64(s.Scale) * rowsPerHost
	if s.MaxPoints > 0 {
		e.left = min(e.left, s.MaxPoints)
	}
	return e
}

// advance goes to the next epoch. Hosts are added in proportion to the epochs
// gone by; the arithmetic is TSBS's.
func (e *epochs) advance() {
	e.index++
	e.time += e.interval
	missing := float64(uint64(e.scale) - e.initial)
	e.hosts = e.initial + uint64(missing*float64(e.index)/float64(e.count-1))
}

// elapsedUnits returns the whole units of time since the first epoch.
func (e *epochs) elapsedUnits(unit time.Duration) int64 {
	return int64(e.index) * e.interval / int64(unit)
}

// mine reports whether the next row of an existing host belongs to the group
// that is generated. It is called once for each such row.
func (e *epochs) mine() bool {
	mine := e.next == e.group
	if e.next++; e.next == e.groups {
		e.next = 0
	}
	return mine
}
