package chart

import (
	"math"

	"github.com/tsmark/tsmark/report/format"
)

// Rows is a chart of bars and marks with their intervals: a row for each query type, and
// in it a track for each subject. Positions are parts of the width, from 0 to 1, so that it
// fills any screen with text of one size.
type Rows struct {
	Axis, Unit string // titles above the drawing and above its figures
	Ticks      []RowTick
	Rows       []Row
}

// RowTick is a labelled line.
type RowTick struct {
	At    float64
	Label string
	Minor bool // its label may be omitted for lack of room
}

// Row is one query type, the load, or all together.
type Row struct {
	Label, Help string
	Overall     bool // all query types together, or the load
	Tracks      []Track
}

// trackHeight is a line of text in the style sheet, in pixels.
const trackHeight = 22

// Height is that of the row, in pixels.
func (r Row) Height() int { return trackHeight * len(r.Tracks) }

// Middle is where a track is, in pixels.
func (r Row) Middle(track int) int { return track*trackHeight + trackHeight/2 }

// Track holds one subject's figures, or the word for their absence.
type Track struct {
	Style   Style
	Drawn   bool
	Bar     float64 // length; 0: no bar
	Solid   bool    // the bar is the figure; else it leads to the marker at its end
	Pale    bool    // not shown to differ from the best
	Marker  bool
	At      float64 // of the marker
	Strokes []Stroke
	Text    string
	Tone    format.Tone
	Beside  string // the figure itself, where Text is a ratio
	Hint    string
}

// Stroke is a line along a track, or across it if it begins and ends at one place.
type Stroke struct {
	Class    string
	From, To float64
	Half     int // of its height across the track, in pixels
}

// TimesTicks are at 1, 2, 5, 10 and so on, or at powers of ten on a long axis.
func TimesTicks(axis LogAxis) []RowTick {
	factors := []float64{1, 2, 5}
	if axis.High > 1000 {
		factors = factors[:1]
	}
	var ticks []RowTick
	for power := 1.0; power <= axis.High; power *= 10 {
		for _, f := range factors {
			if v := f * power; v <= axis.High*1.001 && !math.IsInf(v, 0) {
				ticks = append(ticks, RowTick{At: axis.Place(v), Label: format.Count(int64(v)) + "×", Minor: len(ticks)%2 == 1})
			}
		}
	}
	return ticks
}
