package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/write"
)

// Write renders a comparison. Its errors are those of w, and formats
// that do not exist.
func Write(w io.Writer, format write.Format, c *compare.Comparison, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = writeComparisonText(w, c, opts)
	case write.Markdown:
		err = writeComparisonMarkdown(w, c)
	case write.CSV:
		err = writeComparisonCSV(w, c)
	case write.JSON:
		err = writeComparisonJSON(w, c)
	case write.HTML:
		err = writeComparisonHTML(w, c)
	default:
		return write.UnknownFormat(format, "comparisons")
	}
	if err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

// writeComparisonText leaves columns out until the tables fit.
func writeComparisonText(w io.Writer, c *compare.Comparison, opts write.Options) error {
	t := write.NewText(w, opts, "--format json has all")
	for _, h := range Headlines(c) {
		t.Answers(h.Answers)
		t.Wrapped("", "", doc.Plain(strings.Join(h.Basis, " · ")))
		t.Line("")
	}
	for _, side := range partyFacts(c) {
		t.Wrapped(t.Paint(side.Key, "1")+"  ", "   ", doc.Plain(side.Value))
	}
	for _, n := range c.Notes {
		t.Wrapped("", "  ", doc.Bad(n))
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		for _, view := range Tables(target) {
			t.Table(view)
		}
		for _, n := range target.Notes {
			t.Wrapped("  ", "  ", doc.Dim(n))
		}
	}
	t.Line("")
	for _, n := range comparisonHelp() {
		t.Wrapped("", "  ", doc.Dim(n))
	}
	return t.Flush()
}

// writeComparisonJSON writes the headline before the comparison itself.
func writeComparisonJSON(w io.Writer, c *compare.Comparison) error {
	out := struct {
		Headline []string `json:"headline"`
		*compare.Comparison
	}{Comparison: c}
	for _, h := range Headlines(c) {
		for _, a := range h.Answers {
			out.Headline = append(out.Headline, a.Text)
		}
	}
	return write.Indented(w, out)
}

// comparisonHelp says how to read the tables.
func comparisonHelp() []string {
	return []string{
		"A, B: medians over the rounds of all runs of a side, of the queries that both sides answered, or, if each run drew its own, of as many on each side. B/A: the quotient of the two medians; ≥ and ≤ where some were cut off.",
		fmt.Sprintf("interval: where the ratio lies with %.0f %%, if no other level is said, from the ratios of all pairs of rounds; of one repeat a side, as if nothing differed from repeat to repeat. p: Mann-Whitney, corrected by Holm for the number of figures that are judged together; below %.2f a difference is shown. \"No difference shown\" is a tie, which does not prove that there is none.",
			100*stats.Confidence, stats.Alpha),
		"Intervals and verdicts cover what differed between the rounds of these runs: not another day, another machine or other data.",
	}
}

// partyFacts are the runs of both sides.
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
