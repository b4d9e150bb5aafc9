package monitor

import (
	"math"
	"runtime/metrics"
)

// Names of the Go runtime's own figures (package runtime/metrics).
const (
	schedulingLatencies = "/sched/latencies:seconds"
	gcPauses            = "/sched/pauses/total/gc:seconds"
	heapObjects         = "/memory/classes/heap/objects:bytes"
)

// goRuntime reads the Go runtime's metrics, and keeps the previous state to compute differences.
// Reading does not stop the program.
type goRuntime struct {
	samples           []metrics.Sample
	scheduling, pause histogram
}

func newGoRuntime() *goRuntime {
	g := &goRuntime{samples: []metrics.Sample{{Name: schedulingLatencies}, {Name: gcPauses}, {Name: heapObjects}}}
	g.read()
	return g
}

// read returns the delays and pauses since the call before, and the heap.
func (g *goRuntime) read() (scheduling, pause histogram, heap float64) {
	metrics.Read(g.samples)
	scheduling = g.scheduling.advance(g.samples[0].Value)
	pause = g.pause.advance(g.samples[1].Value)
	heap = math.NaN()
	if v := g.samples[2].Value; v.Kind() == metrics.KindUint64 {
		heap = float64(v.Uint64())
	}
	return scheduling, pause, heap
}

// histogram counts durations: counts[i] lie in [bounds[i], bounds[i+1]).
type histogram struct {
	counts []uint64
	bounds []float64 // seconds; the outermost may be infinite
}

// advance takes the runtime's current histogram, which only grows, and returns the values added
// since the previous one.
func (h *histogram) advance(v metrics.Value) histogram {
	if v.Kind() != metrics.KindFloat64Histogram {
		return histogram{} // a Go version that does not have it
	}
	now := v.Float64Histogram()
	added := histogram{counts: make([]uint64, len(now.Counts)), bounds: now.Buckets}
	for i, n := range now.Counts {
		added.counts[i] = n
		if i < len(h.counts) {
			added.counts[i] -= h.counts[i]
		}
	}
	// The runtime fills the same memory again.
	h.counts, h.bounds = append(h.counts[:0], now.Counts...), now.Buckets
	return added
}

// quantile returns the upper end of the bucket that contains the quantile q, so that it is never
// too small; NaN if nothing was counted. q = 1 is the maximum.
func (h histogram) quantile(q float64) float64 {
	var total, below uint64
	for _, n := range h.counts {
		total += n
	}
	if total == 0 {
		return math.NaN()
	}
	rank := max(1, uint64(math.Ceil(q*float64(total))))
	for i, n := range h.counts {
		if below += n; below >= rank {
			if end := h.bounds[i+1]; !math.IsInf(end, 1) {
				return end
			}
			return h.bounds[i]
		}
	}
	return math.NaN()
}
