package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/matrix"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// inOtherFormats names the formats with the columns that do not fit on a terminal.
const inOtherFormats = "CSV, JSON and HTML have all"

// document returns the report of runs, for formats that people read.
func (p *Report) document(of write.View) *doc.Document {
	d := &doc.Document{Title: "tsmark report", Glossary: true, Elsewhere: inOtherFormats, Marks: p.marks()}
	if len(p.runs) == 1 {
		d.Title = "tsmark run " + format.Join(" ", p.runs[0].ID, p.runs[0].Name)
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		h := rank.NewHeadline(g)
		if h == nil {
			h = &doc.Headline{}
		}
		if len(p.Groups) > 1 {
			h.Dataset = "Dataset " + format.Join(" ", g.Dataset.Spec.Name, g.Dataset.Fingerprint)
		}
		legend := chart.NewLegend(g.Labels())
		if rows := runchart.Relative(g, h, legend); rows != nil {
			h.Figure = &chart.Figure{Legend: legend, Rows: rows}
		}
		d.Headlines = append(d.Headlines, *h)
		d.Shared = append(d.Shared, sharedSections(g, legend, i, h.Dataset)...)
	}
	for i, r := range p.runs {
		c := newChapter(r, tables.All(p.own[i], r))
		if t := runchart.Timeline(r); t != nil {
			c.Sections = append(c.Sections, doc.Section{ID: "time-" + r.ID, Title: "Time line", Page: true, Folded: true, Notes: []doc.Span{doc.Plain(t.Help)}, Figures: []*chart.Figure{{Legend: t.Legend, Lines: t.Lines}}})
		}
		if codes := queryTexts(p.own[i]); len(codes) > 0 {
			c.Sections = append(c.Sections, doc.Section{ID: "texts-" + r.ID, Title: "Query texts and plans", Page: true, Folded: true, Codes: codes,
				Notes: []doc.Span{doc.Plain("The first query of each type as sent, and the plan of it where the system reports one.")}})
		}
		if of == write.IoTDB || matrix.Native(r.Dataset.Spec.Name) {
			c.Sections = append(c.Sections, doc.Section{ID: "matrices-" + r.ID, Title: "IoTDB-Benchmark's matrices of run " + r.ID, Page: true, Tables: matrix.Tables(r),
				Notes: []doc.Span{doc.Plain("The figures that IoTDB-Benchmark prints at the end of a test. Its columns have its names; further ones stand behind them.")}})
		}
		d.Chapters = append(d.Chapters, c)
	}
	if len(p.runs) > 0 {
		d.Closing = []doc.Span{doc.Dim(p.repeats())}
		d.More = "tsmark report"
		for i := range p.runs {
			d.More += " " + rank.ShortID(p.runs, i)
		}
		d.More += " --verbose shows each target's percentiles, its version and settings, the resources, the host, and how to repeat it."
	}
	return d
}

// queryTexts are the recorded texts and plans of each query type.
func queryTexts(g *rank.Group) []doc.Code {
	var list []doc.Code
	for _, t := range g.Types() {
		code := doc.Code{Title: t.Key}
		for i := range g.Subjects {
			s := &g.Subjects[i]
			q := s.Queries(t.Key)
			if q == nil || q.Text == "" {
				continue
			}
			code.Texts = append(code.Texts, doc.CodeText{Target: s.Label, Text: q.Text, Plan: q.Plan})
		}
		if len(code.Texts) > 0 {
			list = append(list, code)
		}
	}
	return list
}

// marks are the marks of pages. Those that all figures have are said once.
func (p *Report) marks() []doc.Mark {
	marks := rank.PageMarks()
	for i := range marks {
		m, figures := &marks[i], 0
		m.All = true
		for _, r := range p.runs {
			for j := range r.Targets {
				for _, of := range rank.Measurements(&r.Targets[j]) {
					figures++
					m.All = m.All && strings.Contains(rank.Marks(&r.Targets[j], of.Name), m.Sign)
				}
			}
		}
		m.All = m.All && figures > 0
	}
	return marks
}

// sharedSections set the targets of a group side by side.
func sharedSections(g *rank.Group, legend chart.Legend, n int, dataset string) []doc.Section {
	var list []doc.Section
	add := func(id, title, help string, folded bool, figure chart.Figure) {
		if figure.Rows == nil && len(figure.Lines) == 0 {
			return
		}
		figure.Legend = legend
		s := doc.Section{ID: fmt.Sprintf("%s-%d", id, n), Title: title, Page: true, Folded: folded, Figures: []*chart.Figure{&figure}}
		for _, text := range []string{dataset, help} {
			if text != "" {
				s.Notes = append(s.Notes, doc.Plain(text))
			}
		}
		list = append(list, s)
	}
	add("latency", "Query latency", format.Capital(g.TimeName())+" on a logarithmic scale: the marker is the median over the rounds, of the queries that all verified targets answered, as in the tables; the notch p95 and the end of the line p99 of all queries run, where there are enough. Shorter is better. Empty and withheld answers are not drawn.", false,
		chart.Figure{Rows: runchart.Ranges(g, legend)})
	compared := doc.Section{ID: fmt.Sprintf("comparison-%d", n), Name: "Comparison"}
	if view := tables.SideBySide(g); view != nil {
		compared.Tables = append(compared.Tables, view)
	}
	if view := tables.Winners(g); view != nil {
		view.Terminal = doc.OnRequest
		compared.Tables = append(compared.Tables, view)
	}
	if len(compared.Tables) > 0 {
		list = append(list, compared)
	}
	if view := tables.MixedSideBySide(g); view != nil {
		list = append(list, doc.Section{ID: fmt.Sprintf("mixed-%d", n), Name: "While rows were written", Tables: []*doc.Table{view}})
	}
	if view := tables.LifeSideBySide(g); view != nil {
		list = append(list, doc.Section{ID: fmt.Sprintf("life-%d", n), Name: "A year in the life", Tables: []*doc.Table{view}})
	}
	if lives := runchart.Lives(g, legend); lives != nil {
		add("life-time", "A year in the life: time line", "All charts have the same axis of time. The bands are the events.", false, *lives)
	}
	var crashes []*doc.Table
	for _, view := range []*doc.Table{tables.Crashes(g), tables.Recovery(g)} {
		if view != nil {
			crashes = append(crashes, view)
		}
	}
	if len(crashes) > 0 {
		list = append(list, doc.Section{ID: fmt.Sprintf("crashes-%d", n), Name: "Crashes", Tables: crashes})
	}
	if c := runchart.Recovery(g, legend); c != nil {
		add("recovery", "Recovery over size", "The time from the start of a restart until every acknowledged row was there again, on a logarithmic scale. Crashes that lost rows are left out.", false, chart.Figure{Lines: []*chart.Lines{c}})
	}
	var ingest chart.Figure
	for _, queryType := range g.MixedTypes() {
		if c := runchart.Ingest(g, legend, queryType); c != nil {
			ingest.Lines = append(ingest.Lines, c)
		}
	}
	add("ingest", "Latency against ingest", "The median of each query type over the rows written a second: at 0 alone, after the load, with the loop of the queries; further right while rows were written, with a bar up to p99.", false, ingest)
	loads := chart.Figure{Rows: runchart.Bars(g, legend)}
	if c := runchart.Rates(g, legend); c != nil {
		loads.Lines = append(loads.Lines, c)
	}
	add("loads", "Load", "", false, loads)
	var curves, dots chart.Figure
	for _, queryType := range g.Types() {
		for _, time := range runchart.DrawnTimes() {
			if c := runchart.Percentiles(g, legend, queryType, time); c != nil {
				curves.Lines = append(curves.Lines, c)
			}
		}
	}
	add("curves", "Percentile curves", "How long the slowest queries took: each further nine of the percentile has the same room. A flat line is a steady system. The curve is of all queries run, so its middle can differ from the median of the comparison. Markers stand at p90, p99 and p99.9.", true, curves)
	for _, subject := range append([]doc.Fact{{Key: runchart.LoadTitle}}, g.Types()...) {
		if c := runchart.Dots(g, legend, subject); c != nil {
			dots.Lines = append(dots.Lines, c)
		}
	}
	add("repeats", "Repeats", "A marker for each round or load: its median as a multiple of the median of all, on a logarithmic scale. Markers that rise or fall show drift. The bars at the right are where the median lies.", true, dots)
	return list
}

// newChapter returns the chapter of one run, with these tables.
func newChapter(r *result.Run, list []*doc.Table) doc.Chapter {
	c := doc.Chapter{
		Title: "Run " + r.ID, Name: r.Name, ID: r.ID, Outcome: facts.Outcome(r), Alerts: facts.Alerts(r), Facts: facts.List(r),
		Tiles: []doc.Fact{{Key: "workload", Value: r.Dataset.Spec.Name}, {Key: "rows", Value: format.Count(r.Dataset.Rows)},
			{Key: "metrics", Value: format.Count(r.Dataset.Metrics)}, {Key: "as line protocol", Value: format.Size(r.Dataset.RawBytes)}},
		Command: facts.Command(r), Repeat: facts.RepeatCommand(r), Remarks: facts.Remarks(r), OnRequest: true,
		Sections: []doc.Section{{ID: "run-" + r.ID, Tables: list}}, Experiment: r.Experiment,
	}
	for i := range r.Targets {
		c.Tiles = append(c.Tiles, doc.Fact{Key: "target", Value: r.Targets[i].Name})
		c.Folds = append(c.Folds, targetFold(&r.Targets[i]))
	}
	return c
}

// targetFold shows facts about a target other than its figures.
func targetFold(t *result.Target) doc.Fold {
	client := ""
	if t.Embedded {
		client = facts.Embedded
	}
	if t.CoLocated {
		client = facts.CoLocated
	}
	list := []doc.Fact{{Key: "driver", Value: t.Driver}, {Key: "system", Value: t.Description.System}, {Key: "version", Value: facts.Version(&t.Description)},
		{Key: "stand-in", Value: t.Description.StandIn}, {Key: "location", Value: t.Description.Location}, {Key: "adapter", Value: t.Adapter},
		{Key: "not loaded by tsmark", Value: t.Adopted}, {Key: "durability", Value: t.Description.Durability}, {Key: "result cache", Value: t.ResultCache.String()},
		{Key: "server", Value: facts.Server(t)}, {Key: "types", Value: t.Types}, {Key: "changed options", Value: facts.Changes(t.Changes)},
		{Key: "client modules", Value: facts.Modules(t.Modules)}, {Key: "client", Value: client}, {Key: "failure", Value: t.Failure}}
	fold := doc.Fold{Summary: "Target " + t.Label() + ": version, durability, settings", Facts: slices.DeleteFunc(list, func(f doc.Fact) bool { return f.Value == "" })}
	for _, g := range []doc.Group{{Title: "Options", Facts: doc.Pairs(t.Options)}, {Title: "Effective settings", Facts: doc.Pairs(t.Description.Settings)}} {
		if len(g.Facts) > 0 {
			fold.Groups = append(fold.Groups, g)
		}
	}
	return fold
}

// matrixDocument shows IoTDB-Benchmark's matrices of runs.
func matrixDocument(runs []*result.Run) *doc.Document {
	d := &doc.Document{Elsewhere: inOtherFormats}
	for _, r := range runs {
		c := newChapter(r, matrix.Tables(r))
		c.Experiment = ""
		d.Chapters = append(d.Chapters, c)
	}
	return d
}
