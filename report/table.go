package report

// tone is what a cell or line means, for renderers that can show it.
type tone string

const (
	plain tone = ""
	best  tone = "best" // the best of those compared
	bad   tone = "bad"  // withheld, wrong, failed
	dim   tone = "dim"  // not a result: empty, not verified, not available
)

// table is what Text, Markdown and HTML draw alike.
type table struct {
	Title   string
	Columns []column
	Rows    []row
	Notes   []note // below the table
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
}

// row is a cell per column; or, where Span is set, one cell followed by a
// remark across all other columns.
type row struct {
	Cells []cell
	Span  cell
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
