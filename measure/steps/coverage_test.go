package steps

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// figures is the number of figures of a simulated report: the medians of 16 query types, their
// geometric mean, the load, the size and a mixed phase.
const figures = 20

// machine simulates what nightly runs of an unchanged system report.
type machine struct {
	name      string
	variation float64 // coefficient of variation of a figure from night to night
	common    float64 // share of the variance that all figures of a night have in common
	bad       float64 // share of nights that are three times as far away
	drift     float64 // correlation of a night with the next
}

// nights simulates figures.
func (m machine) nights(r *rand.Rand, n int) [][]Point {
	series := make([][]Point, figures)
	for i := range series {
		series[i] = make([]Point, n)
	}
	last := make([]float64, figures+1)
	for night := range n {
		scale := 1.0
		if r.Float64() < m.bad {
			scale = 3
		}
		for i := range last {
			x := r.NormFloat64()
			if night > 0 {
				x = m.drift*last[i] + math.Sqrt(1-m.drift*m.drift)*x
			}
			last[i] = x
		}
		for i := range series {
			x := math.Sqrt(m.common)*last[figures] + math.Sqrt(1-m.common)*last[i]
			v := math.Exp(m.variation * scale * x)
			half := math.Exp(m.variation * (0.5 + r.Float64()))
			series[i][night] = Point{v, v / half, v * half}
		}
	}
	return series
}

// shared is a shared runner: 2.66 % is the coefficient of variation that CodSpeed measured over 100 runs of each
// of four benchmark suites on GitHub's hosted runners (Benchmarks in CI: Escaping the Cloud Chaos,
// 2025-07-30).
const shared = 0.0266

// TestCoverage simulates years of nightly runs. It logs the share of years without a change in which
// any figure had a step, and how soon a step of 5 % in one figure was found after 90 nights.
func TestCoverage(t *testing.T) {
	variations := []float64{0.005, 0.01, 0.015, 0.02, shared, 0.04}
	years, cases := 60, 20 // the package's comment has the results of 200 and 60
	if slowtest.Short() {
		years, cases, variations = 1, 2, []float64{0.01}
	}
	for _, test := range []struct {
		machine
		most float64 // share of years with a false alarm; 0: not restricted
	}{
		{machine{name: "independent figures", variation: shared}, 0.05},
		{machine{name: "half of the noise in common", variation: shared, common: 0.5}, 0.05},
		{machine{name: "one of ten nights is bad", variation: shared, common: 0.5, bad: 0.1}, 0.05},
		{machine{name: "nights correlate by 0.2", variation: shared, common: 0.5, drift: 0.2}, 0.1}, // 33 % without segment.inflation
		{machine{name: "nights correlate by 0.4", variation: shared, common: 0.5, drift: 0.4}, 0},
	} {
		r := rand.New(rand.NewPCG(7, 7))
		alarms := 0
		for range years {
			if len(Find(test.nights(r, Nightly), Options{Looks: Nightly})) > 0 {
				alarms++
			}
		}
		share := float64(alarms) / float64(years)
		t.Logf("false alarms: %-28s %5.1f %% of %d years", test.name, 100*share, years)
		// Three standard errors above the promised level.
		if limit := test.most + 3*math.Sqrt(test.most*(1-test.most)/float64(years)); test.most > 0 && share > limit {
			t.Errorf("%s: a step in %.1f %% of the years", test.name, 100*share)
		}
	}
	const before, size = 90, 1.05
	for _, variation := range variations {
		r := rand.New(rand.NewPCG(8, 8))
		m := machine{variation: variation, common: 0.5}
		after := []int{3, 4, 5, 10, 20}
		found, within, resolved := make([]int, len(after)), 0, 0.0
		steps, right := 0, 0
		for range cases {
			nights := m.nights(r, before+after[len(after)-1])
			resolved += Options{Looks: Nightly}.Resolution(nights[0][:before], figures, 5) / float64(cases)
			for i := before; i < len(nights[0]); i++ {
				nights[0][i].Value *= size
				nights[0][i].Low *= size
				nights[0][i].High *= size
			}
			for _, s := range Find(nights, Options{Looks: Nightly}) {
				if s.Series != 0 || s.Seen < before {
					continue
				}
				for i, n := range after {
					if s.Seen < before+n {
						found[i]++
					}
				}
				steps++
				if s.Low <= size && size <= s.High {
					within++
				}
				if s.Index == before {
					right++
				}
			}
		}
		t.Logf("a step of 5 %%, noise of %.2f %%: found within %v nights in %v of %d cases; resolution within 5 nights %.1f %%; of %d steps, %d intervals contain the size, %d begin with the right run",
			100*variation, after, found, cases, 100*resolved, steps, within, right)
		if variation <= 0.01 && float64(found[2]) < 0.95*float64(cases) {
			t.Errorf("noise of %v: found within 5 nights in %d of %d cases only", variation, found[2], cases)
		}
		// About 70 % of 160 cases were found with this noise.
		if variation == 0.015 && (resolved < 0.048 || resolved > 0.056) {
			t.Errorf("noise of %v: a resolution of %v", variation, resolved)
		}
		if steps > 0 && float64(within) < 0.85*float64(steps) {
			t.Errorf("noise of %v: %d of %d intervals contain the size", variation, within, steps)
		}
	}
}
