package compare

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
)

// compareCrashes compares what crashes of each kind did: how many lost acknowledged rows, and the times until
// the target answered and had every acknowledged row. It returns nothing if neither side had crashes.
func compareCrashes(a, b Subject) []Figure {
	ofA, ofB := a.crashes(), b.crashes()
	var figures []Figure
	for _, kind := range crashKinds(ofA, ofB) {
		x, missingA := crashesOf(ofA, kind)
		y, missingB := crashesOf(ofB, kind)
		add := func(f Figure, c stats.Comparison) {
			f.Subject, f.Better, f.Method, f.MissingA, f.MissingB = kind, Lower, AcrossRepeats, missingA, missingB
			f.Comparison = c
			if f.Unit == Seconds && f.A.N == 1 && f.B.N == 1 {
				f.Method = WithinRepeat
			}
			figures = append(figures, f)
		}
		add(Figure{Metric: CrashLosses, Unit: Share}, stats.CompareShares(x.Losing, x.Count, y.Losing, y.Count))
		add(Figure{Metric: CrashAnswers, Unit: Seconds, ofA: x.Answers, ofB: y.Answers}, stats.Compare(x.Answers, y.Answers))
		add(Figure{Metric: CrashComplete, Unit: Seconds, ofA: x.Complete, ofB: y.Complete}, stats.Compare(x.Complete, y.Complete))
	}
	return figures
}

// crashes returns the crashes of a subject in all runs.
func (s Subject) crashes() (list []estimate.Crashes) {
	for _, t := range s.targets {
		for _, c := range estimate.CrashesByKind(t) {
			if at := slices.IndexFunc(list, func(other estimate.Crashes) bool { return other.Kind == c.Kind }); at >= 0 {
				list[at].Join(&c)
			} else {
				list = append(list, c)
			}
		}
	}
	return list
}

func crashKinds(sides ...[]estimate.Crashes) (kinds []string) {
	for _, side := range sides {
		for i := range side {
			if !slices.Contains(kinds, side[i].Kind) {
				kinds = append(kinds, side[i].Kind)
			}
		}
	}
	return kinds
}

// crashesOf returns the crashes of a kind, or why they are missing.
func crashesOf(list []estimate.Crashes, kind string) (c estimate.Crashes, missing string) {
	at := slices.IndexFunc(list, func(c estimate.Crashes) bool { return c.Kind == kind })
	switch {
	case at < 0:
		return c, "not run"
	case list[at].Count > 0:
		return list[at], ""
	case list[at].Unsupported != "":
		return c, "n/a: " + list[at].Unsupported
	}
	return c, "no crash could be judged"
}
