// Package doc holds a report's content as data: texts with a tone, facts, tables and the
// headline. Package write prints it.
package doc

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
)

// Fact is a line of a list of properties.
type Fact struct{ Key, Value string }

// Pairs lists a map by key. An empty value is the system's own default.
func Pairs(m map[string]string) []Fact {
	list := make([]Fact, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, Fact{k, cmp.Or(m[k], "(the system's own)")})
	}
	return list
}

// Span is a text with a tone: a cell of a table, a note or a sentence.
type Span struct {
	Text string
	Tone format.Tone
}

// Plain returns a text without a tone.
func Plain(text string) Span { return Span{Text: text} }

// Best, Bad, Strong and Dim return a text with that tone.
func Best(text string) Span   { return Span{text, format.ToneBest} }
func Bad(text string) Span    { return Span{text, format.ToneBad} }
func Strong(text string) Span { return Span{text, format.ToneStrong} }
func Dim(text string) Span    { return Span{text, format.ToneDim} }

// WithTone returns a text with a tone.
func WithTone(text string, tone format.Tone) Span { return Span{text, tone} }

// None stands for a figure that does not exist.
func None() Span { return Span{format.None, format.ToneDim} }

// Table is a table that Text, Markdown and HTML draw alike.
type Table struct {
	Title    string
	Columns  []Column
	Rows     []Row
	Notes    []Span     // below the table
	Terminal Visibility // the part that text shows; --verbose shows all
	// Records says that cells are sentences, too long for columns of a terminal or a page:
	// each row is a paragraph there.
	Records bool
	Figure  *chart.Figure // the same as a drawing, on pages; may be nil
}

// Visibility is the part of a table that a terminal shows without --verbose.
type Visibility int

const (
	Whole     Visibility = iota
	Doubtful             // only rows that raise doubts: withheld, wrong, lost
	OnRequest            // nothing
)

// Doubts is the table with nothing but the rows that raise some.
func (t Table) Doubts() Table {
	var rows []Row
	listed := false // a row that the next total belongs to
	for _, r := range t.Rows {
		doubtful := r.Remark.Tone == format.ToneBad || slices.ContainsFunc(r.Cells, func(c Span) bool { return c.Tone == format.ToneBad })
		if doubtful || r.Total && listed {
			rows = append(rows, r)
		}
		listed = (listed || doubtful) && !r.Total
	}
	t.Rows = rows
	return t
}

// Column describes the cells below it. The first column of a table names the
// rows and is set to the left, all others are figures unless Words.
type Column struct {
	Head  string
	Help  string // explanation
	Words bool
	// Rank says how soon a narrow display may leave the column out: 0 never,
	// else the highest first.
	Rank int
	// Follows keeps the column beside the one before it where a wide table is
	// cut into several.
	Follows bool
	// Names marks a column, behind the first one, that names the rows together with it: it
	// is repeated in all tables that a wide one is cut into.
	Names bool
}

// Row is a cell per column; or, where Remark is set, one cell followed by a
// remark across all other columns.
type Row struct {
	Cells   []Span
	Remark  Span
	Total   bool     // it covers the rows above it, back to the last total, and is shown if any of them is
	Details []Detail // the basis of the row, which readers can open
}

// Detail is a list that readers open.
type Detail struct {
	Title string
	Lines []string
}
