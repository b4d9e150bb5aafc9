package pace_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tsmark/tsmark/engine/pace"
)

// take returns the first n arrivals, or all if there are fewer.
func take(s pace.Schedule, n int) []time.Duration {
	var due []time.Duration
	for at := range s.Arrivals() {
		if len(due) == n {
			break
		}
		due = append(due, at)
	}
	return due
}

func TestArrivals(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		schedule pace.Schedule
		want     []time.Duration // all, or the first ten
	}{
		"constant":    {pace.Constant(100), []time.Duration{0, 10 * ms, 20 * ms, 30 * ms, 40 * ms, 50 * ms, 60 * ms, 70 * ms, 80 * ms, 90 * ms}},
		"slow":        {pace.Constant(0.001), []time.Duration{0, 1e12, 2e12, 3e12, 4e12, 5e12, 6e12, 7e12, 8e12, 9e12}},
		"steps":       {pace.Steps{{10, 200 * ms}, {20, 150 * ms}}, []time.Duration{0, 100 * ms, 200 * ms, 250 * ms, 300 * ms}},
		"a pause":     {pace.Steps{{0, time.Second}, {10, 200 * ms}, {0, time.Second}, {10, 100 * ms}}, []time.Duration{1000 * ms, 1100 * ms, 2200 * ms}},
		"parts":       {pace.Steps{{5, 100 * ms}, {1, 500 * ms}, {5, 100 * ms}}, []time.Duration{0, 600 * ms}},
		"ramp":        {pace.Ramp{0, 8, time.Second}, []time.Duration{0, 500 * ms, 707106781, 866025404}}, // √(n/4) s
		"ramp down":   {pace.Ramp{8, 0, time.Second}, []time.Duration{0, 133974596, 292893219, 500 * ms}}, // 1 s - √((4-n)/4) s
		"level ramp":  {pace.Ramp{10, 10, 250 * ms}, []time.Duration{0, 100 * ms, 200 * ms}},
		"no constant": {pace.Constant(0), nil},
		"no ramp":     {pace.Ramp{}, nil},
		"no steps":    {pace.Steps{}, nil},
		"no Poisson":  {pace.Poisson{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := take(test.schedule, 10); !slices.Equal(got, test.want) {
				t.Errorf("%v has arrivals at %v, want %v", test.schedule, got, test.want)
			}
		})
	}
}

// What a schedule with an end offers is the integral of its rate, however the
// numbers round.
func TestCountOfArrivals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rate := float64(1+random.IntN(1000)) / 10
		seconds := 1 + random.IntN(200)
		held := time.Duration(seconds) * time.Second
		want := int(math.Ceil(math.Round(rate*10)*float64(seconds)/10 - 1e-6))
		for _, s := range []pace.Schedule{
			pace.Steps{{rate, held}},
			pace.Ramp{0, 2 * rate, held},
			pace.Ramp{2 * rate, 0, held},
		} {
			due := take(s, math.MaxInt)
			if len(due) != want || due[len(due)-1] >= held || !slices.IsSorted(due) {
				t.Fatalf("%v: %d arrivals, the last at %v; want %d in order before %v", s, len(due), due[len(due)-1], want, held)
			}
		}
	}
}

// The times between arrivals of a Poisson process are exponentially
// distributed: mean and standard deviation are one over the rate, and e⁻¹ of
// them are longer than the mean. Over n of them the mean varies by 1/√n and the
// standard deviation by √2/√n of itself.
func TestPoisson(t *testing.T) {
	const n, rate = 200_000, 1000
	for _, seed := range []uint64{0, 1, 2} {
		due := take(pace.Poisson{Rate: rate, Seed: seed}, n)
		between := make([]float64, n)
		longer := 0.0
		last := time.Duration(0)
		for i, at := range due {
			between[i] = (at - last).Seconds() * rate
			last = at
			if between[i] > 1 {
				longer++
			}
		}
		mean, deviation := stat.MeanStdDev(between, nil)
		if sigma := 1 / math.Sqrt(n); math.Abs(mean-1) > 4*sigma || math.Abs(deviation-1) > 4*math.Sqrt2*sigma {
			t.Errorf("seed %d: mean %v, standard deviation %v; want 1, 1", seed, mean, deviation)
		}
		if got := longer / n; math.Abs(got-1/math.E) > 4*math.Sqrt(1/math.E*(1-1/math.E)/n) {
			t.Errorf("seed %d: %v are longer than the mean, want %v", seed, got, 1/math.E)
		}
		if correlation := stat.Correlation(between[1:], between[:n-1], nil); math.Abs(correlation) > 4/math.Sqrt(n) {
			t.Errorf("seed %d: neighbours correlate by %v", seed, correlation)
		}
		if !slices.Equal(due, take(pace.Poisson{Rate: rate, Seed: seed}, n)) {
			t.Errorf("seed %d: not the same again", seed)
		}
	}
	if slices.Equal(take(pace.Poisson{Rate: rate, Seed: 1}, 5), take(pace.Poisson{Rate: rate, Seed: 2}, 5)) {
		t.Error("two seeds give the same arrivals")
	}
}

func BenchmarkArrivals(b *testing.B) {
	for _, s := range []pace.Schedule{
		pace.Constant(1000), pace.Ramp{0, 1e9, time.Hour}, pace.Poisson{Rate: 1000},
	} {
		b.Run(s.String(), func(b *testing.B) {
			b.ReportAllocs()
			n := b.N
			for range s.Arrivals() {
				if n--; n <= 0 {
					break
				}
			}
		})
	}
}
