package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
)

// Life is a year in the life of a database: steady ingest beside dashboards at fixed rates, and
// events beside them.
type Life struct {
	// Base is the ingest and the dashboards. Its answers were checked against the rows that the
	// target had at the time of each query.
	Base     Mixed       `json:"base"`
	Course   []LifePoint `json:"course"`   // over time
	Interval float64     `json:"interval"` // of Course, in seconds
	Events   []LifeEvent `json:"events"`   // in order
	// Failed is the number of queries without an answer, including queries that were cut off, and
	// FailedWhy the first of their errors.
	Failed    int64  `json:"failed,omitempty"`
	FailedWhy string `json:"failed_why,omitempty"` // see Failed
	// FreshnessUnknown is the reason why no freshness was measured; empty: it was.
	FreshnessUnknown string         `json:"freshness_unknown,omitempty"`
	Census           []CensusResult `json:"census,omitempty"`   // of the contents at the end
	Withheld         string         `json:"withheld,omitempty"` // reason to withhold the figures; empty: none
	// Backlog is what the backlogs count: background work that the system had still to do. Empty: they
	// are unknown.
	Backlog string `json:"backlog,omitempty"`
	// Loads is the number of loads whose lives this one summarizes: see PoolLives. 0: it is a single one.
	Loads int `json:"loads,omitempty"`
}

// LifePoint is an interval of a life.
type LifePoint struct {
	At        float64 `json:"at"`                  // end, in seconds since the start
	Queries   int64   `json:"queries"`             // that ended with an answer
	Failed    int64   `json:"failed,omitempty"`    // queries without an answer
	Median    float64 `json:"median"`              // of their response times; 0: no query ended; below 0: at least so long, as queries were cut off
	P99       float64 `json:"p99,omitempty"`       // of their response times, or the largest if they are few; below 0: at least so long
	Rows      int64   `json:"rows"`                // of the base that were written
	Freshness float64 `json:"freshness,omitempty"` // longest time from acknowledgement until a row was visible; 0: not measured; below 0: at least so long
	DiskBytes int64   `json:"disk_bytes"`          // -1: not measured
	Backlog   float64 `json:"backlog"`             // of background work, the most; -1: not measured
}

// LifeEvent is an event of a life. Its times are seconds since the start.
type LifeEvent struct {
	Do          string  `json:"do" redact:"-"`         // as the experiment names it
	What        string  `json:"what"`                  // in words, with the target's way to do it
	Due         float64 `json:"due"`                   // by the schedule
	Begin       float64 `json:"begin"`                 // 0: it did not begin
	End         float64 `json:"end"`                   // 0: it did not begin
	Unsupported string  `json:"unsupported,omitempty"` // reason; nothing was done, or its effect was not seen
	Failed      string  `json:"failed,omitempty"`      // the error that ended it
	Rows        int64   `json:"rows,omitempty"`        // that were written or corrected
	// Retries describes the batches of these rows that failed and were sent again; nil: none did.
	Retries *Retries `json:"retries,omitempty"`

	// Before is the dashboards' queries that ended in the ten seconds before the event. During is the
	// queries that were waiting when it began, or were due within it, or within its first second. After
	// is those due in the ten seconds after it, as far as they ended before the next event. Rows belong
	// to During and After by their acknowledgement in the same way.
	Before LifePeriod `json:"before"`
	During LifePeriod `json:"during"` // see Before
	After  LifePeriod `json:"after"`  // see Before
	// Slower is the time of the queries during the event, as a multiple of the time before: the
	// median over the queries, each by the median of its type before. 0: too few queries; below 0: at
	// least so much.
	Slower float64 `json:"slower,omitempty"`
	// Limit is the largest multiple that is usual; 0: unknown, since too few queries ran before.
	Limit float64 `json:"limit,omitempty"`
	// UsualAfter is the time from the start of the event until the queries were as usual again; 0:
	// they always were. -1: not before the next event, or the end. Only with Limit.
	UsualAfter float64 `json:"usual_after"`

	DiskBefore int64 `json:"disk_before"` // bytes; -1: unknown
	DiskAfter  int64 `json:"disk_after"`  // bytes, at the end of the event; -1: unknown
	// DiskLeast is the least size after the event and before the next one, which it had
	// DiskLeastAfter seconds after the event's begin; -1: unknown.
	DiskLeast      int64   `json:"disk_least"`
	DiskLeastAfter float64 `json:"disk_least_after,omitempty"` // see DiskLeast
	// WrittenBytes is what the servers wrote to disk during the event; -1: unknown.
	WrittenBytes int64 `json:"written_bytes"`

	// BacklogBefore is the background work that the system had still to do before the event, and
	// BacklogMost the most until the next one; -1: unknown. Their unit is Life.Backlog.
	BacklogBefore float64 `json:"backlog_before"`
	BacklogMost   float64 `json:"backlog_most"` // see BacklogBefore
	// BacklogBack is the time from the start of the event until it had ended and no more work was to do
	// than before; -1: not before the next event, or unknown.
	BacklogBack float64 `json:"backlog_back"`

	Checked   int `json:"checked"`             // answers compared, of queries during the event
	Undecided int `json:"undecided,omitempty"` // of further ones: they match neither the state before nor the one after
}

// LifePeriod is the queries of a part of a life. Times are in seconds.
type LifePeriod struct {
	Queries   int64   `json:"queries"`             // that ended with an answer
	Failed    int64   `json:"failed,omitempty"`    // queries without an answer
	Median    float64 `json:"median"`              // of their response times; below 0: at least so long, as queries were cut off
	P99       float64 `json:"p99,omitempty"`       // 0: too few; below 0: at least so long
	Freshness float64 `json:"freshness,omitempty"` // longest; 0: not measured; below 0: at least so long
}

// Longer returns the longer of two times. A time below 0 is a lower bound.
func Longer(a, b float64) float64 {
	if math.Abs(b) > math.Abs(a) || math.Abs(b) == math.Abs(a) && b < 0 {
		return b
	}
	return a
}

// HasFigure reports whether the event has figures.
func (e *LifeEvent) HasFigure() bool { return e.Unsupported == "" && e.Failed == "" && e.End > 0 }

// EventNames names the events: an event that comes again has its number behind its name.
func (l *Life) EventNames() []string {
	seen := map[string]int{}
	names := make([]string, len(l.Events))
	for i := range l.Events {
		do := l.Events[i].Do
		if seen[do]++; seen[do] > 1 {
			do = fmt.Sprintf("%s (%d)", do, seen[do])
		}
		names[i] = do
	}
	return names
}

// Problem returns the reason to withhold the figures of a life; empty: they count, or there is no life.
func (l *Life) Problem() string {
	switch {
	case l == nil:
		return ""
	case l.Withheld != "":
		return l.Withheld
	}
	return l.Base.Problem()
}

// PoolLives summarizes the lives of a target after several loads: times, sizes and multiples are medians
// over these, counts are sums; rows of Course, which are a rate, are medians too. A life with a problem stands for all of them; so does an event without
// figures for the same event of the others.
func PoolLives(lives []*Life) *Life {
	for _, l := range lives {
		if len(lives) == 1 || l.Problem() != "" {
			return l
		}
	}
	if len(lives) == 0 {
		return nil
	}
	pooled := *lives[0]
	pooled.Loads = len(lives)
	pooled.Base.Types, pooled.Events, pooled.Course = slices.Clone(pooled.Base.Types), slices.Clone(pooled.Events), nil
	for _, l := range lives[1:] {
		pooled.add(l)
	}
	for i := range pooled.Events {
		var all []*LifeEvent
		for _, l := range lives {
			if i < len(l.Events) {
				all = append(all, &l.Events[i])
			}
		}
		pooled.Events[i].pool(all)
	}
	for i := range lives[0].Course {
		var all []*LifePoint
		for _, l := range lives {
			if i < len(l.Course) {
				all = append(all, &l.Course[i])
			}
		}
		pooled.Course = append(pooled.Course, poolPoints(all))
	}
	return &pooled
}

// add adds the counts of another life.
func (l *Life) add(o *Life) {
	l.Failed += o.Failed
	l.FailedWhy, l.FreshnessUnknown = cmp.Or(l.FailedWhy, o.FailedWhy), cmp.Or(l.FreshnessUnknown, o.FreshnessUnknown)
	l.Base.Saturated = cmp.Or(l.Base.Saturated, o.Base.Saturated)
	l.Base.Writes.Rows += o.Base.Writes.Rows
	l.Base.Arrivals, l.Base.Dropped, l.Base.Waiting = l.Base.Arrivals+o.Base.Arrivals, l.Base.Dropped+o.Base.Dropped, l.Base.Waiting+o.Base.Waiting
	for i := range min(len(l.Base.Types), len(o.Base.Types)) {
		l.Base.Types[i].Executed += o.Base.Types[i].Executed
		l.Base.Types[i].Verdict.Checked += o.Base.Types[i].Verdict.Checked
	}
}

// pool makes the event the summary of the same event in several lives, itself included.
func (e *LifeEvent) pool(all []*LifeEvent) {
	for _, one := range all {
		if !one.HasFigure() {
			*e = *one
			return
		}
	}
	median := func(of func(*LifeEvent) float64, unknown float64) float64 { return medianKnown(all, of, unknown) }
	sum := func(of func(*LifeEvent) int64) int64 { return sumOf(all, of) }
	size := func(of func(*LifeEvent) int64) int64 {
		return int64(median(func(e *LifeEvent) float64 { return float64(of(e)) }, -1))
	}
	// Compare has the median of the time that the event took.
	took := median(func(e *LifeEvent) float64 { return e.End - e.Begin }, -1)
	e.Begin = median(func(e *LifeEvent) float64 { return e.Begin }, -1)
	e.End = e.Begin + took
	e.Rows = sum(func(e *LifeEvent) int64 { return e.Rows })
	e.Retries = nil
	for _, one := range all {
		e.Retries = e.Retries.Add(one.Retries)
	}
	for _, period := range []func(*LifeEvent) *LifePeriod{
		func(e *LifeEvent) *LifePeriod { return &e.Before }, func(e *LifeEvent) *LifePeriod { return &e.During }, func(e *LifeEvent) *LifePeriod { return &e.After },
	} {
		*period(e) = LifePeriod{
			Queries: sum(func(e *LifeEvent) int64 { return period(e).Queries }), Failed: sum(func(e *LifeEvent) int64 { return period(e).Failed }),
			Median: median(func(e *LifeEvent) float64 { return period(e).Median }, 0), P99: median(func(e *LifeEvent) float64 { return period(e).P99 }, 0),
			Freshness: median(func(e *LifeEvent) float64 { return period(e).Freshness }, 0),
		}
	}
	e.Slower = median(func(e *LifeEvent) float64 { return e.Slower }, 0)
	e.Limit = median(func(e *LifeEvent) float64 { return e.Limit }, 0)
	e.UsualAfter = medianReached(all, func(e *LifeEvent) (float64, bool) { return e.UsualAfter, e.Limit > 0 })
	e.DiskBefore, e.DiskAfter = size(func(e *LifeEvent) int64 { return e.DiskBefore }), size(func(e *LifeEvent) int64 { return e.DiskAfter })
	e.DiskLeast = size(func(e *LifeEvent) int64 { return e.DiskLeast })
	e.DiskLeastAfter = median(func(e *LifeEvent) float64 { return e.DiskLeastAfter }, 0)
	e.WrittenBytes = size(func(e *LifeEvent) int64 { return e.WrittenBytes })
	e.BacklogBefore, e.BacklogMost = median(func(e *LifeEvent) float64 { return e.BacklogBefore }, -1), median(func(e *LifeEvent) float64 { return e.BacklogMost }, -1)
	e.BacklogBack = medianReached(all, func(e *LifeEvent) (float64, bool) { return e.BacklogBack, e.BacklogBefore >= 0 })
	e.Checked = int(sum(func(e *LifeEvent) int64 { return int64(e.Checked) }))
	e.Undecided = int(sum(func(e *LifeEvent) int64 { return int64(e.Undecided) }))
}

// sumOf returns the sum of counts.
func sumOf[T any](all []T, of func(T) int64) (n int64) {
	for _, one := range all {
		n += of(one)
	}
	return n
}

// medianKnown returns the median of the known figures.
func medianKnown[T any](all []T, of func(T) float64, unknown float64) float64 {
	var known []float64
	for _, one := range all {
		if v := of(one); v != unknown {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return unknown
	}
	return stats.Median(known)
}

// medianReached returns the median of known times. One below 0 was not reached; -1: most were not, or
// none is known.
func medianReached(all []*LifeEvent, of func(*LifeEvent) (seconds float64, known bool)) float64 {
	var times []float64
	for _, one := range all {
		if seconds, known := of(one); known && seconds < 0 {
			times = append(times, math.Inf(1))
		} else if known {
			times = append(times, seconds)
		}
	}
	if len(times) == 0 {
		return -1
	}
	if median := stats.Median(times); !math.IsInf(median, 1) {
		return median
	}
	return -1
}

// poolPoints summarizes the same interval of several lives.
func poolPoints(all []*LifePoint) LifePoint {
	median := func(of func(*LifePoint) float64, unknown float64) float64 { return medianKnown(all, of, unknown) }
	count := func(of func(*LifePoint) int64) int64 {
		return int64(median(func(p *LifePoint) float64 { return float64(of(p)) }, -1))
	}
	sum := func(of func(*LifePoint) int64) int64 { return sumOf(all, of) }
	return LifePoint{
		At: all[0].At, Queries: sum(func(p *LifePoint) int64 { return p.Queries }), Failed: sum(func(p *LifePoint) int64 { return p.Failed }),
		Median: median(func(p *LifePoint) float64 { return p.Median }, 0), P99: median(func(p *LifePoint) float64 { return p.P99 }, 0),
		Rows: count(func(p *LifePoint) int64 { return p.Rows }), Freshness: median(func(p *LifePoint) float64 { return p.Freshness }, 0),
		DiskBytes: count(func(p *LifePoint) int64 { return p.DiskBytes }), Backlog: median(func(p *LifePoint) float64 { return p.Backlog }, -1),
	}
}
