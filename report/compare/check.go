package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/measure"
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
	case f.Condition.Absolute && f.Figure.MissingB != "":
		return s + " is not known: " + f.Figure.MissingB
	case f.Condition.Absolute:
		return s + " is " + f.Figure.formatB()
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

// Lack names the quantity that is too small for judging a condition.
type Lack string

// The lacks.
const (
	LacksNothing Lack = "" // that is known
	LacksRepeats Lack = "repeats"
	LacksLoads   Lack = "loads"
	LacksQueries Lack = "queries" // of a type, in each repeat
	LacksCrashes Lack = "crashes" // of a kind
)

// Lacks returns the quantity that was too small.
func (f Finding) Lacks() Lack {
	switch {
	case f.Figure == nil:
		return LacksNothing
	case strings.HasPrefix(f.Figure.MissingB, tooFew):
		return LacksQueries
	case f.Condition.Absolute && (f.Figure.MissingB != "" || f.Figure.across()), !f.Condition.Absolute && f.Figure.Verdict != NoVerdict:
		return LacksNothing
	}
	return f.Condition.Metric.repetitionUnit()
}

// repetitionUnit returns the unit of repetition of the metric: one figure per unit.
func (m Metric) repetitionUnit() Lack {
	switch {
	case m == Load, m == Acked, m == Sent, m == Disk, m.isMixed(): // a mixed phase or a life belongs to a load
		return LacksLoads
	case m.isOfCrashes():
		return LacksCrashes
	}
	return LacksRepeats
}

// Foreseen returns the quantity that a run would have too little of for judging a limit, and
// how much of it is needed, from the numbers of repeated queries and loads and of different
// queries of a type for all repeats. LacksNothing means that no lack is known in advance.
func (c Condition) Foreseen(repeats, loads, queries int) (lack Lack, needs int) {
	if c.Metric.isMixed() || c.Metric.isOfCrashes() || !c.Absolute {
		return LacksNothing, 0
	}
	each := (queries + repeats - 1) / max(repeats, 1)
	switch of := c.Metric.repetitionUnit(); {
	case of == LacksRepeats && c.Metric.tooFew(each) != "":
		return LacksQueries, int(measure.MinimumSamples(c.Metric.quantile()))
	case c.AsIs:
		return LacksNothing, 0
	case of == LacksLoads && loads < LeastRepeats, of == LacksRepeats && repeats < LeastRepeats:
		return of, LeastRepeats
	}
	return LacksNothing, 0
}

// Why returns why a condition could not be judged. It is empty if the reason is unknown, or
// if a side has no figure.
func (f Finding) Why() string {
	switch {
	case f.Figure == nil:
		return ""
	case f.Condition.Absolute && f.Figure.MissingB == "" && !f.Figure.across():
		return fmt.Sprintf("fewer than %d %s allow no interval of 95 %% across them", LeastRepeats, f.Condition.Metric.repetitionUnit())
	case f.Condition.Absolute:
		return ""
	case f.Figure.Verdict == NoVerdict:
		return f.Figure.Why
	}
	return ""
}

// formatB formats B's figure with its interval.
func (f *Figure) formatB() string {
	three := func(x float64) string {
		if x >= 1000 {
			return strconv.FormatFloat(x, 'f', 0, 64)
		}
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	s := f.B.Median.Mark() + f.Unit.text(f.B.Median.Figure, three)
	if i := f.B.Interval; i != nil {
		s += fmt.Sprintf(" (%s%s to %s%s)", i.Lo.Mark(), f.Unit.text(i.Lo.Figure, three), i.Hi.Mark(), f.Unit.text(i.Hi.Figure, three))
	}
	return s
}

// Check looks at all figures that the conditions are about: for which they
// hold, which cannot be judged, because there are too few repeats or
// because there is no figure, and, of each other condition, which figure came closest to it.
func (c *Comparison) Check(conditions []Condition) (holds, open, closest []Finding) {
	for _, condition := range conditions {
		known := false
		var passed []Finding
		for i := range c.Targets {
			for j := range c.Targets[i].Figures {
				f := &c.Targets[i].Figures[j]
				if f.Metric != condition.Metric {
					continue
				}
				known = true
				finding := Finding{condition, c.Targets[i].B.Name, f}
				switch does, judged := condition.judge(f); {
				case does:
					holds = append(holds, finding)
				case !judged:
					open = append(open, finding)
				default:
					passed = append(passed, finding)
				}
			}
		}
		if !known {
			open = append(open, Finding{Condition: condition})
		}
		if len(passed) > 0 {
			closest = append(closest, slices.MinFunc(passed, func(a, b Finding) int { return cmp.Compare(a.distance(), b.distance()) }))
		}
	}
	return holds, open, closest
}

// distance is less, the closer the figure is to the side on which the condition holds.
func (f Finding) distance() float64 {
	figure := f.Figure.Ratio.Figure
	if f.Condition.Absolute {
		figure = f.Figure.B.Median.Figure
	}
	if f.Condition.Rise {
		return -figure
	}
	return figure
}

// judge reports whether the condition holds for a figure, and whether that could be
// judged.
func (c Condition) judge(f *Figure) (holds, judged bool) {
	if c.Absolute {
		return c.exceededBy(f)
	}
	holds = c.holds(f)
	known := f.Decidable() || f.testable() && c.excluded(f.Interval)
	if c.AsIs {
		known = f.barred == "" && f.isDecided(1+c.Limit)
	}
	return holds, holds || f.MissingA == "" && known
}

// excluded reports whether an interval of the ratio lies on that side of the limit on which
// the condition does not hold: however scattered the repeats are, it is judged then.
func (c Condition) excluded(i *stats.Interval) bool {
	switch {
	case i == nil:
		return false
	case c.Rise:
		return i.Hi.Bound == stats.Exact && i.Hi.Figure < 1+c.Limit
	}
	return i.Lo.Bound == stats.Exact && i.Lo.Figure > 1+c.Limit
}

// isDecided reports whether the ratio is known to be on one side of a limit.
func (f *Figure) isDecided(limit float64) bool {
	switch f.Ratio.Bound {
	case stats.Exact:
		return true
	case stats.AtLeast:
		return f.Ratio.Figure > limit
	case stats.AtMost:
		return f.Ratio.Figure < limit
	}
	return false
}

// LeastRepeats is the minimum number of repeats for an interval of 95 %: see stats.Summarize.
const LeastRepeats = 6

// exceededBy reports whether B's figure is beyond the limit: all of its interval is, or as
// it is the figure itself.
func (c Condition) exceededBy(f *Figure) (holds, judged bool) {
	if f.MissingB != "" {
		return false, false
	}
	nearest := f.B.Median
	if !c.AsIs {
		if !f.across() {
			return false, false
		}
		if nearest = f.B.Interval.Lo; !c.Rise {
			nearest = f.B.Interval.Hi
		}
	}
	switch {
	case nearest.Bound == stats.Unknown:
		return false, false
	case c.Rise:
		holds = nearest.Figure > c.Limit
		return holds && nearest.Bound != stats.AtMost, nearest.Bound == stats.Exact || holds == (nearest.Bound == stats.AtLeast)
	}
	holds = nearest.Figure < c.Limit
	return holds && nearest.Bound != stats.AtLeast, nearest.Bound == stats.Exact || holds == (nearest.Bound == stats.AtMost)
}

// across reports whether B's figure has an interval across repeats that is worth its
// level.
func (f *Figure) across() bool {
	return f.Method == AcrossRepeats && f.B.Interval != nil && f.B.N >= LeastRepeats
}

// holds reports whether a change does for a figure.
func (c Condition) holds(f *Figure) bool {
	switch {
	case f.MissingA != "" || f.MissingB != "":
		return f.MissingA == ""
	case f.barred != "":
		return false
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
