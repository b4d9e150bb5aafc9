package report

import (
	"slices"

	"github.com/tsmark/tsmark/result"
)

// tone is what a cell or line means, for renderers that can show it.
type tone string

const (
	plain  tone = ""
	best   tone = "best"   // the best of those compared
	bad    tone = "bad"    // withheld, wrong, failed
	strong tone = "strong" // the answer, where nobody is shown to be the best
	dim    tone = "dim"    // not a result: empty, not verified, not available
)

// table is what Text, Markdown and HTML draw alike.
type table struct {
	Title    string
	Columns  []column
	Rows     []row
	Notes    []note     // below the table
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
		kept := r.Span.Tone == bad || slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Tone == bad })
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

// row is a cell per column; or, where Span is set, one cell followed by a
// remark across all other columns.
type row struct {
	Cells []cell
	Span  cell
	Total bool // it is of the rows above it, behind the last total, and stands where any of them does
}

type cell struct {
	Text string
	Tone tone
}

// note is a line of text with an emphasis.
type note struct {
	Text string
	Tone tone
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
