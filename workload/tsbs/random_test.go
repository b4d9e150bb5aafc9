package tsbs

import (
	"math/rand"
	"testing"
)

// The stream must be math/rand's to the bit, whatever mix of draws is made.
func TestRandomIsMathRand(t *testing.T) {
	for _, seed := range []int64{0, 1, 123, 999, -5, 1 << 40, 2147483647} {
		want, got := rand.New(rand.NewSource(seed)), newRandom(seed)
		mix := rand.New(rand.NewSource(42))
		for i := 0; i < 200_000; i++ {
			var w, g any
			switch mix.Intn(6) {
			case 0:
				w, g = want.Int63(), got.int63()
			case 1:
				n := 1 + mix.Intn(1000)
				w, g = want.Intn(n), got.intn(n)
			case 2:
				n := 1 + mix.Int63()
				w, g = want.Int63n(n), got.int63n(n)
			case 3:
				w, g = want.Float64(), got.float64()
			default:
				w, g = want.NormFloat64(), got.normal()
			}
			if w != g {
				t.Fatalf("seed %d, draw %d: %v, math/rand gives %v", seed, i, g, w)
			}
		}
	}
}

// The tail and the edges of the strips are rare: many draws are needed to
// meet each strip's.
func TestWalkIsNormal(t *testing.T) {
	want, got := rand.New(rand.NewSource(7)), newRandom(7)
	states := make([]float64, 1013)
	expected := make([]float64, len(states))
	for round := 0; round < 3000; round++ {
		for i := range expected {
			expected[i] = clamp(expected[i]+want.NormFloat64(), -3, 3)
		}
		got.walk(states, -3, 3)
		for i := range expected {
			if states[i] != expected[i] {
				t.Fatalf("round %d, state %d: %v, want %v", round, i, states[i], expected[i])
			}
		}
	}
}

// Figures of the reference, in case math/rand itself should ever change.
func TestRandomGolden(t *testing.T) {
	r := newRandom(123)
	for i, want := range []int64{5361704182646325489, 241876450138978746, 2305561650894865143} {
		if got := r.int63(); got != want {
			t.Errorf("Int63 %d of seed 123: %d, want %d", i, got, want)
		}
	}
	r = newRandom(123)
	for i, want := range []float64{-0.794578529671558, 0.07123319016863422, 0.6991306302369095} {
		if got := r.normal(); got != want {
			t.Errorf("NormFloat64 %d of seed 123: %v, want %v", i, got, want)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	r := newRandom(123)
	states := make([]float64, 1280)
	for i := range states {
		states[i] = 50
	}
	for b.Loop() {
		r.walk(states, 0, 100)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(states)), "ns/draw")
}
