package monitor

import (
	"math"
	"slices"
)

// counters holds the resource use of a process since it began; NaN: not readable.
type counters struct {
	user, system float64 // CPU seconds
	// cpu is the sum of both, if the system reports it with a higher resolution.
	cpu float64
	// What children used that ended and were waited for, and their children
	// in turn. Zero where the system does not count it.
	reapedUser, reapedSystem float64
	// Bytes from and to storage; on Linux children that were waited for are
	// included.
	read, written float64
}

// member is a reading of one process of a family.
type member struct {
	parent  int
	started int64
	ended   bool // and not yet waited for
	used    counters
}

// family adds up the resource use of a changing set of processes. Children start and end between
// two readings: the use of an ended child is included in its parent's once the parent has waited
// for it, and the part that was counted before must not be counted again.
type family struct {
	began bool
	// older holds all processes of the machine, by number and start, when the family was first
	// read. Their earlier use is not counted; that of other processes is counted in full. Comparing
	// starts alone would not do: clocks tick every 10 ms.
	older map[int]int64
	last  map[int]member
	// gone are members that ended and whose use did not yet show up in an heir:
	// a parent is read before its child, and may have waited in between.
	gone  []departed
	total counters // user and system include the reaped
}

// departed is a member that ended, with its ancestors at that time.
type departed struct {
	member
	ancestors []ancestor // the closest first
	age       int        // readings since
}

type ancestor struct {
	pid     int
	started int64
}

// patience is for how many readings a departed member's use is looked for.
const patience = 3

// begin marks the moment from which use is counted: these processes exist.
func (f *family) begin(older map[int]int64) { f.began, f.older = true, older }

// update takes a reading of all members and adds their use since the previous reading.
func (f *family) update(now map[int]member) {
	for pid, m := range now {
		before, known := f.last[pid]
		switch {
		case known && before.started == m.started:
			m.used.read = orElse(m.used.read, before.used.read)
			m.used.written = orElse(m.used.written, before.used.written)
		case m.ended: // its parent will show it
			m.used.read, m.used.written = orElse(m.used.read, 0), orElse(m.used.written, 0)
		}
		now[pid] = m
	}
	base := f.base(now)
	for pid, m := range now {
		b, u := base[pid], m.used
		f.total.user += rise(u.user, b.user) + rise(u.reapedUser, b.reapedUser)
		f.total.system += rise(u.system, b.system) + rise(u.reapedSystem, b.reapedSystem)
		f.total.cpu += rise(u.cpu, b.cpu) + rise(u.reapedUser, b.reapedUser) + rise(u.reapedSystem, b.reapedSystem)
		f.total.read += rise(u.read, b.read)
		f.total.written += rise(u.written, b.written)
	}
	f.last = now
}

// base returns the counters from which each member's use is counted: the previous reading, raised
// by the use it inherited from members that have ended.
func (f *family) base(now map[int]member) map[int]counters {
	base := make(map[int]counters, len(now))
	for pid, m := range now {
		before, known := f.last[pid]
		started, older := f.older[pid]
		switch {
		case known && before.started == m.started:
			base[pid] = before.used
		case older && started == m.started:
			base[pid] = m.used
		default:
			base[pid] = counters{}
		}
	}
	f.depart(now)
	f.gone = slices.DeleteFunc(f.gone, func(d departed) bool {
		return d.age > patience || inherit(d, now, base)
	})
	return base
}

// depart notes the members that have ended since the reading before.
func (f *family) depart(now map[int]member) {
	for i := range f.gone {
		f.gone[i].age++
	}
	for pid, m := range f.last {
		if isIn(now, ancestor{pid, m.started}) {
			continue
		}
		d := departed{member: m}
		for at := m; len(d.ancestors) < len(f.last); {
			above, known := f.last[at.parent]
			if !known {
				break
			}
			d.ancestors = append(d.ancestors, ancestor{at.parent, above.started})
			at = above
		}
		f.gone = append(f.gone, d)
	}
}

// inherit raises the base of the closest living ancestor by the last known use of an ended member.
// It returns true if nothing remains to be done for the member: it has no living ancestor, or its
// use has been included.
func inherit(d departed, now map[int]member, base map[int]counters) bool {
	place := slices.IndexFunc(d.ancestors, func(a ancestor) bool { return isIn(now, a) })
	if place < 0 {
		return true
	}
	heir := d.ancestors[place].pid
	b, u, h := base[heir], d.used, now[heir].used
	const rounding = 1e-6
	if h.reapedUser+h.reapedSystem-b.reapedUser-b.reapedSystem < u.user+u.system+u.reapedUser+u.reapedSystem-rounding {
		return false
	}
	b.reapedUser += u.user + u.reapedUser
	b.reapedSystem += u.system + u.reapedSystem
	b.read += u.read
	b.written += u.written
	base[heir] = b
	return true
}

func isIn(now map[int]member, a ancestor) bool {
	m, lives := now[a.pid]
	return lives && m.started == a.started
}

// rise returns the increase of a counter, at least 0: inherited use may have been rounded.
func rise(now, before float64) float64 {
	if d := now - before; d > 0 || math.IsNaN(d) {
		return d
	}
	return 0
}

// orElse returns other if v could not be read: a process that is ending shows lower counters than
// before.
func orElse(v, other float64) float64 {
	if math.IsNaN(v) {
		return other
	}
	return v
}
