// Package doc is what a report says, as data: texts with a tone, facts, tables and the
// headline. Package write prints it.
package doc

import (
	"slices"

	"github.com/tsmark/tsmark/report/format"
)

// Fact is a line of a list of properties.
type Fact struct{ Key, Value string }

// Pairs lists a map by key. An empty value is the system's own default.
func Pairs(m map[string]string) []Fact {
	list := make([]Fact, 0, len(m))
	for k, v := range m {
		if v == "" {
			v = "(the system's own)"
		}
		list = append(list, Fact{k, v})
	}
	slices.SortFunc(list, func(a, b Fact) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return list
}

// Tone is what a text means, for writers that can show it.
type Tone string

const (
	TonePlain  Tone = ""
	ToneBest   Tone = "best"   // the best of those compared
	ToneBad    Tone = "bad"    // withheld, wrong, failed
	ToneStrong Tone = "strong" // the answer, where nobody is shown to be the best
	ToneDim    Tone = "dim"    // not a result: empty, not verified, not available
)

// Span is a text with a tone: a cell of a table, a note or a sentence.
type Span struct {
	Text string
	Tone Tone
}

func Plain(text string) Span { return Span{Text: text} }

func Best(text string) Span { return Span{text, ToneBest} }

func Bad(text string) Span { return Span{text, ToneBad} }

func Strong(text string) Span { return Span{text, ToneStrong} }

func Dim(text string) Span { return Span{text, ToneDim} }

func Toned(text string, tone Tone) Span { return Span{text, tone} }

// None stands for a figure that does not exist.
func None() Span { return Span{format.None, ToneDim} }

// Table is what Text, Markdown and HTML draw alike.
type Table struct {
	Title    string
	Columns  []Column
	Rows     []Row
	Notes    []Span     // below the table
	Terminal visibility // how much of it text shows; --verbose shows all
}

// visibility is how much of a table stands on a terminal that nobody asked for
// more.
type visibility int

const (
	Whole     visibility = iota
	Doubtful             // only rows that raise doubts: withheld, wrong, lost
	OnRequest            // nothing
)

// Doubts is the table with nothing but the rows that raise some.
func (t Table) Doubts() Table {
	var rows []Row
	of := false // a row is kept that the next total is of
	for _, r := range t.Rows {
		kept := r.Remark.Tone == ToneBad || slices.ContainsFunc(r.Cells, func(c Span) bool { return c.Tone == ToneBad })
		if kept || r.Total && of {
			rows = append(rows, r)
		}
		of = (of || kept) && !r.Total
	}
	t.Rows = rows
	return t
}

// Column describes the cells below it. The first column of a table names the
// rows and is set to the left, all others are figures unless Words.
type Column struct {
	Head  string
	Help  string // what it means
	Words bool
	// Rank says how soon a narrow display may leave the column out: 0 never,
	// else the highest first.
	Rank int
	// Follows keeps the column beside the one before it where a wide table is
	// cut into several.
	Follows bool
	// Names has the column, which stands behind the first one, name the rows with it: it
	// is in all tables that a wide one is cut into.
	Names bool
}

// Row is a cell per column; or, where Remark is set, one cell followed by a
// remark across all other columns.
type Row struct {
	Cells  []Span
	Remark Span
	Total  bool // it is of the rows above it, behind the last total, and stands where any of them does
}
