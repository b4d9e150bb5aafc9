package report

import (
	"io"
	"slices"

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

// page is what the template shows.
type page struct {
	Head    write.Head
	Links   []write.Link
	Repeats string
	Runs    []pageRun
	Groups  []pageGroup
}

// pageGroup is the charts of all subjects with one dataset.
type pageGroup struct {
	Dataset    *result.Dataset
	Legend     chart.Legend
	Headline   *doc.Headline
	Relative   *chart.Relative
	Ranges     *chart.Ranges
	Comparison *doc.Table
	Winners    *doc.Table
	Curves     []*chart.Lines
	Dots       []*chart.Lines
	Loads      chart.Bars
	Rates      *chart.Lines
}

type pageRun struct {
	ID, Name string
	Outcome  doc.Span
	Alerts   []doc.Span
	Facts    []doc.Fact
	Tables   []*doc.Table
	Matrices []*doc.Table // IoTDB-Benchmark's
	Timeline *chart.Timeline
	Targets  []pageTarget
	Command  string
	Again    string
	Run      *result.Run
}

type pageTarget struct {
	Name     string
	Facts    []doc.Fact
	Options  []doc.Fact
	Settings []doc.Fact
}

func (p *Report) writeHTML(w io.Writer, of write.View, opts write.Options) error {
	t, err := write.Templates("page.html")
	if err != nil {
		return err
	}
	out := page{Head: write.Head{Title: "tsmark report", URL: opts.URL}, Links: opts.Links, Repeats: p.repeats()}
	if len(p.runs) == 1 {
		out.Head.Title = "tsmark run " + format.Join(" ", p.runs[0].ID, p.runs[0].Name)
	}
	for i, r := range p.runs {
		out.Runs = append(out.Runs, newPageRun(p.own[i], r, of))
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		l, h := chart.NewLegend(g.Labels()), rank.NewHeadline(g)
		out.Head.Add(h)
		view := pageGroup{Dataset: g.Dataset, Legend: l, Headline: h, Relative: runchart.Relative(g, h, l), Ranges: runchart.Ranges(g, l), Comparison: tables.SideBySide(g), Winners: tables.Winners(g), Loads: runchart.Bars(g, l), Rates: runchart.Rates(g, l)}
		for _, queryType := range g.Types() {
			for _, time := range runchart.DrawnTimes() {
				if c := runchart.Percentiles(g, l, queryType, time); c != nil {
					view.Curves = append(view.Curves, c)
				}
			}
		}
		for _, what := range append([]doc.Fact{{Key: runchart.LoadTitle, Value: ""}}, g.Types()...) {
			if c := runchart.Dots(g, l, what); c != nil {
				view.Dots = append(view.Dots, c)
			}
		}
		out.Groups = append(out.Groups, view)
	}
	return t.Execute(w, out)
}

func newPageRun(g *rank.Group, r *result.Run, of write.View) pageRun {
	view := pageRun{ID: r.ID, Name: r.Name, Outcome: facts.Outcome(r), Alerts: facts.Alerts(r), Facts: facts.List(r), Command: facts.Command(r), Again: facts.RepeatCommand(r), Run: r}
	for i := range r.Targets {
		t := &r.Targets[i]
		known := []doc.Fact{{Key: "driver", Value: t.Driver}, {Key: "system", Value: t.Description.System}, {Key: "version", Value: facts.Version(&t.Description)}, {Key: "stand-in", Value: t.Description.StandIn}, {Key: "location", Value: t.Description.Location}, {Key: "adapter", Value: t.Adapter}, {Key: "not loaded by tsmark", Value: t.Adopted}, {Key: "durability", Value: t.Description.Durability},
			{Key: "result cache", Value: t.ResultCache.String()}, {Key: "server", Value: facts.Server(t)}, {Key: "types", Value: t.Types}, {Key: "changed options", Value: facts.Changes(t.Changes)}, {Key: "client modules", Value: facts.Modules(t.Modules)}}
		if t.Embedded {
			known = append(known, doc.Fact{Key: "client", Value: facts.Embedded})
		}
		if t.CoLocated {
			known = append(known, doc.Fact{Key: "client", Value: facts.CoLocated})
		}
		if t.Failure != "" {
			known = append(known, doc.Fact{Key: "failure", Value: t.Failure})
		}
		view.Targets = append(view.Targets, pageTarget{
			Name:     t.Label(),
			Facts:    slices.DeleteFunc(known, func(f doc.Fact) bool { return f.Value == "" }),
			Options:  doc.Pairs(t.Options),
			Settings: doc.Pairs(t.Description.Settings),
		})
	}
	view.Tables, view.Timeline = tables.All(g, r), runchart.Timeline(r)
	if of == write.IoTDB || matrix.Native(r.Dataset.Spec.Name) {
		view.Matrices = matrix.Tables(r)
	}
	return view
}
