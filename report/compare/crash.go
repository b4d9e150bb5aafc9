package compare

import (
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
)

// compareCrashes compares what crashes of each kind did: how many lost acknowledged rows, and the times until
// the target answered and had every acknowledged row. It returns nothing if neither side had crashes.
func compareCrashes(a, b Subject) []Figure {
	ofA, ofB := a.crashes(), b.crashes()
	var figures []Figure
	for _, kind := range estimate.KindsOf(ofA, ofB) {
		x, missingA := crashesOf(ofA, kind)
		y, missingB := crashesOf(ofB, kind)
		add := func(f Figure, c stats.Comparison) {
			f.Subject, f.Better, f.Method, f.MissingA, f.MissingB = kind, Lower, AcrossRepeats, missingA, missingB
			f.Comparison = c
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
			if known := estimate.FindCrashes(list, c.Kind); known != nil {
				known.Join(&c)
			} else {
				list = append(list, c)
			}
		}
	}
	return list
}

// crashesOf returns the crashes of a kind, or why they are missing.
func crashesOf(list []estimate.Crashes, kind string) (c estimate.Crashes, missing string) {
	switch found := estimate.FindCrashes(list, kind); {
	case found == nil:
		return c, "not run"
	case found.Count > 0:
		return *found, ""
	case found.Unsupported != "":
		return c, "n/a: " + found.Unsupported
	}
	return c, "no crash could be judged"
}
