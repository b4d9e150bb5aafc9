package tally_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
)

// loadTally is the tally of a load that accepts a row every millisecond, by two
// workers in turn.
func loadTally(period, took time.Duration) *tally.Tally {
	t := tally.New(oplog.Cell{Kind: oplog.Load}, period)
	var workers [2]*tally.Recorder
	for i := range workers {
		workers[i] = t.Recorder(nil, i, time.Now())
	}
	for at := time.Duration(0); at < took; at += time.Millisecond {
		workers[int(at/time.Millisecond)%2].Add(&oplog.Op{Start: at, Duration: time.Millisecond, Rows: 1})
	}
	for _, w := range workers {
		w.Close(t)
	}
	return t
}

// A short load has a curve, a longer one no more points than are of use, and
// none loses a row.
func TestRates(t *testing.T) {
	for _, test := range []struct {
		period, took time.Duration
		points       int
		step         time.Duration
	}{
		{10 * time.Second, time.Second, 7, 156_250 * time.Microsecond},
		{200 * time.Millisecond, 2550 * time.Millisecond, 103, 25 * time.Millisecond},
		{200 * time.Millisecond, time.Minute, 301, 200 * time.Millisecond}, // an operation that ends at a minute belongs to the next step
		{0, 50 * time.Millisecond, 1, 50 * time.Millisecond},
	} {
		points := loadTally(test.period, test.took).Rates()
		rows := int64(0)
		for i, p := range points {
			if rows += p.Rows; i < len(points)-1 && p.At != time.Duration(i+1)*test.step {
				t.Fatalf("period %v: point %d is at %v", test.period, i, p.At)
			}
			// Rows accepted at the end of a step belong to the next one.
			if want := p.At / time.Millisecond; rows != int64(want) && rows != int64(want)-1 {
				t.Errorf("period %v: %d rows up to %v", test.period, rows, p.At)
			}
		}
		if len(points) != test.points || points[len(points)-1].At != test.took || rows != int64(test.took/time.Millisecond) {
			t.Errorf("period %v, load %v: %d points, %d rows; want %d points", test.period, test.took, len(points), rows, test.points)
		}
	}
}

// A load's clock starts before its first batch.
func TestLoadBegins(t *testing.T) {
	l := tally.New(oplog.Cell{Kind: oplog.Load}, time.Second)
	for _, op := range []oplog.Op{
		{Outcome: oplog.Started, Start: 5 * time.Second},
		{Start: 7 * time.Second, Duration: time.Second, Sent: 500 * time.Millisecond, Rows: 3, Values: 30},
		{Outcome: oplog.Retried, Start: 8 * time.Second, Duration: time.Second, Bytes: 7, Values: 20},
		{Outcome: oplog.Unacknowledged, Worker: 2, Start: 8 * time.Second, Duration: 2 * time.Second, Rows: 2, Values: 20},
	} {
		l.Add(&op)
	}
	if l.Span != (tally.Span{First: 5 * time.Second, Last: 10 * time.Second, Any: true}) || l.Sent != 7500*time.Millisecond || l.Acked != 8*time.Second ||
		l.Rows != 5 || l.Values != 50 || l.Bytes != 7 || l.Resent != 20 || l.Workers() != 2 || !slices.Equal(l.WorkerSeconds(), []float64{1, 0, 2}) {
		t.Errorf("%+v", l)
	}
}

// Each query has one time, below 0 if it was cut off; a repeated query has no further one.
func TestQueries(t *testing.T) {
	q := tally.New(oplog.Cell{Kind: oplog.Query, Workers: 2, Queries: 3}, 0)
	for i, outcome := range []oplog.Outcome{oplog.OK, oplog.OK, oplog.AtLeast, oplog.OK, oplog.Failed} {
		q.Add(&oplog.Op{Outcome: outcome, Sequence: int64(i), Start: time.Duration(i) * time.Second, Duration: time.Second + time.Duration(i), Rows: 1})
	}
	if want := []float64{1, 1.000000001, -1.000000002}; !slices.Equal(q.QuerySeconds(), want) {
		t.Errorf("times %v, want %v", q.QuerySeconds(), want)
	}
	if q.Executed != 4 || q.AtLeast != 1 || q.Rows != 4 || q.Wall() != (4*time.Second+3).Seconds() || q.WorkerSeconds()[0] != 3.000000004 {
		t.Errorf("wall %v: %+v", q.Wall(), q)
	}
}

// In an open loop the time of a query counts from when it was due.
func TestQueriesBySchedule(t *testing.T) {
	q := tally.New(oplog.Cell{Kind: oplog.Query, Schedule: "1/s", Queries: 2}, 0)
	q.Add(&oplog.Op{Outcome: oplog.OK, Start: 5 * time.Second, Intended: 2 * time.Second, Duration: time.Second})
	q.Add(&oplog.Op{Outcome: oplog.AtLeast, Sequence: 1, Start: 4 * time.Second, Intended: 3 * time.Second, Duration: time.Second})
	if want := []float64{4, -2}; !slices.Equal(q.QuerySeconds(), want) {
		t.Errorf("times %v, want %v", q.QuerySeconds(), want)
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, cell := range map[string]oplog.Cell{
		"batch": {Kind: oplog.Load}, "query": {Kind: oplog.Query, Queries: 1000}, "open": {Kind: oplog.Query, Schedule: "1/s"},
	} {
		b.Run(name, func(b *testing.B) {
			recorder := tally.New(cell, 10*time.Second).Recorder(nil, 0, time.Now())
			b.ReportAllocs()
			for i := range b.N {
				took := time.Duration(5e6 + i*7919%1e6)
				recorder.Add(&oplog.Op{Sequence: int64(i % 1000), Start: time.Duration(i) * 1000, Intended: time.Duration(i) * 1000, Duration: took, Sent: took / 2, Rows: 1000})
			}
		})
	}
}

// The times of the queries of a mixed phase go into the steps in which they end, from when they were due.
func TestCourse(t *testing.T) {
	cell := oplog.Cell{Kind: oplog.Query, Part: oplog.Mixed, Schedule: "1/s"}
	add := func(into *tally.Tally, due, end time.Duration) {
		into.Add(&oplog.Op{Intended: due, Start: end - time.Millisecond, Duration: time.Millisecond})
	}
	const second = time.Second
	one, other := tally.New(cell, 5*second), tally.New(cell, 5*second)
	add(one, 0, 20*second)
	add(one, 9*second, 10*second)
	add(other, 8*second, 11*second)
	for at := 12 * second; at < 700*second; at += second { // so long that steps are as long as the period
		add(other, at, at+second)
	}
	one.Merge(other)
	points := one.Course()
	want := []tally.Mean{{15 * second, 4, 3 * second / 2}, {20 * second, 5, second}, {25 * second, 6, 25 * second / 6}}
	if len(points) < 4 || !slices.Equal(points[:3], want) || points[len(points)-1].At != 700*second {
		t.Errorf("%v, want %v first and 700 s last", points, want)
	}
}
