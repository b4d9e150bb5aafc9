package workload

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Windows says where in a span of time the windows of queries lie.
type Windows string

// The choices.
const (
	// Uniform windows begin anywhere with the same chance, as TSBS draws them.
	Uniform Windows = "uniform"
	// Recent windows are close to the end, as users look at recent events: the distance between the
	// ends of window and span has an exponential distribution whose mean is a tenth of the span,
	// truncated where the window would begin before the span. About two in three windows end in the
	// last tenth, and nine in ten in the last quarter.
	Recent Windows = "recent"
	// Sliding windows follow each other from the beginning of the span, each a fiftieth of its
	// length after the previous one, and restart at its end: IoTDB-Benchmark's defaults.
	// Consecutive windows share 98 % of their rows, so caches answer most of a query. A suffix, as
	// in sliding:5s, sets the step; with 0s all windows are the same.
	Sliding Windows = "sliding"
)

// SlidingBy returns Sliding windows that advance by step.
func SlidingBy(step time.Duration) Windows { return Sliding + Windows(":"+step.String()) }

// Check returns an error unless w is one of the choices, or empty for Uniform.
func (w Windows) Check() error {
	if w == "" || w == Uniform || w == Recent {
		return nil
	}
	if _, ok := w.sliding(0); ok {
		return nil
	}
	return fmt.Errorf("must be %s, %s, %s or %s with a duration of 0s or more, as in %s, not %q", Uniform, Recent, Sliding, Sliding, SlidingBy(5*time.Second), w)
}

// sliding returns how far Sliding windows are apart, which is as given where w
// does not say; ok is false if w is another choice.
func (w Windows) sliding(otherwise time.Duration) (step time.Duration, ok bool) {
	rest, ok := strings.CutPrefix(string(w), string(Sliding))
	if !ok || rest == "" {
		return otherwise, ok
	}
	text, ok := strings.CutPrefix(rest, ":")
	step, err := time.ParseDuration(text)
	return step, ok && err == nil && step >= 0
}

// slidingShare is a window's length divided by the distance of two Sliding ones.
const slidingShare = 50

// recentShare is the span divided by the mean distance of Recent windows.
const recentShare = 10

// Draw returns the first n queries of a type over the whole dataset, as a run sends them: with
// windows placed by w and, with align, starting on a bucket border. Uniform windows are left as
// drawn, and a query without an end covers all rows. A query about one instant uses an instant at
// which there is a row, and slides from one interval to the next. The queries are generated one by
// one, as by Workload.Queries.
func (w Windows) Draw(of Workload, s Spec, queryType string, n int, align bool) (iter.Seq[query.Query], error) {
	queries, err := of.Queries(s, queryType, n)
	if err != nil {
		return nil, err
	}
	var d Dataset
	if w != "" && w != Uniform {
		if d, err = of.Dataset(s); err != nil {
			return nil, err
		}
	}
	return func(yield func(query.Query) bool) {
		var q query.Query // one variable for all queries, since OnRow's argument escapes to the heap
		for q = range queries {
			if d != nil && !q.End.IsZero() {
				step := q.End.Sub(q.Start) / slidingShare
				if !q.Start.IsZero() && q.End.Sub(q.Start) < s.Interval {
					step = s.Interval
				}
				w.place(&q, s.Start, s.End, step, d.Schema().Sessions)
				OnRow(d, &q, s.End)
			}
			if align {
				q.Align()
			}
			if !yield(q) {
				return
			}
		}
	}, nil
}

// Place moves the window of q into the span from the first to before the second time, and keeps its
// length. The new place depends only on the query (its type, id and drawn window) and on the span:
// the same query is placed at the same fraction of two spans. Place returns false, and leaves q
// unchanged, if the span is shorter than the window.
//
// A query with an end but no start (the newest buckets before a time) needs room for its limit of
// buckets. A query without an end gets the end of the span as its end and covers everything in the
// span.
//
// With the sessions of a schema, a window ends in a session, and begins in it unless it is longer.
//
// Windows begin at whole milliseconds, or with the span; Sliding ones are at least one millisecond
// apart. This is coarse enough that logarithms that differ in the last digit between processors
// give the same windows.
func (w Windows) Place(q *query.Query, from, to time.Time, sessions []series.Session) bool {
	return w.place(q, from, to, max(q.End.Sub(q.Start)/slidingShare, time.Millisecond), sessions)
}

// place is Place with the distance of two Sliding windows.
func (w Windows) place(q *query.Query, from, to time.Time, step time.Duration, sessions []series.Session) bool {
	switch s := q.Shape.(type) {
	case query.PromQL: // rows at the end of the span are not in it, and PromQL includes its End
		to = to.Add(-time.Millisecond)
	case query.Around: // rows behind the window count too, including those at its end
		to = to.Add(-s.After - time.Millisecond)
	}
	length := q.End.Sub(q.Start)
	switch {
	case q.End.IsZero():
		if !from.Before(to) {
			return false
		}
		q.End = to
		return true
	case q.Start.IsZero():
		length = 0
		if buckets, ok := q.Shape.(query.Buckets); ok {
			length = buckets.Width * time.Duration(buckets.Limit)
		}
		step = length / slidingShare
	}
	if sessions != nil {
		end, ok := w.endInSession(q, from, to, length, step, sessions)
		if ok {
			moveTo(q, from, end.Add(-length), length)
		}
		return ok
	}
	room := to.Sub(from) - length
	if room < 0 {
		return false
	}
	offset := w.offset(share(q), float64(to.Sub(from)), float64(room))
	if step, ok := w.sliding(max(step, 1)); ok && step > 0 {
		offset = time.Duration(int64(q.ID)%(int64(room/step)+1)) * step
	} else if ok {
		offset = 0
	}
	moveTo(q, from, from.Add(offset), length)
	return true
}

// moveTo moves a window to the whole millisecond before a time, or to the span's beginning.
func moveTo(q *query.Query, from, start time.Time, length time.Duration) {
	if start = start.Truncate(time.Millisecond); start.Before(from) {
		start = from
	}
	if !q.Start.IsZero() {
		q.Start = start
	}
	q.End = start.Add(length)
}

// endInSession returns where the window ends. A session is chosen by its length, or by that of its part in the span;
// windows that are as long as their session all end with it.
func (w Windows) endInSession(q *query.Query, from, to time.Time, length, step time.Duration, sessions []series.Session) (end time.Time, ok bool) {
	type part struct{ first, last, open int64 } // of possible ends, and the length of the session
	var parts []part
	open, places := int64(0), int64(0)
	by, slides := w.sliding(max(step, 1))
	still := by == 0
	by = max(by, 1)
	for _, s := range sessions {
		first, last := max(s.Open, from.UnixNano()), min(s.Close, to.UnixNano())
		ends := part{max(min(first+int64(length), last), from.UnixNano()+int64(length)), last, last - first}
		if ends.open <= 0 || ends.first > ends.last {
			continue
		}
		parts = append(parts, ends)
		open += ends.open
		places += (ends.last-ends.first)/int64(by) + 1
	}
	if len(parts) == 0 {
		return end, false
	}
	if slides {
		place := int64(q.ID) % places
		if still {
			place = 0
		}
		for _, p := range parts {
			n := (p.last-p.first)/int64(by) + 1
			if place < n {
				return time.Unix(0, p.first+place*int64(by)).UTC(), true
			}
			place -= n
		}
	}
	at := float64(w.offset(share(q), float64(open), float64(open)))
	chosen := parts[len(parts)-1]
	for _, p := range parts {
		if chosen = p; at <= float64(p.open) {
			break
		}
		at -= float64(p.open)
	}
	return time.Unix(0, chosen.first+int64(min(at/float64(chosen.open), 1)*float64(chosen.last-chosen.first))).UTC(), true
}

// offset returns how long after the span a window begins: the quantile u of
// the distribution, at most room.
func (w Windows) offset(u, span, room float64) time.Duration {
	if w != Recent {
		return time.Duration(u * room)
	}
	mean := span / recentShare
	inside := -math.Expm1(-room / mean) // part of the distribution that is not truncated
	p := float64(u * inside)            // rounded here, so that no processor fuses it with the next operation
	return time.Duration(max(room+float64(mean*math.Log1p(-p)), 0))
}

// share returns a number from 0 to below 1 that is drawn for the query: a
// hash, so that it needs no stream of random numbers, and takes part in none.
func share(q *query.Query) float64 {
	key := append([]byte(q.Type), 0)
	key = binary.LittleEndian.AppendUint64(key, uint64(q.ID))
	start, end := q.Bounds()
	key = binary.LittleEndian.AppendUint64(key, uint64(start))
	key = binary.LittleEndian.AppendUint64(key, uint64(end))
	return float64(xxhash.Sum64(key)>>11) / (1 << 53)
}
