package analysis

import (
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// load is what only loads have.
type load struct {
	period time.Duration
	out    result.Load
	sent   span // from the first start until the last row was handed over
	acked  time.Duration
	rates  []int64 // rows accepted in each period since the start of the log
	// response is from when batches were due; nil: no rate was set.
	response *measure.Latency
}

// mostPeriods bounds the memory of rates: of longer loads the last point holds
// the rest.
const mostPeriods = 1 << 20

// addBatch does what the engine does at a receipt.
func (c *cell) addBatch(op *oplog.Op) {
	l := &c.load
	end := op.Start + op.Duration
	c.wall.add(op.Start, end)
	l.out.Rows += op.Rows
	l.out.Metrics += op.Values
	l.out.WireBytes += op.Bytes
	if op.Sent > 0 {
		l.sent.add(op.Start, op.Start+op.Sent)
	}
	if (op.Outcome == oplog.OK || op.Outcome == oplog.Flushed) && op.Duration > 0 {
		l.acked = max(l.acked, end)
	}
	if op.Outcome == oplog.OK || op.Outcome == oplog.Unacknowledged {
		c.service.Record(op.Duration)
		c.took[op.Worker] += op.Duration
		if c.Schedule != "" {
			if l.response == nil {
				l.response = measure.NewLatency()
			}
			l.response.Record(end - op.Intended)
		}
	}
	if op.Rows == 0 {
		return
	}
	n := 0
	if l.period > 0 {
		n = int(min(max(end, 0)/l.period, mostPeriods-1))
	}
	for len(l.rates) <= n {
		l.rates = append(l.rates, 0)
	}
	l.rates[n] += op.Rows
}

// loadFigures counts times from the start of the first batch.
func (c *cell) loadFigures(service result.Latency) *result.Load {
	l := &c.load
	out := l.out
	out.Batches, out.DiskBytes = service, -1
	if l.sent.any {
		out.Sent = (l.sent.last - c.wall.first).Seconds()
	}
	if l.acked > 0 {
		out.Acked = (l.acked - c.wall.first).Seconds()
	}
	if l.period == 0 {
		for _, rows := range l.rates {
			out.Rates = append(out.Rates, result.RatePoint{At: c.wall.seconds(), Rows: rows})
		}
		return &out
	}
	for n := int(max(c.wall.first, 0) / l.period); n < len(l.rates); n++ {
		end := min(time.Duration(n+1)*l.period, c.wall.last)
		out.Rates = append(out.Rates, result.RatePoint{At: (end - c.wall.first).Seconds(), Rows: l.rates[n]})
	}
	return &out
}
