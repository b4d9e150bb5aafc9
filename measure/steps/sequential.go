package steps

import "math"

// Decision is what a sequential test knows.
type Decision int

// The decisions.
const (
	Undecided Decision = iota // more rounds are needed
	Changed                   // the second version has more than the first one
	Unchanged                 // it has less than the first one times the size of the step
)

// Sequential decides with as few rounds as the noise allows whether a figure of one version is larger
// than that of another. Both were measured once a round, in turns. It may decide after each round.
//
// If the figures are equal, the probability that it ever decides Changed is at most alpha; if they
// differ by the size or more, so is that of Unchanged. In between, both decisions are true, and it
// takes the closer one once both are shown. This holds for ratios with a normal logarithm;
// TestSequential has the rates for others.
//
// It decides by a confidence sequence of the mean: intervals that all contain the mean, after
// any number of rounds, with the probability 1-alpha. They are those of the sequential t-test with a normal
// prior of the standardized mean and the right Haar prior of the deviation (Lai 1976, Annals of
// Statistics 4; Pérez-Ortiz, Lardy, de Heide and Grünwald 2024, Annals of Statistics 52).
type Sequential struct {
	size, alpha float64
	n           int
	mean, sum2  float64 // Welford's
}

// NewSequential returns a test for a step of a size, such as 1.05 for 5 %, above 1, with the error rate alpha.
func NewSequential(size, alpha float64) *Sequential {
	return &Sequential{size: math.Log(size), alpha: alpha}
}

// Add adds the logarithm of a round's ratio: the second version's figure divided by the first one's,
// or the inverse if the step that is looked for makes the figure smaller.
func (s *Sequential) Add(logRatio float64) Decision {
	s.n++
	d := logRatio - s.mean
	s.mean += d / float64(s.n)
	s.sum2 += d * (logRatio - s.mean)
	return s.Decision()
}

// Rounds returns the number of rounds.
func (s *Sequential) Rounds() int { return s.n }

// Decision returns the decision after the rounds so far.
func (s *Sequential) Decision() Decision {
	reach := s.reach()
	larger, smaller := s.mean-reach > 0, s.mean+reach < s.size
	switch {
	case larger && (!smaller || s.mean >= s.size/2):
		return Changed
	case smaller:
		return Unchanged
	}
	return Undecided
}

// Ratio returns the geometric mean of the rounds' ratios with its interval at the level 1-alpha, which
// holds after any number of rounds; high is infinite and low 0 after the first few.
func (s *Sequential) Ratio() (ratio, low, high float64) {
	reach := s.reach()
	return math.Exp(s.mean), math.Exp(s.mean - reach), math.Exp(s.mean + reach)
}

// prior is the variance of the standardized mean: steps are expected to be some deviations of a round.
const prior = 4

// reach is the half width of the interval of the mean.
func (s *Sequential) reach() float64 {
	n := float64(s.n)
	spread := 1 + n*prior
	k := math.Pow(math.Sqrt(spread)/s.alpha, 2/n)
	if s.n < 2 || k >= spread {
		return math.Inf(1)
	}
	u := (k - 1) / (1 - k/spread) // t squared by the degrees of freedom at which the test rejects
	return math.Sqrt(u * s.sum2 / n)
}
