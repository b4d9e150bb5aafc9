package watch

import (
	"context"
	"maps"
	"math"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
)

// internals are the metrics that a target reports about itself while it is open.
type internals struct {
	name string

	mu    sync.Mutex                                        // guards the fields below; held while the target is read
	read  func(context.Context) (map[string]float64, error) // nil: the target is closed
	last  map[string]float64
	lives float64
}

// Read implements monitor.Source.
func (s *internals) Read(ctx context.Context) (monitor.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := monitor.Reading{Measure: "figures that " + s.name + " tells of itself"}
	if s.read == nil {
		return r, nil
	}
	now, err := s.read(ctx)
	r.Values = make(map[result.Metric]float64, len(now))
	for name, v := range now {
		// Servers report the smallest or the largest integer for a missing value, as Prometheus
		// does for the times of an empty head.
		if math.Abs(v) > result.LargestNumber {
			continue
		}
		m := result.Internal(name)
		r.Values[m] = v
		if before, ok := s.last[name]; ok && m.Counter() && v < before {
			s.lives++ // it was restarted
		}
	}
	if s.last == nil {
		s.last = make(map[string]float64, len(now))
	}
	maps.Copy(s.last, now)
	r.Incarnation = s.lives
	return r, err
}

// attach reads an open target from now on; nil: none. It returns once the previous target is no
// longer being read.
func (s *internals) attach(read func(context.Context) (map[string]float64, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = read
}

// WatchInternals starts to read a target's metrics about itself. The returned function must be
// called before the target is closed.
func (w *Watch) WatchInternals(name string, t driver.DB) (end func()) {
	if t.ReadMetrics == nil {
		return func() {}
	}
	s := w.inside[name]
	if s == nil {
		s = &internals{name: name, read: t.ReadMetrics}
		w.inside[name] = s
		w.Sampler.Watch("inside "+name, s) // reads it at once
	}
	s.attach(t.ReadMetrics)
	return func() { s.attach(nil) }
}
