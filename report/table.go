package report

import (
	"slices"

	"github.com/tsmark/tsmark/result"
)

// tone is what a text means, for writers that can show it.
type tone string

const (
	tonePlain  tone = ""
	toneBest   tone = "best"   // the best of those compared
	toneBad    tone = "bad"    // withheld, wrong, failed
	toneStrong tone = "strong" // the answer, where nobody is shown to be the best
	toneDim    tone = "dim"    // not a result: empty, not verified, not available
)

// span is a text with a tone: a cell of a table, a note or a sentence.
type span struct {
	Text string
	Tone tone
}

func spanPlain(text string) span            { return span{Text: text} }
func spanBest(text string) span             { return span{text, toneBest} }
func spanBad(text string) span              { return span{text, toneBad} }
func spanStrong(text string) span           { return span{text, toneStrong} }
func spanDim(text string) span              { return span{text, toneDim} }
func spanToned(text string, tone tone) span { return span{text, tone} }

// spanNone stands for a figure that does not exist.
func spanNone() span { return span{none, toneDim} }

// table is what Text, Markdown and HTML draw alike.
type table struct {
	Title    string
	Columns  []column
	Rows     []row
	Notes    []span     // below the table
	Terminal visibility // how much of it text shows; --verbose shows all
}

// visibility is how much of a table stands on a terminal that nobody asked for
// more.
type visibility int

const (
	whole     visibility = iota
	doubtful             // only rows that raise doubts: withheld, wrong, lost
	onRequest            // nothing
)

// doubts is the table with nothing but the rows that raise some.
func (t table) doubts() table {
	var rows []row
	of := false // a row is kept that the next total is of
	for _, r := range t.Rows {
		kept := r.Remark.Tone == toneBad || slices.ContainsFunc(r.Cells, func(c span) bool { return c.Tone == toneBad })
		if kept || r.Total && of {
			rows = append(rows, r)
		}
		of = (of || kept) && !r.Total
	}
	t.Rows = rows
	return t
}

// column describes the cells below it. The first column of a table names the
// rows and is set to the left, all others are figures unless Words.
type column struct {
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

// row is a cell per column; or, where Remark is set, one cell followed by a
// remark across all other columns.
type row struct {
	Cells  []span
	Remark span
	Total  bool // it is of the rows above it, behind the last total, and stands where any of them does
}

// tables are those of a run, in the order in which they are shown. The medians
// of several targets stand side by side in a table of their own; their further
// percentiles are details then.
func tables(g *group, r *result.Run) []*table {
	list := []*table{selfTestTable(r), loadTable(g, r), stepsTable(r), growthTable(r), aggregateTable(r), againstRowsTable(r)}
	for i := range r.Targets {
		t := &r.Targets[i]
		queries := queryTable(g, i)
		// Texts have no medians side by side.
		if queries != nil && len(r.Targets) > 1 && !onlyChecked(t) && r.Texts() == "" && len(r.OwnTexts()) == 0 {
			queries.Terminal = doubtful
		}
		list = append(list, mixedTable(t), queries, openTable(t), searchTable(t))
	}
	for _, t := range []*table{usageTable(r), hostTable(r)} {
		if t != nil {
			t.Terminal = onRequest
			list = append(list, t)
		}
	}
	list = append(list, clientTable(r), agentsTable(r), partsTable(r), censusTable(r))
	return slices.DeleteFunc(list, func(t *table) bool { return t == nil })
}
