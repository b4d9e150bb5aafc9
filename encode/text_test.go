package encode

import (
	"math"
	"math/rand"
	"strconv"
	"testing"
)

// Floats come out as strconv's, and have the lengths of these.
func TestAppendFloat(t *testing.T) {
	check := func(v float64) {
		if got, want := string(appendFloat(nil, v)), strconv.FormatFloat(v, 'f', -1, 64); got != want {
			t.Fatalf("%q, want %q", got, want)
		} else if n, _ := floatLength(v, nil); n != len(want) {
			t.Fatalf("length %d of %q", n, want)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e-5, 1e-6, 99999.99999, 1e10, 1e15, 1e21, math.MaxFloat64, math.Inf(1), math.NaN(), 0.30000000000000004} {
		check(v)
		check(-v)
	}
	random := rand.New(rand.NewSource(1))
	for range 300_000 {
		check(math.Float64frombits(random.Uint64()))
		check(random.Float64() * 100)
		v := float64(int(random.Float64()*1e5*math.Pow(10, float64(random.Intn(8))))) / math.Pow(10, float64(random.Intn(7)))
		check(v)
		check(math.Nextafter(v, 0))
	}
}

// Integers of every length come out as strconv's, and have the lengths of these.
func TestIntText(t *testing.T) {
	text := newIntText("i,")
	check := func(v int64) {
		dst := make([]byte, intRoom)
		if got, want := string(dst[:text.put(dst, v)]), strconv.FormatInt(v, 10)+"i,"; got != want {
			t.Errorf("%d: %q, want %q", v, got, want)
		} else if n := text.length(v); n != len(want) {
			t.Errorf("length %d of %q", n, want)
		}
	}
	for v := int64(-3); v < 30_000; v++ {
		check(v)
	}
	for _, border := range []int64{smallInts * 1e4, 1e8, smallInts * 1e8, 1e12, smallInts * 1e12, math.MaxInt64, math.MinInt64} {
		for d := int64(-2); d <= 2; d++ {
			check(border + d)
		}
	}
	random := rand.New(rand.NewSource(1))
	for range 100_000 {
		check(int64(random.Uint64() >> random.Intn(64)))
	}
}
