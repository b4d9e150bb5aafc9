package iotdb

import (
	"cmp"
	"slices"
)

// A source is rows whose times are their own: a device's, or where sensors are not
// aligned a sensor's of a device. Its rows arrive by slots: in slot j row j
// itself, unless it is late, and then the late rows that are due.

// source identifies one.
type source struct{ device, sensor uint32 }

// arrivals appends the rows that arrive in the slots from first to before behind, in order. Rows
// due after the last slot arrive in the last slot. Calls may reuse the memory. If rows are waiting,
// the waiting ones of the slots before first come first, and then those of the slots before behind.
func (s *settings) arrivals(into []row, src source, first, behind int64, memory *[]arrival, waiting *waiting) []row {
	if s.late == 0 && s.duplicates == 0 {
		for k := first; k < behind; k++ {
			into = append(into, row{at: k})
		}
		return into
	}
	list, from := (*memory)[:0], max(0, first-s.reach())
	last := behind == s.rows
	if waiting != nil {
		list, from = waiting.take(list, behind, last), first
	}
	s.eachArrival(src, from, behind, func(a arrival) {
		switch {
		case a.due < first:
		case a.due < behind || last:
			list = append(list, a)
		case waiting != nil:
			waiting.add(a)
		}
	})
	slices.SortFunc(list, func(a, b arrival) int {
		switch {
		case a.due != b.due:
			return cmp.Compare(a.due, b.due)
		case a.inTime() != b.inTime():
			if a.inTime() {
				return -1
			}
			return 1
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.again:
			return 1
		}
		return -1
	})
	for _, a := range list {
		into = append(into, a.row)
	}
	*memory = list
	return into
}

// eachArrival calls yield with the due time of each of a source's rows, and again for a duplicate.
func (s *settings) eachArrival(src source, from, behind int64, yield func(arrival)) {
	for k := from; k < behind; k++ {
		due := k + s.delay(src, k)
		yield(arrival{due, row{at: k}})
		if again, after := s.repeatDelay(src, k); again {
			yield(arrival{due + after, row{at: k, again: true}})
		}
	}
}

// arrival is a row and the slot that it is due in.
type arrival struct {
	due int64
	row
}

func (a *arrival) inTime() bool { return a.due == a.at }

// reach returns how many rows before a slot may still arrive in it, unless any
// may: see waits.
func (s *settings) reach() int64 {
	reach := int64(0)
	if s.late > 0 {
		switch s.lateMode {
		case delayed:
			reach = s.most
		case withinBatch:
			reach = s.block
		}
	}
	if s.duplicates > 0 {
		reach += s.most
	}
	return reach
}

// delay returns by how many slots a row is late; 0: it is in time.
func (s *settings) delay(src source, k int64) int64 {
	if s.late == 0 {
		return 0
	}
	x, y := random(s.seed, uint64(k), streamOf(src.device, src.sensor, forArrival))
	if unit(x) >= s.late {
		return 0
	}
	behind := s.rows
	switch s.lateMode {
	case delayed:
		return s.poissonDelay(y)
	case withinBatch:
		behind = min(k-k%s.block+s.block, s.rows)
	}
	if left := behind - 1 - k; left > 0 {
		return 1 + scaleInt(y, left)
	}
	return 0 // nothing is sent behind the last one
}

// repeatDelay reports whether a row comes again, and how many slots after its first
// time. The newest row of a source never does, so that there is one newest row also
// where a system keeps all.
func (s *settings) repeatDelay(src source, k int64) (bool, int64) {
	if s.duplicates == 0 || k == s.rows-1 {
		return false, 0
	}
	x, y := random(s.seed, uint64(k), streamOf(src.device, src.sensor, forDuplicate))
	if unit(x) >= s.duplicates {
		return false, 0
	}
	return true, s.poissonDelay(y)
}

// poissonDelay returns 1 plus a Poisson number of further slots, up to the bound if there is one.
func (s *settings) poissonDelay(x uint64) int64 { return min(1+s.delays.quantile(unit(x)), s.most) }

// rewrites is arrivals by the paper's equations (3) to (7): the time of the next row is one step
// after the newest so far with probability 1-P, and X+1 steps before it with probability P, where X
// is Poisson distributed. The first row is the newest one and therefore in time. rewrites takes the
// newest row before the first slot, -1 if there is no such row, and returns the newest row after
// the last.
func (s *settings) rewrites(into []row, src source, first, behind, newest int64) ([]row, int64) {
	for i := first; i < behind; i++ {
		x, y := random(s.seed, uint64(i), streamOf(src.device, src.sensor, forArrival))
		if newest >= 0 && unit(x) < s.late {
			into = append(into, row{at: newest - 1 - s.delays.quantile(unit(y))})
			continue
		}
		newest++
		into = append(into, row{at: newest})
	}
	return into, newest
}

// latest appends the rows of the slots from first to before behind as a system
// holds them that keeps one row a time, the last that arrived.
func (s *settings) latest(into []row, src source, first, behind int64) []row {
	for k := first; k < behind; k++ {
		again, _ := s.repeatDelay(src, k)
		into = append(into, row{at: k, again: again})
	}
	return into
}

// distinctRewrites is rewrites without rows whose time has been written before. Every time from the
// start to the newest has been written. Times before the start, which only the first rows of a
// source reach, are looked up among the earlier ones.
func (s *settings) distinctRewrites(into []row, src source, first, behind, newest int64) ([]row, int64) {
	from, all := len(into), []row(nil)
	into, last := s.rewrites(into, src, first, behind, newest)
	if newest <= s.delays.largest() {
		all, _ = s.rewrites(nil, src, 0, behind, -1)
	}
	kept := into[:from]
	for i, r := range into[from:] {
		if r.at > newest || r.at < 0 && !slices.Contains(all[:first+int64(i)], r) {
			kept = append(kept, r)
		}
		newest = max(newest, r.at)
	}
	return kept, last
}
