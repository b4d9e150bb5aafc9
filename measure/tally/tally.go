// Package tally computes figures from operations, whatever their source: a load, a closed or an
// open loop, a running mixed phase, or the log of any of them years later. The same code adds up
// the same integers in any order, so all sources give the same figures.
package tally

import (
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
)

// Tally accumulates the operations of one cell. It is used by one goroutine; Merge combines
// several.
//
// Of a load, all operations count. Of queries, those count that were answered or cut off after the
// burn-in and whose answers were not captured for comparison. In a mixed phase queries with
// captured answers count too, except for their time.
type Tally struct {
	Cell     oplog.Cell
	Outcomes [oplog.Outcomes]int64 // operations by how they ended

	// Paused is the number of successful operations during which the client itself was paused: such
	// queries do not count, and of such batches only the time does not count. PausedTime is their
	// total duration.
	Paused     int64
	PausedTime time.Duration

	Rows, Bytes, Values int64 // of operations that count
	Service             *measure.Latency
	Response            *measure.Latency // of the same operations, from when they were due; nil: no schedule
	Span                Span             // from the start of the first to the end of the last that counts

	// For loads. The span begins with the load's clock, before the first batch, if the log contains
	// that time.
	Sent   time.Duration // when the last row was handed over; 0: never
	Acked  time.Duration // when the last row was acknowledged; 0: none was
	Resent int64         // values of batches that failed and were sent again
	rates  rates
	Driver time.Duration // of operations in Service, by the clock of an external driver

	// For queries.
	Executed, BurnIn, AtLeast int64
	Client                    time.Duration // processor time that the client itself used for what counts
	Arrivals, Dropped         int64         // of a schedule, the dropped ones among them
	Due                       Span          // of these
	Lag                       *measure.Latency
	each                      *each

	workers []worker
}

// worker holds the counts of one worker.
type worker struct {
	any  bool          // anything
	took time.Duration // what its operations that ended well took together
	rows int64         // of a load, that were accepted
}

// Span is from the first to the last of some moments.
type Span struct {
	First, Last time.Duration
	Any         bool // there was one
}

func (s *Span) add(first, last time.Duration) {
	if !s.Any {
		*s = Span{first, last, true}
		return
	}
	s.First, s.Last = min(s.First, first), max(s.Last, last)
}

// Seconds returns the length of the span.
func (s Span) Seconds() float64 { return (s.Last - s.First).Seconds() }

// New returns an empty tally of a cell. Period is that of Rates and Course. The tally
// takes 300 KiB per histogram, and 8 bytes per query of a type, however often it is run.
func New(cell oplog.Cell, period time.Duration) *Tally {
	t := &Tally{Cell: cell, Service: measure.NewLatency(), rates: rates{period: period}, each: &each{count: cell.Queries}}
	if cell.Schedule != "" {
		t.Response = measure.NewLatency()
		if cell.Kind == oplog.Query {
			t.Lag = measure.NewLatency()
		}
	}
	return t
}

// NewWorker returns an empty tally of the same cell for one worker. Both share the times of each
// query, and no two workers may set the time of the same query.
func (t *Tally) NewWorker() *Tally {
	beside := New(t.Cell, t.rates.period)
	t.each.reserve()
	beside.each = t.each
	return beside
}

// Merge adds what another tally of the same cell has, which is not used afterwards.
func (t *Tally) Merge(o *Tally) {
	for i, n := range o.Outcomes {
		t.Outcomes[i] += n
	}
	t.Paused, t.PausedTime, t.Client = t.Paused+o.Paused, t.PausedTime+o.PausedTime, t.Client+o.Client
	t.Driver += o.Driver
	t.Rows, t.Bytes, t.Values = t.Rows+o.Rows, t.Bytes+o.Bytes, t.Values+o.Values
	for number, of := range o.workers {
		w := t.worker(uint32(number))
		w.any, w.took, w.rows = w.any || of.any, w.took+of.took, w.rows+of.rows
	}
	t.Service.Merge(o.Service)
	if t.Response != nil {
		t.Response.Merge(o.Response)
	}
	if t.Lag != nil {
		t.Lag.Merge(o.Lag)
	}
	if o.Span.Any {
		t.Span.add(o.Span.First, o.Span.Last)
	}
	if o.Due.Any {
		t.Due.add(o.Due.First, o.Due.Last)
	}
	t.Sent, t.Acked, t.Resent = max(t.Sent, o.Sent), max(t.Acked, o.Acked), t.Resent+o.Resent
	t.rates.merge(&o.rates)
	t.Executed, t.BurnIn, t.AtLeast = t.Executed+o.Executed, t.BurnIn+o.BurnIn, t.AtLeast+o.AtLeast
	t.Arrivals, t.Dropped = t.Arrivals+o.Arrivals, t.Dropped+o.Dropped
}

// Add adds an operation. It allocates nothing, but that what grows with the time
// of a load, the workers and the queries is made longer now and then.
func (t *Tally) Add(op *oplog.Op) {
	if op.Outcome == oplog.Started {
		t.Span.add(op.Start, op.Start)
		t.rates.begin(op.Start)
		return
	}
	t.Outcomes[op.Outcome]++
	if op.Outcome != oplog.Dropped {
		t.worker(op.Worker).any = true
	}
	if t.Cell.Kind == oplog.Load {
		t.addBatch(op)
		return
	}
	t.addQuery(op)
}

func (t *Tally) addBatch(op *oplog.Op) {
	end := op.Start + op.Duration
	t.Span.add(op.Start, end)
	t.rates.begin(op.Start)
	t.rates.add(end, progress{count: op.Rows})
	t.Rows += op.Rows
	t.worker(op.Worker).rows += op.Rows
	t.Bytes += op.Bytes
	if op.Sent > 0 {
		t.Sent = max(t.Sent, op.Start+op.Sent)
	}
	switch op.Outcome {
	case oplog.Retried:
		t.Resent += op.Values
		return
	case oplog.OK, oplog.Unacknowledged:
		if op.Paused {
			t.pause(op)
			break
		}
		t.Service.Record(op.Duration)
		t.Driver += op.Service
		t.worker(op.Worker).took += op.Duration
		if t.Response != nil {
			t.Response.Record(end - op.Intended)
		}
	}
	t.Values += op.Values
	if (op.Outcome == oplog.OK || op.Outcome == oplog.Flushed) && op.Duration > 0 {
		t.Acked = max(t.Acked, end)
	}
}

// pause counts an operation whose time does not count.
func (t *Tally) pause(op *oplog.Op) {
	t.Paused++
	t.PausedTime += op.Duration
}

func (t *Tally) addQuery(op *oplog.Op) {
	done := op.Outcome == oplog.OK || op.Outcome == oplog.AtLeast || op.Outcome == oplog.Stale
	if op.BurnIn {
		if done {
			t.BurnIn++
		}
		return
	}
	end, first := op.Start+op.Duration, op.Start
	if t.Cell.Schedule != "" {
		first = op.Intended
		t.Due.add(first, first)
		t.Arrivals++
		t.Lag.Record(op.Lag)
	}
	switch {
	case done && op.Paused:
		t.Span.add(first, end)
		t.pause(op)
		return
	case !done:
		t.Span.add(first, first)
		if op.Outcome == oplog.Dropped {
			t.Dropped++
		}
		return
	}
	t.Span.add(first, end)
	t.Executed++
	t.Rows += op.Rows
	t.Bytes += op.Bytes
	t.Values += op.Values
	t.Client += op.Client
	t.Driver += op.Service
	took := op.Duration
	if t.Response != nil {
		took = end - op.Intended
	}
	seconds := took.Seconds()
	if op.Outcome == oplog.AtLeast {
		t.AtLeast++
		seconds = -seconds
	} else {
		t.worker(op.Worker).took += op.Duration
	}
	t.Service.Record(op.Duration)
	if t.Response != nil {
		t.Response.Record(end - op.Intended)
	}
	if t.Cell.Part == oplog.Mixed {
		t.rates.begin(0)
		t.rates.add(end, progress{1, took})
	} else { // in a mixed phase the same query has another window each time
		t.each.add(op.Sequence, seconds)
	}
}

// mostWorkers bounds the memory for workers: later ones count as the last of them.
const mostWorkers = 1 << 16

func (t *Tally) worker(number uint32) *worker {
	number = min(number, mostWorkers-1)
	if missing := int(number) + 1 - len(t.workers); missing > 0 {
		t.workers = append(t.workers, make([]worker, missing)...)
	}
	return &t.workers[number]
}

// Workers returns the number of workers in the cell, or else the number of workers with operations.
func (t *Tally) Workers() int {
	if t.Cell.Workers > 0 {
		return t.Cell.Workers
	}
	n := 0
	for _, w := range t.workers {
		if w.any {
			n++
		}
	}
	return n
}

// WorkerSeconds lists what the operations of each worker took together, in seconds.
func (t *Tally) WorkerSeconds() []float64 {
	return ofEach(t, func(w *worker) float64 { return w.took.Seconds() })
}

// RowsOfEach lists how many rows of each worker were accepted.
func (t *Tally) RowsOfEach() []int64 {
	return ofEach(t, func(w *worker) int64 { return w.rows })
}

// ofEach lists a figure of each worker, that of one that did nothing too.
func ofEach[F any](t *Tally, figure func(*worker) F) []F {
	list := make([]F, max(len(t.workers), min(t.Cell.Workers, mostWorkers)))
	for number := range t.workers {
		list[number] = figure(&t.workers[number])
	}
	return list
}

// Wall returns how long queries were run, in seconds; in a closed loop without the time that
// workers spent on operations that do not count, divided by the workers. It is 0 if nothing counts.
func (t *Tally) Wall() float64 {
	if t.Executed == 0 {
		return 0
	}
	out := time.Duration(0)
	if t.Cell.Schedule == "" {
		out = t.PausedTime
	}
	return (t.Span.Last - t.Span.First - out/time.Duration(max(t.Workers(), 1))).Seconds()
}

// PerSecond returns the number of queries done per second; in an open loop it includes paused
// queries.
func (t *Tally) PerSecond() float64 {
	done, wall := t.Executed, t.Wall()
	if t.Cell.Schedule != "" {
		done += t.Paused
	}
	if wall <= 0 {
		return 0
	}
	return float64(done) / wall
}

// ArrivalRate returns the mean number of queries due per second; 0: fewer than two queries.
func (t *Tally) ArrivalRate() float64 {
	if t.Arrivals < 2 || t.Due.Last <= t.Due.First {
		return 0
	}
	return float64(t.Arrivals-1) / t.Due.Seconds()
}

// QuerySeconds returns the time of each query in seconds, by place: minus the time until the cutoff
// if it was cut off, 0 if it has no time. Only the first run of a query counts. The returned slice
// changes while operations are added.
func (t *Tally) QuerySeconds() []float64 { return t.each.seconds }

// each is the times of queries.
type each struct {
	seconds []float64
	count   int // before they come again; 0: not said
}

// mostEach bounds the memory of each.
const mostEach = 1 << 26

// reserve makes it as long as it can become, so that several may add to it at once.
func (e *each) reserve() {
	if len(e.seconds) < e.count {
		e.seconds = make([]float64, e.count)
	}
}

func (e *each) add(place int64, seconds float64) {
	if place < 0 || place >= mostEach || e.count > 0 && place >= int64(e.count) {
		return
	}
	if missing := int(place) + 1 - len(e.seconds); missing > 0 {
		e.seconds = append(e.seconds, make([]float64, missing)...)
	}
	if e.seconds[place] == 0 {
		e.seconds[place] = seconds
	}
}
