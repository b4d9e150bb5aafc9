package compare

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// compareType compares all metrics of a query type. The medians are nil where
// a side has none.
func compareType(name string, sideA, sideB Subject) ([]Figure, *typeMedians) {
	a, missingA := sideA.repeats(name)
	b, missingB := sideB.repeats(name)
	var times [][]float64
	if missingA == "" && missingB == "" {
		for _, q := range slices.Concat(a, b) {
			times = append(times, q.Each)
		}
		times = Common(times...)
		if len(times[0]) == 0 {
			missingA, missingB = "no question that all repeats answered", "no question that all repeats answered"
		}
	}
	var figures []Figure
	var medians *typeMedians
	for _, m := range ofQueries() {
		f := Figure{Subject: name, Metric: m, Unit: Seconds, Better: Lower, Method: AcrossRepeats, MissingA: missingA, MissingB: missingB}
		if missingA != "" || missingB != "" {
			f.A, f.B = shown(m, a, missingA), shown(m, b, missingB)
			f.Ratio, f.P, f.SmallestP = stats.Value{Bound: stats.Unknown}, 1, 1
			figures = append(figures, f)
			continue
		}
		f.Questions = len(times[0])
		ofA, ofB := each(m, times[:len(a)]), each(m, times[len(a):])
		f.Comparison = stats.Compare(ofA, ofB)
		if len(a) == 1 && len(b) == 1 {
			f.Method = WithinRepeat
			if m == Median {
				f.Comparison = stats.Paired(times[0], times[1])
			}
		}
		if m == Median {
			medians = &typeMedians{ofA, ofB}
		}
		figures = append(figures, f)
	}
	return figures, medians
}

func each(m Metric, repeats [][]float64) []float64 {
	values := make([]float64, len(repeats))
	for i, times := range repeats {
		values[i] = m.of(times)
	}
	return values
}

// shown is what a side that stands has, though the other has nothing to set
// against it: over all that it was asked.
func shown(m Metric, repeats []*result.Queries, missing string) stats.Estimate {
	var values []float64
	for _, q := range repeats {
		asked := slices.DeleteFunc(slices.Clone(q.Each), func(s float64) bool { return s == 0 })
		if missing == "" && len(asked) > 0 {
			values = append(values, m.of(asked))
		}
	}
	return stats.Summarize(values)
}

// compareLoads compares rates and sizes; none where neither side loaded.
func compareLoads(a, b Subject) []Figure {
	loaded := func(t *result.Target) bool {
		return slices.ContainsFunc(t.Repeats, func(r result.Repeat) bool { return r.Load != nil })
	}
	if !slices.ContainsFunc(slices.Concat(a.targets, b.targets), loaded) {
		return nil
	}
	rate := func(seconds func(*result.Load) float64) func(*result.Load) float64 {
		return func(l *result.Load) float64 {
			if seconds(l) <= 0 {
				return 0
			}
			return float64(l.Rows) / seconds(l)
		}
	}
	var figures []Figure
	for _, m := range []struct {
		metric Metric
		unit   Unit
		better Direction
		absent string
		of     func(*result.Load) float64
	}{
		{Load, RowsPerSecond, Higher, "n/a: not measured", rate(func(l *result.Load) float64 { return l.Settled })},
		{Acked, RowsPerSecond, Higher, "n/a: the protocol does not acknowledge rows", rate(func(l *result.Load) float64 { return l.Acked })},
		{Sent, RowsPerSecond, Higher, "n/a: not measured", rate(func(l *result.Load) float64 { return l.Sent })},
		{Disk, Bytes, Lower, "n/a: not known", func(l *result.Load) float64 { return max(0, float64(l.DiskBytes)) }},
	} {
		of := func(l *result.Load) (float64, string) {
			if v := m.of(l); v != 0 {
				return v, ""
			}
			return 0, m.absent
		}
		figures = append(figures, Figure{Subject: LoadSubject, Metric: m.metric, Unit: m.unit, Better: m.better}.over(a, b, of))
	}
	return figures
}

// over fills in a figure that each load has once. Of says why one has none;
// less than 0: at least so much.
func (f Figure) over(a, b Subject, of func(*result.Load) (value float64, missing string)) Figure {
	var ofA, ofB []float64
	ofA, f.MissingA = loads(a, of)
	ofB, f.MissingB = loads(b, of)
	f.Comparison, f.Method = stats.Compare(ofA, ofB), AcrossRepeats
	if len(ofA) == 1 && len(ofB) == 1 {
		f.Method = WithinRepeat
	}
	return f
}

// loads returns a figure of each load of a subject, or why there is none.
func loads(s Subject, of func(*result.Load) (value float64, missing string)) (values []float64, missing string) {
	for _, t := range s.targets {
		found := false
		for _, r := range t.Repeats {
			if r.Load == nil {
				continue
			}
			found = true
			value, why := of(r.Load)
			switch {
			case r.Load.Withheld != "":
				why = "withheld: " + r.Load.Withheld
			case r.Load.Unverified != "":
				why = "not verified: " + r.Load.Unverified
			}
			if why != "" {
				return nil, why
			}
			values = append(values, value)
		}
		switch {
		case !found && t.Failure != "":
			return nil, "gave up: " + t.Failure
		case !found:
			return nil, "not loaded"
		}
	}
	return values, ""
}
