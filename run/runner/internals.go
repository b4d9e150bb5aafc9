package runner

import (
	"context"
	"maps"
	"math"
	"sync"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
)

// internals is what a target tells of itself during its turns. Between them it
// is closed and tells nothing.
type internals struct {
	name string

	mu    sync.Mutex // guards what follows; held while the target is read
	open  driver.Metered
	last  map[string]float64
	lives float64
}

// Read implements monitor.Source.
func (s *internals) Read(ctx context.Context) (monitor.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := monitor.Reading{Measure: "figures that " + s.name + " tells of itself"}
	if s.open == nil {
		return r, nil
	}
	now, err := s.open.Metrics(ctx)
	r.Values = make(map[result.Metric]float64, len(now))
	for name, v := range now {
		// Servers tell the least or the greatest integer where they have no value, as
		// Prometheus does of the times of an empty head.
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

// attach reads an opened target from now on; nil: none. It returns when none that it
// read before is being read.
func (s *internals) attach(t driver.Metered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = t
}

// internals begins to read what a target tells of itself. The function that
// it returns is called before the target is closed.
func (w *watch) internals(name string, t driver.DB) (end func()) {
	metered, ok := driver.As[driver.Metered](t)
	if !ok {
		return func() {}
	}
	s := w.inside[name]
	if s == nil {
		s = &internals{name: name, open: metered}
		w.inside[name] = s
		w.sampler.Watch("inside "+name, s) // which reads it at once
	}
	s.attach(metered)
	return func() { s.attach(nil) }
}
