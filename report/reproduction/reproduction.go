// Package reproduction reports a published document beside one's own measurements: which
// claims hold, and its tables and figures with both values.
package reproduction

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Report is a document with the measurements that reproduce it.
type Report struct {
	Document *document.Document
	Measured claims.Measured
	Findings []claims.Finding
}

// New judges a document's claims by runs of its experiments.
func New(d *document.Document, m claims.Measured) *Report {
	return &Report{d, m, claims.Judge(d, m)}
}

// Write renders it. Its errors are those of w, and formats that do not exist.
func (p *Report) Write(w io.Writer, format write.Format, opts write.Options) error {
	var err error
	switch format {
	case write.Text:
		err = write.WriteText(w, p.Contents(), opts)
	case write.Markdown:
		err = write.WriteMarkdown(w, p.Contents())
	case write.HTML:
		err = write.WriteHTML(w, p.Contents(), opts)
	case write.CSV:
		err = p.writeCSV(w)
	case write.JSON:
		err = p.writeJSON(w)
	default:
		err = fmt.Errorf("reproductions have no format %q; known: text, markdown, csv, json, html", format)
	}
	if err != nil {
		return fmt.Errorf("writing the reproduction: %w", err)
	}
	return nil
}

// Summary counts the verdicts on claims in one line.
func (p *Report) Summary() string {
	count := make(map[claims.Verdict]int)
	limited := 0
	for i := range p.Findings {
		count[p.Findings[i].Verdict]++
		if p.Findings[i].SettingsOnly() {
			limited++
		}
	}
	var parts []string
	for _, v := range []struct {
		verdict   claims.Verdict
		one, many string
	}{
		{claims.Holds, "holds", "hold"}, {claims.DoesNotHold, "does not hold", "do not hold"},
		{claims.Tie, "is a tie", "are ties"}, {claims.NotTested, "was not tested", "were not tested"},
	} {
		parts = append(parts, format.CountOf(int64(count[v.verdict]), v.one, v.many))
	}
	text := fmt.Sprintf("Of %s: %s.", format.Plural(len(p.Findings), "claim"), strings.Join(parts, ", "))
	if limited > 0 {
		text += fmt.Sprintf(" At these settings only: %d.", limited)
	}
	return text
}

// partialVerdicts counts the verdicts on a part of a claim, or returns "".
func (p *Report) partialVerdicts() string {
	n := 0
	for _, f := range p.Findings {
		if f.InPart {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Verdicts on a part of a claim only, which they name: %d.", n)
}

// Contents returns the content for all formats.
func (p *Report) Contents() *doc.Document {
	d, runs := p.Document, p.runs()
	c := doc.Chapter{ID: "claims", Alerts: reproductionAlerts(append(runs, p.correctnessRuns()...)), Facts: []doc.Fact{{Key: "document", Value: d.Title}, {Key: "authors", Value: d.Authors}, {Key: "size", Value: string(p.Measured.Size)}}}
	if len(runs) > 0 {
		c.Facts = append(c.Facts, doc.Fact{Key: "host", Value: facts.Host(&runs[0].Host)}, doc.Fact{Key: "tsmark", Value: toolVersions(runs)}, doc.Fact{Key: "measured", Value: format.Time(runs[0].Started)})
	}
	for i := range d.Systems {
		c.Facts = append(c.Facts, doc.Fact{Key: d.Systems[i].Driver, Value: SystemText(d, &d.Systems[i], runs) + p.correctness(d.Systems[i].Driver)})
	}
	answers := []doc.Span{doc.Strong(p.Summary())}
	for _, text := range []string{p.partialVerdicts(), p.ChangedVerdicts()} {
		if text != "" {
			answers = append(answers, doc.Plain(text))
		}
	}
	c.Sections = []doc.Section{{ID: "claims", Name: "Claims", Tables: []*doc.Table{claimTable(p.Findings)}}}
	for i := range d.Experiments {
		if part := p.Part(&d.Experiments[i]); len(part.Tables)+len(part.Figures) > 0 {
			c.Sections = append(c.Sections, part)
		}
	}
	c.Sections = append(c.Sections, repetition(d))
	out := &doc.Document{Title: "Reproduction of " + d.Name, Headlines: []doc.Headline{{Answers: answers}}, Chapters: []doc.Chapter{c}, Elsewhere: "Markdown and HTML have all",
		More: "--verbose shows the figures of each experiment, and every comparison of each claim; the page has charts."}
	for _, text := range reproductionHelp() {
		out.Closing = append(out.Closing, doc.Dim(text))
	}
	return out
}

// ChangedVerdicts names the claims on which TSBS's own texts change the verdict, and counts the
// claims that they decide. It is empty if these texts were not run.
func (p *Report) ChangedVerdicts() string {
	run, judged := 0, 0
	var ids []string
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Verbatim == "" {
			continue
		}
		run++
		if f.Verbatim != claims.NotTested {
			judged++
		}
		if f.Changes() {
			ids = append(ids, fmt.Sprintf("%s (%s with them, %s with equal queries)", f.Claim.ID, f.Verbatim, f.Verdict))
		}
	}
	if run == 0 {
		return ""
	}
	text := fmt.Sprintf("With TSBS's own texts, which are not verified and request less from some systems, %d of %s about queries could be judged", judged, format.Plural(run, "claim"))
	switch {
	case len(ids) > 0:
		return text + "; they turn " + strings.Join(ids, ", ") + "."
	case judged > 0:
		return text + ", none of them otherwise than with equal queries."
	}
	return text + "."
}

// reproductionAlerts are the doubts that runs raise, each once. Noisy figures and pauses are listed
// in each run's own report: here they are counted.
func reproductionAlerts(runs []*result.Run) []doc.Span {
	var list []doc.Span
	noisy := 0
	for _, r := range runs {
		isNoisy := false
		for _, a := range facts.Alerts(r) {
			switch {
			case strings.HasPrefix(a.Text, "NOISY HOST"):
				isNoisy = true
			case a.Text == facts.PausedNote(r):
			case !strings.HasPrefix(a.Text, "Another process") && !slices.Contains(list, a):
				list = append(list, a)
			}
		}
		if isNoisy {
			noisy++
		}
	}
	if text := facts.PausedNote(runs...); text != "" {
		list = append(list, doc.Bad(text))
	}
	if noisy > 0 {
		list = append(list, doc.Bad(fmt.Sprintf("Noisy host in %d of %s: other processes used part of the machine; tsmark report RUN says which.", noisy, format.Plural(len(runs), "run"))))
	}
	return list
}

// runs returns the runs of all experiments, in the document's order.
func (p *Report) runs() []*result.Run {
	var all []*result.Run
	for _, e := range p.Document.Experiments {
		all = append(all, p.Measured.Runs[e.Name]...)
	}
	return all
}

// toolVersions lists the builds of tsmark that made the runs.
func toolVersions(runs []*result.Run) string {
	var list []string
	for _, r := range runs {
		text := r.Tool.String()
		if r.Tool.Commit == "" {
			text += " (built outside a clone of its repository, or with -buildvcs=false)"
		}
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, "; ")
}

// systemVersion returns the measured version of a system.
func systemVersion(runs []*result.Run, driver string) string {
	for _, r := range runs {
		for i := range r.Targets {
			if t := &r.Targets[i]; t.Driver == driver && t.Description.Version != "" {
				return facts.Version(&t.Description)
			}
		}
	}
	return "not tested"
}

// claimTable returns the table of all claims.
func claimTable(findings []claims.Finding) *doc.Table {
	t := &doc.Table{Title: "Claims", Records: true, Columns: []doc.Column{
		{Head: "claim"}, {Head: "the document says", Words: true}, {Head: "printed", Words: true}, {Head: "verdict", Words: true}, {Head: "measured", Words: true},
	}}
	verbatim := slices.ContainsFunc(findings, func(f claims.Finding) bool { return f.Verbatim != "" })
	if verbatim {
		t.Columns = append(t.Columns, doc.Column{Head: "with TSBS's texts", Help: "not verified", Words: true}, doc.Column{Head: "measured with them", Words: true})
	}
	for _, f := range findings {
		t.Rows = append(t.Rows, claimRow(f, verbatim))
	}
	return t
}

func claimRow(f claims.Finding, verbatim bool) doc.Row {
	says, printed := f.Claim.Says, f.Claim.Printed
	if f.Claim.Derived {
		says += " (This follows from the figures; the text does not say it.)"
	}
	if f.Claim.Against != "" {
		printed += "; against it: " + f.Claim.Against
	}
	measured, parts := evidenceOf(f)
	r := doc.Row{Cells: []doc.Span{doc.Plain(f.Claim.ID), doc.Plain(says), doc.Plain(printed), doc.WithTone(f.Word(), verdictTone(f.Verdict)), doc.Plain(measured)}}
	if len(parts) > 0 {
		r.Details = append(r.Details, doc.Detail{Title: "its comparisons", Lines: parts})
	}
	if lines := trialLines(f.Trials); len(lines) > 0 {
		r.Details = append(r.Details, doc.Detail{Title: "the deciding comparison at other settings", Lines: lines})
	}
	if !verbatim {
		return r
	}
	verdict := doc.Span{}
	measured = ""
	if f.Verbatim != "" {
		verdict = doc.WithTone(string(f.Verbatim), verdictTone(f.Verbatim))
		if f.Changes() {
			verdict = doc.Bad(verdict.Text + ": it turns")
		}
		measured, parts = Comparisons(f.VerbatimParts)
		if len(parts) > 0 {
			r.Details = append(r.Details, doc.Detail{Title: "its comparisons with TSBS's texts", Lines: parts})
		}
	}
	r.Cells = append(r.Cells, verdict, doc.Plain(measured))
	return r
}

func verdictTone(v claims.Verdict) format.Tone {
	switch v {
	case claims.Holds:
		return format.ToneBest
	case claims.DoesNotHold:
		return format.ToneBad
	case claims.NotTested:
		return format.ToneDim
	}
	return format.TonePlain
}

// evidenceOf returns the evidence for a verdict: a short text, and its comparisons, a sentence
// each, if they are too many for it.
func evidenceOf(f claims.Finding) (short string, parts []string) {
	if f.Verdict == claims.NotTested && !slices.ContainsFunc(f.Parts, func(p claims.Part) bool { return p.Verdict != claims.NotTested }) {
		return f.Why, nil
	}
	short, parts = Comparisons(f.Parts)
	why := f.Why
	if f.Verdict == claims.NotTested {
		why = "" // the parts say it
	}
	return format.Join("; ", short, why, trialsInShort(f.Trials), f.Claim.Aside), parts
}

// trialsInShort names the settings that reverse the deciding comparison, with both values, or says that
// none does. It is empty without trials.
func trialsInShort(trials []claims.Trial) string {
	var reversals, ties []string
	tested := 0
	for i := range trials {
		t := &trials[i]
		switch {
		case t.Reverses():
			reversals = append(reversals, fmt.Sprintf("%s: %s instead of %s", t.Setting, ratioText(&t.Part), ratioText(&t.Base)))
		case t.Part.Verdict == claims.Tie:
			ties = append(ties, t.Setting)
		}
		if t.Part.Verdict != claims.NotTested {
			tested++
		}
	}
	var texts []string
	if len(reversals) > 0 {
		texts = append(texts, "the deciding comparison is reversed with "+strings.Join(reversals, ", and with "))
	} else if n := tested - len(ties); n > 0 {
		texts = append(texts, fmt.Sprintf("the deciding comparison has the same verdict at %s", format.Plural(n, "other setting")))
	}
	if len(ties) > 0 {
		texts = append(texts, "no difference is shown with "+strings.Join(ties, ", or with "))
	}
	return strings.Join(texts, "; ")
}

// trialLines lists all trials of a claim, a sentence each.
func trialLines(trials []claims.Trial) []string {
	var lines []string
	for i := range trials {
		t := &trials[i]
		if i == 0 {
			lines = append(lines, fmt.Sprintf("%s: %s, %s, at the settings of the experiment", t.Base.What, ratioText(&t.Base), t.Base.Verdict))
		}
		lines = append(lines, fmt.Sprintf("with %s: %s", t.Setting, format.Join(", ", ratioText(&t.Part), string(t.Part.Verdict), t.Part.Why)))
	}
	return lines
}

// ratioText returns a ratio with its interval; for a count of comparisons, the count; empty: not
// tested.
func ratioText(p *claims.Part) string {
	if p.Interval != nil {
		return fmt.Sprintf("%s× (%s to %s)", format.Times(p.Advantage), format.Times(p.Interval.Lo), format.Times(p.Interval.Hi))
	}
	_, count, _ := strings.Cut(p.What, "; here ")
	return count
}

// fewParts is the maximum number of comparisons of a claim that are listed one after the other.
const fewParts = 4

// Comparisons returns the results of comparisons. A reason for untested comparisons appears
// only once.
func Comparisons(list []claims.Part) (short string, parts []string) {
	var decided, untested, reasons []string
	count := make(map[claims.Verdict]int)
	for _, p := range list {
		count[p.Verdict]++
		switch {
		case p.Verdict == claims.NotTested:
			untested = append(untested, p.What)
			if p.Why != "" && !slices.Contains(reasons, p.Why) {
				reasons = append(reasons, p.Why)
			}
		case p.Interval == nil:
			decided = append(decided, p.What+": "+string(p.Verdict))
		default:
			text := fmt.Sprintf("%s: %s× (%s to %s), %s", p.What, format.Times(p.Advantage), format.Times(p.Interval.Lo), format.Times(p.Interval.Hi), p.Verdict)
			if p.Verdict != claims.Holds {
				text += "; to hold, the whole interval must be " + p.Range
			}
			decided = append(decided, text)
		}
	}
	missing := ""
	if n := len(untested); n > 0 {
		missing = strings.Join(reasons, "; ") // the verdict says that nothing was tested
		if n < len(list) {
			missing = fmt.Sprintf("%d not tested: %s", n, strings.Join(reasons, "; "))
		}
	}
	if len(list) <= fewParts {
		return format.Join("; ", strings.Join(decided, "; "), missing), nil
	}
	var counts []string
	for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.Tie} {
		if n := count[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, countedVerdict(v, n)))
		}
	}
	short = format.Join("; ", strings.Join(counts, ", "), missing)
	if len(decided) == 0 {
		return short, nil
	}
	for _, what := range untested {
		if what != "" {
			decided = append(decided, what+": not tested")
		}
	}
	return format.Join(": ", format.Plural(len(list), "comparison"), short), decided
}

// countedVerdict states the verdict of n comparisons.
func countedVerdict(v claims.Verdict, n int) string {
	switch {
	case v == claims.Tie && n == 1:
		return "is a tie"
	case v == claims.Tie:
		return "are ties"
	case n == 1:
		return string(v)
	case v == claims.Holds:
		return "hold"
	}
	return "do not hold"
}

func reproductionHelp() []string {
	return []string{
		fmt.Sprintf("A claim holds where every comparison that it makes holds. A comparison is how many times better the claimed side is. It holds if the %.0f %% interval over the repeats lies within the claimed range: above 1, or around the claimed factor. It does not hold if the interval lies outside, and is a tie if the interval includes a border of the range: then no difference is shown.", 100*stats.Confidence),
		"A claim is not tested if its measurements lack something it needs, such as rows per device: a thinner dataset could show either verdict.",
		"Printed figures are not repaired: where a cell is doubtful, the page shows both values, and measured ÷ printed uses the one that the authors published elsewhere.",
		"Absolute figures are of different machines and versions and are not expected to match; directions, orders and crossings are. A query rate is that of workers that never pause: workers divided by the mean service time of the queries that all systems answered.",
	}
}
