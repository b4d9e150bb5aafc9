package compare

import (
	"fmt"

	"github.com/tsmark/tsmark/measure/stats"
)

// Finding is a condition and a figure that it is about.
type Finding struct {
	Condition Condition
	Target    string  // of B
	Figure    *Figure // nil: neither side has the metric
}

// String is one line for people.
func (f Finding) String() string {
	if f.Figure == nil {
		return fmt.Sprintf("%s: no target has the metric %s", f.Condition, f.Condition.Metric)
	}
	s := fmt.Sprintf("%s: %s %s %s", f.Condition, f.Target, f.Figure.Subject, f.Figure.Metric)
	switch {
	case f.Figure.Verdict == NotCompared:
		return s + " " + string(NotCompared) + ": " + f.Figure.Why
	case f.Figure.Ratio.Bound == stats.Unknown:
		return s + " changed by an unknown amount"
	}
	s += fmt.Sprintf(" changed by %s%+.3g%%", f.Figure.Ratio.Mark(), 100*(f.Figure.Ratio.Figure-1))
	if f.Figure.Decidable() {
		s += fmt.Sprintf(" (p = %.2g)", f.Figure.Adjusted)
	}
	return s
}

// Check looks at all figures that the conditions are about: for which they
// hold, and which cannot be judged, because there are too few repeats or
// because A has no figure.
func (c *Comparison) Check(conditions []Condition) (holds, open []Finding) {
	for _, condition := range conditions {
		known := false
		for i := range c.Targets {
			for j := range c.Targets[i].Figures {
				f := &c.Targets[i].Figures[j]
				if f.Metric != condition.Metric {
					continue
				}
				known = true
				finding := Finding{condition, c.Targets[i].B.Name, f}
				switch {
				case condition.holds(f):
					holds = append(holds, finding)
				case f.MissingA != "" || !condition.AsIs && !f.Decidable():
					open = append(open, finding)
				}
			}
		}
		if !known {
			open = append(open, Finding{Condition: condition})
		}
	}
	return holds, open
}

// holds reports whether the condition does for a figure.
func (c Condition) holds(f *Figure) bool {
	if f.MissingA != "" || f.MissingB != "" {
		return f.MissingA == ""
	}
	if !c.AsIs && !f.Significant() {
		return false
	}
	change := f.Ratio.Figure - 1
	if c.Rise {
		return change > c.Limit && (f.Ratio.Bound == stats.Exact || f.Ratio.Bound == stats.AtLeast)
	}
	return change < c.Limit && (f.Ratio.Bound == stats.Exact || f.Ratio.Bound == stats.AtMost)
}
