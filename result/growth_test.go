package result_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// step is a load of two batches.
func step(t *testing.T, rows int64, settled float64) *result.Load {
	t.Helper()
	h := measure.NewLatency()
	h.Record(10 * time.Millisecond)
	h.Record(time.Duration(rows) * time.Millisecond)
	batches, err := result.LatencyOf(h)
	if err != nil {
		t.Fatal(err)
	}
	return &result.Load{
		Rows: rows, Metrics: 10 * rows, WireBytes: 100 * rows, Sent: settled / 4, Acked: settled / 2, Settled: settled, Batches: batches,
		Accumulated: []float64{settled / 2}, Rates: []result.RatePoint{{At: settled, Rows: rows}},
	}
}

// A load in steps takes as long as they do one after the other.
func TestThen(t *testing.T) {
	l := step(t, 30, 2)
	if err := l.Extend(step(t, 70, 4)); err != nil {
		t.Fatal(err)
	}
	if l.Rows != 100 || l.Metrics != 1000 || l.WireBytes != 10000 {
		t.Errorf("%d rows, %d metrics, %d bytes", l.Rows, l.Metrics, l.WireBytes)
	}
	if l.Sent != 3 || l.Acked != 4 || l.Settled != 6 || l.Accumulated[0] != 3 || len(l.Rates) != 2 || l.Rates[1].At != 6 {
		t.Errorf("sent %v, acknowledged %v, settled %v, accumulated %v, rates %v", l.Sent, l.Acked, l.Settled, l.Accumulated, l.Rates)
	}
	if l.Batches.Count != 4 || l.Batches.Max != 0.07 || l.Batches.Min != 0.01 {
		t.Errorf("batches %+v", l.Batches.Summary)
	}
	silent := step(t, 1, 1)
	silent.Acked = 0
	if err := l.Extend(silent); err != nil || l.Acked != 0 {
		t.Errorf("acknowledged %v, %v, of a load whose last step was not", l.Acked, err)
	}
}
