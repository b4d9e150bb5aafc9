package doc

import "github.com/tsmark/tsmark/report/chart"

// Document is a report in the order in which people read it.
type Document struct {
	Title     string
	Headlines []Headline
	Chapters  []Chapter
	Shared    []Section // figures of all chapters side by side
	Closing   []Span    // what the figures mean
	Glossary  bool      // of a page: it explains the words of reports of runs
	// More says how a terminal shows the rest, and Elsewhere which formats have columns
	// that do not fit on it.
	More, Elsewhere string
}

// Chapter is what a document says of one run, or of one sweep, comparison or reproduction.
type Chapter struct {
	Title, Name string // the subject, and what its owner called it; empty: the document is about nothing else
	ID          string // of its place in a page
	Outcome     Span
	Alerts      []Span // what readers must know before they see any figure
	Tiles       []Fact // of a page: what the chapter is about, in a few words
	Facts       []Fact
	// Command is the command line that made it, Repeat the one that makes it again on
	// another machine, Remarks what else a reader needs to do so.
	Command, Repeat string
	Remarks         []Fact
	OnRequest       bool // facts and commands are for readers who look for them
	Sections        []Section
	Folds           []Fold
	Experiment      string // the file, or empty
}

// Section is tables and charts about one matter.
type Section struct {
	ID, Title string // no title: the tables have theirs
	Name      string // in the contents of a page, where there is no title
	Page      bool   // it is for pages alone, which have charts
	Notes     []Span
	Facts     []Fact
	Figures   []*chart.Figure
	Tables    []*Table
	Runs      []Fact // the commands that show the runs behind it
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
