package result

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
)

// LatencyOf returns the figures of a histogram.
func LatencyOf(l *measure.Latency) (Latency, error) {
	encoded, err := l.Encode()
	return Latency{Summary: l.Summary(), Histogram: encoded}, err
}

// LoadOf returns the figures of a load that its operations determine. Figures from its settings and
// from the target are missing.
func LoadOf(t *tally.Tally) (l Load, err error) {
	l = Load{
		Workers: t.Workers(), Rows: t.Rows, Metrics: t.Values, WireBytes: t.Bytes, Accumulated: t.WorkerSeconds(),
		DiskBytes: -1, DiskBefore: -1, DiskSettled: -1, Paused: t.Paused, PausedTime: t.PausedTime.Seconds(), DriverTime: t.Driver.Seconds(),
	}
	if t.Sent > 0 {
		l.Sent = (t.Sent - t.Span.First).Seconds()
	}
	if t.Acked > 0 {
		l.Acked = (t.Acked - t.Span.First).Seconds()
	}
	for _, p := range t.Rates() {
		l.Rates = append(l.Rates, RatePoint{At: p.At.Seconds(), Rows: p.Rows})
	}
	if tries := t.Outcomes[oplog.Retried]; tries > 0 {
		l.Retries = &Retries{Tries: tries, Values: t.Resent}
	}
	l.Batches, err = LatencyOf(t.Service)
	return l, err
}

// QueriesOf returns the figures of a query type that its operations determine.
func QueriesOf(t *tally.Tally) (Queries, error) {
	each := t.QuerySeconds()
	for len(each) > 0 && each[len(each)-1] == 0 {
		each = each[:len(each)-1] // not run
	}
	if len(each) == 0 {
		each = nil
	} else if len(each) < cap(each)/2 {
		each = slices.Clone(each) // a run keeps them
	}
	service, err := LatencyOf(t.Service)
	q := Queries{
		Type: t.Cell.Type, First: t.Cell.First, Workers: t.Workers(), Accumulated: t.WorkerSeconds(),
		Executed: t.Executed, BurnIn: t.BurnIn, AtLeast: t.AtLeast, Rows: t.Rows, Bytes: t.Bytes, Values: t.Values,
		Wall: t.Wall(), PerSecond: t.PerSecond(), Each: each, Service: service,
		Paused: t.Paused, PausedTime: t.PausedTime.Seconds(), ClientTime: t.Client.Seconds(), DriverTime: t.Driver.Seconds(),
	}
	if t.Cell.Schedule == "" {
		return q, err
	}
	response, responseErr := LatencyOf(t.Response)
	lag, lagErr := LatencyOf(t.Lag)
	q.Open = &OpenLoop{
		Schedule: t.Cell.Schedule, Arrivals: t.Arrivals, Dropped: t.Dropped, Offered: t.ArrivalRate(), Response: response, EachResponse: true, Lag: lag,
	}
	if err := errors.Join(err, responseErr, lagErr); err != nil {
		return q, fmt.Errorf("the figures of %s: %w", t.Cell.Type, err)
	}
	return q, nil
}
