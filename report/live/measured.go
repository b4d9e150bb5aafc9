package live

import (
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/live/page"
)

// newTimes returns an empty histogram of microseconds, good to 1 %, of 26 KiB: there is
// one for each query type of each target.
func newTimes() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Hour/time.Microsecond), 2)
}

// The buckets of Prometheus's histograms end at 2^lowest microseconds, 16 µs, and at
// each power of two above, up to 67 s; the last has the rest.
const (
	lowest  = 4
	buckets = 24
)

// measured sums up the operations of a key.
type measured struct {
	key
	times    *hdrhistogram.Histogram // times of successful operations, in all repeats
	buckets  [buckets]int64          // of these, by powers of two
	total    time.Duration           // of these
	outcomes [oplog.Outcomes]int64
	rows     int64 // accepted, or in answers
	bytes    int64
	due      bool // times count from when an operation was due

	// Of the latest repeat.
	cell        oplog.Cell
	order       int // when it began, among all
	done        int64
	first, last time.Duration // -1: there is no first yet
}

// begin begins a repeat, or another change of the cell.
func (m *measured) begin(c oplog.Cell, order int) {
	m.cell, m.order, m.done, m.first, m.last = c, order, 0, -1, 0
	m.due = c.Schedule != "" && c.Kind == oplog.Query
}

// add adds an operation, and returns its time in microseconds if that counts.
func (m *measured) add(op *oplog.Op) (took int64, counts bool) {
	if m.first < 0 || op.Start < m.first {
		m.first = op.Start
	}
	end := op.Start + op.Duration
	m.last = max(m.last, end)
	if op.Outcome == oplog.Started || op.BurnIn && m.cell.Part != oplog.Mixed {
		return 0, false
	}
	m.outcomes[op.Outcome]++
	m.rows += op.Rows
	m.bytes += op.Bytes
	if m.kind == oplog.Load {
		m.done += op.Rows
	} else if answered(op) {
		m.done++
	}
	switch op.Outcome {
	case oplog.OK, oplog.Unacknowledged, oplog.AtLeast, oplog.Stale:
	default:
		return 0, false
	}
	if op.BurnIn || op.Paused { // its answer was kept, which takes time, or tsmark itself was paused
		return 0, false
	}
	duration := op.Duration
	if m.due {
		duration = end - op.Intended
	}
	took = min(max(int64(duration/time.Microsecond), 1), m.times.HighestTrackableValue())
	_ = m.times.RecordValue(took) // in range
	m.buckets[min(max(bits.Len64(uint64(took-1))-lowest, 0), buckets-1)]++
	m.total += duration
	return took, true
}

// rate returns the rate of the latest repeat per second; 0: unknown.
func (m *measured) rate() float64 {
	if m.last <= m.first || m.first < 0 {
		return 0
	}
	return float64(m.done) / (m.last - m.first).Seconds()
}

// well returns the number of successful operations.
func (m *measured) well() (n int64) {
	for _, o := range []oplog.Outcome{oplog.OK, oplog.Unacknowledged, oplog.Stale} {
		n += m.outcomes[o]
	}
	return n
}

// unit returns the unit that the rate counts.
func (m *measured) unit() string {
	if m.kind == oplog.Load {
		return "rows"
	}
	return "queries"
}

// pageValues returns the values for the page.
func (m *measured) pageValues() page.Measured {
	what := m.of
	if m.kind == oplog.Load {
		what = "load"
	}
	if m.part != "" {
		what += ", " + m.part
	}
	s := page.Measured{Target: m.target, What: what, Unit: m.unit(), Operations: m.well(), PerSecond: m.rate(), Latency: latency(m.times), Due: m.due}
	for _, o := range []oplog.Outcome{oplog.Failed, oplog.Wrong, oplog.AtLeast, oplog.Dropped, oplog.Retried} {
		if n := m.outcomes[o]; n > 0 {
			s.Troubles = append(s.Troubles, page.Count{Outcome: o.String(), Count: n})
		}
	}
	return s
}

// latency returns percentiles of a histogram.
func latency(times *hdrhistogram.Histogram) page.Latency {
	n := times.TotalCount()
	return page.NewLatency(n, func(q float64) float64 {
		rank := 100 * float64(measure.Rank(n, q)) / float64(n) // a percentage, which the histogram rounds to the nearest rank
		return float64(times.ValueAtPercentile(rank)) * time.Microsecond.Seconds()
	})
}
