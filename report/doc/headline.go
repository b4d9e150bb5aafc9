package doc

import (
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
)

// Headline is the first statement of a report: which target is faster, by how much, and the
// basis of that. Its figures are those of the tables and charts.
type Headline struct {
	Dataset string   // its dataset; empty: the only one
	Answers []Span   // a sentence about all query types, one about single ones, and one about the loads
	Basis   []string // the basis of the answers: verified, rounds, versions, dataset, machine
	Noise   Span     // use of the machine by other processes; without text: not watched
	Queries *Ranking
	Loads   *Ranking
	Figure  *chart.Figure // of pages
}

// Ranking are the subjects in order of one figure, as multiples of the best.
type Ranking struct {
	Title, Help string
	Places      []Place
}

// Place is a subject's place.
type Place struct {
	Subject int // of the group
	Label   string
	// Times is the multiple of the reference; 1: the reference itself.
	Times    float64
	Bound    stats.Bound // of Times: queries that were cut off may have taken any time
	Text     string      // as beside its figure in tables: marked if it may be chance
	Within   string      // the interval in brackets, and types, if not all; may be empty
	Verdict  string      // best, worse, tie, or no verdict and why
	Marks    string      // possible disturbances; Text has them too
	Tone     format.Tone
	Interval *stats.Interval // nil: the reference itself, or not known
}
