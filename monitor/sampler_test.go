package monitor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/result"
)

func TestMain(m *testing.M) { puppet.Main(m) }

// script is a source that returns its readings in turn, and the last for ever.
type script struct {
	mu       sync.Mutex
	readings []Reading
	errs     []error
	calls    int
}

func (s *script) Read(ctx context.Context) (Reading, error) {
	if err := ctx.Err(); err != nil {
		return Reading{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := min(s.calls, len(s.readings)-1)
	s.calls++
	return s.readings[i], s.errs[i]
}

func (s *script) add(err error, incarnation float64, values map[result.Metric]float64) *script {
	s.readings, s.errs = append(s.readings, Reading{Values: values, Incarnation: incarnation, Cores: 3}), append(s.errs, err)
	return s
}

type values = map[result.Metric]float64

func TestSamplerCounters(t *testing.T) {
	source := (&script{}).
		add(nil, 1, values{result.CPU: 50, result.RSS: 9}).
		add(nil, 1, values{result.CPU: 53, result.RSS: 8}).
		add(nil, 1, values{result.CPU: 52.9, result.RSS: 7}). // noise
		add(errors.New("away"), 0, nil).
		add(errors.New("away"), 0, nil).
		add(nil, 2, values{result.CPU: 4, result.RSS: 5}). // restarted
		add(nil, 2, values{result.CPU: 6, result.RSS: 6})
	w := &watched{source: source, counters: map[result.Metric]counter{}}
	for i, r := range source.readings {
		w.add(float64(i), r, source.errs[i])
	}
	r := w.resources
	for i, want := range []float64{0, 3, 3, -1, -1, 7, 9} {
		got := r.Metrics[result.CPU][i]
		if want < 0 && got.IsKnown() || want >= 0 && got != result.Value(want) {
			t.Errorf("CPU at %d is %g, want %g (-1: absent)", i, got, want)
		}
	}
	if len(r.Problems) != 1 || r.Problems[0] != "away" || r.Cores != 3 {
		t.Errorf("got %+v", r)
	}
	if got := r.Metrics[result.RSS][0]; got != 9 {
		t.Errorf("a gauge was changed to %g", got)
	}
}

func TestSamplerTimeLine(t *testing.T) {
	const period = 20 * time.Millisecond
	origin := time.Now().Add(-time.Hour)
	s := NewSampler(t.Context(), origin, period)
	source := (&script{}).add(nil, 0, values{result.RSS: 1})
	s.Watch("one", source)
	s.Watch("two", (&script{}).add(errors.New("never"), 0, nil))
	cellBegin := time.Since(origin).Seconds()
	for len(s.Resources()[0].At) < 5 {
		time.Sleep(period)
	}
	cellEnd := time.Since(origin).Seconds()
	all := s.Stop()
	if len(all) != 2 || all[0].Source != "one" || all[1].Source != "two" {
		t.Fatalf("got %+v", all)
	}
	at := all[0].At
	if at[0] < 3600 || at[0] > cellBegin || at[len(at)-1] < cellEnd {
		t.Errorf("readings from %g to %g do not surround the cell from %g to %g", at[0], at[len(at)-1], cellBegin, cellEnd)
	}
	for i := 1; i < len(at); i++ {
		if at[i] <= at[i-1] {
			t.Errorf("readings at %g and %g", at[i-1], at[i])
		}
	}
	if len(all[1].Metrics) != 0 || len(all[1].Problems) != 1 {
		t.Errorf("a source that was never read: %+v", all[1])
	}
	again := s.Stop()
	if len(again[0].At) != len(at) {
		t.Errorf("%d readings after stopping again, had %d", len(again[0].At), len(at))
	}
}

// stuck is a source that answers only when it is told to give up.
type stuck struct{}

func (stuck) Read(ctx context.Context) (Reading, error) {
	<-ctx.Done()
	return Reading{}, errors.New("stuck")
}

func TestSamplerStuckSourceDelaysNoOther(t *testing.T) {
	s := NewSampler(t.Context(), time.Now(), 10*time.Millisecond)
	s.Watch("good", (&script{}).add(nil, 0, values{result.RSS: 1}))
	begin := time.Now()
	s.Watch("stuck", stuck{}) // returns after its timeout
	for len(s.Resources()[0].At) < 20 && time.Since(begin) < time.Minute {
		time.Sleep(10 * time.Millisecond)
	}
	all := s.Stop()
	if n := len(all[1].At); n == 0 || n >= len(all[0].At) {
		t.Errorf("%d readings of the stuck source, %d of the good one", n, len(all[0].At))
	}
	if len(all[1].Problems) != 1 || all[1].Problems[0] != "stuck" {
		t.Errorf("problems %q", all[1].Problems)
	}
}
