package life

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// The rule by which queries are as usual again after an event. A second is usual if no query failed
// in it and the median of its queries' times, each divided by the median of its type before the
// event, is within the limit: a quarter more than the slowest of the whole seconds before. Queries are as
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
	times      [][]float64 // by type, in seconds; below 0: at least so long
	failed     int64
	fresh      float64 // longest, in seconds; below 0: at least so long
}

// measured is the latest event.
type measured struct {
	of            *result.LifeEvent
	begin         time.Duration
	end           time.Duration // at least a second after begin; Never: it has not ended
	medians       []float64     // by type, before; 0 or less: unknown
	during, after responses
	ratios        responses     // during the event, each a multiple in milliseconds
	usual         int           // seconds in a row
	usualSince    time.Duration // begin of the first of these
	decided       bool          // UsualAfter is known
}

// responses are response times. The time of a query that was cut off is a lower bound.
type responses struct {
	least, most *measure.Latency // with that bound, and with the longest time in place of it
	cutOff      int64            // such queries
}

func newResponses() responses {
	return responses{least: measure.NewLatency(), most: measure.NewLatency()}
}

// add adds a time in seconds; below 0: a lower bound.
func (r *responses) add(seconds float64) {
	took := time.Duration(math.Abs(seconds) * float64(time.Second))
	r.least.Record(took)
	if seconds < 0 {
		r.cutOff++
		took = measure.Longest
	}
	r.most.Record(took)
}

// summarize fills in the figures of a period.
func (r *responses) summarize(p *result.LifePeriod) {
	least, most := r.least.Summary(), r.most.Summary()
	p.Queries, p.Median, p.P99 = least.Count-r.cutOff, lowerBound(least.Median, most.Median), lowerBound(least.P99, most.P99)
}

// lowerBound returns a figure, below 0 if it may be larger.
func lowerBound(least, most float64) float64 {
	if most > least {
		return -least
	}
	return least
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

// closeSecond closes the second and begins another one. A part of a second is neither usual nor unusual.
func (f *figures) closeSecond(at time.Duration) {
	s := f.second
	f.second = f.newSecond(at)
	if at < s.end {
		return
	}
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

// addTime records the response time of a query of a type in seconds; below 0: the query was cut off after that
// time, and addFailure counts it.
func (f *figures) addTime(at time.Duration, kind int, seconds float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	p, of := &f.point, &f.second.times[kind]
	if seconds >= 0 {
		p.of.Queries++
	}
	if p.seen++; len(p.times) < maxKept {
		p.times = append(p.times, seconds)
	} else if n := f.random.Int64N(p.seen); n < maxKept {
		p.times[n] = seconds
	}
	if len(*of) < maxKept {
		*of = append(*of, seconds)
	}
	if e := f.event; e != nil {
		e.addTime(at-time.Duration(math.Abs(seconds)*float64(time.Second)), kind, seconds)
	}
}

// addFailure records a query without an answer, and when it was due.
func (f *figures) addFailure(at, due time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance(at)
	if f.out.Failed++; f.out.FailedWhy == "" {
		f.out.FailedWhy = err.Error()
	}
	f.point.of.Failed++
	f.second.failed++
	if e := f.event; e != nil {
		if p := e.period(due); p != nil {
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
		if p := e.period(at - after); p != nil {
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
	e := &measured{of: of, begin: at, end: never, during: newResponses(), after: newResponses(), ratios: newResponses()}
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
	e.during.summarize(&e.of.During)
	e.after.summarize(&e.of.After)
	if e.ratios.least.Count() >= fewest {
		e.of.Slower = lowerBound(e.ratios.least.Median(), e.ratios.most.Median()) * 1000
	}
	f.event = nil
}

// learn determines the usual times from the seconds before the event.
func (e *measured) learn(before []second, types int) {
	all, times := newResponses(), make([][]float64, types)
	for i := range before {
		s := &before[i]
		e.of.Before.Failed += s.failed
		e.of.Before.Freshness = result.Longer(e.of.Before.Freshness, s.fresh)
		for kind, list := range s.times {
			times[kind] = append(times[kind], list...)
			for _, t := range list {
				all.add(t)
			}
		}
	}
	all.summarize(&e.of.Before)
	e.medians = make([]float64, types)
	for kind, list := range times {
		if len(list) >= timesKnown {
			e.medians[kind] = stats.Median(list)
		}
	}
	if len(before) < secondsKnown || all.least.Count() < queriesKnown {
		return
	}
	for i := range before {
		if ratio, ok := e.ratio(&before[i]); ok {
			e.of.Limit = max(e.of.Limit, usualMargin*math.Abs(ratio))
		}
	}
}

// ratio returns the median of the times of a second, each by the median of its type before. Below 0: it is
// at least so much.
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
	if e.usual++; e.usual >= usualInARow && e.end != never && s.begin >= e.end {
		e.of.UsualAfter, e.decided = (e.usualSince - e.begin).Seconds(), true
	}
}

// period returns the part of the event that a query belongs to, by when it was due, or a row, by its
// acknowledgement; nil: none. Those before the event that still waited when it began belong to it.
func (e *measured) period(at time.Duration) *result.LifePeriod {
	switch {
	case e.end == never || at < e.end:
		return &e.of.During
	case at < e.end+secondsBefore*time.Second:
		return &e.of.After
	}
	return nil
}

func (e *measured) addTime(due time.Duration, kind int, seconds float64) {
	switch e.period(due) {
	case &e.of.During:
		e.during.add(seconds)
		if before := e.medians[kind]; before > 0 {
			e.ratios.add(seconds / before / 1000)
		}
	case &e.of.After:
		e.after.add(seconds)
	}
}
