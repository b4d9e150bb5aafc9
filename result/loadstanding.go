package result

import (
	"cmp"
	"slices"
)

// Reason is why a load has no figures; empty: it stands. A load that does not
// stand has no rate, no size on disk, no use of the machine and no place beside
// others, in any output. This is the one place that decides it: rows or values that
// are not those of the dataset, rows that were not acknowledged, and a wrong
// answer of the same target, which says that what it holds is wrong in a way that
// counts and sums do not show.
// A target that cannot be loaded as the experiment wants has none either.
func (l *Load) Reason() string { return cmp.Or(l.UnsupportedReason(), l.Withheld, l.Beside) }

// Word is what tables say of a load that does not stand: n/a where the target cannot be
// loaded so, else withheld.
func (l *Load) Word() string {
	if l.UnsupportedReason() != "" {
		return "n/a"
	}
	return "withheld"
}

// HasFigures reports whether there is a load that has figures.
func (l *Load) HasFigures() bool { return l != nil && l.Reason() == "" }

// Disk is the size on disk where nothing of it was still to be written; -1: unknown, or something
// was, as DiskPending says. It is the size that takes part in tables, ratios and comparisons.
func (l *Load) Disk() int64 {
	if l.DiskPending != "" {
		return -1
	}
	return l.DiskBytes
}

// WithoutFigures is the load without what was measured: what it was, and why it
// does not stand.
func (l *Load) WithoutFigures() *Load {
	out := &Load{
		Workers: l.Workers, BatchSize: l.BatchSize, Rows: l.Rows, Metrics: l.Metrics, Withheld: l.Withheld, Beside: l.Beside, Unverified: l.Unverified,
		Skipped: l.Skipped, Retries: l.Retries, Census: l.Census, DiskBytes: -1, DiskBefore: -1, DiskSettled: -1,
	}
	for i := range l.Parts { // who had which share, and how it ended
		p := &l.Parts[i]
		out.Parts = append(out.Parts, Part{Agent: p.Agent, Share: p.Share, Lost: p.Lost, TakenOver: p.TakenOver})
	}
	if l.Growth != nil {
		out.Growth = &Growth{Unsupported: l.Growth.Unsupported}
	}
	if l.Mixed != nil {
		mixed := *l.Mixed
		mixed.Writes, mixed.Response = *mixed.Writes.WithoutFigures(), nil
		out.Mixed = &mixed
	}
	return out
}

// withholdBeside returns repeats whose loads do not stand because of the answer beside
// them; empty: because of none.
func withholdBeside(repeats []Repeat, wrong string) []Repeat {
	changed := slices.Clone(repeats)
	for i := range changed {
		if l := changed[i].Load; l != nil && l.Beside != wrong {
			judged := *l
			judged.Beside = wrong
			changed[i].Load = &judged
		}
	}
	return changed
}

// wrongAnswer names the first wrong answer of a target; empty: there is none. That to a text
// of an experiment's own is none: what is wrong may be the text.
func (t *Target) wrongAnswer() string {
	const text = "answers of the same target are wrong: "
	for i := range t.Repeats {
		r := &t.Repeats[i]
		for j := range r.Queries {
			if q := &r.Queries[j]; q.Verdict.Difference != "" && q.Texts != TextsOwn {
				return text + q.Type + ": " + q.Verdict.Difference
			}
		}
		if r.Load == nil || r.Load.Mixed == nil {
			continue
		}
		for j := range r.Load.Mixed.Types {
			if q := &r.Load.Mixed.Types[j]; q.Verdict.Difference != "" {
				return text + "while it was loaded, " + q.Type + ": " + q.Verdict.Difference
			}
		}
	}
	return ""
}
