// Package sweep reports the runs of a sweep.
package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// Write renders a sweep. The runs are the ones that were begun, in the order of their
// points. JSON is an object of the sweep and its runs, CSV has the lines of the runs.
func Write(w io.Writer, format write.Format, s *result.Sweep, runs []*result.Run, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, newDocument(s, runs), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, newDocument(s, runs))
	case write.CSV:
		err = report.New(runs...).WriteCSV(w)
	case write.JSON:
		err = writeJSON(w, s, runs)
	case write.HTML:
		err = write.WriteHTML(w, newDocument(s, runs), opts)
	default:
		return write.UnknownFormat(format, "sweeps")
	}
	if err != nil {
		return fmt.Errorf("writing the %s report: %w", format, err)
	}
	return nil
}

func newDocument(s *result.Sweep, runs []*result.Run) *doc.Document {
	c := doc.Chapter{
		Title: "Sweep " + format.Join(" ", s.ID, s.Name), ID: s.ID, Outcome: sweepOutcome(s, runs), Alerts: sweepAlerts(s, runs),
		Facts: sweepFacts(s, runs), Command: format.ShellWords(s.Args), Experiment: s.Experiment,
	}
	if s.Experiment != "" {
		c.Repeat = fmt.Sprintf("tsmark report %s --experiment > experiment.yaml && tsmark run experiment.yaml", s.ID)
	}
	c.Sections = append(c.Sections, rampSections(runs)...)
	for i, figure := range sweepFigures(runs) {
		title := figure.Title
		figure.Title = ""
		c.Sections = append(c.Sections, doc.Section{ID: fmt.Sprintf("axis-%d", i), Title: title, Page: true, Figures: []*chart.Figure{figure},
			Notes: []doc.Span{doc.Plain("Markers are medians; the bars through them are where the medians lie, over the repeats, or within the run where there is one. Load rates start at 0; times, and parameters that are numbers, are on logarithmic scales.")}})
	}
	if list := sweepTables(runs); len(list) > 0 {
		c.Sections = append(c.Sections, doc.Section{ID: "tables", Name: "Tables", Tables: list})
	}
	points := doc.Section{ID: "runs", Title: "Runs", Page: true, Notes: []doc.Span{doc.Plain("Each point is a run with a report of its own: all figures, resources and provenance.")}}
	for _, r := range runs {
		points.Facts = append(points.Facts, doc.Fact{Key: r.Parameters.String(), Value: "tsmark report " + r.ID})
	}
	c.Sections = append(c.Sections, points)
	return &doc.Document{Title: c.Title, Headlines: []doc.Headline{{Answers: Answers(runs)}}, Chapters: []doc.Chapter{c}, Glossary: true, Marks: rank.PageMarks(), Elsewhere: "CSV, JSON and HTML have all"}
}

// sweepOutcome describes the progress of the sweep in a few words.
func sweepOutcome(s *result.Sweep, runs []*result.Run) doc.Span {
	complete, passed := 0, true
	for _, r := range runs {
		if r.Status == result.Complete {
			complete++
		}
		passed = passed && r.Passed()
	}
	switch {
	case complete < s.Points:
		return doc.Bad(fmt.Sprintf("incomplete, %d of %s", complete, format.Plural(s.Points, "run")))
	case !passed:
		return doc.Bad("complete, figures withheld")
	}
	return doc.Best("complete")
}

// sweepAlerts returns alerts about several runs, each once.
func sweepAlerts(s *result.Sweep, runs []*result.Run) []doc.Span {
	var list []doc.Span
	var of [][]string
	for i, r := range runs {
		for _, a := range facts.AlertsBeside(r, facts.OtherDatabaseNames(r)) {
			at := slices.Index(list, a)
			if at < 0 {
				at = len(list)
				list, of = append(list, a), append(of, nil)
			}
			of[at] = append(of[at], rank.ShortID(runs, i))
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
		list = append(list, doc.Bad(fmt.Sprintf("%s not begun; tsmark resume %s goes on.", format.Plural(missing, "run"), s.ID)))
	}
	return list
}

// sweepFacts returns the common facts of all runs.
func sweepFacts(s *result.Sweep, runs []*result.Run) []doc.Fact {
	list := []doc.Fact{{Key: "started", Value: format.Time(s.Started)}}
	for _, path := range parameterPaths(runs) {
		list = append(list, doc.Fact{Key: "varied", Value: path + ": " + strings.Join(parameterValues(runs, path), ", ")})
	}
	if len(runs) == 0 {
		return list
	}
	first := runs[0]
	common := func(key string, of func(*result.Run) string) {
		text := of(first)
		if text != "" && !slices.ContainsFunc(runs, func(r *result.Run) bool { return of(r) != text }) {
			list = append(list, doc.Fact{Key: key, Value: text})
		}
	}
	common("dataset", func(r *result.Run) string { return facts.Dataset(&r.Dataset) })
	common("queries", func(r *result.Run) string {
		drawn := &result.Run{QuerySets: r.QuerySets, QuerySeed: r.QuerySeed} // each point has its own number of executed queries
		if slices.ContainsFunc(runs, func(other *result.Run) bool { return other.QuerySeed != r.QuerySeed }) && len(r.QuerySets) > 0 {
			return facts.QueriesDrawn(drawn) + ", by a seed of each run's own"
		}
		return facts.Queries(drawn)
	})
	common("host", func(r *result.Run) string { return facts.Host(&r.Host) })
	common("tsmark", func(r *result.Run) string { return r.Tool.String() })
	for i := range first.Targets {
		common("target", func(r *result.Run) string {
			if i >= len(r.Targets) {
				return ""
			}
			t := &r.Targets[i]
			return t.Name + ": " + t.System() + changedOptions(t)
		})
	}
	return list
}

// changedOptions returns the options of a target that differ from the defaults.
func changedOptions(t *result.Target) string {
	if text := facts.Changes(t.Changes); text != "" {
		return "; " + text
	}
	return ""
}

// parameterPaths lists the paths of the parameters of all runs.
func parameterPaths(runs []*result.Run) []string {
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

// IndependentPaths lists the paths that no other path determines, in their order:
// if each number of hosts has a span of its own, the span is not a parameter beside it.
// Each point has the values of all paths.
func IndependentPaths(points []result.Parameters, paths []string) []string {
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

// varyingPaths lists the paths of the parameters in which runs differ, each by itself.
func varyingPaths(runs []*result.Run) []string {
	points := make([]result.Parameters, len(runs))
	for i, r := range runs {
		points[i] = r.Parameters
	}
	paths := slices.DeleteFunc(parameterPaths(runs), func(path string) bool { return len(parameterValues(runs, path)) < 2 })
	return IndependentPaths(points, paths)
}

// parameterValues lists the different values of a parameter in the order of the runs.
func parameterValues(runs []*result.Run, path string) []string {
	var values []string
	for _, r := range runs {
		if v := r.Parameters.Value(path); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

func writeJSON(w io.Writer, s *result.Sweep, runs []*result.Run) error {
	return write.WriteJSON(w, struct {
		Headline []string         `json:"headline"`
		Sweep    *result.Sweep    `json:"sweep"`
		Runs     []report.RunJSON `json:"runs"`
	}{doc.Texts(Answers(runs)), s, report.New(runs...).WithFigures()})
}
