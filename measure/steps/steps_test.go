package steps

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// noisy returns points around 1 with the coefficient of variation, slower by a factor from an index on.
func noisy(seed uint64, n int, variation float64, from int, factor float64) []Point {
	r := rand.New(rand.NewPCG(seed, 3))
	points := make([]Point, n)
	for i := range points {
		v := math.Exp(variation * r.NormFloat64())
		if i >= from {
			v *= factor
		}
		points[i] = Point{v, v * (1 - variation), v * (1 + variation)}
	}
	return points
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		points []Point
		looks  int
		want   []int
	}{
		"a step":                   {noisy(1, 80, 0.01, 60, 1.05), Nightly, []int{60}},
		"a fall":                   {noisy(1, 80, 0.01, 60, 0.95), Nightly, []int{60}},
		"at once":                  {noisy(1, 20, 0.01, 12, 1.05), 1, []int{12}},
		"no step":                  {noisy(1, 200, 0.01, 0, 1), Nightly, nil},
		"too few after it":         {noisy(1, 62, 0.01, 60, 1.5), Nightly, nil},
		"too few before it":        {noisy(1, 80, 0.01, 2, 1.5), Nightly, nil},
		"one bad night":            {scale(noisy(1, 80, 0.01, 0, 1), 79, 3), Nightly, nil},
		"bad nights":               {scale(scale(scale(noisy(1, 80, 0.01, 60, 1.05), 10, 2), 30, 3), 50, 0.3), Nightly, []int{60}},
		"missing points":           {scale(scale(noisy(1, 80, 0.01, 60, 1.05), 61, 0), 63, 0), Nightly, []int{60}},
		"nothing":                  {make([]Point, 80), Nightly, nil},
		"sizes that never differ":  {noisy(1, 80, 0, 0, 1), Nightly, nil},
		"sizes with one step":      {noisy(1, 80, 0, 60, 1.02), Nightly, []int{60}},
		"a step and back":          {scale(noisy(1, 120, 0.01, 60, 1.05), 90, 1/1.05, 91, 1/1.05, 92, 1/1.05, 93, 1/1.05, 94, 1/1.05, 95, 1/1.05), Nightly, []int{60, 90, 96}},
		"a short series, one look": {noisy(1, 7, 0.01, 4, 2), 1, nil},
	} {
		var got []int
		for _, s := range Find([][]Point{test.points, noisy(2, len(test.points), 0.02, 0, 1)}, Options{Looks: test.looks}) {
			if s.Series != 0 {
				t.Errorf("%s: a step of the other series: %+v", name, s)
			}
			if s.P > 0.05 || s.Low > s.Ratio || s.High < s.Ratio {
				t.Errorf("%s: %+v", name, s)
			}
			got = append(got, s.Index)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: steps at %v, want %v", name, got, test.want)
		}
	}
}

// scale multiplies points by factors; 0: they are missing.
func scale(points []Point, changes ...float64) []Point {
	for i := 0; i < len(changes); i += 2 {
		p := &points[int(changes[i])]
		p.Value, p.Low, p.High = p.Value*changes[i+1], p.Low*changes[i+1], p.High*changes[i+1]
	}
	return points
}

// A step that was found stays, whatever comes after it; and whatever came before the window does not
// matter.
func TestStepsStay(t *testing.T) {
	points := noisy(5, 300, 0.02, 150, 1.05)
	found := -1
	for n := 150; n <= len(points); n += 1 + n/250*50 {
		steps := Find([][]Point{points[:n]}, Options{Looks: Nightly})
		switch {
		case found < 0 && len(steps) == 1:
			found = steps[0].Seen
			if found != n-1 {
				t.Fatalf("seen at %d, found at %d", found, n-1)
			}
		case found >= 0 && (len(steps) != 1 || steps[0].Seen != found):
			t.Fatalf("of %d points: %+v", n, steps)
		}
	}
	if found < 0 {
		t.Fatal("no step")
	}
	if late := Find([][]Point{points[40:]}, Options{Looks: Nightly}); len(late) != 1 || late[0].Seen != found-40 {
		t.Errorf("without the first 40 points: %+v, found at %d", late, found)
	}
}

// A point with a wide interval counts less: nights with uncertain medians do not make a step.
func TestWeights(t *testing.T) {
	points := noisy(3, 60, 0.01, 56, 1.04)
	if len(Find([][]Point{points}, Options{Looks: Nightly})) != 1 {
		t.Fatal("no step with narrow intervals")
	}
	for i := 56; i < 60; i++ {
		points[i].Low, points[i].High = points[i].Value*0.8, points[i].Value*1.25
	}
	if steps := Find([][]Point{points}, Options{Looks: Nightly}); len(steps) != 0 {
		t.Errorf("with wide ones: %+v", steps)
	}
}

func TestLeastPoints(t *testing.T) {
	for looks, want := range map[int]int{1: 8, Nightly: 17} {
		o := Options{Looks: looks}
		if got := o.LeastPoints(); got != want {
			t.Errorf("%d looks: %d points, want %d", looks, got, want)
		}
		// As many show the largest step.
		if len(Find([][]Point{noisy(1, want, 0.001, want/2, 2)}, o)) != 1 {
			t.Errorf("%d looks: no step in %d points", looks, want)
		}
		if len(Find([][]Point{noisy(1, want-1, 0.001, want/2, 2)}, o)) != 0 {
			t.Errorf("%d looks: a step in %d points", looks, want-1)
		}
	}
	if got := (Options{Looks: Nightly}).Resolution(noisy(1, 10, 0.01, 0, 1), 20, 5); got != 0 {
		t.Errorf("a resolution of 10 points: %v", got)
	}
}

// What a report of a year of nightly runs costs.
func BenchmarkFind(b *testing.B) {
	series := make([][]Point, 20)
	for i := range series {
		series[i] = noisy(uint64(i), Nightly, 0.02, 0, 1)
	}
	for b.Loop() {
		Find(series, Options{Looks: Nightly})
	}
}
