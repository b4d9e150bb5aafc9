package watch

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
)

// meter returns the values set by a test.
type meter struct{ now map[string]float64 }

func (m *meter) db() driver.DB {
	return driver.DB{Optional: driver.Optional{ReadMetrics: func(context.Context) (map[string]float64, error) { return m.now, nil }}}
}

// A counter continues when a restarted server counts from 0 again, and has no values while the
// target is closed.
func TestInternals(t *testing.T) {
	o := &Watch{Sampler: monitor.NewSampler(t.Context(), time.Now(), time.Hour), inside: make(map[string]*internals)}
	m := &meter{now: map[string]float64{"wal_bytes_total": 1000, "compactions": 3}}
	end := o.WatchInternals("db", m.db())
	read := func() result.Resources {
		// The sampler reads a source when it is added and at the end: the test makes the readings
		// in between.
		r, err := o.inside["db"].Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all result.Resources
		all.Add(r.Incarnation, r.Values)
		return all
	}
	m.now = map[string]float64{"wal_bytes_total": 1500, "compactions": 1}
	if r := read(); r.At[0] != 0 || r.Metrics[result.Internal("compactions")][0] != 1 {
		t.Errorf("%+v", r)
	}
	m.now["head_max_time"] = math.MinInt64 // an empty head
	if r := read(); len(r.Metrics) != 2 {
		t.Errorf("a value that stands for none was recorded: %+v", r)
	}
	delete(m.now, "head_max_time")
	end()
	if r := read(); len(r.Metrics) != 0 {
		t.Errorf("it was read between two turns: %+v", r)
	}
	end = o.WatchInternals("db", m.db())
	defer end()
	m.now = map[string]float64{"wal_bytes_total": 200, "compactions": 2}
	if r := read(); r.At[0] != 1 {
		t.Errorf("a restart was not noticed: %+v", r)
	}
	got := o.Sampler.Stop()
	if len(got) != 1 || got[0].Source != "inside db" {
		t.Fatalf("%+v", got)
	}
	column := got[0].Metrics[result.Internal("wal_bytes_total")]
	if last := column[len(column)-1]; last != 200 {
		t.Errorf("the counter rose by %v since it was first read, want 200: the count since the restart, all that the sampler saw", last)
	}
}
