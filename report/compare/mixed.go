package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// MixedSubject is the subject of the writes of a mixed phase.
const MixedSubject = "load and queries"

// compareMixed compares mixed phases: the writes, and each type run meanwhile. It returns
// nothing if neither side has a mixed phase. Each load is one repeat: the window of a
// query depends on the rows acknowledged so far, so two phases never run the same queries.
func compareMixed(a, b Subject) []Figure {
	names := mixedTypes(a, b)
	if names == nil {
		return nil
	}
	var figures []Figure
	for _, name := range names {
		for _, m := range []Metric{MixedMedian, MixedP99} {
			f := Figure{Subject: name, Metric: m, Unit: Seconds, Better: Lower}
			figures = append(figures, f.addSides(a, b, func(l *result.Load) (float64, string) { return MixedTime(l, name, m) }))
		}
	}
	writes := Figure{Subject: MixedSubject, Metric: MixedLoad, Unit: RowsPerSecond, Better: Higher}
	return append(figures, writes.addSides(a, b, func(l *result.Load) (float64, string) {
		switch {
		case l.Mixed == nil:
			return 0, noMixed
		case !l.HasFigures():
			return 0, "withheld: " + l.Reason()
		}
		seconds := cmp.Or(l.Mixed.Writes.Acked, l.Mixed.Writes.Sent)
		if seconds <= 0 {
			return 0, "n/a: not measured"
		}
		return float64(l.Mixed.Writes.Rows) / seconds, ""
	}))
}

const noMixed = "no query was run beside the load"

// mixedTypes lists the types run in mixed phases, or nil without such
// phases.
func mixedTypes(a, b Subject) []string {
	var names []string
	for _, t := range slices.Concat(a.targets, b.targets) {
		for _, r := range t.MeasuredRepeats() {
			if r.Load == nil || r.Load.Mixed == nil {
				continue
			}
			for _, q := range r.Load.Mixed.Types {
				if !slices.Contains(names, q.Type) {
					names = append(names, q.Type)
				}
			}
		}
	}
	return names
}

// MixedTime returns MixedMedian or MixedP99 of a type in a load, or why it is missing, beginning
// with a word and a colon, or with a few words. A negative value is a lower bound.
func MixedTime(l *result.Load, name string, m Metric) (seconds float64, missing string) {
	if l.Mixed == nil {
		return 0, noMixed
	}
	at := slices.IndexFunc(l.Mixed.Types, func(q result.MixedType) bool { return q.Type == name })
	if at < 0 {
		return 0, "not run"
	}
	q := &l.Mixed.Types[at]
	word, why := q.MissingFigure()
	times := q.Time()
	if seconds = times.Median; m == MixedP99 {
		seconds = times.P99
	}
	switch {
	case word != "":
		return 0, word + ": " + why
	case times.Count == 0:
		return 0, "too few queries run"
	case !q.Verdict.OK():
		return 0, "not verified"
	case q.TooStale():
		return 0, fmt.Sprintf("stale: %.3g %% of the answers were stale, correct for an older state, so their times are not compared", 100*q.StaleShare())
	case l.Mixed.Saturated != "":
		return 0, l.Mixed.Saturated
	case !times.Holds(m.quantile()):
		return 0, fmt.Sprintf(tooFew+"this percentile needs %d in each phase, and one has %d", measure.MinimumSamples(m.quantile()), times.Count)
	case q.AtLeast > 0:
		return -seconds, ""
	}
	return seconds, ""
}
