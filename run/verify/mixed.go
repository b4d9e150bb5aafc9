package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// maxExamined limits the unexpected answers of one type that are compared with older states.
const maxExamined = 50

// MixedProgress says how far a check of a mixed phase is. Each of its functions may be nil.
type MixedProgress struct {
	oracle.Progress // of the pass that computes the correct answers
	// Examined is called after that pass if there are unexpected answers: first with done 0, then whenever
	// more of them have been compared with older states.
	Examined func(done, all int)
}

// CheckMixed checks the answers of a mixed phase from its journal, off the clock, and fills in the
// result. All queries lay below the watermark of their time, so one pass of the oracle determines
// the correct answers.
//
// An unexpected answer is compared with the states that the database went through: the loaded rows,
// plus the first batches in order of acknowledgement, or else in order of their start, since
// batches of several writers may become visible in either order. If it matches none of these, other
// orders of concurrent batches are tried. Batches of several clients are ordered by the times since
// the start of the phase, which was the same instant for all. If it matches one of the states, the
// answer is stale: the latest such state tells since when, at least, rows were missing. Otherwise
// the type is withheld. Each such comparison needs another pass over the rows written; at most
// maxExamined answers of each type are examined, evenly spread, answers kept in full first.
func CheckMixed(ctx context.Context, d workload.Dataset, j *engine.Journal, out *result.Mixed, progress MixedProgress) error {
	// No window contains later rows. With several clients the rows are not the dataset's first
	// ones.
	if len(j.Shares) == 1 {
		rows := j.Loaded
		for _, w := range j.Shares[0].Writes {
			rows += w.Rows
		}
		d = workload.LimitRows(d, rows)
	}
	answers := gather(j)
	var full, counted []query.Query
	for _, a := range answers {
		if a.inFull() {
			full = append(full, a.Query)
		} else {
			counted = append(counted, a.Query)
		}
	}
	expected, err := oracle.PassSampling(ctx, d, oracle.Drawing{}, []string{j.Semantics}, full, slices.Values(counted), progress.Progress)
	if err != nil {
		return err
	}
	types := make([]judgement, len(j.Types))
	for i := range types {
		types[i] = judgement{out: &out.Types[i], freshness: measure.NewLatency(), inParts: j.InParts}
	}
	fullAt, countedAt := 0, 0
	for _, a := range answers {
		expectation := oracle.Expectation{}
		if a.inFull() {
			expectation = expected.Full[fullAt]
			fullAt++
		} else {
			expectation.Rows = expected.Counted[countedAt]
			countedAt++
		}
		types[a.kind].take(a, &expectation, d.Schema())
	}
	var doubtful []*answer
	for i := range types {
		doubtful = append(doubtful, types[i].chooseExamined()...)
	}
	examined := 0
	report := func(n int) {
		if examined += n; progress.Examined != nil && (n > 0 || examined == 0) {
			progress.Examined(examined, len(doubtful))
		}
	}
	if len(doubtful) > 0 {
		report(0)
	}
	if err := trace(ctx, d, j, doubtful, report); err != nil {
		return err
	}
	if j.InParts {
		visible := j.Loaded
		if j.Hidden {
			visible = 0
		}
		if err := examineParts(ctx, d, visible, doubtful); err != nil {
			return err
		}
	}
	for i := range types {
		if err := types[i].conclude(); err != nil {
			return err
		}
	}
	return nil
}

// answer is an answer to check.
type answer struct {
	*engine.Answered
	kind    int
	columns []query.Column

	semantics  string // of the target
	documented string // why the answer differs from the correct one as documented; empty: it does not

	difference string // from the correct answer
	expected   int64  // rows of the correct answer
	examined   bool
	stale      bool
	parts      fit           // how parts of the rows explain the answer
	beyond     string        // why no part of the rows has this answer; empty: a part may have it, or it is unknown
	delay      time.Duration // for a stale answer: time since the acknowledgement of the first batch that it lacks
}

func (a *answer) isPromQL() bool {
	_, is := a.Query.AsPromQL()
	return is
}

func (a *answer) inFull() bool { return a.Answer != nil || a.Digest != nil }

// gather lists the answers that can be checked, by type. It leaves out answers with only the number
// of rows recorded if the oracle would need to compute the whole answer: that would take as long as
// all other checks together.
func gather(j *engine.Journal) []*answer {
	var all []*answer
	for kind := range j.Types {
		t := &j.Types[kind]
		for i := range t.Full {
			all = append(all, &answer{Answered: &t.Full[i], kind: kind, parts: within, semantics: j.Semantics})
		}
		for i := range t.Counted {
			if oracle.Countable(&t.Counted[i].Query) {
				all = append(all, &answer{Answered: &t.Counted[i], kind: kind, parts: within})
			}
		}
	}
	return all
}

// differs returns the difference between the answer and an expected one; empty: none.
func (a *answer) differs(x *oracle.Expectation) (difference string) {
	if x.Also != nil && a.Answer != nil {
		found := query.Answer{Rows: slices.Clone(a.Answer.Rows)}
		difference, a.documented = compareRows(x, a.semantics, a.columns, &found)
		return difference
	}
	if a.Rows != x.Rows && x.Rows != oracle.AnyNumber && x.Choices == nil {
		return fmt.Sprintf("%d rows in the answer, %d expected", a.Rows, x.Rows)
	}
	switch {
	case x.Any: // the correct rows of an earlier state are unknown
	case x.Choices != nil && a.Answer != nil:
		found := query.Answer{Rows: slices.Clone(a.Answer.Rows)}
		if d := query.CompareChoices(&a.Query, a.columns, x.Choices, &found); d != nil {
			return d.String()
		}
	case x.Choices != nil: // a digest does not identify the chosen rows
	case a.Answer != nil && x.Answer == nil:
		if !digestOf(a.columns, a.Answer).Equal(x.Digest) {
			return fmt.Sprintf("its %d rows are not the expected ones", a.Rows)
		}
	case a.Digest != nil && !a.Digest.Equal(x.Digest):
		return fmt.Sprintf("its %d rows are not the expected ones", a.Digest.Rows())
	case a.Answer != nil:
		found := query.Answer{Rows: slices.Clone(a.Answer.Rows)} // the order of a.Answer.Rows must remain for further comparisons
		if d := query.Compare(&a.Query, a.columns, x.Answer, &found); d != nil {
			return d.String()
		}
	}
	return ""
}

// Differs returns how an answer of a mixed phase differs from the expected one; empty: it does not.
func Differs(a *engine.Answered, x *oracle.Expectation, s *series.Schema, semantics string) string {
	one := answer{Answered: a, semantics: semantics, columns: a.Query.Columns(s.Table(a.Query.Table))}
	return one.differs(x)
}

// judgement is the result of checking the answers of one type.
type judgement struct {
	out       *result.MixedType
	doubtful  []*answer // unexpected answers
	freshness *measure.Latency
	inParts   bool // the target shows the rows of a batch separately
}

func (t *judgement) take(a *answer, x *oracle.Expectation, s *series.Schema) {
	a.columns = a.Query.Columns(s.Table(a.Query.Table))
	if a.inFull() {
		t.out.Verdict.Checked++
		t.out.Verdict.Rows += x.Rows
		if x.Rows == 0 {
			t.out.Verdict.Empty++
		}
	} else {
		t.out.Counted++
	}
	a.expected = x.Rows
	if a.difference = a.differs(x); a.difference != "" {
		t.doubtful = append(t.doubtful, a)
	} else if a.documented != "" {
		t.out.Verdict.Documented, t.out.Verdict.Reason = t.out.Verdict.Documented+1, a.documented
	}
}

// chooseExamined selects the answers to examine: those in full, and as many others as the limit allows,
// evenly spread.
func (t *judgement) chooseExamined() []*answer {
	chosen := slices.Clone(t.doubtful)
	if len(chosen) > maxExamined {
		slices.SortStableFunc(chosen, func(a, b *answer) int {
			return cmp.Compare(btoi(b.inFull()), btoi(a.inFull()))
		})
		rest := slices.IndexFunc(chosen, func(a *answer) bool { return !a.inFull() })
		if rest < 0 || rest > maxExamined {
			rest = 0 // the answers in full already exceed the limit
		}
		room := maxExamined - rest
		for i := range room {
			chosen[rest+i] = chosen[rest+i*(len(chosen)-rest)/room]
		}
		chosen = chosen[:maxExamined]
	}
	for _, a := range chosen {
		a.examined = true
	}
	return chosen
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// conclude records the results for the doubtful answers.
func (t *judgement) conclude() error {
	for _, a := range t.doubtful {
		switch {
		case !a.examined:
			t.out.Unexamined++
		case a.stale:
			t.out.Stale++
			t.freshness.Record(a.delay)
		case t.inParts && (a.Rows <= a.expected || a.isPromQL()) && a.beyond == "":
			// The visible rows are unknown. More rows than exist is wrong in any case, but series without
			// their staleness markers have more values.
			t.out.Stale++
			t.out.PartialBatches++
			if a.parts != matches {
				t.out.Unmatched++
			}
		case t.out.Verdict.Difference == "" && a.beyond != "":
			t.out.Verdict.Difference = fmt.Sprintf("query %d: %s; no subset of the rows explains it: %s", a.Query.ID, a.difference, a.beyond)
		case t.out.Verdict.Difference == "":
			t.out.Verdict.Difference = fmt.Sprintf("query %d: %s; no older state matches it", a.Query.ID, a.difference)
		}
	}
	if t.out.Withheld == "" {
		t.out.Withheld = t.out.Verdict.Difference
	}
	if t.freshness.Count() == 0 {
		return nil
	}
	encoded, err := t.freshness.Encode()
	t.out.Freshness = result.Latency{Summary: t.freshness.Summary(), Histogram: encoded}
	return err
}
