package doc

import (
	"strings"

	"github.com/tsmark/tsmark/report/chart"
)

// Document is a report in reading order.
type Document struct {
	Title     string
	Headlines []Headline
	Chapters  []Chapter
	Shared    []Section // figures of all chapters side by side
	Closing   []Span    // explanations of the figures
	Glossary  bool      // of a page: it explains the words of reports of runs
	Marks     []Mark    // signs of figures, which a page has as icons that open their notes
	// More says how a terminal shows the rest, and Elsewhere which formats have columns
	// that do not fit on it.
	More, Elsewhere string
}

// Chapter is the content about one run, or one sweep, comparison or reproduction.
type Chapter struct {
	Title, Name string // the subject, and its user-provided name; empty: the only subject of the document
	ID          string // of its place in a page
	Outcome     Span
	Alerts      []Span // warnings, shown before all figures
	Tiles       []Fact // of a page: the subject of the chapter in a few words
	Facts       []Fact
	// Command is the command line that made it, Repeat the one that makes it again on
	// another machine, Remarks the other requirements for doing so.
	Command, Repeat string
	Remarks         []Fact
	OnRequest       bool // facts and commands are shown on request
	Sections        []Section
	Folds           []Fold
	Experiment      string // the file, or empty
}

// Section is tables and charts about one matter.
type Section struct {
	ID, Title string // no title: the tables have theirs
	Name      string // in the contents of a page, if there is no title
	Page      bool   // it is for pages alone, which have charts
	Folded    bool   // a page shows its title, and the rest once it is opened
	Notes     []Span
	Facts     []Fact
	Figures   []*chart.Figure
	Tables    []*Table
	Codes     []Code
	Diffs     []Diff
	Parts     []Part
	Runs      []Fact // the commands that show the runs behind it
}

// Code is the texts of a query type in the languages of targets.
type Code struct {
	Title string
	Texts []CodeText
}

// CodeText is a query as sent to a target, and the system's plan of it, if there is one.
type CodeText struct{ Target, Text, Plan string }

// Diff is two texts side by side.
type Diff struct {
	Title string
	A, B  string // names of the texts
	Lines []DiffLine
}

// DiffLine is a line of both texts, or of one of them.
type DiffLine struct {
	Kind DiffKind
	A, B string // of DiffFolded, A stands for several lines of both
}

// DiffKind is how a line differs.
type DiffKind int

// The kinds.
const (
	DiffEqual DiffKind = iota // but for what always differs
	DiffChanged
	DiffRemoved // only A has it
	DiffAdded   // only B has it
	DiffFolded
)

// Part is tables that readers of a page open.
type Part struct {
	ID, Title string
	Notes     []Span
	Tables    []*Table
}

// Mark is a sign of a figure, with its meaning.
type Mark struct {
	Sign, Note string // Note begins with the sign
	Leading    bool   // the sign is before the figure
	All        bool   // all figures have it: a page says so once
}

// Text is the note without the sign.
func (m *Mark) Text() string {
	text := strings.TrimPrefix(m.Note, m.Sign+" ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// Fold is facts that readers of a page open.
type Fold struct {
	Summary string
	Facts   []Fact
	Groups  []Group
}

// Group is facts with a title.
type Group struct {
	Title string
	Facts []Fact
}

// Texts returns the texts of sentences.
func Texts(list []Span) []string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = s.Text
	}
	return texts
}
