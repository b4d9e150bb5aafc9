package result

import (
	"cmp"
	"slices"
)

// Reason says why a load has no figures; empty: it has figures. A load without figures has
// no rate, no size on disk, no use of the machine and no rank, in any output. Only this
// method decides it. The reasons are rows or values that differ from the dataset, rows that
// were not acknowledged, a wrong answer of the same target, which reveals wrong contents
// that counts and sums do not show, and a target that cannot be loaded as the experiment
// requires.
func (l *Load) Reason() string { return cmp.Or(l.UnsupportedReason(), l.Withheld, l.Beside) }

// Word is the text in tables for a load without figures: n/a if the target cannot be
// loaded as required, otherwise withheld.
func (l *Load) Word() string {
	if l.UnsupportedReason() != "" {
		return "n/a"
	}
	return "withheld"
}

// HasFigures reports whether the load exists and its figures count.
func (l *Load) HasFigures() bool { return l != nil && l.Reason() == "" }

// Disk is the size on disk if the target had written everything; -1: the size is unknown or
// incomplete, see DiskPending. Tables, ratios and comparisons use this size.
func (l *Load) Disk() int64 {
	if l.DiskPending != "" {
		return -1
	}
	return l.DiskBytes
}

// WithoutFigures returns the load's description and the reasons for its missing figures,
// without measurements.
func (l *Load) WithoutFigures() *Load {
	out := &Load{
		Workers: l.Workers, BatchSize: l.BatchSize, Rows: l.Rows, Metrics: l.Metrics, Withheld: l.Withheld, Beside: l.Beside, Unverified: l.Unverified,
		Skipped: l.Skipped, Retries: l.Retries, Census: l.Census, DiskBytes: -1, DiskBefore: -1, DiskSettled: -1,
	}
	for i := range l.Parts { // keep only the shares of the agents and how they ended
		p := &l.Parts[i]
		out.Parts = append(out.Parts, Part{Agent: p.Agent, Share: p.Share, Lost: p.Lost, TakenOver: p.TakenOver})
	}
	if l.Growth != nil {
		out.Growth = &Growth{Unsupported: l.Growth.Unsupported}
	}
	if l.Mixed != nil {
		mixed := l.Mixed.withoutFigures()
		out.Mixed = &mixed
	}
	if l.Life != nil {
		out.Life = &Life{Base: l.Life.Base.withoutFigures(), Census: l.Life.Census, Withheld: l.Life.Withheld}
	}
	return out
}

// withoutFigures returns the phase without the figures of its writes.
func (m Mixed) withoutFigures() Mixed {
	m.Writes, m.Response = *m.Writes.WithoutFigures(), nil
	return m
}

// withholdBeside returns repeats with loads withheld because of a wrong answer; empty: their own
// reason only.
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

// wrongAnswer describes the first wrong answer of a target; empty: none. Answers to a user-provided
// text do not count, because the text itself may be wrong.
func (t *Target) wrongAnswer() string {
	const text = "answers of the same target are wrong: "
	for i := range t.Repeats {
		r := &t.Repeats[i]
		for j := range r.Queries {
			if q := &r.Queries[j]; q.Verdict.Difference != "" && q.Texts != TextsOwn {
				return text + q.Type + ": " + q.Verdict.Difference
			}
		}
		if r.Load == nil {
			continue
		}
		if wrong := r.Load.Mixed.wrongAnswer(); wrong != "" {
			return text + "while it was loaded, " + wrong
		}
		if r.Load.Life != nil {
			if wrong := r.Load.Life.Base.wrongAnswer(); wrong != "" {
				return text + "during its life, " + wrong
			}
		}
	}
	return ""
}

// wrongAnswer describes the first wrong answer; empty: none.
func (m *Mixed) wrongAnswer() string {
	if m == nil {
		return ""
	}
	for i := range m.Types {
		if q := &m.Types[i]; q.Verdict.Difference != "" {
			return q.Type + ": " + q.Verdict.Difference
		}
	}
	return ""
}
