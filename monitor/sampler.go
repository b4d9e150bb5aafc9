package monitor

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Source is something whose use of resources can be read: a host, the client,
// a server. One goroutine at a time reads it.
type Source interface {
	// Read returns the metrics that can be read now. An error says why some, or all, could not be
	// read; the returned metrics are valid anyway. Read gives up when ctx ends.
	Read(ctx context.Context) (Reading, error)
}

// Reading is the state of a source at one moment.
type Reading struct {
	// Values holds the metrics that could be read. Counters may start at any value.
	Values map[result.Metric]float64
	// Incarnation changes when all counters start from 0 again, as with a
	// process that was restarted.
	Incarnation float64
	Cores       int    // that a CPU share of 1 means; 0: not known
	Measure     string // description of the measurement
	Device      string // the disk of the Device metrics
}

// Sampler reads sources at regular moments, each in a goroutine of its own, so
// that a slow one delays no other. What cannot be read is absent and named, and
// never an error: a benchmark does not fail for it.
type Sampler struct {
	origin time.Time
	period time.Duration
	stop   context.CancelFunc
	ctx    context.Context
	done   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	watched []*watched
}

// watched is a source with its readings; Sampler.mu guards the readings.
type watched struct {
	source    Source
	reading   sync.Mutex // one reading at a time
	resources result.Resources
	counters  map[result.Metric]counter
	lives     float64 // the incarnation last seen
}

// counter brings a counter that starts anywhere, and may start again, to one
// that starts at 0 and never falls.
type counter struct{ last, total float64 }

// NewSampler returns a sampler whose time line starts at origin, which may lie
// in the past. The period must be positive. ctx ends the sampling too.
func NewSampler(ctx context.Context, origin time.Time, period time.Duration) *Sampler {
	s := &Sampler{origin: origin, period: period}
	s.ctx, s.stop = context.WithCancel(ctx)
	return s
}

// Watch reads a source now, so that later events lie between two readings, and then every period
// until Stop. It must not be called after Stop.
func (s *Sampler) Watch(name string, source Source) {
	w := &watched{
		source:    source,
		resources: result.Resources{Source: name, Period: s.period.Seconds()},
		counters:  map[result.Metric]counter{},
	}
	s.mu.Lock()
	s.watched = append(s.watched, w)
	s.mu.Unlock()
	s.read(s.ctx, w)
	s.done.Go(func() { s.follow(w) })
}

// follow reads a source at whole periods of the time line, so that the
// readings of several sources lie side by side, and once more at the end.
func (s *Sampler) follow(w *watched) {
	for {
		passed := time.Since(s.origin)
		wait := time.NewTimer(s.period - passed%s.period)
		select {
		case <-s.ctx.Done():
			wait.Stop()
			s.read(context.WithoutCancel(s.ctx), w)
			return
		case <-wait.C:
			s.read(s.ctx, w)
		}
	}
}

// Read takes an additional reading of a watched source now, so that the beginning or end of an
// event lies between two readings. It does nothing if no source of that name is watched.
func (s *Sampler) Read(name string) {
	s.mu.Lock()
	all := s.watched
	s.mu.Unlock()
	for _, w := range all {
		if w.resources.Source == name { // which does not change
			s.read(s.ctx, w)
		}
	}
}

// read takes one reading. Its time is the middle of the time that it took.
func (s *Sampler) read(ctx context.Context, w *watched) {
	w.reading.Lock()
	defer w.reading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, max(s.period, time.Second))
	defer cancel()
	begin := time.Since(s.origin)
	got, err := w.source.Read(ctx)
	at := (begin + (time.Since(s.origin)-begin)/2).Seconds()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return // Stop cut it off, and takes one more
	}
	w.add(at, got, err)
}

// add records a reading.
func (w *watched) add(at float64, got Reading, err error) {
	r := &w.resources
	if err != nil {
		r.Problem(err.Error())
	}
	if n := len(r.At); n > 0 && at <= r.At[n-1] {
		return // two within the clock's resolution
	}
	values := make(map[result.Metric]float64, len(got.Values))
	for m, v := range got.Values {
		if m.Counter() {
			v = w.rise(m, v, got.Incarnation != w.lives)
		}
		values[m] = v
	}
	if len(got.Values) > 0 {
		w.lives = got.Incarnation
	}
	if got.Cores > 0 {
		r.Cores = got.Cores
	}
	if got.Measure != "" {
		r.Measure = got.Measure
	}
	if got.Device != "" {
		r.Device = got.Device
	}
	r.Add(at, values)
}

// rise returns the increase of a counter since the first reading. A decrease without a new
// incarnation is noise (Linux's iowait does that) and counts as no increase.
func (w *watched) rise(m result.Metric, now float64, restarted bool) float64 {
	c, ok := w.counters[m]
	switch {
	case !ok:
		c.last = now
	case restarted && now < c.last:
		c.total, c.last = c.total+now, now
	case now > c.last:
		c.total, c.last = c.total+now-c.last, now
	}
	w.counters[m] = c
	return c.total
}

// Resources returns the readings so far, one element per source in the order of Watch. It may be
// called at any time.
func (s *Sampler) Resources() []result.Resources {
	all := s.Last(math.MaxInt)
	for i := range all {
		all[i].Total = all[i].UsageTotal()
	}
	return all
}

// Last returns the last readings of each source, at most the given number, without their total, for
// frequent callers. It may be called at any time.
func (s *Sampler) Last(readings int) []result.Resources {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]result.Resources, len(s.watched))
	for i, w := range s.watched {
		r := w.resources
		from := max(0, len(r.At)-readings)
		r.At, r.Problems = slices.Clone(r.At[from:]), slices.Clone(r.Problems)
		r.Metrics = make(map[result.Metric][]result.Value, len(w.resources.Metrics))
		for m, column := range w.resources.Metrics {
			r.Metrics[m] = slices.Clone(column[from:])
		}
		all[i] = r
	}
	return all
}

// Stop takes a last reading of each source and returns everything. It may be
// called again.
func (s *Sampler) Stop() []result.Resources {
	s.stop()
	s.done.Wait()
	return s.Resources()
}
