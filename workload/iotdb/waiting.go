package iotdb

import "container/heap"

// waiting are the rows of a source that are not due yet, the first one in front,
// where any row before may be due in a slot: looking for them among all of these
// would take the square of their number.
type waiting []arrival

// waits reports whether rows wait. A reader then remembers as many as wait at a
// time, which is a part of the late ones, and one that begins later looks at all
// rows before once.
func (s *settings) waits() bool { return s.late > 0 && s.lateMode == global }

// waitingAt returns the rows of a source that wait when a slot begins.
func (s *settings) waitingAt(src source, slot int64) waiting {
	var w waiting
	s.eachArrival(src, 0, slot, func(a arrival) {
		if a.due >= slot {
			w.add(a)
		}
	})
	return w
}

// add adds a row without an allocation of its own, which heap.Push would make.
func (w *waiting) add(a arrival) {
	*w = append(*w, a)
	heap.Fix(w, len(*w)-1)
}

// take appends the rows that are due before a slot, or all, and forgets them.
func (w *waiting) take(into []arrival, behind int64, all bool) []arrival {
	for len(*w) > 0 && (all || (*w)[0].due < behind) {
		into = append(into, (*w)[0])
		last := len(*w) - 1
		(*w)[0] = (*w)[last]
		*w = (*w)[:last]
		if last > 0 {
			heap.Fix(w, 0)
		}
	}
	return into
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].due < w[j].due }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(any)          { panic("see add") }
func (w *waiting) Pop() any          { panic("see take") }
