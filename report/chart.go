package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Charts are computed here and drawn as SVG by the page's template, which
// escapes every name and figure.

// legend is how the charts of a group show its subjects: by colour and, for
// those who cannot tell colours apart and for printers, by shape.
type legend []style

type style struct {
	Label string
	Class string // colour, of the style sheet
	Shape string // marker, an SVG path around 0,0
	Dash  string // pattern of its line; empty: solid
}

func newLegend(labels []string) legend {
	shapes := []string{
		"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z", // circle
		"M-3.6,-3.6h7.2v7.2h-7.2z",            // square
		"M0,-4.8L4.6,3.4H-4.6z",               // triangle
		"M0,-5L5,0L0,5L-5,0z",                 // diamond
		"M0,4.8L4.6,-3.4H-4.6z",               // triangle, upside down
	}
	dashes := []string{"", "6 3", "2 2", "8 3 2 3", "10 4"}
	const colors = 7
	l := make(legend, len(labels))
	for i, label := range labels {
		l[i] = style{label, fmt.Sprintf("s%d", i%colors), shapes[i%len(shapes)], dashes[i%len(dashes)]}
	}
	return l
}

// tick is a labelled line of a grid.
type tick struct {
	At    float64
	Label string
}

// logAxis places positive values on a logarithmic axis from 0 to 1.
type logAxis struct{ low, high float64 }

// newLogAxis returns an axis around the values, ending on round ones.
func newLogAxis(values []float64) logAxis {
	low, high := slices.Min(values), slices.Max(values)
	return logAxis{roundDown(low * 0.9), roundUp(high * 1.1)}
}

// roundDown returns the largest 1, 2 or 5 times a power of ten up to v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{5, 2} {
		if f*power <= v {
			return f * power
		}
	}
	return power
}

func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v {
			return f * power
		}
	}
	return 10 * power
}

func (a logAxis) at(v float64) float64 {
	return math.Log(v/a.low) / math.Log(a.high/a.low)
}

// ticks returns at most n lines at round durations: powers of ten, and their
// double and fivefold where there is room.
func (a logAxis) ticks(n int) []tick {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var list []tick
		for power := math.Pow(10, math.Floor(math.Log10(a.low))); power <= a.high; power *= 10 {
			for _, f := range factors {
				if v := f * power; v >= a.low*0.999 && v <= a.high*1.001 {
					list = append(list, tick{a.at(v), short(duration(v))})
				}
			}
		}
		if len(list) <= n || len(factors) == 1 {
			return list
		}
	}
	return nil
}

// short drops decimals that say nothing: 1.00 ms is 1 ms.
func short(figure string) string {
	value, unit, spaced := strings.Cut(figure, unitSpace)
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	if spaced {
		value += unitSpace + unit
	}
	return value
}

// abbreviated renders a large number for an axis: 1.5M.
func abbreviated(v float64) string {
	u := unit{"", 1}
	for _, larger := range []unit{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}} {
		if v >= larger.size {
			u = larger
		}
	}
	return short(digits(v/u.size)) + u.name
}
