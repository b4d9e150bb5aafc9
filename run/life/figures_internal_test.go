package life

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
)

// simulate lets ten queries end in each second of a span, each after the same time.
func simulate(f *figures, from, to, took time.Duration) {
	for at := from; at < to; at += 100 * time.Millisecond {
		f.addAnswer(at, 0, took)
	}
}

// Queries are three times slower during an event of three seconds and for two more seconds, one
// query fails in the second after that, and then they are as usual.
func TestEventFigures(t *testing.T) {
	out := &result.Life{}
	f := newFigures(out, 1, time.Second)
	e := result.LifeEvent{DiskLeast: -1, BacklogBefore: 2, BacklogMost: -1, BacklogBack: -1}
	simulate(f, 0, 20*time.Second, 10*time.Millisecond)
	f.begin(20*time.Second, &e)
	simulate(f, 20*time.Second, 23*time.Second, 30*time.Millisecond)
	f.end(23 * time.Second)
	simulate(f, 23*time.Second, 25*time.Second, 30*time.Millisecond)
	f.addFailure(25*time.Second, errors.New("gone"))
	simulate(f, 25*time.Second, 40*time.Second, 11*time.Millisecond)
	f.visible(21*time.Second, 2*time.Second, true)
	f.visible(22*time.Second, 10*time.Second, false)
	f.visible(22500*time.Millisecond, 3*time.Second, true)
	f.backlog(22*time.Second, 9)
	f.backlog(24*time.Second, 4)
	f.backlog(25*time.Second, 1)
	f.backlog(26*time.Second, 5)
	f.space(30*time.Second, 100)
	f.space(31*time.Second, 70)
	f.space(32*time.Second, 80)
	f.close(40 * time.Second)
	if e.Before.Median != 0.01 || e.Before.Queries != 100 || e.Limit != 1.25 {
		t.Errorf("before: %+v, limit %v; want a median of 0.01 s of 100 queries, and 1.25", e.Before, e.Limit)
	}
	if e.During.Queries != 30 || e.Slower != 3 {
		t.Errorf("during: %+v, %v times slower; want 30 queries, 3 times slower", e.During, e.Slower)
	}
	if e.UsualAfter != 6 {
		t.Errorf("as usual after %v s, want 6: the second with a failed query is not usual", e.UsualAfter)
	}
	if e.After.Failed != 1 || out.Failed != 1 || out.FailedWhy != "gone" {
		t.Errorf("%d queries failed after, %d in all because %q", e.After.Failed, out.Failed, out.FailedWhy)
	}
	if e.DiskLeast != 70 || e.DiskLeastAfter != 11 {
		t.Errorf("least size %d after %v s, want 70 after 11 s", e.DiskLeast, e.DiskLeastAfter)
	}
	if e.During.Freshness != -10 {
		t.Errorf("freshness %v s, want at least 10 as a bound below 0", e.During.Freshness)
	}
	if e.BacklogMost != 9 || e.BacklogBack != 5 {
		t.Errorf("backlog of %v at most, back after %v s; want 9, and 5 s", e.BacklogMost, e.BacklogBack)
	}
	if len(out.Course) != 40 || out.Course[21].Median != 0.03 || out.Course[25].Failed != 1 {
		t.Errorf("course of %d points: %+v", len(out.Course), out.Course)
	}
}

// Queries that become slow only after a while are not as usual from the begin on.
func TestSlowLate(t *testing.T) {
	f := newFigures(&result.Life{}, 1, time.Second)
	var e result.LifeEvent
	simulate(f, 0, 10*time.Second, 10*time.Millisecond)
	f.begin(10*time.Second, &e)
	simulate(f, 10*time.Second, 15*time.Second, 10*time.Millisecond)
	simulate(f, 15*time.Second, 18*time.Second, 50*time.Millisecond)
	f.end(18 * time.Second)
	simulate(f, 18*time.Second, 25*time.Second, 10*time.Millisecond)
	if f.close(25 * time.Second); e.UsualAfter != 8 {
		t.Errorf("as usual after %v s, want 8", e.UsualAfter)
	}
}

// Without enough queries before an event the usual times are unknown.
func TestUnknownBefore(t *testing.T) {
	f := newFigures(&result.Life{}, 1, time.Second)
	var e result.LifeEvent
	simulate(f, 0, 2*time.Second, time.Millisecond)
	f.begin(2*time.Second, &e)
	f.end(3 * time.Second)
	simulate(f, 2*time.Second, 9*time.Second, time.Millisecond)
	if f.close(9 * time.Second); e.Limit != 0 || e.UsualAfter != -1 {
		t.Errorf("limit %v, as usual after %v s; want an unknown limit", e.Limit, e.UsualAfter)
	}
}

// Ten hours of life take no more memory than one: 20 batches and 20 queries a second, with an event
// an hour.
func TestMemoryOfTenHours(t *testing.T) {
	const hours, perSecond = 10, 20
	l := &life{out: &result.Life{}, answers: map[place]*sample{}, random: rand.New(rand.NewPCG(1, 1)), states: []state{{}}}
	l.figures = newFigures(l.out, 2, hours*time.Hour/240)
	l.cfg.Base.Keep = 10
	l.phase.Acked = func() int64 { return l.handed - 1000 }
	events := make([]result.LifeEvent, hours)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	first := int64(0)
	for hour := range hours {
		begin := time.Duration(hour) * time.Hour
		for n := range 3600 * perSecond {
			at := begin + time.Duration(n)*time.Second/perSecond
			switch n {
			case 1800 * perSecond:
				l.figures.begin(at, &events[hour])
			case 1810 * perSecond:
				l.figures.end(at)
			}
			l.noteRead(100, 100)
			l.figures.wrote(at, 100)
			l.figures.addAnswer(at, n%2, time.Millisecond)
			l.figures.visible(at, time.Millisecond, true)
			l.keep(n%2, at, at+time.Millisecond, &engine.Answered{})
		}
		if hour == 0 {
			first = heap()
		}
	}
	if grown := heap() - first; grown > 200<<10 {
		t.Errorf("memory grew by %d bytes in nine hours", grown)
	}
	if len(l.places) > 20 || len(l.out.Course) > 240 {
		t.Errorf("%d places and %d points of the course are kept", len(l.places), len(l.out.Course))
	}
	runtime.KeepAlive(l)
}
