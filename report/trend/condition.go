package trend

import (
	"fmt"
	"math"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
)

// ParseCondition reads a condition for trends: step > NUMBER%.
func ParseCondition(text string) (compare.Condition, error) {
	list, err := compare.ParseConditions(text)
	if err != nil {
		return compare.Condition{}, err
	}
	if c := list[0]; len(list) == 1 && c.Metric == compare.Step && c.Rise && !c.Absolute && !c.AsIs {
		return c, nil
	}
	return compare.Condition{}, fmt.Errorf("over a history the condition is a step that makes a figure worse, as in step > 3%%")
}

// Check returns a line for each figure for which a condition holds: its steps within the shown runs
// make it worse by more than the limit altogether, or the newest run lacks it. If the condition holds for none,
// open is why it cannot be judged for a figure; empty: it can for all.
func (t *Trend) Check(c compare.Condition) (holds []string, open string) {
	for i := range t.Figures {
		f := &t.Figures[i]
		had, ratio, worst := false, 1.0, -1
		for _, p := range f.Points {
			had = had || p.Value > 0
		}
		for j, s := range f.Steps {
			ratio *= s.Ratio
			if s.Worse {
				worst = j
			}
		}
		newest := f.Points[len(f.Points)-1]
		switch worse := (ratio > 1) == (f.Better == compare.Lower); {
		case newest.Value == 0 && had:
			holds = append(holds, fmt.Sprintf("%s: %s %s has no figure in the newest run: %s", c, t.Target, f.name(), newest.Missing))
		case worst >= 0 && worse && math.Abs(change(ratio)) > c.Limit:
			holds = append(holds, fmt.Sprintf("%s: %s %s", c, t.Target, t.describe(f, &f.Steps[worst])))
		}
	}
	runs, least := t.Earlier+len(t.Runs), options().LeastPoints()
	switch untested := t.findUntested(); {
	case len(holds) > 0:
	case runs < least:
		open = fmt.Sprintf("%s: %s, and a step needs at least %d", c, format.Plural(runs, "comparable run"), least)
	case len(t.Figures) == 0:
		open = fmt.Sprintf("%s: no run has a figure", c)
	case len(untested) > 0:
		open = fmt.Sprintf("%s: too few runs have %s, and a step needs at least %d", c, format.Few(untested), least)
	}
	return holds, open
}

// describe says how much a figure changed, and since when.
func (t *Trend) describe(f *Figure, s *Step) string {
	text := fmt.Sprintf("%s %s since run %s", f.name(), s.size(f), t.Runs[s.First].ID)
	if what := t.changes(s); what != "" {
		text += " (" + what + ")"
	}
	return text
}

// size is the size of a step in words.
func (s *Step) size(f *Figure) string {
	more := map[bool]string{true: "higher", false: "lower"}
	if f.Metric != compare.Disk && f.Better == compare.Lower && f.Unit != Ratio {
		more = map[bool]string{true: "slower", false: "faster"}
	}
	return fmt.Sprintf("%.1f %% %s (%+.1f to %+.1f %%)", 100*math.Abs(change(s.Ratio)), more[s.Ratio > 1], 100*change(s.Low), 100*change(s.High))
}

// changes says which versions changed with a step.
func (t *Trend) changes(s *Step) string {
	before, after := t.Runs[s.First-1], t.Runs[s.First]
	text := ""
	for _, pair := range [][2]string{{before.System, after.System}, {"tsmark " + before.Tool, "tsmark " + after.Tool}, {"kernel " + before.Kernel, "kernel " + after.Kernel}} {
		if pair[0] == pair[1] {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += pair[0] + " before, " + pair[1] + " after"
	}
	return text
}
