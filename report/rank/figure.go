package rank

import (
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
)

// RepeatCount returns the number of repeats in a sample: one if it is a repeat's
// queries.
func RepeatCount(f *compare.Figure, n int) int {
	if f.Method == compare.WithinRepeat {
		return 1
	}
	return n
}

// Label names a figure's row.
func Label(f *compare.Figure) string {
	switch f.Metric {
	case compare.GeoMean:
		return GeometricMean + strconv.Itoa(f.Types)
	case compare.Load:
		return "settled rows/s"
	case compare.Acked:
		return "acknowledged rows/s"
	case compare.Sent:
		return "sent rows/s"
	case compare.Disk:
		return "disk"
	case compare.MixedLoad:
		return "rows/s"
	}
	return f.Subject
}

// ShortCause is why there is no verdict, in a cell's width.
func ShortCause(f *compare.Figure) string { return string(f.Cause) }

// AboutSubject describes a subject: its name, driver, version and stand-in.
func AboutSubject(s *compare.Subject) string {
	text := format.Join(" ", s.Name, s.Driver, s.Version)
	if s.StandIn != "" {
		text += " (stand-in: " + s.StandIn + ")"
	}
	return text
}

// BracketedInterval is the interval of a ratio, where the rounds or loads give one.
func BracketedInterval(f *compare.Figure) string {
	i := f.Interval
	if i == nil || f.Method != compare.AcrossRepeats {
		return ""
	}
	text := format.Times(i.Lo) + "–" + format.Times(i.Hi)
	return " (" + text + format.LevelText(i) + ")"
}

// Words of a ratio that shows no difference.
const (
	Tie        = "tie"
	ChanceMark = "~" // before a ratio that was not shown to differ from 1
)

// NoVerdict is why there is no verdict, in a cell's width.
func NoVerdict(f *compare.Figure) string {
	what := "round"
	if f.Subject == compare.LoadSubject || f.Metric == compare.MixedMedian {
		what = "load"
	}
	switch {
	case f.Cause != compare.OneRepeat && f.Cause != compare.TooFewRepeats:
		return strings.Replace(string(f.Cause), "repeat", what, 1)
	case f.Method == compare.WithinRepeat || max(f.A.N, f.B.N) == 1:
		return "1 " + what
	}
	return "too few " + what + "s"
}

// FindFigure returns a figure of a comparison of two targets, or nil if it is missing.
func FindFigure(c *compare.Comparison, what string, metric compare.Metric) *compare.Figure {
	if c == nil {
		return nil
	}
	for i := range c.Targets[0].Figures {
		if f := &c.Targets[0].Figures[i]; f.Subject == what && f.Metric == metric {
			return f
		}
	}
	return nil
}

// GeometricMean begins the label of rows about all types together.
const GeometricMean = "geometric mean of "
