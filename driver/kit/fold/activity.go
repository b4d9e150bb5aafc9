package fold

import (
	"cmp"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
)

// Activity computes the results of the activity shapes from the buckets of each unit. The first part of
// the plan is a bucket's mean. The keys of the fold are the tags of the groups, followed by the tags of
// the unit.
type Activity struct {
	Shape   string           `json:"shape"`
	Compare query.Comparison `json:"compare,omitempty"`
	Value   float64          `json:"value"`
	More    int              `json:"more,omitempty"` // for ActiveUnits
}

// The shapes.
const (
	activeUnits = "units"
	activeHours = "hours"
	sessions    = "sessions"
	activeShare = "share"
	starts      = "starts"
)

// MakeZeros is the Make of the share of values that are 0.
const MakeZeros = "zeros"

const day = 24 * time.Hour

// activity returns the fold of a query that looks at active buckets.
func activity(q *query.Query, tags func(keys ...string) []int) *Fold {
	a := q.Activity()
	f := &Fold{Buckets: true, Width: int64(a.Width / time.Millisecond), Parts: []Part{{Make: string(query.Avg)}}, Activity: &Activity{Compare: a.Compare, Value: a.Value}}
	if a.Zeros {
		f.Parts[0].Make = MakeZeros
	}
	var group []string
	switch s := q.Shape.(type) {
	case query.ActiveUnits:
		f.Activity.Shape, f.Activity.More = activeUnits, s.More
	case query.ActiveHours:
		f.Activity.Shape = activeHours
	case query.Sessions:
		f.Activity.Shape, f.Order = sessions, query.Ascending
	case query.ActiveShare:
		f.Activity.Shape, f.Order, group = activeShare, query.Ascending, s.Group
	case query.Starts:
		f.Activity.Shape, group = starts, s.Group
	}
	f.Keys = tags(append(slices.Clone(group), a.Unit)...)
	return f
}

// unit is a unit with its buckets.
type unit struct {
	keys    []query.Value
	buckets []bucket
}

type bucket struct {
	at     int64
	active bool
}

// unitsOf returns the units with their buckets in order. A bucket without a value is left out.
func (c *Collector) unitsOf(f *Fold) map[string]*unit {
	all := map[string]*unit{}
	var key []byte
	for _, g := range c.groups {
		measure := g.parts[0].result(f.Parts[0])
		if measure.Kind == query.Null {
			continue
		}
		key = key[:0]
		for _, v := range g.keys {
			key = v.AppendKey(key)
		}
		u := all[string(key)]
		if u == nil {
			u = &unit{keys: g.keys}
			all[string(key)] = u
		}
		u.buckets = append(u.buckets, bucket{g.bucket.Int, f.Activity.Compare.Holds(measure.Float, f.Activity.Value)})
	}
	for _, u := range all {
		slices.SortFunc(u.buckets, func(a, b bucket) int { return cmp.Compare(a.at, b.at) })
	}
	return all
}

// active passes on the results of the units' buckets.
func (c *Collector) active(f *Fold) (int64, error) {
	width := time.Duration(f.Width) * time.Millisecond
	tally := map[string]*group{} // of shares and starts
	for _, u := range c.unitsOf(f) {
		name, of := u.keys[len(u.keys)-1], u.keys[:len(u.keys)-1]
		switch f.Activity.Shape {
		case activeUnits:
			if n, _ := u.active(); n > f.Activity.More {
				c.kept = append(c.kept, []query.Value{name})
			}
		case activeHours:
			if n, days := u.active(); n > 0 {
				c.kept = append(c.kept, []query.Value{name, {Kind: query.Float, Float: float64(n) * width.Hours() / float64(days)}})
			}
		case sessions:
			for at, s := range u.sessions() {
				c.kept = append(c.kept, []query.Value{{Kind: query.Time, Int: at}, name, {Kind: query.Float, Float: s.total / float64(s.n)}})
			}
		case activeShare:
			for _, b := range u.buckets {
				if b.active {
					count(tally, append([]query.Value{{Kind: query.Time, Int: query.BucketOf(b.at, day)}}, of...))
				}
			}
		case starts:
			for i := 1; i < len(u.buckets); i++ {
				if u.buckets[i].active && !u.buckets[i-1].active {
					count(tally, of)
				}
			}
		}
	}
	for _, g := range tally {
		v := query.Value{Kind: query.Int, Int: g.parts[0].n}
		if f.Activity.Shape == activeShare {
			v = query.Value{Kind: query.Float, Float: float64(g.parts[0].n) / float64(day/width)}
		}
		c.kept = append(c.kept, append(slices.Clone(g.keys), v))
	}
	keys := len(f.Keys)
	if f.Activity.Shape == activeUnits || f.Activity.Shape == activeHours || f.Activity.Shape == starts {
		keys = min(keys, 1)
	}
	if f.Activity.Shape == sessions {
		keys = 2
	}
	return c.rowsBy(f.Order, keys, 0)
}

// count adds one to the tally of the keys.
func count(tally map[string]*group, keys []query.Value) {
	var key []byte
	for _, v := range keys {
		key = v.AppendKey(key)
	}
	g := tally[string(key)]
	if g == nil {
		g = &group{keys: keys, parts: make([]emitGroups, 1)}
		tally[string(key)] = g
	}
	g.parts[0].n++
}

// active counts active buckets, and the days that have one.
func (u *unit) active() (n, days int) {
	last := int64(-1 << 63)
	for _, b := range u.buckets {
		if !b.active {
			continue
		}
		n++
		if at := query.BucketOf(b.at, day); at != last {
			days, last = days+1, at
		}
	}
	return n, days
}

// sessions returns the lengths of sessions, added up by the day on which they began. A session lasts
// from an active bucket after an inactive one to the next inactive one.
func (u *unit) sessions() map[int64]*emitGroups {
	all := map[int64]*emitGroups{}
	start, begun := int64(0), false
	for i := 1; i < len(u.buckets); i++ {
		b, before := u.buckets[i], u.buckets[i-1]
		switch {
		case b.active && !before.active:
			start, begun = b.at, true
		case begun && !b.active:
			begun = false
			at := query.BucketOf(start, day)
			if all[at] == nil {
				all[at] = &emitGroups{}
			}
			all[at].n++
			all[at].total += time.Duration(b.at - start).Seconds()
		}
	}
	return all
}
