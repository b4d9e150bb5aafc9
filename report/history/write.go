package history

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/why"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// Write renders a history. The command line is the one that makes it again.
func (h *History) Write(w io.Writer, format write.Format, command []string, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, h.document(command), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, h.document(command))
	case write.CSV:
		err = write.WriteCSV(w, Columns(), h.rows())
	case write.JSON:
		err = write.WriteJSON(w, h.data())
	case write.HTML:
		err = write.WriteHTML(w, h.document(command), opts)
	default:
		return write.UnknownFormat(format, "histories")
	}
	if err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}

func (h *History) document(command []string) *doc.Document {
	names := make([]string, len(h.Versions))
	for i := range h.Versions {
		names[i] = h.Versions[i].Name
	}
	title := "History"
	if len(names) > 0 {
		title = fmt.Sprintf("History from %s to %s", names[0], names[len(names)-1])
	}
	chapter := doc.Chapter{Title: title, ID: "history", Outcome: doc.Best("complete"), Command: format.ShellWords(command)}
	if f := h.figure(); f != nil {
		chapter.Sections = append(chapter.Sections, doc.Section{ID: "lines", Title: "Versions", Page: true, Figures: []*chart.Figure{f},
			Notes: []doc.Span{doc.Plain("Markers are ratios to the first version, pale bars their intervals. Below 1 a time is shorter, and a rate lower. A marker leads to the comparison with the version before.")}})
	}
	tables := doc.Section{ID: "tables", Name: "Tables", Tables: []*doc.Table{h.table()}}
	if t := h.stepTable(); t != nil {
		tables.Tables = append([]*doc.Table{t}, tables.Tables...)
	}
	chapter.Sections = append(chapter.Sections, tables)
	if w := why.Section("why", h.differences()); w != nil {
		chapter.Sections = append(chapter.Sections, *w)
	}
	chapter.Sections = append(chapter.Sections, doc.Section{ID: "comparisons", Title: "Comparisons", Page: true, Parts: h.parts(),
		Notes: []doc.Span{doc.Plain("Each is one or more runs with a report of their own: all figures, resources and provenance.")}})
	headline := doc.Headline{Answers: h.Answers(), Basis: h.basis()}
	return &doc.Document{Title: title, Headlines: []doc.Headline{headline}, Chapters: []doc.Chapter{chapter}, Glossary: true, Marks: comparison.Marks(slices.Collect(maps.Values(h.compared))...), Elsewhere: "CSV, JSON and HTML have all",
		Closing: []doc.Span{
			doc.Dim("A ratio to the first version is the product of the ratios of neighbours, whose rounds took turns in one run. In brackets: its interval, from those of the neighbours."),
			doc.Dim(fmt.Sprintf("A step is a difference between neighbours of %s or more that at least two runs have shown, corrected for all figures of all comparisons. Intervals cover what differs from run to run, as far as pairs with several runs show it.", leastText())),
		}}
}

// differences are the steps of query types.
func (h *History) differences() (list []why.Difference) {
	steps := h.Steps()
	for i := range steps {
		s := &steps[i]
		if s.Line.Metric != compare.Median {
			continue
		}
		side := func(version int) why.Side {
			side := why.Side{Name: h.Versions[version].Name}
			for _, r := range s.Change.Runs {
				if t := rank.FindTarget(r, side.Name); t != nil {
					side.Targets = append(side.Targets, t)
				}
			}
			return side
		}
		list = append(list, why.Difference{Type: s.Line.Subject, Title: s.Line.Label() + " since " + h.Versions[s.Version].Name, A: side(s.From), B: side(s.Version)})
	}
	return list
}

// partID identifies the comparison of two versions in a page.
func partID(a, b int) string { return fmt.Sprintf("versions-%d-%d", a+1, b+1) }

// parts are all comparisons.
func (h *History) parts() (list []doc.Part) {
	for _, p := range h.Pairs {
		a, b := h.Versions[p.A].Name, h.Versions[p.B].Name
		part := doc.Part{ID: partID(p.A, p.B), Title: a + " (A) and " + b + " (B)"}
		for i, version := range []int{p.A, p.B} {
			if failure := p.Failure(version); failure != "" {
				part.Notes = append(part.Notes, doc.Bad([]string{a, b}[i]+": n/a: "+firstLine(failure)))
			}
		}
		if of := h.compared[[2]int{p.A, p.B}]; of != nil {
			part.Tables = comparison.Tables(of)
			if t := h.changeTable(p.A, p.B); len(t.Rows) > 0 {
				part.Tables = append([]*doc.Table{t}, part.Tables...)
			}
		}
		for _, r := range p.Runs {
			part.Notes = append(part.Notes, doc.Dim("tsmark report "+r.ID))
		}
		list = append(list, part)
	}
	return list
}

// changeTable lists what the history says of a pair. Tables of the pair alone follow.
func (h *History) changeTable(a, b int) *doc.Table {
	view := &doc.Table{Title: "Steps from A to B", Columns: []doc.Column{{Head: "figure", Words: true, Names: true}, {Head: "B/A"}, {Head: "interval"},
		{Head: "p", Help: "corrected for all figures of all comparisons"}, {Head: "step", Words: true}},
		Notes: []doc.Span{doc.Dim("The other tables are about the rounds of these runs alone: a difference in them may be one of two processes or loads.")}}
	for i := range h.Lines {
		p := &h.Lines[i].Points[b]
		if p.From != a || p.Change == nil {
			continue
		}
		c, probability := p.Change, doc.None()
		if c.Testable() {
			probability = doc.Plain(format.Probability(c.P))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(h.Lines[i].Label()), doc.Plain(format.Times(c.Ratio)),
			doc.Plain(format.IntervalText(c.Interval)), probability, doc.Plain(c.outcome())}})
	}
	return view
}

// table shows the ratios of all versions.
func (h *History) table() *doc.Table {
	view := &doc.Table{Title: "Ratios to the first version", Columns: []doc.Column{{Head: "version"}}}
	for i := range h.Lines {
		view.Columns = append(view.Columns, doc.Column{Head: h.Lines[i].Label(), Help: "in the first line the figure itself, as one run measured it"})
	}
	for i := range h.Versions {
		v := &h.Versions[i]
		if v.Failure != "" {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(v.Name)}, Remark: doc.Bad("n/a: " + firstLine(v.Failure))})
			continue
		}
		row := doc.Row{Cells: []doc.Span{doc.Plain(v.Name)}}
		if len(h.Lines) == 0 {
			row.Remark = doc.Dim("not compared")
		}
		for j := range h.Lines {
			row.Cells = append(row.Cells, h.Lines[j].cell(&h.Lines[j].Points[i]))
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}

// cell shows a point.
func (l *Line) cell(p *Point) doc.Span {
	switch {
	case p.Wrong:
		return doc.Bad("withheld")
	case p.Missing != "":
		return doc.Dim(p.missingWord())
	case p.From < 0:
		return doc.Plain(format.ValueText(l.Unit, p.Measured.Median))
	case p.Ratio.Bound != stats.Exact:
		return doc.Dim("not compared")
	}
	text := format.Ratio(p.Ratio.Figure) + brackets(p.Interval)
	if p.Change == nil || !p.Change.IsStep() {
		return doc.Plain(text)
	}
	if l.Worse(p.Change.Ratio) {
		return doc.Bad(text + " ▲")
	}
	return doc.Best(text + " ▼")
}

// missingWord says in few words why a figure is missing.
func (p *Point) missingWord() string {
	word, why, _ := strings.Cut(p.Missing, ": ")
	if strings.HasPrefix(word, "repeat ") { // the reason follows
		word, _, _ = strings.Cut(why, ": ")
	}
	return word
}

// stepTable lists the steps. It returns nil without steps.
func (h *History) stepTable() *doc.Table {
	steps := h.Steps()
	if len(steps) == 0 {
		return nil
	}
	view := &doc.Table{Title: "Steps", Columns: []doc.Column{{Head: "version"}, {Head: "figure", Words: true, Names: true}, {Head: "before"}, {Head: "ratio"}, {Head: "interval"},
		{Head: "p", Help: "corrected for all figures of all comparisons"}, {Head: "rounds", Help: "or loads, of each version"}}}
	for i := range steps {
		s := &steps[i]
		ratio := doc.Best(format.Times(s.Change.Ratio))
		if s.Line.Worse(s.Change.Ratio) {
			ratio.Tone = format.ToneBad
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(h.Versions[s.Version].Name), doc.Plain(s.Line.Label()), doc.Plain(h.Versions[s.From].Name), ratio,
			doc.Plain(format.IntervalText(s.Change.Interval)), doc.Plain(format.Probability(s.Change.P)), doc.Plain(format.Count(int64(s.Change.A.N)))}})
	}
	return view
}

func runIDs(runs []*result.Run) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return ids
}

// Row is a version's figure in CSV.
type Row struct {
	history *History
	line    *Line
	version int
	*Point
}

func (h *History) rows() (list []Row) {
	for i := range h.Lines {
		for j := range h.Lines[i].Points {
			list = append(list, Row{h, &h.Lines[i], j, &h.Lines[i].Points[j]})
		}
	}
	return list
}

// Column is a figure of the CSV of a history.
type Column write.Column[Row]

// Columns are the figures of a history as CSV.
func Columns() []Column {
	end := func(of func(Row) *stats.Interval, low bool) func(Row) any {
		return func(r Row) any {
			i := of(r)
			switch {
			case i == nil:
				return nil
			case low:
				return i.Lo
			}
			return i.Hi
		}
	}
	chained := func(r Row) *stats.Interval { return r.Interval }
	changed := func(r Row) *stats.Interval {
		if r.Change == nil {
			return nil
		}
		return r.Change.Interval
	}
	change := func(value func(Row) any) func(Row) any {
		return func(r Row) any {
			if r.Change == nil {
				return nil
			}
			return value(r)
		}
	}
	return []Column{
		{"version", "", "name of the target", func(r Row) any { return r.history.Versions[r.version].Name }},
		{"system", "", "version as the system reported it", func(r Row) any { return r.history.Versions[r.version].System }},
		{"subject", "", "query type, all types or load", func(r Row) any { return r.line.Subject }},
		{"metric", "", "metric, as in --fail-if", func(r Row) any { return string(r.line.Metric) }},
		{"unit", "", "unit of measured", func(r Row) any { return string(r.line.Unit) }},
		{"better", "", "higher or lower", func(r Row) any { return string(r.line.Better) }},
		{"measured", "as unit says", "figure as one run measured it", func(r Row) any { return r.Measured.Median }},
		{"ratio", "", "ratio to the first version", func(r Row) any { return r.Ratio }},
		{"ratio_low", "", "lower end of its interval", end(chained, true)},
		{"ratio_high", "", "upper end of its interval", end(chained, false)},
		{"before", "", "version before that has the figure", change(func(r Row) any { return r.history.Versions[r.From].Name })},
		{"change", "", "ratio to the version before", change(func(r Row) any { return r.Change.Ratio })},
		{"change_low", "", "lower end of its interval", end(changed, true)},
		{"change_high", "", "upper end of its interval", end(changed, false)},
		{"p_corrected", "", "p-value of the change, corrected by Holm for all figures of all comparisons", change(func(r Row) any { return r.Change.P })},
		{"step", "", "whether the change is a step", change(func(r Row) any { return r.Change.IsStep() })},
		{"missing", "", "why there is no figure", func(r Row) any { return r.Missing }},
		{"runs", "", "runs that compared the version with the one before", change(func(r Row) any { return strings.Join(runIDs(r.Change.Runs), " ") })},
	}
}

// data is a history as JSON.
func (h *History) data() any {
	type change struct {
		Before   string          `json:"before"`
		Ratio    stats.Value     `json:"ratio"`
		Interval *stats.Interval `json:"interval,omitempty"`
		Adjusted float64         `json:"p_adjusted"`
		Outcome  string          `json:"outcome"`
		Step     bool            `json:"step"`
		Runs     []string        `json:"runs"`
	}
	type point struct {
		Version  string          `json:"version"`
		Missing  string          `json:"missing,omitempty"`
		Wrong    bool            `json:"wrong,omitempty"`
		Measured *stats.Estimate `json:"measured,omitempty"`
		Ratio    stats.Value     `json:"ratio"`
		Interval *stats.Interval `json:"interval,omitempty"`
		Change   *change         `json:"change,omitempty"`
	}
	type line struct {
		Subject string            `json:"subject"`
		Metric  compare.Metric    `json:"metric"`
		Unit    compare.Unit      `json:"unit"`
		Better  compare.Direction `json:"better"`
		Points  []point           `json:"points"`
	}
	out := struct {
		Headline []string  `json:"headline"`
		Versions []Version `json:"versions"`
		Figures  []line    `json:"figures"`
	}{Headline: doc.Texts(h.Answers()), Versions: h.Versions, Figures: []line{}}
	for i := range h.Lines {
		l := &h.Lines[i]
		one := line{l.Subject, l.Metric, l.Unit, l.Better, nil}
		for j := range l.Points {
			p := &l.Points[j]
			as := point{Version: h.Versions[j].Name, Missing: p.Missing, Wrong: p.Wrong, Ratio: p.Ratio, Interval: p.Interval}
			if p.Missing == "" {
				as.Measured = &p.Measured
			}
			if c := p.Change; c != nil {
				as.Change = &change{h.Versions[p.From].Name, c.Ratio, c.Interval, c.P, c.outcome(), c.IsStep(), runIDs(c.Runs)}
			}
			one.Points = append(one.Points, as)
		}
		out.Figures = append(out.Figures, one)
	}
	return out
}
