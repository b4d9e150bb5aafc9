package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/why"
	"github.com/tsmark/tsmark/report/write"
)

// WriteFolded renders a comparison as Text beside the report of a run: figures that show no difference,
// or have no verdict, are summed up in a line each. more says where the others are.
func WriteFolded(w io.Writer, c *compare.Comparison, opts write.Options, more string) error {
	d := newDocument(c)
	d.Closing = []doc.Span{doc.Dim(more)}
	for i := range c.Targets {
		s := &d.Chapters[0].Sections[i]
		s.Tables, s.Notes = foldedTables(&c.Targets[i])
	}
	if err := write.WriteText(w, d, opts); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// Write renders a comparison. Its errors are those of w, and formats
// that do not exist.
func Write(w io.Writer, format write.Format, c *compare.Comparison, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, newDocument(c), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, newDocument(c))
	case write.CSV:
		err = writeCSV(w, c)
	case write.JSON:
		err = writeJSON(w, c)
	case write.HTML:
		err = write.WriteHTML(w, newDocument(c), opts)
	default:
		return write.UnknownFormat(format, "comparisons")
	}
	if err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func newDocument(c *compare.Comparison) *doc.Document {
	chapter := doc.Chapter{ID: "comparison", Facts: partyFacts(c)}
	for _, n := range c.Notes {
		chapter.Alerts = append(chapter.Alerts, doc.Bad(n))
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		s := doc.Section{ID: fmt.Sprintf("target-%d", i), Name: target.B.Name, Facts: []doc.Fact{{Key: "A", Value: rank.AboutSubject(&target.A)}, {Key: "B", Value: rank.AboutSubject(&target.B)}}, Tables: Tables(target)}
		if len(s.Tables) > 0 && s.Tables[0].Figure != nil {
			s.Tables[0].Figure.Help = "The marker is the ratio of B to A on a logarithmic scale, the line its interval. An interval that does not cross the middle shows a difference where there are enough repeats."
		}
		for _, n := range target.Notes {
			if last := len(s.Tables) - 1; last >= 0 {
				s.Tables[last].Notes = append(s.Tables[last].Notes, doc.Dim(n))
			} else {
				s.Notes = append(s.Notes, doc.Dim(n))
			}
		}
		chapter.Sections = append(chapter.Sections, s)
	}
	var targets []*compare.Target
	for i := range c.Targets {
		targets = append(targets, &c.Targets[i])
		if s := explain(&c.Targets[i], fmt.Sprintf("why-%d", i)); s != nil {
			chapter.Sections = append(chapter.Sections, *s)
		}
	}
	d := &doc.Document{Title: "Comparison", Chapters: []doc.Chapter{chapter}, Marks: Marks(targets...), Elsewhere: "--format json has all"}
	for _, h := range Headlines(c) {
		d.Headlines = append(d.Headlines, *h)
	}
	for _, n := range comparisonHelp() {
		d.Closing = append(d.Closing, doc.Dim(n))
	}
	return d
}

// explain returns plans, reads and profiles of the query types in which two targets of one system differ, or
// nil.
func explain(target *compare.Target, id string) *doc.Section {
	if target.A.Driver != target.B.Driver {
		return nil
	}
	a, b := "A: "+target.A.Name, "B: "+target.B.Name
	var list []why.Difference
	for i := range target.Figures {
		if f := &target.Figures[i]; f.Metric == compare.Median && f.Significant() {
			list = append(list, why.Difference{Type: f.Subject, Title: f.Subject + ", B " + string(f.Verdict), A: why.Side{Name: a, Targets: target.A.Targets()}, B: why.Side{Name: b, Targets: target.B.Targets()}})
		}
	}
	return why.Section(id, list)
}

// writeJSON writes the headline before the comparison itself.
func writeJSON(w io.Writer, c *compare.Comparison) error {
	out := struct {
		Headline []string `json:"headline"`
		*compare.Comparison
	}{Comparison: c}
	for _, h := range Headlines(c) {
		out.Headline = append(out.Headline, doc.Texts(h.Answers)...)
	}
	return write.WriteJSON(w, out)
}

// comparisonHelp says how to read the tables.
func comparisonHelp() []string {
	return []string{
		"A, B: medians over the rounds of all runs of a side, of the queries that both sides answered, or, if each run drew its own, of as many on each side. B/A: the quotient of the two medians; ≥ and ≤ where some were cut off.",
		fmt.Sprintf("interval: where the ratio lies with %.0f %%, if no other level is said, from the ratios of all pairs of rounds; of one repeat a side, as if nothing differed from repeat to repeat. p: Mann-Whitney, corrected by Holm for the number of figures that are judged together; below %.2f a difference is shown. \"No difference shown\" is a tie and does not prove that the sides are equal.",
			100*stats.Confidence, stats.Alpha),
		"Intervals and verdicts cover what differed between the rounds of these runs: not another day, another machine or other data.",
	}
}

// partyFacts describes the runs of both sides.
func partyFacts(c *compare.Comparison) []doc.Fact {
	var list []doc.Fact
	for _, side := range []struct {
		name string
		compare.Party
	}{{"A", c.A}, {"B", c.B}} {
		text := strings.Join(side.Runs, ", ")
		if side.Target != "" {
			text += ", target " + side.Target
		}
		list = append(list, doc.Fact{Key: side.name, Value: text})
	}
	return list
}
