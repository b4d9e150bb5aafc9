// Package reproduction reports a published document beside what was measured of it: which
// claims hold, and its tables and figures with both values.
package reproduction

import (
	"bufio"
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

// Report is a document beside what was measured of it.
type Report struct {
	Document *document.Document
	Measured claims.Measured
	Findings []claims.Finding
}

// New judges a document's claims by runs of its experiments.
func New(d *document.Document, m claims.Measured) *Report {
	return &Report{d, m, claims.Judge(d, m)}
}

// reproductionView is what Text, Markdown and HTML show of it.
type reproductionView struct {
	Head    write.Head
	Answers []doc.Span
	Alerts  []doc.Span
	Facts   []doc.Fact
	Claims  []claimView
	Parts   []Part
	Help    []string
}

// claimView is a claim, and what became of it.
type claimView struct {
	ID, Says, Printed string
	Verdict           doc.Span
	Measured          write.Evidence
	// Verbatim is the verdict with TSBS's own texts, and how it came about; empty: there
	// is none.
	Verbatim         doc.Span
	VerbatimMeasured write.Evidence
}

// Write renders it. Its errors are as those of WriteComparison.
func (p *Report) Write(w io.Writer, format write.Format, opts write.Options) error {
	view := p.View()
	var err error
	switch format {
	case write.Text:
		err = view.writeText(w, opts)
	case write.Markdown:
		err = view.writeMarkdown(w)
	case write.HTML:
		err = view.writeHTML(w)
	default:
		err = fmt.Errorf("reproductions have no format %q; known: text, markdown, html", format)
	}
	if err != nil {
		return fmt.Errorf("writing the reproduction: %w", err)
	}
	return nil
}

// Summary is how many claims became what, in a line.
func (p *Report) Summary() string {
	count := make(map[claims.Verdict]int)
	for _, f := range p.Findings {
		count[f.Verdict]++
	}
	var parts []string
	for _, v := range []struct {
		verdict   claims.Verdict
		one, many string
	}{
		{claims.Holds, "holds", "hold"}, {claims.DoesNotHold, "does not hold", "do not hold"},
		{claims.Tie, "is a tie", "are ties"}, {claims.NotTested, "was not tested", "were not tested"},
	} {
		parts = append(parts, format.Counted(int64(count[v.verdict]), v.one, v.many))
	}
	return fmt.Sprintf("Of %s: %s.", format.Plural(len(p.Findings), "claim"), strings.Join(parts, ", "))
}

// inPart says how many verdicts are of a part of a claim; empty: none.
func (p *Report) inPart() string {
	n := 0
	for _, f := range p.Findings {
		if f.InPart {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Verdicts of a part of a claim, which say of which: %d.", n)
}

func (p *Report) View() *reproductionView {
	d := p.Document
	view := &reproductionView{Head: write.Head{Title: "Reproduction of " + d.Name}, Answers: []doc.Span{doc.Strong(p.Summary())}, Help: reproductionHelp()}
	view.Head.Say(p.Summary())
	view.Facts = []doc.Fact{{Key: "document", Value: d.Title}, {Key: "authors", Value: d.Authors}, {Key: "size", Value: string(p.Measured.Size)}}
	runs := p.runs()
	if len(runs) > 0 {
		view.Facts = append(view.Facts, doc.Fact{Key: "host", Value: facts.Host(&runs[0].Host)}, doc.Fact{Key: "tsmark", Value: toolsOf(runs)}, doc.Fact{Key: "measured", Value: format.Time(runs[0].Started)})
	}
	for i := range d.Systems {
		view.Facts = append(view.Facts, doc.Fact{Key: d.Systems[i].Driver, Value: SystemText(d, &d.Systems[i], runs)})
	}
	view.Alerts = reproductionAlerts(runs)
	for _, f := range p.Findings {
		view.Claims = append(view.Claims, newClaimView(f))
	}
	if inPart := p.inPart(); inPart != "" {
		view.Answers = append(view.Answers, doc.Plain(inPart))
	}
	if turned := p.Turned(); turned != "" {
		view.Answers = append(view.Answers, doc.Plain(turned))
	}
	for i := range d.Experiments {
		if part := p.Part(&d.Experiments[i]); part.shown() {
			view.Parts = append(view.Parts, part)
		}
	}
	return view
}

// Turned says which claims TSBS's own texts decide otherwise, and how many they decide at
// all; empty: these were not run.
func (p *Report) Turned() string {
	asked, judged := 0, 0
	var ids []string
	for i := range p.Findings {
		f := &p.Findings[i]
		if f.Verbatim == "" {
			continue
		}
		asked++
		if f.Verbatim != claims.NotTested {
			judged++
		}
		if f.Turns() {
			ids = append(ids, fmt.Sprintf("%s (%s with them, %s with equal queries)", f.Claim.ID, f.Verbatim, f.Verdict))
		}
	}
	if asked == 0 {
		return ""
	}
	text := fmt.Sprintf("With TSBS's own texts, which are not verified and ask some systems for less, %d of %s about queries could be judged", judged, format.Plural(asked, "claim"))
	switch {
	case len(ids) > 0:
		return text + "; they turn " + strings.Join(ids, ", ") + "."
	case judged > 0:
		return text + ", none of them otherwise than with equal queries."
	}
	return text + "."
}

// reproductionAlerts are what runs raise doubts about, each once. What was noisy stands in
// each run's own report: here it is counted.
func reproductionAlerts(runs []*result.Run) []doc.Span {
	var list []doc.Span
	noisy := 0
	for _, r := range runs {
		isNoisy := false
		for _, a := range facts.Alerts(r) {
			switch {
			case strings.HasPrefix(a.Text, "NOISY HOST"):
				isNoisy = true
			case !strings.HasPrefix(a.Text, "Another process") && !slices.Contains(list, a):
				list = append(list, a)
			}
		}
		if isNoisy {
			noisy++
		}
	}
	if noisy > 0 {
		list = append(list, doc.Bad(fmt.Sprintf("Noisy host in %d of %s: other processes used part of the machine; tsmark report RUN says which.", noisy, format.Plural(len(runs), "run"))))
	}
	return list
}

// runs are those of all experiments, in the document's order.
func (p *Report) runs() []*result.Run {
	var all []*result.Run
	for _, e := range p.Document.Experiments {
		all = append(all, p.Measured.Runs[e.Name]...)
	}
	return all
}

// toolsOf are the builds of tsmark that runs were made with.
func toolsOf(runs []*result.Run) string {
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

// versionOf is the version of a system that was measured.
func versionOf(runs []*result.Run, driver string) string {
	for _, r := range runs {
		for i := range r.Targets {
			if t := &r.Targets[i]; t.Driver == driver && t.Description.Version != "" {
				return facts.Version(&t.Description)
			}
		}
	}
	return "not tested"
}

func newClaimView(f claims.Finding) claimView {
	view := claimView{ID: f.Claim.ID, Says: f.Claim.Says, Printed: f.Claim.Printed, Verdict: doc.Toned(string(f.Verdict), verdictTone(f.Verdict)), Measured: evidenceOf(f)}
	if f.Verbatim != "" {
		view.Verbatim = doc.Toned(string(f.Verbatim), verdictTone(f.Verbatim))
		view.VerbatimMeasured = Comparisons(f.VerbatimParts)
		if f.Turns() {
			view.Verbatim = doc.Bad(view.Verbatim.Text + ": it turns")
		}
	}
	if f.Claim.Derived {
		view.Says += " (This follows from the figures; the text does not say it.)"
	}
	if f.Claim.Against != "" {
		view.Printed += "; against it: " + f.Claim.Against
	}
	return view
}

// claimTable is the table of all claims.
func claimTable(list []claimView) *doc.Table {
	t := &doc.Table{Title: "Claims", Columns: []doc.Column{
		{Head: "claim"}, {Head: "the document says", Words: true}, {Head: "printed", Words: true}, {Head: "verdict", Words: true}, {Head: "measured", Words: true},
	}}
	verbatim := slices.ContainsFunc(list, func(c claimView) bool { return c.Verbatim.Text != "" })
	if verbatim {
		t.Columns = append(t.Columns, doc.Column{Head: "with TSBS's texts", Help: "not verified", Words: true}, doc.Column{Head: "measured with them", Words: true})
	}
	for _, c := range list {
		r := doc.Row{Cells: []doc.Span{doc.Plain(c.ID), doc.Plain(c.Says), doc.Plain(c.Printed), doc.Toned(c.Verdict.Text, c.Verdict.Tone), doc.Plain(c.Measured.Short)}}
		if verbatim {
			r.Cells = append(r.Cells, doc.Toned(c.Verbatim.Text, c.Verbatim.Tone), doc.Plain(c.VerbatimMeasured.Short))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func verdictTone(v claims.Verdict) doc.Tone {
	switch v {
	case claims.Holds:
		return doc.ToneBest
	case claims.DoesNotHold:
		return doc.ToneBad
	case claims.NotTested:
		return doc.ToneDim
	}
	return doc.TonePlain
}

// evidenceOf is what decided a claim.
func evidenceOf(f claims.Finding) write.Evidence {
	if f.Verdict == claims.NotTested && !slices.ContainsFunc(f.Parts, func(p claims.Part) bool { return p.Verdict != claims.NotTested }) {
		return write.Evidence{Short: f.Why}
	}
	e := Comparisons(f.Parts)
	why := f.Why
	if f.Verdict == claims.NotTested {
		why = "" // the parts say it
	}
	e.Short = format.Join("; ", e.Short, why, f.Claim.Aside)
	return e
}

// fewParts is how many comparisons a claim may have that are told one after the other.
const fewParts = 4

// Comparisons are what comparisons came to: the reason of those that were not tested stands
// there once.
func Comparisons(list []claims.Part) write.Evidence {
	var told, untested, reasons []string
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
			told = append(told, p.What+": "+string(p.Verdict))
		default:
			told = append(told, fmt.Sprintf("%s: %s× (%s to %s), %s", p.What, format.Times(p.Advantage), format.Times(p.Interval.Lo), format.Times(p.Interval.Hi), p.Verdict))
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
		return write.Evidence{Short: format.Join("; ", strings.Join(told, "; "), missing)}
	}
	var counts []string
	for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.Tie} {
		if n := count[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, countedVerdict(v, n)))
		}
	}
	e := write.Evidence{Short: format.Join("; ", strings.Join(counts, ", "), missing)}
	if len(told) > 0 {
		e.Short = format.Join(": ", format.Plural(len(list), "comparison"), e.Short)
		e.Parts = told
		for _, what := range untested {
			if what != "" {
				e.Parts = append(e.Parts, what+": not tested")
			}
		}
	}
	return e
}

// countedVerdict is what so many comparisons do.
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
		fmt.Sprintf("A claim holds where every comparison that it makes holds. A comparison is how many times better the claimed side is; it holds where the interval of %.0f %% over the repeats lies above 1, or above the factor that is claimed, does not hold where it lies below, and is a tie where it includes that.", 100*stats.Confidence),
		"Figures that the document prints with less than a tenth between them are ties from the start. Nothing printed is repaired: where a cell is doubtful, both values stand here, and measured/printed takes the one that the authors published elsewhere.",
		"Absolute figures are of different machines and versions and are not expected to match; directions, orders and crossings are. A query rate is that of workers that never pause: workers divided by the mean service time of the queries that all systems answered.",
	}
}

func (v *reproductionView) writeText(w io.Writer, opts write.Options) error {
	t := write.NewText(w, opts, "Markdown and HTML have all")
	t.Answers(v.Answers)
	t.Line("")
	for _, a := range v.Alerts {
		t.Wrapped("", "  ", a)
	}
	for _, f := range v.Facts {
		t.Wrapped(write.Pad("  "+f.Key, 15, false), "               ", doc.Plain(f.Value))
	}
	// Sentences do not fit into columns of a terminal: a claim is a few lines.
	for _, c := range v.Claims {
		t.Line("")
		t.Wrapped(write.Pad(c.ID, 5, false), "     ", doc.Plain(c.Says+" Printed: "+c.Printed+"."))
		t.Wrapped("     ", "     ", c.Verdict)
		t.Evidence(c.Measured)
		if c.Verbatim.Text != "" {
			t.Wrapped("     ", "     ", doc.Toned("with TSBS's texts "+c.Verbatim.Text, c.Verbatim.Tone))
			t.Evidence(c.VerbatimMeasured)
		}
	}
	for _, part := range v.Parts {
		t.Line("")
		t.Line(t.Paint(t.Clean(part.Title), "1"))
		for _, n := range part.Notes {
			t.Wrapped("  ", "  ", n)
		}
		if opts.Verbose {
			for _, one := range part.Tables {
				t.Table(one)
			}
		}
	}
	if !opts.Verbose && len(v.Parts) > 0 {
		t.Line("")
		t.Wrapped("", "", doc.Dim("--verbose shows the figures of each experiment, and every comparison of each claim; the page has charts."))
	}
	t.Line("")
	for _, n := range v.Help {
		t.Wrapped("", "", doc.Dim(n))
	}
	return t.Flush()
}

func (v *reproductionView) writeMarkdown(w io.Writer) error {
	m := write.MarkdownWriter{Writer: bufio.NewWriter(w)}
	fmt.Fprintf(m, "# %s\n\n", write.EscapeMarkdown(v.Head.Title))
	m.Answers(v.Answers)
	m.Preamble(v.Alerts, v.Facts, "")
	m.Tables([]*doc.Table{claimTable(v.Claims)})
	for _, c := range v.Claims {
		m.Folded(c.ID+": its comparisons", c.Measured.Parts)
		m.Folded(c.ID+" with TSBS's texts: its comparisons", c.VerbatimMeasured.Parts)
	}
	for _, part := range v.Parts {
		fmt.Fprintf(m, "## %s\n\n", write.EscapeMarkdown(part.Title))
		for _, n := range part.Notes {
			fmt.Fprintf(m, "%s\n\n", write.EscapeMarkdown(n.Text))
		}
		for _, one := range part.Tables {
			fmt.Fprintf(m, "### %s\n\n", write.EscapeMarkdown(one.Title))
			m.Table(one)
		}
		if len(part.Runs) > 0 {
			var runs []string
			for _, r := range part.Runs {
				runs = append(runs, r.Key+": "+r.Value)
			}
			m.Folded("Runs", runs)
		}
	}
	for _, n := range v.Help {
		fmt.Fprintf(m, "_%s_\n\n", write.EscapeMarkdown(n))
	}
	return m.Flush()
}

func (v *reproductionView) writeHTML(w io.Writer) error {
	t, err := write.Templates("reproduction.html")
	if err != nil {
		return err
	}
	return t.Execute(w, v)
}
