package iotdb

import (
	"math"
	"sort"
)

// poisson draws from a Poisson distribution by inversion of a table, so that
// one number from 0 to 1 gives one draw.
type poisson struct {
	first int64     // smallest number in the table
	upTo  []float64 // probability of a number up to the one at this place
}

// spread is the number of standard deviations around the mean that the table spans. Values beyond
// have a probability below 1e-20.
const spread = 10

// newPoisson makes the table of a mean from 0 on: about 20 of its square roots.
func newPoisson(mean float64) *poisson {
	width := spread * (math.Sqrt(mean) + 2)
	p := &poisson{first: int64(max(0, math.Floor(mean-width)))}
	last := int64(math.Ceil(mean + width))
	sum := 0.0
	for k := p.first; k <= last; k++ {
		logarithm, _ := math.Lgamma(float64(k) + 1)
		density := math.Exp(float64(k)*math.Log(mean) - mean - logarithm)
		if mean == 0 {
			density = 0
			if k == 0 {
				density = 1
			}
		}
		sum += density
		p.upTo = append(p.upTo, sum)
	}
	return p
}

// largest returns the largest number that is drawn.
func (p *poisson) largest() int64 { return p.first + int64(len(p.upTo)) - 1 }

// quantile returns the smallest number up to which the probability exceeds u.
func (p *poisson) quantile(u float64) int64 {
	i := sort.Search(len(p.upTo)-1, func(i int) bool { return p.upTo[i] > u })
	return p.first + int64(i)
}
