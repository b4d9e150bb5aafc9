package report

import (
	"embed"
	"io"
	"slices"

	"github.com/tsmark/tsmark/report/matrix"
	"github.com/tsmark/tsmark/result"
)

//go:embed page.html verification.html sweep.html compare.html reproduction.html live.html live.js parts.html style.css
var pageFiles embed.FS

// page is what the template shows.
type page struct {
	Head    pageHead
	Links   []Link
	Repeats string
	Runs    []pageRun
	Groups  []pageGroup
}

// pageGroup is the charts of all subjects with one dataset.
type pageGroup struct {
	Dataset    *result.Dataset
	Legend     legend
	Headline   *headline
	Relative   *relative
	Ranges     *ranges
	Comparison *table
	Winners    *table
	Curves     []*lines
	Dots       []*lines
	Loads      bars
	Rates      *lines
}

type pageRun struct {
	ID, Name string
	Outcome  span
	Alerts   []span
	Facts    []fact
	Tables   []*table
	Matrices []*table // IoTDB-Benchmark's
	Timeline *timeline
	Targets  []pageTarget
	Command  string
	Again    string
	Run      *result.Run
}

type pageTarget struct {
	Name     string
	Facts    []fact
	Options  []fact
	Settings []fact
}

func (p *Report) writeHTML(w io.Writer, of View, opts Options) error {
	t, err := pageTemplates("page.html")
	if err != nil {
		return err
	}
	out := page{Head: pageHead{Title: "tsmark report", URL: opts.URL}, Links: opts.Links, Repeats: p.repeats()}
	if len(p.runs) == 1 {
		out.Head.Title = "tsmark run " + joined(" ", p.runs[0].ID, p.runs[0].Name)
	}
	for i, r := range p.runs {
		out.Runs = append(out.Runs, newPageRun(p.own[i], r, of))
	}
	for i := range p.groups {
		g := &p.groups[i]
		l, h := newLegend(g.labels()), newHeadline(g)
		out.Head.of(h)
		view := pageGroup{Dataset: g.dataset, Legend: l, Headline: h, Relative: newRelative(g, h, l), Ranges: newRanges(g, l), Comparison: comparison(g), Winners: winnersTable(g), Loads: newBars(g, l), Rates: newRates(g, l)}
		for _, queryType := range g.types() {
			for _, time := range drawnTimes() {
				if c := newPercentiles(g, l, queryType, time); c != nil {
					view.Curves = append(view.Curves, c)
				}
			}
		}
		for _, what := range append([]fact{{loadTitle, ""}}, g.types()...) {
			if c := newDots(g, l, what); c != nil {
				view.Dots = append(view.Dots, c)
			}
		}
		out.Groups = append(out.Groups, view)
	}
	return t.Execute(w, out)
}

func newPageRun(g *group, r *result.Run, of View) pageRun {
	view := pageRun{ID: r.ID, Name: r.Name, Outcome: outcome(r), Alerts: alerts(r), Facts: facts(r), Command: command(r), Again: elsewhere(r), Run: r}
	for i := range r.Targets {
		t := &r.Targets[i]
		facts := []fact{{"driver", t.Kind}, {"system", t.Description.System}, {"version", version(&t.Description)}, {"stand-in", t.Description.StandIn}, {"location", t.Description.Location}, {"adapter", t.Adapter}, {"not loaded by tsmark", t.Adopted}, {"durability", t.Description.Durability},
			{"result cache", t.ResultCache.String()}, {"server", startedFact(t)}, {"types", t.Types}, {"changed options", changesFact(t.Changes)}, {"client modules", modulesFact(t.Modules)}}
		if t.Embedded {
			facts = append(facts, fact{"client", embedded})
		}
		if t.CoLocated {
			facts = append(facts, fact{"client", coLocated})
		}
		if t.Failure != "" {
			facts = append(facts, fact{"failure", t.Failure})
		}
		view.Targets = append(view.Targets, pageTarget{
			Name:     t.Label(),
			Facts:    slices.DeleteFunc(facts, func(f fact) bool { return f.Value == "" }),
			Options:  pairs(t.Options),
			Settings: pairs(t.Description.Settings),
		})
	}
	view.Tables, view.Timeline = tables(g, r), newTimeline(r)
	if of == IoTDB || matrix.Native(r.Dataset.Spec.Name) {
		view.Matrices = matrixTables(r)
	}
	return view
}

// pairs lists a map by key. An empty value is the system's own default.
func pairs(m map[string]string) []fact {
	list := make([]fact, 0, len(m))
	for k, v := range m {
		if v == "" {
			v = "(the system's own)"
		}
		list = append(list, fact{k, v})
	}
	slices.SortFunc(list, func(a, b fact) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return list
}
