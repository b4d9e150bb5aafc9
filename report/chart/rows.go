package chart

import (
	"math"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
)

// Bars compares the loads of a group, figure by figure.
type Bars []BarRow

type BarRow struct {
	Label, Help string
	Lanes       []Bar
}

type Bar struct {
	Style Style
	Width string // per cent of the longest of the row; empty: nothing is drawn
	Text  string
}

// Ratios is a chart of ratios with their intervals on a logarithmic axis, whose
// middle is no change. Positions are per cent of the width.
type Ratios struct {
	Ticks []RangeTick
	Rows  []RatioRow
}

type RatioRow struct {
	Label         string
	Style         Style
	Dot, From, To string // position; empty: nothing is drawn
	Text          string
	Tone          doc.Tone
	Hint          string
}

// Ranges is a chart of medians with their tails, a row for each query type and
// a lane for each subject. Positions are per cent of the width, so that it
// fills any screen with text of one size.
type Ranges struct {
	Ticks []RangeTick
	Rows  []RangeRow
}

type RangeTick struct {
	X, Label string
	Class    string // minor: its label may go where there is little room
}

type RangeRow struct {
	Label, Help string
	Height      int // pixels
	Lanes       []Lane
}

// Lane is one subject's figures, or the word for why it has none.
type Lane struct {
	Style            Style
	Y                int
	Median, P95, P99 string // position; empty: nothing is drawn
	Bar              string // width of the bar, which ends at the median
	Text             string
	Tone             doc.Tone
	Hint             string
}

const LaneHeight = 22 // pixels, a line of text in the style sheet

// Relative is a chart of how many times the best each subject takes: a row for
// all query types together, for the loads, and for each type. The axis is
// logarithmic and begins at 1×.
type Relative struct {
	Ticks []Tick
	Rows  []RelativeRow
}

type RelativeRow struct {
	Label, Help string
	Overall     bool
	Height      int // pixels
	Lanes       []RelativeLane
}

// RelativeLane is one subject's bar, or the word for why it has none.
type RelativeLane struct {
	Style  Style
	Y      int // of its middle
	Drawn  bool
	Bar    float64 // its length, from 0 to 1
	Within bool    // there is an interval, from Lo to Hi
	Lo, Hi float64
	Chance bool // not shown to differ from the best
	Text   string
	Tone   doc.Tone
	Beside string // the figure itself
	Hint   string
}

// TimesTicks are at 1, 2, 5, 10 and so on, or at powers of ten on a long axis.
func TimesTicks(axis LogAxis) []Tick {
	factors := []float64{1, 2, 5}
	if axis.High > 1000 {
		factors = factors[:1]
	}
	var ticks []Tick
	for power := 1.0; power <= axis.High; power *= 10 {
		for _, f := range factors {
			if v := f * power; v <= axis.High*1.001 && !math.IsInf(v, 0) {
				ticks = append(ticks, Tick{axis.At(v), format.Count(int64(v)) + "×"})
			}
		}
	}
	return ticks
}

// Timeline is what a run did and used, in charts with one axis of time.
type Timeline struct {
	Legend Legend
	Charts []*Lines
}
