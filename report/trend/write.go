package trend

import (
	"cmp"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
)

// Write renders a trend. Its errors are those of w, and formats that do not exist.
func Write(w io.Writer, format write.Format, t *Trend, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, newDocument(t), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, newDocument(t))
	case write.CSV:
		err = write.WriteCSV(w, columns(), lines(t))
	case write.JSON:
		err = write.WriteJSON(w, struct {
			Headline []string `json:"headline"`
			*Trend
		}{doc.Texts(answers(t)), t})
	case write.HTML:
		err = write.WriteHTML(w, newDocument(t), opts)
	default:
		return write.UnknownFormat(format, "histories")
	}
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// subject names the target and its reference.
func (t *Trend) subject() string {
	if t.Reference != "" {
		return t.Target + " / " + t.Reference
	}
	return t.Target
}

// answers says what changed.
func answers(t *Trend) []doc.Span {
	runs, least := t.Earlier+len(t.Runs), options().LeastPoints()
	if runs < least {
		return []doc.Span{doc.Bad(fmt.Sprintf("Too few runs of %s to show a step: %d, at least %d are needed", t.subject(), runs, least))}
	}
	var list []doc.Span
	for _, a := range []doc.Span{answer(t, true), answer(t, false)} {
		if a.Text != "" {
			list = append(list, a)
		}
	}
	untested := t.findUntested()
	if tested := len(t.Figures) - len(untested); len(list) == 0 && tested > 0 {
		list = append(list, doc.Plain(fmt.Sprintf("No step of %s in %s over %s", t.subject(), format.Plural(tested, "figure"), format.Plural(len(t.Runs), "run"))))
	}
	if len(untested) > 0 {
		list = append(list, doc.Bad(fmt.Sprintf("Not tested: %s; at least %d are needed", format.Few(untested), least)))
	}
	return list
}

// answer names the largest of the steps that make figures worse, or better.
func answer(t *Trend, worse bool) doc.Span {
	count, text, largest := 0, "", 0.0
	for i := range t.Figures {
		f := &t.Figures[i]
		for j := range f.Steps {
			s := &f.Steps[j]
			if s.Worse != worse {
				continue
			}
			count++
			if size := max(s.Ratio, 1/s.Ratio); size > largest {
				largest, text = size, t.subject()+": "+t.describe(f, s)
			}
		}
	}
	if count > 1 {
		text += fmt.Sprintf(", and %s", format.Plural(count-1, "further step"))
	}
	if worse && count > 0 {
		return doc.Bad(text)
	}
	return doc.Best(text)
}

func newDocument(t *Trend) *doc.Document {
	c := doc.Chapter{ID: "history", Facts: runFacts(t)}
	for _, l := range t.LeftOut {
		c.Alerts = append(c.Alerts, doc.Plain(fmt.Sprintf("Left out: %s (%s: %s).", l.Why, format.Plural(len(l.Runs), "run"), format.Few(l.Runs))))
	}
	var tables []*doc.Table
	if table := stepsTable(t); len(table.Rows) > 0 {
		tables = append(tables, table)
	}
	c.Sections = append(c.Sections, doc.Section{ID: "figures", Name: "Figures", Tables: append(tables, figuresTable(t))})
	if figure := drawing(t); len(figure.Lines) > 0 {
		c.Sections = append(c.Sections, doc.Section{ID: "charts", Title: "Run by run", Page: true, Figures: []*chart.Figure{figure}})
	}
	return &doc.Document{Title: "History of " + t.subject(), Headlines: []doc.Headline{{Answers: answers(t), Basis: []string{format.Plural(len(t.Figures), "figure"), fmt.Sprintf("%d of %s", len(t.Runs), format.Plural(t.Earlier+len(t.Runs), "comparable run"))}}}, Chapters: []doc.Chapter{c}, Elsewhere: "--format json has all",
		Closing: []doc.Span{
			doc.Dim(fmt.Sprintf("A step is a change of the level of a figure: E-divisive means with permutation tests over all figures together, after each run. Without a change, any step is reported in less than %.0f %% of years with a run every night, if one night says nothing about the next. A reported step is not withdrawn.", 100*stats.Alpha)),
			doc.Dim(fmt.Sprintf("noise: variation from run to run since the last step. finds: a step of this size is found within %d runs in about four of five cases.", FoundWithin)),
		}}
}

// runFacts describes the runs.
func runFacts(t *Trend) []doc.Fact {
	first, last := t.Runs[0], t.Runs[len(t.Runs)-1]
	list := []doc.Fact{
		{Key: "runs", Value: fmt.Sprintf("%d, from %s to %s; %d earlier ones", len(t.Runs), format.Time(first.Started), format.Time(last.Started), t.Earlier)},
		{Key: "newest", Value: last.ID + ", " + last.System},
	}
	if t.Reference != "" {
		list = append(list, doc.Fact{Key: "reference", Value: t.Reference + ": figures are those of " + t.Target + " divided by its, run by run"})
	}
	return list
}

func percent(share float64) string {
	return fmt.Sprintf("%.1f", 100*share) + format.UnitSpace + "%"
}

func stepsTable(t *Trend) *doc.Table {
	view := &doc.Table{Title: "Steps", Columns: []doc.Column{
		{Head: "figure"}, {Head: "change", Help: "of the level"}, {Head: "interval", Help: "of the change, 95 %"},
		{Head: "p", Help: "probability of such a step in any figure in a year without a change", Rank: 3},
		{Head: "first run", Words: true}, {Head: "date", Words: true, Rank: 1}, {Head: "changed with it", Words: true, Rank: 2},
	}}
	for i := range t.Figures {
		f := &t.Figures[i]
		for j := range f.Steps {
			s := &f.Steps[j]
			tone := format.ToneBest
			if s.Worse {
				tone = format.ToneBad
			}
			r := t.Runs[s.First]
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{
				doc.Plain(f.name()), doc.WithTone(signedPercent(change(s.Ratio)), tone), doc.Plain(signedPercent(change(s.Low)) + " to " + signedPercent(change(s.High))),
				doc.Plain(fmt.Sprintf("%.2g", s.P)), doc.Plain(r.ID), doc.Plain(r.Started.UTC().Format("2006-01-02")), doc.Plain(cmp.Or(t.changes(s), "no known version")),
			}})
		}
	}
	return view
}

func signedPercent(share float64) string {
	return fmt.Sprintf("%+.1f", 100*share) + format.UnitSpace + "%"
}

func figuresTable(t *Trend) *doc.Table {
	view := &doc.Table{Title: "Figures", Columns: []doc.Column{
		{Head: "figure"}, {Head: "newest"}, {Head: "interval", Rank: 2},
		{Head: "noise", Help: "variation from run to run since the last step"},
		{Head: "finds", Help: fmt.Sprintf("step that is found within %d runs in about four of five cases", FoundWithin)},
		{Head: "runs", Help: "with the figure", Rank: 1}, {Head: "steps"},
	}}
	for i := range t.Figures {
		f := &t.Figures[i]
		newest := f.Points[len(f.Points)-1]
		runs := 0
		for _, p := range f.Points {
			if p.Value > 0 {
				runs++
			}
		}
		cells := []doc.Span{doc.Plain(f.name()), doc.Plain(f.text(newest.Value)), doc.None(), doc.None(), doc.None(), doc.Plain(fmt.Sprint(runs)), doc.Plain(fmt.Sprint(len(f.Steps)))}
		if newest.Value == 0 {
			cells[1] = doc.Bad(newest.Missing)
		}
		if newest.Low > 0 {
			cells[2] = doc.Plain(f.text(newest.Low) + " to " + f.text(newest.High))
		}
		if f.Noise > 0 && runs > 1 {
			cells[3] = doc.Plain(percent(f.Noise))
		}
		if f.Resolution > 0 {
			cells[4] = doc.Plain(percent(f.Resolution))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	return view
}

// text renders a value of the figure.
func (f *Figure) text(v float64) string {
	switch f.Unit {
	case Ratio:
		return fmt.Sprintf("%.3f", v)
	case compare.Seconds:
		return format.Duration(v)
	case compare.Bytes:
		return format.Size(int64(v))
	}
	return format.Digits(v)
}

// line is a figure in a run.
type line struct {
	trend  *Trend
	figure *Figure
	run    int
}

func lines(t *Trend) (list []line) {
	for i := range t.Figures {
		for run := range t.Runs {
			list = append(list, line{t, &t.Figures[i], run})
		}
	}
	return list
}

// column is a column of the CSV.
type column write.Column[line]

func columns() []column {
	known := func(value func(Point) float64) func(line) any {
		return func(l line) any {
			if v := value(l.figure.Points[l.run]); v > 0 {
				return v
			}
			return nil
		}
	}
	step := func(value func(*Step) any) func(line) any {
		return func(l line) any {
			for i := range l.figure.Steps {
				if l.figure.Steps[i].First == l.run {
					return value(&l.figure.Steps[i])
				}
			}
			return nil
		}
	}
	return []column{
		{"run", "", "id", func(l line) any { return l.trend.Runs[l.run].ID }},
		{"started", "", "start of the run", func(l line) any { return l.trend.Runs[l.run].Started.UTC().Format("2006-01-02T15:04:05Z") }},
		{"system", "", "system with its version", func(l line) any { return l.trend.Runs[l.run].System }},
		{"target", "", "target", func(l line) any { return l.trend.Target }},
		{"reference", "", "target that the figures are divided by", func(l line) any { return l.trend.Reference }},
		{"subject", "", "query type, all types or load", func(l line) any { return l.figure.Subject }},
		{"metric", "", "metric", func(l line) any { return string(l.figure.Metric) }},
		{"unit", "", "unit of value", func(l line) any { return string(l.figure.Unit) }},
		{"better", "", "higher or lower", func(l line) any { return string(l.figure.Better) }},
		{"value", "as unit says", "figure", known(func(p Point) float64 { return p.Value })},
		{"low", "as unit says", "lower end of its interval", known(func(p Point) float64 { return p.Low })},
		{"high", "as unit says", "upper end of its interval", known(func(p Point) float64 { return p.High })},
		{"missing", "", "why there is no figure", func(l line) any { return l.figure.Points[l.run].Missing }},
		{"step", "", "ratio of the levels, in the first run after a step", step(func(s *Step) any { return s.Ratio })},
		{"step_low", "", "lower end of its interval", step(func(s *Step) any { return s.Low })},
		{"step_high", "", "upper end of its interval", step(func(s *Step) any { return s.High })},
		{"step_p", "", "corrected p-value of the step", step(func(s *Step) any { return s.P })},
	}
}
