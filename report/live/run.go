// Package live shows runs in progress: as a page that updates itself, and as
// metrics for Prometheus. Readers never delay a run: operations come from
// the goroutine that writes the operation log, which no worker waits for, and a slow
// reader misses updates.
package live

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/live/page"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
)

// Run is the state of the run in progress. It implements record.Observer. Its
// methods may be called concurrently.
type Run struct {
	began time.Time

	mu        sync.Mutex // guards the fields below, never for longer than a few milliseconds
	beginning record.Beginning
	progress  func() progress.State // nil: not known yet
	opened    map[string]opened     // by target
	measured  map[key]*measured
	begun     int // measurements that began
	courses   []*course
	phases    []phase // the oldest first
	failures  int64
	over      *page.End
}

// course is what a target did in the newest seconds.
type course struct {
	target  string
	seconds seconds
	recent  map[oplog.Kind]*hdrhistogram.Histogram // times since the last tick
}

// phase is a time in which a target loaded or answered queries, from the start of the session.
type phase struct {
	target   string
	kind     oplog.Kind
	from, to time.Duration
}

// opened describes the system behind a target.
type opened struct{ label, standIn string }

// key identifies the operations that are shown together.
type key struct {
	kind             oplog.Kind
	target, of, part string
}

// NewRun returns the state before any run has begun.
func NewRun() *Run {
	return &Run{
		began: time.Now(), opened: make(map[string]opened), measured: make(map[key]*measured),
	}
}

// Follow sets the function that returns the tasks of runs from now on. It may be called at
// any time.
func (r *Run) Follow(state func() progress.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = state
}

// Begin implements record.Observer.
func (r *Run) Begin(b record.Beginning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b.ID != r.beginning.ID {
		clear(r.measured)
		clear(r.opened)
		r.failures = 0
	}
	r.beginning = b
}

// TargetOpened implements record.Observer.
func (r *Run) TargetOpened(t *result.Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened[t.Name] = opened{t.Label(), t.Description.StandIn}
}

// label returns the displayed name of a target. The caller holds the lock.
func (r *Run) label(target string) string { return cmp.Or(r.opened[target].label, target) }

// Operations implements record.Observer.
func (r *Run) Operations(start time.Time, c oplog.Cell, ops []oplog.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{c.Kind, c.Target, c.Type, string(c.Part)}
	m := r.measured[k]
	if m == nil {
		m = &measured{key: k, times: newTimes()}
		r.measured[k] = m
	}
	if m.cell != c {
		r.begun++
		m.begin(c, r.begun)
	}
	on, offset := r.courseOf(c.Target), start.Sub(r.began)
	r.extendPhase(c, offset, ops)
	for i := range ops {
		op := &ops[i]
		took, counts := m.add(op)
		switch {
		case op.Outcome == oplog.Failed, op.Outcome == oplog.Wrong:
			r.failures++
		case counts:
			_ = on.recent[c.Kind].RecordValue(took)
		}
		s := on.seconds.find(int64((offset + op.Start + op.Duration) / time.Second))
		switch {
		case s == nil:
		case c.Kind == oplog.Load:
			s.rows += op.Rows
		case answered(op):
			s.queries++
		}
	}
}

// courseOf returns the course of a target. The caller holds the lock.
func (r *Run) courseOf(target string) *course {
	for _, c := range r.courses {
		if c.target == target {
			return c
		}
	}
	c := &course{target: target, recent: map[oplog.Kind]*hdrhistogram.Histogram{oplog.Load: newTimes(), oplog.Query: newTimes()}}
	r.courses = append(r.courses, c)
	return c
}

// extendPhase adds operations to the latest phase of their kind, or begins one if that is another
// target's. The caller holds the lock.
func (r *Run) extendPhase(c oplog.Cell, offset time.Duration, ops []oplog.Op) {
	var latest *phase
	for i := range r.phases {
		if r.phases[i].kind == c.Kind {
			latest = &r.phases[i]
		}
	}
	for i := range ops {
		from, to := offset+ops[i].Start, offset+ops[i].Start+ops[i].Duration
		if latest == nil || latest.target != c.Target {
			r.phases = append(r.phases, phase{c.Target, c.Kind, from, to})
			latest = &r.phases[len(r.phases)-1]
		}
		latest.from, latest.to = min(latest.from, from), max(latest.to, to)
	}
}

// answered reports whether a query has come to its answer, or its time limit.
func answered(op *oplog.Op) bool {
	switch op.Outcome {
	case oplog.OK, oplog.AtLeast, oplog.Stale:
		return true
	}
	return false
}

// tick ends a second of the charts' latencies.
func (r *Run) tick(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	passed := now.Sub(r.began)
	for _, c := range r.courses {
		if s := c.seconds.find(newest(passed)); s != nil {
			s.batches, s.query = latency(c.recent[oplog.Load]), latency(c.recent[oplog.Query])
		}
		for _, times := range c.recent {
			times.Reset()
		}
	}
	r.phases = slices.DeleteFunc(r.phases, func(p phase) bool { return p.to < passed-(page.Window+late)*time.Second })
}

// End records the outcome of the watched session. Nothing is recorded after it.
func (r *Run) End(e page.End) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = &e
}

// now returns the state at a point in time.
func (r *Run) now(at time.Time) *page.State {
	l, b, state := r.pageState(at)
	// These functions may wait for a terminal; the run never waits for them.
	if state != nil {
		l.Progress = state()
	}
	if b.Resources != nil {
		l.Resources, l.ResourcesNow = b.Resources(page.Window), at.Sub(b.Started).Seconds()
	}
	return l
}

// pageState returns the state that Run has itself, and functions for the rest.
func (r *Run) pageState(at time.Time) (*page.State, record.Beginning, func() progress.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, passed := r.beginning, at.Sub(r.began)
	l := &page.State{
		Run: b.ID, Name: b.Name, Command: b.Command, Workload: b.Workload,
		Began: r.began, Now: at, Failures: r.failures, Over: r.over,
	}
	for _, name := range b.Targets {
		l.Targets = append(l.Targets, r.label(name))
		if what := r.opened[name].standIn; what != "" {
			l.StandIns = append(l.StandIns, name+" is "+what)
		}
	}
	for _, m := range r.byRecency() {
		s := m.pageValues()
		s.Target = r.label(s.Target)
		l.Measured = append(l.Measured, s)
	}
	for _, name := range b.Targets { // each has its colour from the beginning
		r.courseOf(name)
	}
	last := newest(passed)
	l.Newest = passed - time.Duration(last+1)*time.Second
	places := make(map[string]int)
	for i, c := range r.courses {
		places[c.target] = i
		shown := page.Course{Name: c.target, Label: r.label(c.target)}
		if last >= 0 {
			shown.Seconds = c.seconds.secondsUpTo(last)
		}
		l.Courses = append(l.Courses, shown)
	}
	for _, p := range r.phases {
		l.Phases = append(l.Phases, page.Phase{Course: places[p.target], Load: p.kind == oplog.Load, From: passed - p.from, To: passed - p.to})
	}
	return l, b, r.progress
}

// byRecency lists the measurements, the most recently begun first. The caller holds the lock.
func (r *Run) byRecency() []*measured {
	list := make([]*measured, 0, len(r.measured))
	for _, m := range r.measured {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *measured) int { return b.order - a.order })
	return list
}
