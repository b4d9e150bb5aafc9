package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// sweepView is what Text, Markdown and HTML show of a sweep.
type sweepView struct {
	Sweep   *result.Sweep
	Head    pageHead
	Answers []span
	Outcome span
	Alerts  []span
	Facts   []fact
	Tables  []*table
	Axes    []sweepAxis // HTML only
	Command string
	Again   string
	Runs    []fact // command that shows each, by its parameters; HTML only
}

// WriteSweep renders a sweep, of which runs are those that were begun, in the
// order of their points. JSON is an object of the sweep and its runs, CSV as
// Write's. Its errors are as Write's.
func WriteSweep(w io.Writer, format Format, s *result.Sweep, runs []*result.Run, opts Options) error {
	var err error
	switch format {
	case Text:
		err = writeSweepText(w, newSweepView(s, runs), opts)
	case Markdown:
		err = writeSweepMarkdown(w, newSweepView(s, runs))
	case CSV:
		err = Of(runs...).writeCSV(w)
	case JSON:
		err = writeSweepJSON(w, s, runs)
	case HTML:
		err = writeSweepHTML(w, s, runs)
	default:
		return unknownFormat(format, "sweeps")
	}
	if err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}

func newSweepView(s *result.Sweep, runs []*result.Run) *sweepView {
	view := &sweepView{
		Sweep: s, Head: pageHead{Title: "Sweep " + joined(" ", s.ID, s.Name)}, Answers: sweepAnswers(runs), Outcome: sweepOutcome(s, runs), Alerts: sweepAlerts(s, runs),
		Facts: sweepFacts(s, runs), Tables: sweepTables(runs), Command: shellWords(s.Args),
	}
	for _, a := range view.Answers {
		view.Head.say(a.Text)
	}
	if s.Experiment != "" {
		view.Again = fmt.Sprintf("tsmark report %s --experiment > experiment.yaml && tsmark run experiment.yaml", s.ID)
	}
	for _, r := range runs {
		view.Runs = append(view.Runs, fact{r.Parameters.String(), "tsmark report " + r.ID})
	}
	return view
}

// sweepOutcome is how far the sweep came, in a few words.
func sweepOutcome(s *result.Sweep, runs []*result.Run) span {
	complete, passed := 0, true
	for _, r := range runs {
		if r.Status == result.Complete {
			complete++
		}
		passed = passed && r.Passed()
	}
	switch {
	case complete < s.Points:
		return spanBad(fmt.Sprintf("incomplete, %d of %s", complete, plural(s.Points, "run")))
	case !passed:
		return spanBad("complete, figures withheld")
	}
	return spanBest("complete")
}

// sweepAlerts says once what holds for several runs.
func sweepAlerts(s *result.Sweep, runs []*result.Run) []span {
	var list []span
	var of [][]string
	for i, r := range runs {
		for _, a := range alertsBeside(r, otherDatabaseNames(r)) {
			at := slices.Index(list, a)
			if at < 0 {
				at = len(list)
				list, of = append(list, a), append(of, nil)
			}
			of[at] = append(of[at], shortID(runs, i))
		}
	}
	for i := range list {
		switch {
		case len(of[i]) < len(runs):
			list[i].Text = "In " + strings.Join(of[i], ", ") + ": " + list[i].Text
		case len(runs) > 1:
			list[i].Text = "In every run: " + list[i].Text
		}
	}
	if missing := s.Points - len(runs); missing > 0 {
		list = append(list, spanBad(fmt.Sprintf("%s not begun; tsmark resume %s goes on.", plural(missing, "run"), s.ID)))
	}
	return list
}

// sweepFacts is what all runs have in common.
func sweepFacts(s *result.Sweep, runs []*result.Run) []fact {
	list := []fact{{"started", moment(s.Started)}}
	for _, path := range swept(runs) {
		list = append(list, fact{"varied", path + ": " + strings.Join(valuesOf(runs, path), ", ")})
	}
	if len(runs) == 0 {
		return list
	}
	first := runs[0]
	common := func(key string, of func(*result.Run) string) {
		text := of(first)
		if text != "" && !slices.ContainsFunc(runs, func(r *result.Run) bool { return of(r) != text }) {
			list = append(list, fact{key, text})
		}
	}
	common("dataset", func(r *result.Run) string { return datasetFact(&r.Dataset) })
	common("queries", func(r *result.Run) string {
		drawn := &result.Run{QuerySets: r.QuerySets, QuerySeed: r.QuerySeed} // how many were run is each point's own
		if slices.ContainsFunc(runs, func(other *result.Run) bool { return other.QuerySeed != r.QuerySeed }) && len(r.QuerySets) > 0 {
			return drawnFact(drawn) + ", by a seed of each run's own"
		}
		return queriesFact(drawn)
	})
	common("host", func(r *result.Run) string { return hostFact(&r.Host) })
	common("tsmark", func(r *result.Run) string { return r.Tool.String() })
	for i := range first.Targets {
		common("target", func(r *result.Run) string {
			if i >= len(r.Targets) {
				return ""
			}
			t := &r.Targets[i]
			return t.Name + ": " + t.System() + changed(t)
		})
	}
	return list
}

// changed is the options of a target that are not the defaults.
func changed(t *result.Target) string {
	if text := changesFact(t.Changes); text != "" {
		return "; " + text
	}
	return ""
}

// sweepFact says where a run stands in a sweep; empty: nowhere.
func sweepFact(p *result.Place) string {
	if p.Sweep == "" {
		return ""
	}
	return joined(": ", fmt.Sprintf("%s, run %d of %d", p.Sweep, p.Point, p.Points), p.Parameters.String())
}

// swept lists the paths of the parameters of all runs.
func swept(runs []*result.Run) []string {
	var paths []string
	for _, r := range runs {
		for _, p := range r.Parameters {
			if !slices.Contains(paths, p.Path) {
				paths = append(paths, p.Path)
			}
		}
	}
	return paths
}

// independent lists those of the paths that no other one determines, in their order:
// where each number of hosts has a span of its own, the span is no parameter beside it.
// Each point has the values of all paths.
func independent(points []result.Parameters, paths []string) []string {
	// determines reports whether points that agree in a agree in b.
	determines := func(a, b string) bool {
		of := make(map[string]string)
		for _, p := range points {
			value := p.Value(b)
			if known, ok := of[p.Value(a)]; ok && known != value {
				return false
			}
			of[p.Value(a)] = value
		}
		return true
	}
	var list []string
	for i, path := range paths {
		redundant := false
		for j, other := range paths {
			redundant = redundant || i != j && determines(other, path) && (j < i || !determines(path, other))
		}
		if !redundant {
			list = append(list, path)
		}
	}
	return list
}

// varied lists the paths of the parameters in which runs differ, each by itself.
func varied(runs []*result.Run) []string {
	points := make([]result.Parameters, len(runs))
	for i, r := range runs {
		points[i] = r.Parameters
	}
	paths := slices.DeleteFunc(swept(runs), func(path string) bool { return len(valuesOf(runs, path)) < 2 })
	return independent(points, paths)
}

// valueOf returns the value that a parameter has in a run; empty: none.
func valueOf(r *result.Run, path string) string {
	return r.Parameters.Value(path)
}

// valuesOf lists the different values of a parameter in the order of the runs.
func valuesOf(runs []*result.Run, path string) []string {
	var values []string
	for _, r := range runs {
		if v := valueOf(r, path); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func writeSweepText(w io.Writer, view *sweepView, opts Options) error {
	t := newTextWriter(w, opts, "CSV, JSON and HTML have all")
	if t.answers(view.Answers); len(view.Answers) > 0 {
		t.line("")
	}
	t.line(t.paint(t.clean(view.Head.Title), "1") + "  " + t.toned(view.Outcome.Text, view.Outcome.Tone))
	for _, a := range view.Alerts {
		t.wrapped("", "  ", a)
	}
	for _, f := range append(view.Facts, view.repeating()...) {
		t.wrapped(pad("  "+f.Key, 11, false), "           ", spanPlain(f.Value))
	}
	for _, one := range view.Tables {
		t.table(one)
	}
	return t.Flush()
}

// repeating says how to do the sweep again.
func (v *sweepView) repeating() []fact {
	return slices.DeleteFunc([]fact{{"command", v.Command}, {"repeat", v.Again}}, func(f fact) bool { return f.Value == "" })
}

func writeSweepMarkdown(w io.Writer, view *sweepView) error {
	m := markdownWriter{bufio.NewWriter(w)}
	m.answers(view.Answers)
	fmt.Fprintf(m, "# %s: %s\n\n", escapeMarkdown(view.Head.Title), view.Outcome.Text)
	m.preamble(view.Alerts, view.Facts, joined("\n", view.Command, view.Again))
	m.tables(view.Tables)
	m.experiment(view.Sweep.Experiment)
	return m.Flush()
}

func writeSweepJSON(w io.Writer, s *result.Sweep, runs []*result.Run) error {
	headline := []string{}
	for _, a := range sweepAnswers(runs) {
		headline = append(headline, a.Text)
	}
	return writeIndented(w, struct {
		Headline []string      `json:"headline"`
		Sweep    *result.Sweep `json:"sweep"`
		Runs     []runJSON     `json:"runs"`
	}{headline, s, Of(runs...).withFigures()})
}

func writeSweepHTML(w io.Writer, s *result.Sweep, runs []*result.Run) error {
	t, err := pageTemplates("sweep.html")
	if err != nil {
		return err
	}
	view := newSweepView(s, runs)
	view.Axes = sweepAxes(runs)
	return t.Execute(w, view)
}
