package life

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// simulate lets ten queries end in each second of a span, each after the same time.
func simulate(f *figures, from, to, took time.Duration) {
	for at := from; at < to; at += 100 * time.Millisecond {
		f.addTime(at, 0, took.Seconds())
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
	f.addFailure(25*time.Second, 25*time.Second, errors.New("gone"))
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
	if e.During.Queries != 31 || e.Slower != 3 {
		t.Errorf("during: %+v, %v times slower; want 31 queries, the last due before the end, 3 times slower", e.During, e.Slower)
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

// An event that blocks all queries and rows for ten seconds has them, although they end after it: queries by when they
// were due, and rows by their acknowledgement.
func TestBlockedUntilTheEnd(t *testing.T) {
	f := newFigures(&result.Life{}, 1, time.Second)
	var e result.LifeEvent
	simulate(f, 0, 10*time.Second, 10*time.Millisecond)
	f.begin(10*time.Second, &e)
	f.end(20 * time.Second)
	for n := range 100 {
		f.addTime(20*time.Second+time.Duration(n)*time.Millisecond, 0, 10-float64(n)/10)
	}
	f.addFailure(20200*time.Millisecond, 15*time.Second, errors.New("gone"))
	f.visible(20100*time.Millisecond, 5*time.Second, true)
	simulate(f, 21*time.Second, 30*time.Second, 10*time.Millisecond)
	f.close(30 * time.Second)
	if e.During.Queries != 100 || e.During.Median < 5 || e.Slower < 500 || e.During.Failed != 1 || e.During.Freshness != 5 {
		t.Errorf("during: %+v, %v times slower; want 100 queries of some 5 s, 500 times slower, a failed one, and freshness of 5 s", e.During, e.Slower)
	}
	if e.After.Queries != 90 || e.After.Median != 0.01 || e.After.Freshness != 0 {
		t.Errorf("after: %+v; want 90 queries of 10 ms", e.After)
	}
}

// The time of a query that was cut off is a lower bound, and so are figures that it leaves open. It has no answer.
func TestCutOff(t *testing.T) {
	out := &result.Life{Events: make([]result.LifeEvent, 2)}
	f := newFigures(out, 1, time.Second)
	simulate(f, 0, 10*time.Second, 10*time.Millisecond)
	for i := range out.Events {
		e, begin := &out.Events[i], time.Duration(10+20*i)*time.Second
		f.begin(begin, e)
		simulate(f, begin+2*time.Second, begin+3*time.Second, 20*time.Millisecond)
		for n := range 10 + i { // of 20, or one more than half
			at := begin + 3*time.Second + time.Duration(n)*time.Millisecond
			f.addTime(at, 0, -2)
			f.addFailure(at, at-2*time.Second, errors.New("cut off"))
		}
		f.end(begin + 3100*time.Millisecond)
		simulate(f, begin+4*time.Second, begin+20*time.Second, 10*time.Millisecond)
	}
	f.close(50 * time.Second)
	if e := out.Events[0]; e.During.Queries != 10 || e.During.Failed != 10 || math.Abs(e.During.Median+1.01) > 0.001 || math.Abs(e.Slower+101) > 0.1 {
		t.Errorf("ten of 20 were cut off: %+v, %v times slower; want a median of at least 1.01 s", e.During, e.Slower)
	}
	if e := out.Events[1]; e.During.Queries != 10 || e.During.Failed != 11 || e.During.Median != -2 || e.Slower != -200 || e.UsualAfter != 4 {
		t.Errorf("11 of 21 were cut off: %+v, %v times slower, as usual after %v s; want at least 2 s, and 4 s", e.During, e.Slower, e.UsualAfter)
	}
	l := &life{out: out, figures: f}
	l.cfg.Base.Timeout = 2 * time.Second
	l.ended(0, &oplog.Op{Start: 50 * time.Second, Intended: 49 * time.Second, Duration: 2 * time.Second, Outcome: oplog.AtLeast}, nil, context.DeadlineExceeded)
	if out.Failed != 22 || f.point.of.Failed != 1 || f.point.of.Queries != 0 || f.point.times[0] != -3 {
		t.Errorf("%d failed, the last interval is %+v; want 22, and a response of at least 3 s", out.Failed, f.point)
	}
	if p := out.Course[13]; p.Queries != 0 || p.Failed != 10 || p.Median != -2 || p.P99 != -2 {
		t.Errorf("the interval of the queries that were cut off: %+v", p)
	}
}

// A part of a second with one slow query, right before an event, says nothing about the usual times.
func TestPartOfSecond(t *testing.T) {
	f := newFigures(&result.Life{}, 1, time.Second)
	var e result.LifeEvent
	simulate(f, 0, 10*time.Second, 10*time.Millisecond)
	f.addTime(10050*time.Millisecond, 0, 1)
	f.begin(10100*time.Millisecond, &e)
	if f.close(20 * time.Second); e.Limit != 1.25 || e.Before.Queries != 100 {
		t.Errorf("limit %v of %d queries, want 1.25 of 100", e.Limit, e.Before.Queries)
	}
}

// The last of the three usual seconds begins after the event.
func TestUsualSecondsFollow(t *testing.T) {
	f := newFigures(&result.Life{}, 1, time.Second)
	var e result.LifeEvent
	simulate(f, 0, 10*time.Second, 10*time.Millisecond)
	f.begin(10*time.Second, &e)
	simulate(f, 10*time.Second, 11*time.Second, 50*time.Millisecond)
	simulate(f, 11*time.Second, 13500*time.Millisecond, 10*time.Millisecond)
	f.end(13500 * time.Millisecond)
	simulate(f, 13500*time.Millisecond, 14*time.Second, 10*time.Millisecond)
	simulate(f, 14*time.Second, 15*time.Second, 50*time.Millisecond)
	simulate(f, 15*time.Second, 20*time.Second, 10*time.Millisecond)
	if f.close(20 * time.Second); e.UsualAfter != 5 {
		t.Errorf("as usual after %v s, want 5: the second in which the event ended does not follow it", e.UsualAfter)
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
			l.figures.addTime(at, n%2, time.Millisecond.Seconds())
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
