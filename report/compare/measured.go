package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// compareType compares all metrics of a query type over the queries that are common to both
// sides and to the verified ones beside them. The medians are nil
// if a side has none. Different queries are compared only on request.
func compareType(name string, sideA, sideB Subject, beside []Subject, different bool) ([]Figure, *typeMedians) {
	repeatsA, missingA := sideA.repeats(name)
	repeatsB, missingB := sideB.repeats(name)
	a, b := sideA.sample(name), sideB.sample(name)
	if missingA == "" && missingB == "" && !different && !sideA.alikeQueries(sideB, name) {
		missingA, missingB = otherQueries, otherQueries
	}
	if missingA == "" && missingB == "" {
		samples := []estimate.Sample{a, b}
		for _, s := range beside {
			if _, missing := s.repeats(name); missing == "" && len(s.failures("")) == 0 && s.uncomparable() == "" && (different || s.alikeQueries(sideA, name)) {
				samples = append(samples, s.sample(name))
			}
		}
		samples = estimate.Align(samples...)
		if a, b = samples[0], samples[1]; len(a) == 0 || len(b) == 0 {
			missingA, missingB = noneInCommon, noneInCommon
		}
	}
	single := len(repeatsA) == 1 && len(repeatsB) == 1
	var figures []Figure
	var medians *typeMedians
	for _, m := range ofQueries() {
		f := Figure{Subject: name, Metric: m, Unit: Seconds, Better: Lower, Method: AcrossRepeats, MissingA: missingA, MissingB: missingB}
		if f.MissingA == "" && f.MissingB == "" {
			f.Queries = a.Queries()
			f.MissingA = m.tooFew(min(a.Shortest(), b.Shortest()))
			f.MissingB = f.MissingA
		}
		if f.MissingA != "" || f.MissingB != "" {
			if f.A, f.B = summarizeOneSide(m, a), summarizeOneSide(m, b); missingA != "" {
				f.A = stats.Summarize(nil)
			}
			if missingB != "" {
				f.B = stats.Summarize(nil)
			}
			f.Ratio, f.P, f.SmallestP = stats.Value{Bound: stats.Unknown}, 1, 1
			figures = append(figures, f)
			continue
		}
		ofA, ofB := a.PerRound(m.compute), b.PerRound(m.compute)
		f.Comparison, f.ofA, f.ofB = stats.Compare(ofA, ofB), ofA, ofB
		if single {
			f.Method = WithinRepeat
		}
		if m == Median {
			if single {
				f.Comparison = stats.ComparePaired(a[0].Times, b[0].Times)
			}
			medians = &typeMedians{ofA, ofB}
		}
		figures = append(figures, f)
	}
	return figures, medians
}

// Why nothing is compared of a type that both sides ran.
const (
	noneInCommon = "no query that both sides ran"
	otherQueries = "both sides ran different queries under this name"
)

// tooFew returns why the metric is withheld if a round has no more than n
// queries, or "" if it is not. A larger other side does not help: nothing can
// be judged.
func (m Metric) tooFew(n int) string {
	if !measure.Holds(int64(n), m.quantile()) {
		return fmt.Sprintf(tooFew+"%s needs %d in each round, and one has %d in common", m, measure.MinimumSamples(m.quantile()), n)
	}
	return ""
}

const tooFew = "too few queries: "

// summarizeOneSide returns the figure of a usable side without a usable counterpart, over its own
// common queries.
func summarizeOneSide(m Metric, s estimate.Sample) stats.Estimate {
	switch {
	case len(s) == 0 || m.tooFew(s.Shortest()) != "":
		return stats.Summarize(nil)
	case m == Median:
		return s.Median()
	}
	return stats.Summarize(s.PerRound(m.compute))
}

// compareLoads compares rates and sizes. It returns nothing if neither side loaded.
func compareLoads(a, b Subject) []Figure {
	loaded := func(t *result.Target) bool {
		return slices.ContainsFunc(t.MeasuredRepeats(), func(r result.Repeat) bool { return r.Load != nil })
	}
	if !slices.ContainsFunc(slices.Concat(a.targets, b.targets), loaded) {
		return nil
	}
	var figures []Figure
	for _, m := range []struct {
		metric Metric
		unit   Unit
		better Direction
		absent string
		of     func(*result.Load) float64
	}{
		{Load, RowsPerSecond, Higher, "n/a: not measured", estimate.SettledRate},
		{Acked, RowsPerSecond, Higher, "n/a: the protocol does not acknowledge rows", estimate.AckedRate},
		{Sent, RowsPerSecond, Higher, "n/a: not measured", estimate.SentRate},
		{Disk, Bytes, Lower, "n/a: not known", estimate.Disk},
	} {
		of := func(l *result.Load) (float64, string) {
			v := m.of(l)
			switch {
			case !l.HasFigures():
				return 0, l.Word() + ": " + l.Reason()
			case m.metric == Disk && l.DiskPending != "":
				return 0, "incomplete: " + l.DiskPending
			case v == 0:
				return 0, m.absent
			}
			return v, ""
		}
		figures = append(figures, Figure{Subject: LoadSubject, Metric: m.metric, Unit: m.unit, Better: m.better}.addSides(a, b, of))
	}
	return figures
}

// addSides fills in a figure that each load has once. Of returns the figure or why it is
// missing; a negative value is a lower bound.
func (f Figure) addSides(a, b Subject, of func(*result.Load) (value float64, missing string)) Figure {
	var ofA, ofB []float64
	ofA, f.MissingA = loads(a, of)
	ofB, f.MissingB = loads(b, of)
	if f.MissingA+f.MissingB != "" && strings.HasPrefix(cmp.Or(f.MissingA, tooFew), tooFew) && strings.HasPrefix(cmp.Or(f.MissingB, tooFew), tooFew) {
		f.MissingA = cmp.Or(f.MissingA, f.MissingB)
		f.MissingB = f.MissingA
	}
	f.Comparison, f.Method, f.ofA, f.ofB = stats.Compare(ofA, ofB), AcrossRepeats, ofA, ofB
	if len(ofA) == 1 && len(ofB) == 1 {
		f.Method = WithinRepeat
	}
	return f
}

// loads returns a figure of each load of a subject, or why there are no figures.
func loads(s Subject, of func(*result.Load) (value float64, missing string)) (values []float64, missing string) {
	for _, t := range s.targets {
		found := false
		for _, r := range t.MeasuredRepeats() {
			if r.Load == nil {
				continue
			}
			found = true
			value, why := of(r.Load)
			switch {
			case !r.Load.HasFigures():
				why = r.Load.Word() + ": " + r.Load.Reason()
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
			return nil, "failed: " + t.Failure
		case !found:
			return nil, "not loaded"
		}
	}
	return values, ""
}
