package compare

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// SelfTest compares a target of a run with a second copy of it: the difference
// shows the resolution of the machine and the settings.
type SelfTest struct {
	Target, Twin string
	// Figures are the medians of the query types, their geometric mean and the
	// settled rate of the load.
	Figures []Figure
	// Missing is why nothing can be compared, or empty.
	Missing string
}

// SelfTests returns the self-tests of a run. A run of another kind has no self-tests.
func SelfTests(r *result.Run) []SelfTest {
	var tests []SelfTest
	for i := range r.Targets {
		twin := &r.Targets[i]
		if twin.Twin == "" {
			continue
		}
		test := SelfTest{Target: twin.Twin, Twin: twin.Name}
		side := func(name string) Side { return Side{Runs: []*result.Run{r}, Target: name} }
		c, err := Runs(side(twin.Twin), side(twin.Name), Options{})
		if err != nil {
			test.Missing = err.Error()
			tests = append(tests, test)
			continue
		}
		for _, f := range c.Targets[0].Figures {
			switch f.Metric {
			case Median, GeoMean, Load:
				test.Figures = append(test.Figures, f)
			}
		}
		tests = append(tests, test)
	}
	return tests
}

// Resolution is the smallest relative difference between two figures that lies outside
// the interval found for the ratio of two equal ones; ok is false if no such interval
// is known.
func (f *Figure) Resolution() (part float64, ok bool) {
	x := f.Interval
	if f.MissingA != "" || f.MissingB != "" || f.Method != AcrossRepeats || x == nil ||
		x.Lo.Bound != stats.Exact || x.Hi.Bound != stats.Exact || x.Lo.Figure <= 0 {
		return 0, false
	}
	return max(x.Hi.Figure, 1/x.Lo.Figure) - 1, true
}

// Resolutions returns the median of some figures' resolutions, and the worst with its
// subject; ok is false if none is known.
func Resolutions(tests []SelfTest, metric Metric) (median, worst float64, of string, ok bool) {
	var parts []float64
	for _, t := range tests {
		for i := range t.Figures {
			part, known := t.Figures[i].Resolution()
			if t.Figures[i].Metric != metric || !known {
				continue
			}
			if parts = append(parts, part); part >= worst {
				worst, of = part, t.Target+" "+t.Figures[i].Subject
			}
		}
	}
	if len(parts) == 0 {
		return 0, 0, "", false
	}
	return stats.Median(parts), worst, of, true
}

// Differs lists the figures by which a target was shown to differ from itself.
func (t *SelfTest) Differs() []Figure {
	return slices.DeleteFunc(slices.Clone(t.Figures), func(f Figure) bool { return !f.Significant() })
}
