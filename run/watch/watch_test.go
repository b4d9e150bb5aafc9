package watch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// busy is a source whose CPU time rises by one second per second.
type busy struct{ since time.Time }

// Read implements monitor.Source.
func (b busy) Read(context.Context) (monitor.Reading, error) {
	return monitor.Reading{Values: map[result.Metric]float64{result.CPU: time.Since(b.since).Seconds()}, Cores: 1}, nil
}

// The usage of a server, even one shared by two targets, in half a second is known, because it is
// read at both ends; otherwise it is read only every hour.
func TestShortMeasurementsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := time.Now()
		w := &Watch{Sampler: monitor.NewSampler(t.Context(), origin, time.Hour), origin: origin, found: map[string]LocalServer{"db": {readAs: "db"}, "other": {readAs: "db"}}, witnesses: make(map[string]*monitor.Witness)}
		w.Sampler.Watch(result.ServerSource("db"), busy{origin})
		w.Sampler.Watch(result.ClientSource, busy{origin})
		for name, target := range map[string]*result.Target{"db": {Name: "db"}, "other": {Name: "other", SameServer: "db"}, "lite": {Name: "lite", Embedded: true}} {
			time.Sleep(10 * time.Second)
			w.SetTarget(t.Context(), name)
			measurement := w.Begin(t.Context(), target.Embedded)
			time.Sleep(500 * time.Millisecond)
			c := measurement.End(t.Context())
			run := &result.Run{Resources: w.Sampler.Resources()}
			sources, _ := estimate.Sources(run, target)
			if u, known := estimate.SumUsage(sources, []*result.Cell{&c}); !known || u.CPU < 0.49 || u.CPU > 0.51 {
				t.Errorf("%s: %v, %+v of %+v", name, known, u, c)
			}
		}
		w.Sampler.Stop()
	})
}
