package reproduction

import (
	"io"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// judgment is a claim with its verdict, as JSON has it.
type judgment struct {
	Claim       string       `json:"claim"` // ID within the document
	Says        string       `json:"says"`
	Printed     string       `json:"printed"`           // the numbers that support it
	Against     string       `json:"against,omitempty"` // numbers that contradict it
	Verdict     string       `json:"verdict"`           // holds, does not hold, tie or not tested
	InPart      bool         `json:"in_part"`           // the verdict is on a part of the claim: see Why
	Why         string       `json:"why,omitempty"`
	Aside       string       `json:"aside,omitempty"` // differences from the document
	Comparisons []comparison `json:"comparisons"`
	// SettingsOnly reports whether the verdict is that of these settings only: Trials has the reason.
	SettingsOnly bool         `json:"settings_only,omitempty"`
	Trials       []trial      `json:"trials,omitempty"`       // the deciding comparison at other settings
	TSBSVerdict  string       `json:"tsbs_verdict,omitempty"` // with TSBS's own texts; empty: not run
	TSBSCompared []comparison `json:"tsbs_comparisons,omitempty"`
}

// comparison is one comparison of a claim.
type comparison struct {
	What    string          `json:"what"`
	Verdict string          `json:"verdict"`
	Ratio   *stats.Value    `json:"ratio,omitempty"` // how many times better the claimed side is
	Range   string          `json:"holds_if,omitempty"`
	Over    *stats.Interval `json:"interval,omitempty"` // of the ratio, 95 %
	Why     string          `json:"why,omitempty"`      // it was not tested
}

// trial is the deciding comparison of a claim at another setting.
type trial struct {
	Setting    string     `json:"setting"`
	Reverses   bool       `json:"reverses"` // it is reversed
	Comparison comparison `json:"comparison"`
}

// writeJSON writes the claims with their comparisons.
func (p *Report) writeJSON(w io.Writer) error {
	out := struct {
		Document string     `json:"document"`
		Title    string     `json:"title"`
		Size     string     `json:"size"`
		Claims   []judgment `json:"claims"`
	}{p.Document.Name, p.Document.Title, string(p.Measured.Size), []judgment{}}
	for i := range p.Findings {
		f := &p.Findings[i]
		out.Claims = append(out.Claims, judgment{
			Claim: f.Claim.ID, Says: f.Claim.Says, Printed: f.Claim.Printed, Against: f.Claim.Against, Verdict: string(f.Verdict), InPart: f.InPart,
			SettingsOnly: f.SettingsOnly(), Trials: trialsOf(f.Trials),
			Why: f.Why, Aside: f.Claim.Aside, Comparisons: comparisonsOf(f.Parts), TSBSVerdict: string(f.Verbatim), TSBSCompared: comparisonsOf(f.VerbatimParts),
		})
	}
	return write.WriteJSON(w, out)
}

func trialsOf(trials []claims.Trial) []trial {
	var list []trial
	for i := range trials {
		t := &trials[i]
		list = append(list, trial{t.Setting, t.Reverses(), comparisonsOf([]claims.Part{t.Part})[0]})
	}
	return list
}

func comparisonsOf(parts []claims.Part) []comparison {
	list := []comparison{}
	for _, p := range parts {
		c := comparison{What: p.What, Verdict: string(p.Verdict), Range: p.Range, Over: p.Interval, Why: p.Why}
		if p.Advantage.Bound != stats.Unknown {
			c.Ratio = &p.Advantage
		}
		list = append(list, c)
	}
	return list
}

// line is a comparison of a claim, as CSV has it; a claim without comparisons has an empty one.
type line struct {
	p       *Report
	f       *claims.Finding
	part    claims.Part
	texts   string
	setting string // of a trial; empty: the experiment's own
}

// columns lists the columns of CSV.
func columns() []write.Column[line] {
	end := func(of func(*stats.Interval) stats.Value) func(line) any {
		return func(l line) any {
			if l.part.Interval == nil {
				return nil
			}
			return of(l.part.Interval)
		}
	}
	return []write.Column[line]{
		{Name: "document", Doc: "document", Value: func(l line) any { return l.p.Document.Name }},
		{Name: "size", Doc: "smoke, small or full", Value: func(l line) any { return string(l.p.Measured.Size) }},
		{Name: "claim", Doc: "claim, by its number in the document", Value: func(l line) any { return l.f.Claim.ID }},
		{Name: "texts", Doc: "equal queries, or TSBS's own texts: equal or tsbs", Value: func(l line) any { return l.texts }},
		{Name: "claim_verdict", Doc: "verdict on the claim", Value: func(l line) any {
			if l.texts == result.TextsTSBS {
				return string(l.f.Verbatim)
			}
			return string(l.f.Verdict)
		}},
		{Name: "in_part", Doc: "the verdict is on a part of the claim", Value: func(l line) any { return l.f.InPart }},
		{Name: "comparison", Doc: "compared figures", Value: func(l line) any { return l.part.What }},
		{Name: "verdict", Doc: "verdict on the comparison", Value: func(l line) any { return string(l.part.Verdict) }},
		{Name: "ratio", Doc: "how many times better the claimed side is", Value: func(l line) any { return l.part.Advantage }},
		{Name: "ratio_low", Doc: "lower end of its 95 % interval", Value: end(func(i *stats.Interval) stats.Value { return i.Lo })},
		{Name: "ratio_high", Doc: "upper end of its 95 % interval", Value: end(func(i *stats.Interval) stats.Value { return i.Hi })},
		{Name: "holds_if", Doc: "range in which the whole interval must be", Value: func(l line) any { return l.part.Range }},
		{Name: "why", Doc: "why the comparison was not tested, or what the verdict on the claim leaves out", Value: func(l line) any {
			if l.part.Why != "" {
				return l.part.Why
			}
			return l.f.Why
		}},
		{Name: "settings_only", Doc: "the verdict on the claim is that of these settings only", Value: func(l line) any { return l.f.SettingsOnly() }},
		{Name: "setting", Doc: "at which the deciding comparison was repeated; empty: the experiment's own", Value: func(l line) any { return l.setting }},
	}
}

// writeCSV writes a line for each comparison.
func (p *Report) writeCSV(w io.Writer) error {
	var lines []line
	for i := range p.Findings {
		f := &p.Findings[i]
		if len(f.Parts) == 0 {
			lines = append(lines, line{p, f, claims.Part{Advantage: stats.Value{Bound: stats.Unknown}}, experiment.TextsEqual, ""})
		}
		for _, part := range f.Parts {
			lines = append(lines, line{p, f, part, experiment.TextsEqual, ""})
		}
		for _, part := range f.VerbatimParts {
			lines = append(lines, line{p, f, part, result.TextsTSBS, ""})
		}
		for _, t := range f.Trials {
			lines = append(lines, line{p, f, t.Part, experiment.TextsEqual, t.Setting})
		}
	}
	return write.WriteCSV(w, columns(), lines)
}
