package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// process returns a Gaussian AR(1) series with mean 0 and the deviation.
func process(seed uint64, n int, rho, deviation float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	last := r.NormFloat64()
	for i := range x {
		if i > 0 {
			last = rho*last + math.Sqrt(1-rho*rho)*r.NormFloat64()
		}
		x[i] = last * deviation
	}
	return x
}

// What the simulated repeats have in common, as logarithms.
const (
	perRepeat  = 300    // queries in a repeat
	difficulty = 0.1    // standard deviation of the queries, which are the same in each repeat
	noise      = 0.03   // of a latency around its query's
	alike      = 0.5    // autocorrelation of the noise
	slope      = 0.01   // by how much a repeat slows down or speeds up while it goes on
	ownNoise   = 0.0042 // variation of a repeat's median that comes of noise and slope alone (TestPower measures it)
)

// bench simulates a query type of a system that is measured again and again:
// latencies are lognormal and follow each other, and each repeat is faster or
// slower as a whole and drifts. The medians of repeats vary by the given
// coefficient of variation.
type bench struct {
	r            *rand.Rand
	level        float64 // standard deviation of a whole repeat
	difficulties []float64
}

func newBench(seed uint64, variation float64) *bench {
	b := &bench{r: rand.New(rand.NewPCG(seed, 2)), difficulties: make([]float64, perRepeat)}
	b.level = math.Sqrt(max(0, variation*variation-ownNoise*ownNoise))
	for i := range b.difficulties {
		b.difficulties[i] = difficulty * b.r.NormFloat64()
	}
	return b
}

// latencies of one repeat of the system made slower by a factor.
func (b *bench) latencies(slower float64) []float64 {
	level, drift := b.level*b.r.NormFloat64(), slope*b.r.NormFloat64()
	latencies := process(b.r.Uint64(), perRepeat, alike, noise)
	for i, x := range latencies {
		latencies[i] = 0.002 * slower * math.Exp(b.difficulties[i]+x+level+drift*(float64(i)/perRepeat-0.5))
	}
	return latencies
}

// repeats returns the medians of six repeats, the default.
func (b *bench) repeats(slower float64) []float64 { return b.medians(6, slower) }

func (b *bench) medians(n int, slower float64) []float64 {
	medians := make([]float64, n)
	for i := range medians {
		medians[i] = Median(b.latencies(slower))
	}
	return medians
}

// A hundred thousand latencies, as a fast query type has them; and as many that become
// slower all the time, so that those far apart depend on each other.
func BenchmarkEstimateRepeat(b *testing.B) {
	for name, drift := range map[string]float64{"steady": 0, "drifting": 1} {
		b.Run(name, func(b *testing.B) {
			latencies := process(1, 100_000, 0.5, 0.2)
			for i, x := range latencies {
				latencies[i] = math.Exp(x + drift*float64(i)/100_000)
			}
			for b.Loop() {
				EstimateRepeat(latencies)
			}
		})
	}
}
