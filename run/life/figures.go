package life

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// The rule by which queries are as usual again after an event. A second is usual if no query failed
// in it and the median of its queries' times, each divided by the median of its type before the
// event, is within the limit: a quarter more than the slowest of the seconds before. Queries are as
// usual again from the first of three such seconds in a row, the last of them after the event.
const (
	secondsBefore = 10 // at most; and as many after an event
	secondsKnown  = 3  // least number of seconds before an event for a limit
	queriesKnown  = 20 // least number of queries in them
	timesKnown    = 3  // least number of queries of a type in them for its median
	usualMargin   = 1.25
	usualInARow   = 3
	fewest        = 5 // queries during an event for a figure
)

// maxKept limits the times that are kept for one interval. If there are more, a random sample is kept.
const maxKept = 10_000

// figures makes the figures of a life from what happens, by times since its start that hardly run
// backwards. Its memory does not grow with the length of the life.
type figures struct {
	mu     sync.Mutex
	out    *result.Life
	types  int
	every  time.Duration // interval of the course
	random *rand.Rand

	point  point
	second second
	quiet  []second // the last ones outside of events, in order
	event  *measured
}

// point is the current interval of the course.
type point struct {
	end   time.Duration
	times []float64
	seen  int64 // answers
	of    result.LifePoint
}

// second is the queries of one second, or of less where an event begins.
type second struct {
	begin, end time.Duration
	times      [][]float64 // by type, in seconds
	failed     int64
	fresh      float64 // longest, in seconds; below 0: at least so long
}

// measured is the latest event.
type measured struct {
	of            *result.LifeEvent
	begin         time.Duration
	end           time.Duration // at least a second after begin; Never: it has not ended
	medians       []float64     // by type, before; 0: unknown
	during, after *measure.Latency
	ratios        *measure.Latency // of the times during the event, each a multiple in milliseconds
	usual         int              // seconds in a row
	usualSince    time.Duration    // begin of the first of these
	decided       bool             // UsualAfter is known
}

const never = time.Duration(-1)

// emptyPoint is an interval in which nothing happened yet.
var emptyPoint = result.LifePoint{DiskBytes: -1, Backlog: -1}

func newFigures(out *result.Life, types int, every time.Duration) *figures {
	f := &figures{out: out, types: types, every: every, random: rand.New(rand.NewPCG(1, 1))}
	out.Interval = every.Seconds()
	f.point = point{end: every, of: emptyPoint}
	f.second = f.newSecond(0)
	return f
}

func (f *figures) newSecond(begin time.Duration) second {
	return second{begin: begin, end: begin + time.Second, times: make([][]float64, f.types)}
}

// advance closes the intervals that ended before a time.
func (f *figures) advance(at time.Duration) {
	for at >= f.second.end {
		f.closeSecond(f.second.end)
	}
	for at >= f.point.end {
		f.closePoint()
	}
}

// closeSecond closes the second and begins another one.
func (f *figures) closeSecond(at time.Duration) {
	s := f.second
	s.end = at
	f.second = f.newSecond(at)
	e := f.event
	if e != nil {
		e.take(&s)
	}
	if e == nil || e.end != never && s.begin >= e.end {
		if len(f.quiet) == secondsBefore {
			f.quiet = append(f.quiet[:0], f.quiet[1:]...)
		}
		f.quiet = append(f.quiet, s)
	}
}

func (f *figures) closePoint() {
	p := &f.point
	p.of.At = p.end.Seconds()
	if len(p.times) > 0 {
		p.of.Median, p.of.P99 = stats.Median(p.times), stats.Quantile(p.times, 0.99)
	}
	f.out.Course = append(f.out.Course, p.of)
	f.point = point{end: p.end + f.every, times: p.times[:0], of: emptyPoint}
}

// addAnswer records a query of a type that has an answer.
func (f *figures) addAnswer(at time.Duration, kind int, response time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	seconds := response.Seconds()
	p, of := &f.point, &f.second.times[kind]
	p.of.Queries++
	if p.seen++; len(p.times) < maxKept {
		p.times = append(p.times, seconds)
	} else if n := f.random.Int64N(p.seen); n < maxKept {
		p.times[n] = seconds
	}
	if len(*of) < maxKept {
		*of = append(*of, seconds)
	}
	if e := f.event; e != nil {
		e.addAnswer(at, kind, response)
	}
}

// addFailure records a query that failed.
func (f *figures) addFailure(at time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	if f.out.Failed++; f.out.FailedWhy == "" {
		f.out.FailedWhy = err.Error()
	}
	f.point.of.Failed++
	f.second.failed++
	if e := f.event; e != nil {
		if p := e.period(at); p != nil {
			p.Failed++
		}
	}
}

// wrote records rows of the base that were written.
func (f *figures) wrote(at time.Duration, rows int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.point.of.Rows += int64(rows)
}

// visible records how long after its acknowledgement a row became visible, or that it was not visible for
// that long.
func (f *figures) visible(at, after time.Duration, seen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	seconds := after.Seconds()
	if !seen {
		seconds = -seconds
	}
	f.point.of.Freshness = result.Longer(f.point.of.Freshness, seconds)
	f.second.fresh = result.Longer(f.second.fresh, seconds)
	if e := f.event; e != nil {
		if p := e.period(at); p != nil {
			p.Freshness = result.Longer(p.Freshness, seconds)
		}
	}
}

// backlog records the background work that the system has still to do.
func (f *figures) backlog(at time.Duration, work float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.point.of.Backlog = max(f.point.of.Backlog, work)
	e := f.event
	if e == nil || e.of.BacklogBefore < 0 {
		return
	}
	e.of.BacklogMost = max(e.of.BacklogMost, work)
	if e.end != never && e.of.BacklogBack < 0 && work <= e.of.BacklogBefore {
		e.of.BacklogBack = (at - e.begin).Seconds()
	}
}

// space records the size on disk.
func (f *figures) space(at time.Duration, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.point.of.DiskBytes = bytes
	if e := f.event; e != nil && e.end != never && bytes >= 0 && (e.of.DiskLeast < 0 || bytes < e.of.DiskLeast) {
		e.of.DiskLeast, e.of.DiskLeastAfter = bytes, (at - e.begin).Seconds()
	}
}

// begin begins an event.
func (f *figures) begin(at time.Duration, of *result.LifeEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	if at > f.second.begin {
		f.closeSecond(at)
	}
	f.conclude()
	e := &measured{of: of, begin: at, end: never, during: measure.NewLatency(), after: measure.NewLatency(), ratios: measure.NewLatency()}
	of.Begin, of.UsualAfter = at.Seconds(), -1
	e.learn(f.quiet, f.types)
	f.event, f.quiet = e, f.quiet[:0]
}

// end ends the event.
func (f *figures) end(at time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.event.of.End = at.Seconds()
	f.event.end = max(at, f.event.begin+time.Second)
}

// close ends the life.
func (f *figures) close(at time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	f.conclude()
}

// conclude fills in the figures of the event, after which nothing is recorded of it.
func (f *figures) conclude() {
	e := f.event
	if e == nil {
		return
	}
	summarize(&e.of.During, e.during)
	summarize(&e.of.After, e.after)
	if e.ratios.Count() >= fewest {
		e.of.Slower = e.ratios.Median() * 1000
	}
	f.event = nil
}

func summarize(p *result.LifePeriod, l *measure.Latency) {
	s := l.Summary()
	p.Queries, p.Median, p.P99 = s.Count, s.Median, s.P99
}

// learn determines the usual times from the seconds before the event.
func (e *measured) learn(before []second, types int) {
	all, times := measure.NewLatency(), make([][]float64, types)
	for i := range before {
		s := &before[i]
		e.of.Before.Failed += s.failed
		e.of.Before.Freshness = result.Longer(e.of.Before.Freshness, s.fresh)
		for kind, list := range s.times {
			times[kind] = append(times[kind], list...)
			for _, t := range list {
				all.Record(time.Duration(t * float64(time.Second)))
			}
		}
	}
	summarize(&e.of.Before, all)
	e.medians = make([]float64, types)
	for kind, list := range times {
		if len(list) >= timesKnown {
			e.medians[kind] = stats.Median(list)
		}
	}
	if len(before) < secondsKnown || all.Count() < queriesKnown {
		return
	}
	for i := range before {
		if ratio, ok := e.ratio(&before[i]); ok {
			e.of.Limit = max(e.of.Limit, usualMargin*ratio)
		}
	}
}

// ratio returns the median of the times of a second, each by the median of its type before.
func (e *measured) ratio(s *second) (ratio float64, ok bool) {
	var ratios []float64
	for kind, list := range s.times {
		if before := e.medians[kind]; before > 0 {
			for _, t := range list {
				ratios = append(ratios, t/before)
			}
		}
	}
	if len(ratios) == 0 {
		return 0, false
	}
	return stats.Median(ratios), true
}

// take takes a second of the event, or after it.
func (e *measured) take(s *second) {
	if e.of.Limit == 0 || e.decided {
		return
	}
	if ratio, ok := e.ratio(s); !ok || ratio > e.of.Limit || s.failed > 0 {
		e.usual = 0
		return
	}
	if e.usual == 0 {
		e.usualSince = s.begin
	}
	if e.usual++; e.usual >= usualInARow && e.end != never && s.end >= e.end {
		e.of.UsualAfter, e.decided = (e.usualSince - e.begin).Seconds(), true
	}
}

// period returns the part of the event that a time belongs to; nil: none.
func (e *measured) period(at time.Duration) *result.LifePeriod {
	switch {
	case e.end == never || at < e.end:
		return &e.of.During
	case at < e.end+secondsBefore*time.Second:
		return &e.of.After
	}
	return nil
}

func (e *measured) addAnswer(at time.Duration, kind int, response time.Duration) {
	switch e.period(at) {
	case &e.of.During:
		e.during.Record(response)
		if before := e.medians[kind]; before > 0 {
			e.ratios.Record(time.Duration(response.Seconds() / before * float64(time.Millisecond)))
		}
	case &e.of.After:
		e.after.Record(response)
	}
}
