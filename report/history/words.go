package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
)

// mostSteps is the maximum number of steps that the answer names.
const mostSteps = 8

// Answers are the first lines of a history's report: its steps, and the versions without figures.
func (h *History) Answers() (list []doc.Span) {
	steps := h.Steps()
	for i := range steps {
		if i == mostSteps {
			list = append(list, doc.Plain(fmt.Sprintf("%s more: see the table", format.Plural(len(steps)-i, "step"))))
			break
		}
		s := &steps[i]
		tone := format.ToneBest
		if s.Line.Worse(s.Change.Ratio) {
			tone = format.ToneBad
		}
		list = append(list, doc.WithTone(s.Line.ChangeText(s.Change.Ratio, s.Change.Interval, " since "+h.Versions[s.Version].Name), tone))
	}
	reasons, untested := h.findUntested()
	tested := len(h.Lines)
	for _, why := range reasons {
		tested -= len(untested[why])
	}
	switch {
	case len(h.Lines) == 0:
		list = append(list, doc.Plain("Nothing was compared"))
	case len(steps) == 0 && tested > 0:
		list = append(list, doc.Plain(fmt.Sprintf("No step of %s or more was shown in %s", leastText(), format.Plural(len(h.Versions), "version"))))
	}
	for _, why := range reasons {
		list = append(list, doc.Plain(fmt.Sprintf("Not tested: %s: %s", format.Few(untested[why]), firstLine(why))))
	}
	for i := range h.Versions {
		v := &h.Versions[i]
		if v.Failure != "" {
			list = append(list, doc.Bad(v.Name+": n/a: "+firstLine(v.Failure)))
			continue
		}
		var wrong []string
		why := ""
		for j := range h.Lines {
			if p := &h.Lines[j].Points[i]; p.Wrong && h.Lines[j].Metric != compare.GeoMean {
				wrong, why = append(wrong, h.Lines[j].Label()), strings.TrimPrefix(p.Missing, "withheld: ")
			}
		}
		switch {
		case len(wrong) > 0:
			list = append(list, doc.Bad(fmt.Sprintf("%s: withheld: %s (%s)", v.Name, format.Few(wrong), firstLine(why))))
		case v.Unranked != "":
			list = append(list, doc.Bad(v.Name+": not ranked: "+firstLine(v.Unranked)))
		}
	}
	return list
}

// findUntested returns the labels of the lines that cannot show a step between any two versions, by the reason, and the
// reasons in order.
func (h *History) findUntested() (reasons []string, labels map[string][]string) {
	labels = make(map[string][]string)
	for i := range h.Lines {
		why, tested := "", false
		for j := range h.Lines[i].Points {
			switch p := &h.Lines[i].Points[j]; {
			case p.Change != nil:
				why, tested = p.Change.Why, tested || p.Change.Testable()
			case h.Versions[j].Failure == "":
				why = cmp.Or(why, p.missingWord())
			}
		}
		if tested {
			continue
		}
		if why = cmp.Or(why, "not compared"); labels[why] == nil {
			reasons = append(reasons, why)
		}
		labels[why] = append(labels[why], h.Lines[i].Label())
	}
	return reasons, labels
}

// leastText is the least size of a step.
func leastText() string { return fmt.Sprintf("%.0f%s%%", 100*(LeastStep-1), format.UnitSpace) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// ChangeText says how a ratio changes the figure: lastpoint 1.31× slower since x (1.25–1.38).
func (l *Line) ChangeText(ratio stats.Value, interval *stats.Interval, since string) string {
	word := ""
	switch more := ratio.Figure > 1; {
	case l.Unit == compare.Bytes && more:
		word = "larger"
	case l.Unit == compare.Bytes:
		word = "smaller"
	case l.Worse(ratio):
		word = "slower"
	default:
		word = "faster"
	}
	if ratio.Figure < 1 {
		ratio = format.Inverse(ratio)
		if interval != nil {
			interval = &stats.Interval{Lo: format.Inverse(interval.Hi), Hi: format.Inverse(interval.Lo), Level: interval.Level}
		}
	}
	return l.Label() + " " + ratio.Mark() + format.Ratio(ratio.Figure) + " " + word + since + brackets(interval)
}

// brackets returns an interval in brackets, or an empty text for nil.
func brackets(i *stats.Interval) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf(" (%s–%s%s)", i.Lo.Mark()+format.Digits(i.Lo.Figure), i.Hi.Mark()+format.Digits(i.Hi.Figure), format.LevelText(i))
}

// basis returns what the answers are based on.
func (h *History) basis() []string {
	list := []string{format.Plural(h.RunCount(), "run") + " of two neighbours that took turns", format.Plural(len(h.Versions), "version")}
	first, last := time.Time{}, time.Time{}
	for _, p := range h.Pairs {
		for _, r := range p.Runs {
			if first.IsZero() || r.Started.Before(first) {
				first = r.Started
			}
			if r.Started.After(last) {
				last = r.Started
			}
		}
	}
	if from, to := first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly); from == to {
		list = append(list, from)
	} else {
		list = append(list, from+" to "+to)
	}
	for _, p := range h.Pairs {
		if r := p.Runs[0]; r.FailedTarget() == "" {
			return append(list, facts.Dataset(&r.Dataset), facts.Host(&r.Host))
		}
	}
	return list
}
