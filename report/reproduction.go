package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Reproduction is a document beside what was measured of it.
type Reproduction struct {
	Document *document.Document
	Measured claims.Measured
	findings []claims.Finding
}

// NewReproduction judges a document's claims by runs of its experiments.
func NewReproduction(d *document.Document, m claims.Measured) *Reproduction {
	return &Reproduction{d, m, claims.Judge(d, m)}
}

// reproductionView is what Text, Markdown and HTML show of it.
type reproductionView struct {
	Head    pageHead
	Answers []span
	Alerts  []span
	Facts   []fact
	Claims  []claimView
	Parts   []reproductionPart
	Help    []string
}

// claimView is a claim, and what became of it.
type claimView struct {
	ID, Says, Printed string
	Verdict           span
	Measured          evidence
	// Verbatim is the verdict with TSBS's own texts, and how it came about; empty: there
	// is none.
	Verbatim         span
	VerbatimMeasured evidence
}

// evidence is what decided a claim.
type evidence struct {
	Short string
	// Parts are its comparisons, a sentence each, where they are too many for Short, which
	// counts them then.
	Parts []string
}

// Write renders it. Its errors are as those of WriteComparison.
func (p *Reproduction) Write(w io.Writer, format Format, opts Options) error {
	view := p.view()
	var err error
	switch format {
	case Text:
		err = view.writeText(w, opts)
	case Markdown:
		err = view.writeMarkdown(w)
	case HTML:
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
func (p *Reproduction) Summary() string {
	count := make(map[claims.Verdict]int)
	for _, f := range p.findings {
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
		parts = append(parts, counted(int64(count[v.verdict]), v.one, v.many))
	}
	return fmt.Sprintf("Of %s: %s.", plural(len(p.findings), "claim"), strings.Join(parts, ", "))
}

// inPart says how many verdicts are of a part of a claim; empty: none.
func (p *Reproduction) inPart() string {
	n := 0
	for _, f := range p.findings {
		if f.InPart {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Verdicts of a part of a claim, which say of which: %d.", n)
}

func (p *Reproduction) view() *reproductionView {
	d := p.Document
	view := &reproductionView{Head: pageHead{Title: "Reproduction of " + d.Name}, Answers: []span{spanStrong(p.Summary())}, Help: reproductionHelp()}
	view.Head.say(p.Summary())
	view.Facts = []fact{{"document", d.Title}, {"authors", d.Authors}, {"size", string(p.Measured.Size)}}
	runs := p.runs()
	if len(runs) > 0 {
		view.Facts = append(view.Facts, fact{"host", hostFact(&runs[0].Host)}, fact{"tsmark", toolsOf(runs)}, fact{"measured", moment(runs[0].Started)})
	}
	for i := range d.Systems {
		view.Facts = append(view.Facts, fact{d.Systems[i].Driver, systemText(d, &d.Systems[i], runs)})
	}
	view.Alerts = reproductionAlerts(runs)
	for _, f := range p.findings {
		view.Claims = append(view.Claims, newClaimView(f))
	}
	if inPart := p.inPart(); inPart != "" {
		view.Answers = append(view.Answers, spanPlain(inPart))
	}
	if turned := p.turned(); turned != "" {
		view.Answers = append(view.Answers, spanPlain(turned))
	}
	for i := range d.Experiments {
		if part := p.part(&d.Experiments[i]); part.shown() {
			view.Parts = append(view.Parts, part)
		}
	}
	return view
}

// turned says which claims TSBS's own texts decide otherwise, and how many they decide at
// all; empty: these were not run.
func (p *Reproduction) turned() string {
	asked, judged := 0, 0
	var ids []string
	for i := range p.findings {
		f := &p.findings[i]
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
	text := fmt.Sprintf("With TSBS's own texts, which are not verified and ask some systems for less, %d of %s about queries could be judged", judged, plural(asked, "claim"))
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
func reproductionAlerts(runs []*result.Run) []span {
	var list []span
	noisy := 0
	for _, r := range runs {
		isNoisy := false
		for _, a := range alerts(r) {
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
		list = append(list, spanBad(fmt.Sprintf("Noisy host in %d of %s: other processes used part of the machine; tsmark report RUN says which.", noisy, plural(len(runs), "run"))))
	}
	return list
}

// runs are those of all experiments, in the document's order.
func (p *Reproduction) runs() []*result.Run {
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
			if t := &r.Targets[i]; t.Kind == driver && t.Description.Version != "" {
				return version(&t.Description)
			}
		}
	}
	return "not tested"
}

func newClaimView(f claims.Finding) claimView {
	view := claimView{ID: f.Claim.ID, Says: f.Claim.Says, Printed: f.Claim.Printed, Verdict: spanToned(string(f.Verdict), verdictTone(f.Verdict)), Measured: evidenceOf(f)}
	if f.Verbatim != "" {
		view.Verbatim = spanToned(string(f.Verbatim), verdictTone(f.Verbatim))
		view.VerbatimMeasured = comparisons(f.VerbatimParts)
		if f.Turns() {
			view.Verbatim = spanBad(view.Verbatim.Text + ": it turns")
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
func claimTable(list []claimView) *table {
	t := &table{Title: "Claims", Columns: []column{
		{Head: "claim"}, {Head: "the document says", Words: true}, {Head: "printed", Words: true}, {Head: "verdict", Words: true}, {Head: "measured", Words: true},
	}}
	verbatim := slices.ContainsFunc(list, func(c claimView) bool { return c.Verbatim.Text != "" })
	if verbatim {
		t.Columns = append(t.Columns, column{Head: "with TSBS's texts", Help: "not verified", Words: true}, column{Head: "measured with them", Words: true})
	}
	for _, c := range list {
		r := row{Cells: []span{spanPlain(c.ID), spanPlain(c.Says), spanPlain(c.Printed), spanToned(c.Verdict.Text, c.Verdict.Tone), spanPlain(c.Measured.Short)}}
		if verbatim {
			r.Cells = append(r.Cells, spanToned(c.Verbatim.Text, c.Verbatim.Tone), spanPlain(c.VerbatimMeasured.Short))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func verdictTone(v claims.Verdict) tone {
	switch v {
	case claims.Holds:
		return toneBest
	case claims.DoesNotHold:
		return toneBad
	case claims.NotTested:
		return toneDim
	}
	return tonePlain
}

// evidenceOf is what decided a claim.
func evidenceOf(f claims.Finding) evidence {
	if f.Verdict == claims.NotTested && !slices.ContainsFunc(f.Parts, func(p claims.Part) bool { return p.Verdict != claims.NotTested }) {
		return evidence{Short: f.Why}
	}
	e := comparisons(f.Parts)
	why := f.Why
	if f.Verdict == claims.NotTested {
		why = "" // the parts say it
	}
	e.Short = joined("; ", e.Short, why, f.Claim.Aside)
	return e
}

// fewParts is how many comparisons a claim may have that are told one after the other.
const fewParts = 4

// comparisons are what comparisons came to: the reason of those that were not tested stands
// there once.
func comparisons(list []claims.Part) evidence {
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
			told = append(told, fmt.Sprintf("%s: %s× (%s to %s), %s", p.What, times(p.Advantage), times(p.Interval.Lo), times(p.Interval.Hi), p.Verdict))
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
		return evidence{Short: joined("; ", strings.Join(told, "; "), missing)}
	}
	var counts []string
	for _, v := range []claims.Verdict{claims.Holds, claims.DoesNotHold, claims.Tie} {
		if n := count[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, countedVerdict(v, n)))
		}
	}
	e := evidence{Short: joined("; ", strings.Join(counts, ", "), missing)}
	if len(told) > 0 {
		e.Short = joined(": ", plural(len(list), "comparison"), e.Short)
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

func (v *reproductionView) writeText(w io.Writer, opts Options) error {
	t := newTextWriter(w, opts, "Markdown and HTML have all")
	t.answers(v.Answers)
	t.line("")
	for _, a := range v.Alerts {
		t.wrapped("", "  ", a)
	}
	for _, f := range v.Facts {
		t.wrapped(pad("  "+f.Key, 15, false), "               ", spanPlain(f.Value))
	}
	// Sentences do not fit into columns of a terminal: a claim is a few lines.
	for _, c := range v.Claims {
		t.line("")
		t.wrapped(pad(c.ID, 5, false), "     ", spanPlain(c.Says+" Printed: "+c.Printed+"."))
		t.wrapped("     ", "     ", c.Verdict)
		t.evidence(c.Measured)
		if c.Verbatim.Text != "" {
			t.wrapped("     ", "     ", spanToned("with TSBS's texts "+c.Verbatim.Text, c.Verbatim.Tone))
			t.evidence(c.VerbatimMeasured)
		}
	}
	for _, part := range v.Parts {
		t.line("")
		t.line(t.paint(t.clean(part.Title), "1"))
		for _, n := range part.Notes {
			t.wrapped("  ", "  ", n)
		}
		if opts.Verbose {
			for _, one := range part.Tables {
				t.table(one)
			}
		}
	}
	if !opts.Verbose && len(v.Parts) > 0 {
		t.line("")
		t.wrapped("", "", spanDim("--verbose shows the figures of each experiment, and every comparison of each claim; the page has charts."))
	}
	t.line("")
	for _, n := range v.Help {
		t.wrapped("", "", spanDim(n))
	}
	return t.Flush()
}

// evidence draws what decided a claim; its comparisons on request.
func (t *textWriter) evidence(e evidence) {
	if e.Short != "" {
		t.wrapped("     ", "     ", spanDim(e.Short))
	}
	for _, one := range e.Parts {
		if t.verbose {
			t.wrapped("     - ", "       ", spanDim(one))
		}
	}
}

func (v *reproductionView) writeMarkdown(w io.Writer) error {
	m := markdownWriter{bufio.NewWriter(w)}
	fmt.Fprintf(m, "# %s\n\n", escapeMarkdown(v.Head.Title))
	m.answers(v.Answers)
	m.preamble(v.Alerts, v.Facts, "")
	m.tables([]*table{claimTable(v.Claims)})
	for _, c := range v.Claims {
		m.folded(c.ID+": its comparisons", c.Measured.Parts)
		m.folded(c.ID+" with TSBS's texts: its comparisons", c.VerbatimMeasured.Parts)
	}
	for _, part := range v.Parts {
		fmt.Fprintf(m, "## %s\n\n", escapeMarkdown(part.Title))
		for _, n := range part.Notes {
			fmt.Fprintf(m, "%s\n\n", escapeMarkdown(n.Text))
		}
		for _, one := range part.Tables {
			fmt.Fprintf(m, "### %s\n\n", escapeMarkdown(one.Title))
			m.table(one)
		}
		if len(part.Runs) > 0 {
			var runs []string
			for _, r := range part.Runs {
				runs = append(runs, r.Key+": "+r.Value)
			}
			m.folded("Runs", runs)
		}
	}
	for _, n := range v.Help {
		fmt.Fprintf(m, "_%s_\n\n", escapeMarkdown(n))
	}
	return m.Flush()
}

// folded is a list that opens on request; nothing where it is empty.
func (m markdownWriter) folded(summary string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(m, "<details><summary>%s</summary>\n\n", escapeMarkdown(summary))
	for _, text := range list {
		fmt.Fprintf(m, "- %s\n", escapeMarkdown(text))
	}
	m.WriteString("\n</details>\n\n")
}

func (v *reproductionView) writeHTML(w io.Writer) error {
	t, err := pageTemplates("reproduction.html")
	if err != nil {
		return err
	}
	return t.Execute(w, v)
}
