package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize/english"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
)

//go:embed index.html site.css site.js
var pageFiles embed.FS

// The files of all results.
const (
	indexFile  = "index.html"
	scriptFile = "site.js"
)

func groupFile(n int) string { return fmt.Sprintf("data/%d.js", n) }

// page is the input of the template of all results.
type page struct {
	Title, Note, Tool string
	Style             template.CSS
	Summary           string
	Filters           []filter
	Shown             table
	Data              index
}

// filter is a choice among the groups.
type filter struct {
	Name   string  `json:"name"` // in addresses
	Label  string  `json:"label"`
	Values []value `json:"values"`
}

type value struct {
	Key   string `json:"key"` // in addresses
	Label string `json:"label"`
}

// index is the data by which the script chooses groups.
type index struct {
	Filters []filter `json:"filters"`
	// Groups have for each filter the place of their value among the filter's.
	Groups [][filters]int `json:"groups"`
	Shown  int            `json:"shown"` // the group that the page itself has
}

// table is a group for display.
type table struct {
	Title, About string
	Columns      []tableColumn
	Ranked       string // what the ranking is of
	Rows         []tableRow
	Notes        []string // that icons open
	All          []string // notes about all figures, which have no icons for them
	Runs         []tableRun
}

// tableColumn is a column for display.
type tableColumn struct {
	column
	Rising bool // more is better
	Ranked bool // the ranking is of it, until a reader chooses others
}

// Key identifies the column in addresses.
func (c *tableColumn) Key() string { return c.Head() + ", " + c.How }

type tableRow struct {
	System, Options, Durability, Measured string
	Failure, StandIn                      string
	Mean                                  float64 // geometric mean of the ranked columns' multiples of the best; 0: not ranked
	Cells                                 []tableCell
}

// Key identifies the row in addresses.
func (r *tableRow) Key() string { return format.Join(", ", r.System, r.Options) }

// Place is the row's figure in the ranking.
func (r *tableRow) Place() string {
	if r.Mean == 0 {
		return format.None
	}
	return format.Ratio(r.Mean)
}

type tableCell struct {
	Known    bool
	Imported string // empty: its run was measured here
	report.BoardEntry
	Times                         float64 // multiple of the best of the column; 0: not compared
	Icon                          template.HTML
	lines                         []string // of notes
	Class                         string
	Run, Verification, Experiment string // addresses
}

type tableRun struct {
	ID, Name, Started, Targets, Doubt string
	Imported                          string // empty: the run was measured here
	Run, Verification, Experiment     string
}

// writeTables writes the page of all results, and the tables that it loads.
func (s *Site) writeTables() error {
	templates, err := template.New(indexFile).ParseFS(pageFiles, indexFile)
	if err != nil {
		return err
	}
	list := make([]*group, 0, len(s.groups))
	for _, g := range s.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int {
		for i := range filters {
			if c := byNumbers(a.values[i], b.values[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	data := newIndex(list)
	systems := make(map[string]bool)
	for n, g := range list {
		for _, r := range g.rows {
			systems[r.system] = true
		}
		if n == data.Shown {
			continue
		}
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, "group", newTable(g)); err != nil {
			return fmt.Errorf("writing a table: %w", err)
		}
		script, err := scriptOf(n, text.String())
		if err != nil {
			return err
		}
		if err := s.write(groupFile(n), script); err != nil {
			return err
		}
	}
	style, err := pageStyle()
	if err != nil {
		return err
	}
	out := page{Title: s.opts.Title, Note: s.opts.Note, Tool: s.opts.Tool.Version, Style: style, Filters: data.Filters, Shown: newTable(list[data.Shown]), Data: data,
		Summary: strings.Join([]string{english.Plural(len(s.sums), "run", ""), english.Plural(len(systems), "system and version", "systems and versions"), english.Plural(len(list), "table", "")}, " · ")}
	var text bytes.Buffer
	if err := templates.Execute(&text, out); err != nil {
		return fmt.Errorf("writing the page of all results: %w", err)
	}
	script, err := pageFiles.ReadFile(scriptFile)
	if err != nil {
		return err
	}
	if err := s.write(scriptFile, script); err != nil {
		return err
	}
	return s.write(indexFile, text.Bytes())
}

// pageStyle returns the style of reports with additions for the tables of a site.
func pageStyle() (template.CSS, error) {
	common, err := write.Style()
	if err != nil {
		return "", err
	}
	own, err := pageFiles.ReadFile("site.css")
	return template.CSS(common + string(own)), err
}

// scriptOf returns a table as a script that passes it to the page.
func scriptOf(n int, text string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tsmarkGroup(%d, ", n)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a file of its own: no markup ends it
	if err := e.Encode(text); err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), ");\n"...), nil
}

// newIndex lists the choices of the filters. The page opens with the group with most cells, of
// several the one with the newest run.
func newIndex(list []*group) index {
	data := index{Filters: []filter{{Name: "workload", Label: "Workload"}, {Name: "size", Label: "Size"}, {Name: "machine", Label: "Machine"}, {Name: "durability", Label: "Durability"}}}
	for at := range filters {
		var labels []string
		for _, g := range list {
			labels = append(labels, g.values[at])
		}
		slices.SortFunc(labels, byNumbers)
		f := &data.Filters[at]
		for _, label := range slices.Compact(labels) {
			f.Values = append(f.Values, value{slug(label), label})
		}
	}
	most, newest := -1, ""
	for n, g := range list {
		var places [filters]int
		for at := range filters {
			places[at] = slices.IndexFunc(data.Filters[at].Values, func(v value) bool { return v.Label == g.values[at] })
		}
		data.Groups = append(data.Groups, places)
		cells, last := 0, ""
		for _, r := range g.rows {
			cells += len(r.cells)
		}
		for i := range g.runs {
			last = max(last, g.runs[i].id)
		}
		if cells > most || cells == most && last > newest {
			most, newest, data.Shown = cells, last, n
		}
	}
	return data
}

// slug converts a text for use in an address. A text that is too long for that, or has other
// characters, gets a hash to keep it unique.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	short := strings.Trim(b.String(), "-")
	const most = 24
	if short == text && len(text) <= most && text != "" {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return format.Join("-", strings.Trim(short[:min(most, len(short))], "-"), hex.EncodeToString(sum[:4]))
}

func newTable(g *group) table {
	t := table{Title: g.values[byWorkload], About: g.values[bySize] + " · " + g.values[byMachine] + " · durability: " + g.values[byDurability]}
	for _, c := range g.sortColumns() {
		t.Columns = append(t.Columns, tableColumn{column: c, Rising: c.what == ""})
	}
	notes := write.NewNotes(report.BoardMarks())
	rows, boards := g.sortRows(), make(map[string]*report.Board)
	for _, r := range rows {
		newest := &r.newest.run.Targets[r.newest.target]
		t.Rows = append(t.Rows, tableRow{System: r.system, Options: r.options, Durability: newest.Description.Durability, Failure: newest.Failure, StandIn: newest.Description.StandIn,
			Measured: daysOf(r), Cells: make([]tableCell, 0, len(t.Columns))})
	}
	if text := unequalDurability(rows); text != "" {
		t.About += " · " + text
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		for n, s := range g.entries(rows, &c.column, boards) {
			cell := tableCell{}
			if s != nil {
				cell = newCell(*s, rows[n].cells[c.key], notes)
			}
			t.Rows[n].Cells = append(t.Rows[n].Cells, cell)
		}
	}
	t.addIcons(notes)
	t.rank()
	runs := slices.Clone(g.runs)
	slices.SortFunc(runs, func(a, b taker) int { return cmp.Or(b.started.Compare(a.started), strings.Compare(a.id, b.id)) })
	for _, r := range runs {
		shown := tableRun{ID: r.id, Name: r.name, Started: r.started.UTC().Format("2006-01-02 15:04"), Targets: strings.Join(r.targets, ", "), Doubt: r.doubt, Imported: r.imported,
			Run: runFile(r.id, runPage), Verification: runFile(r.id, verificationPage)}
		if r.described {
			shown.Experiment = runFile(r.id, experimentFile)
		}
		t.Runs = append(t.Runs, shown)
	}
	return t
}

// addIcons gives cells icons that open their notes. What all figures have is said once.
func (t *table) addIcons(notes *write.Notes) {
	figures := 0
	for i := range t.Rows {
		for _, c := range t.Rows[i].Cells {
			switch {
			case !c.Valid && c.Checked != "not verified":
			case figures == 0:
				figures, t.All = 1, slices.Clone(c.lines)
			default:
				figures++
				t.All = slices.DeleteFunc(t.All, func(line string) bool { return !slices.Contains(c.lines, line) })
			}
		}
	}
	if figures == 1 {
		t.All = nil
	}
	for i := range t.Rows {
		for n := range t.Rows[i].Cells {
			c := &t.Rows[i].Cells[n]
			c.Icon = notes.Icon(slices.DeleteFunc(c.lines, func(line string) bool { return slices.Contains(t.All, line) })...)
		}
	}
	t.Notes = notes.Texts()
}

func newCell(s report.BoardEntry, of source, notes *write.Notes) tableCell {
	beside, lines := notes.Strip(s.Beside)
	_, more := notes.Strip(s.Marks)
	s.Beside = beside
	c := tableCell{Known: true, Imported: of.run.NotMeasuredHere(), BoardEntry: s, lines: append(lines, more...), Run: runFile(of.run.ID, runPage), Verification: fmt.Sprintf("%s#target-%d", runFile(of.run.ID, verificationPage), of.target)}
	switch {
	case s.Best:
		c.Class = "best"
	case s.Wrong:
		c.Class = "bad"
	case !s.Valid:
		c.Class = "dim"
	}
	if of.run.Experiment != "" {
		c.Experiment = runFile(of.run.ID, experimentFile)
	}
	return c
}

// daysOf returns when the cells of a row were measured: the days of the runs that they
// are of.
func daysOf(r *row) string {
	first, last := r.newest.run.Started, r.newest.run.Started
	for _, of := range r.cells {
		if of.run.Started.Before(first) {
			first = of.run.Started
		}
	}
	const day = "2006-01-02"
	a, b := first.UTC().Format(day), last.UTC().Format(day)
	if a == b {
		return a
	}
	return a + " to " + b
}
