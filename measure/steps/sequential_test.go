package steps

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// TestSequential simulates decisions with an error rate of 5 %: how often they are wrong, and
// after how many rounds.
func TestSequential(t *testing.T) {
	const size, alpha, patience = 1.05, 0.05, 400
	trials := 2000
	if slowtest.Short() {
		trials = 400
	}
	normal := func(r *rand.Rand) float64 { return r.NormFloat64() }
	for _, test := range []struct {
		name  string
		noise func(*rand.Rand) float64 // with a standard deviation of about 1
		sigma float64
	}{
		{"normal", normal, 0.01}, {"normal", normal, 0.03}, {"normal", normal, 0.1},
		{"one of ten rounds is three times as far away", func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 3 * r.NormFloat64()
			}
			return r.NormFloat64()
		}, 0.03},
		{"skewed", func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }, 0.03},
	} {
		for _, truth := range []float64{1, math.Sqrt(size), size} {
			r := rand.New(rand.NewPCG(9, 9))
			counts, rounds := make(map[Decision]int), 0
			for range trials {
				s := NewSequential(size, alpha)
				for s.Decision() == Undecided && s.Rounds() < patience {
					s.Add(math.Log(truth) + test.sigma*test.noise(r))
				}
				counts[s.Decision()]++
				rounds += s.Rounds()
			}
			t.Logf("%s, %.0f %% a round, ratio %.3f: changed %.1f %%, unchanged %.1f %%, %.1f rounds", test.name, 100*test.sigma, truth,
				100*float64(counts[Changed])/float64(trials), 100*float64(counts[Unchanged])/float64(trials), float64(rounds)/float64(trials))
			wrong := 0
			switch truth {
			case 1:
				wrong = counts[Changed]
			case size:
				wrong = counts[Unchanged]
			}
			if limit := alpha + 3*math.Sqrt(alpha*(1-alpha)/float64(trials)); float64(wrong) > limit*float64(trials) {
				t.Errorf("%s, ratio %v: %d of %d decisions are wrong", test.name, truth, wrong, trials)
			}
		}
	}
}

// Figures without noise, such as sizes on disk, are decided too, by the closer side.
func TestSequentialWithoutNoise(t *testing.T) {
	for ratio, want := range map[float64]Decision{1: Unchanged, 1.001: Unchanged, 1.049: Changed, 1.05: Changed, 2: Changed, 0.5: Unchanged} {
		s := NewSequential(1.05, 0.05)
		for range 20 {
			s.Add(math.Log(ratio))
		}
		if got := s.Decision(); got != want {
			t.Errorf("ratio %v: %v, want %v", ratio, got, want)
		}
	}
	s := NewSequential(1.05, 0.05)
	if s.Add(0.04) != Undecided {
		t.Error("decided after one round")
	}
	if ratio, low, high := s.Ratio(); low != 0 || !math.IsInf(high, 1) || math.Abs(ratio-math.Exp(0.04)) > 1e-12 {
		t.Errorf("after one round: %v from %v to %v", ratio, low, high)
	}
}
