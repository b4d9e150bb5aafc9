// Package chart computes drawings: scales, ticks, curves, bars and their positions. The
// templates of package write draw them as SVG and escape every name and figure; package
// picture draws them as an image.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/format"
)

// Legend defines how the charts of a group show its subjects: by colour and also by
// shape, for colour-blind readers and for printers.
type Legend []Style

// Style is how charts show one subject.
type Style struct {
	Label string
	Class string // colour, of the style sheet
	Shape string // marker, an SVG path around 0,0
	Dash  string // pattern of its line; solid if empty
}

// NewLegend returns a style for each label. Colours repeat after twelve, shapes and dashes after
// five.
func NewLegend(labels []string) Legend {
	shapes := []string{
		"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z", // circle
		"M-3.6,-3.6h7.2v7.2h-7.2z",            // square
		"M0,-4.8L4.6,3.4H-4.6z",               // triangle
		"M0,-5L5,0L0,5L-5,0z",                 // diamond
		"M0,4.8L4.6,-3.4H-4.6z",               // triangle, upside down
	}
	dashes := []string{"", "6 3", "2 2", "8 3 2 3", "10 4"}
	const colors = 12
	l := make(Legend, len(labels))
	for i, label := range labels {
		l[i] = Style{label, fmt.Sprintf("s%d", i%colors), shapes[i%len(shapes)], dashes[i%len(dashes)]}
	}
	return l
}

// Tick is a labelled line of a grid.
type Tick struct {
	At    float64
	Label string
}

// LogAxis places positive values on a logarithmic axis from 0 to 1.
type LogAxis struct{ Low, High float64 }

// NewLogAxis returns an axis around the values, ending on round ones.
func NewLogAxis(values []float64) LogAxis {
	low, high := slices.Min(values), slices.Max(values)
	return LogAxis{roundDown(low * 0.9), RoundUp(high * 1.1)}
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

// RoundUp returns the smallest 1, 2 or 5 times a power of ten from v on.
func RoundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v {
			return f * power
		}
	}
	return 10 * power
}

// Place returns the position of a value: 0 at Low, 1 at High.
func (a LogAxis) Place(v float64) float64 {
	return math.Log(v/a.Low) / math.Log(a.High/a.Low)
}

// Ticks returns at most n lines at round durations: powers of ten, and their
// double and fivefold if there is room.
func (a LogAxis) Ticks(n int) []Tick {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var list []Tick
		for power := math.Pow(10, math.Floor(math.Log10(a.Low))); power <= a.High; power *= 10 {
			for _, f := range factors {
				if v := f * power; v >= a.Low*0.999 && v <= a.High*1.001 {
					list = append(list, Tick{a.Place(v), Short(format.Duration(v))})
				}
			}
		}
		if len(list) <= n || len(factors) == 1 {
			return list
		}
	}
	return nil
}

// Short drops decimals that say nothing: 1.00 ms is 1 ms.
func Short(figure string) string {
	value, unit, spaced := strings.Cut(figure, format.UnitSpace)
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	if spaced {
		value += format.UnitSpace + unit
	}
	return value
}

// Abbreviate renders a large number for an axis: 1.5M.
func Abbreviate(v float64) string {
	u := format.Unit{Name: "", Size: 1}
	for _, larger := range []format.Unit{{Name: "k", Size: 1e3}, {Name: "M", Size: 1e6}, {Name: "G", Size: 1e9}} {
		if v >= larger.Size {
			u = larger
		}
	}
	return Short(format.Digits(v/u.Size)) + u.Name
}
