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

// maxExamined bounds the answers of one type, of those that are not right, that
// are compared with older states.
const maxExamined = 50

// Mixed checks the answers of a mixed phase from its journal, off the clock,
// and fills in what the result says of that. All queries lay below the
// watermark of their time, so one pass of the oracle knows the right answers.
//
// An answer that is not right is compared with the states that the database
// went through: the loaded rows, and those of the first so many batches to be
// acknowledged, or else to be begun, since batches of several writers may
// become visible in either order; where it is right for none of these, by other orders of
// batches that were under way at once. Batches of several clients are ordered by the times since
// the start of the phase, which was one instant for all. Where it is right for one of them it is
// stale: the latest such state tells since when, at least, rows were missing.
// Otherwise the type is withheld. Each such look is another pass over the rows
// written; of each type maxExamined answers are looked at, evenly spread, those
// kept in full first.
//
// It calls progress with the rows of each batch of the first pass.
func Mixed(ctx context.Context, d workload.Dataset, j *engine.Journal, out *result.Mixed, progress func(rows int)) error {
	// Later rows are in no window. Those of several clients are not the dataset's first.
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
	expected, err := oracle.Pass(ctx, d, full, slices.Values(counted), progress)
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
		doubtful = append(doubtful, types[i].examined()...)
	}
	if err := trace(ctx, d, j, doubtful); err != nil {
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

// answer is one whose rightness is to be known.
type answer struct {
	*engine.Answered
	kind    int
	columns []query.Column

	difference string // from the right answer
	expected   int64  // rows of the right answer
	examined   bool
	stale      bool
	parts      fit           // how parts of the rows explain the answer
	beyond     string        // why no part of the rows has this answer; empty: one may, or nobody knows
	delay      time.Duration // where stale: since the first batch that it lacks was acknowledged
}

func (a *answer) inFull() bool { return a.Answer != nil || a.Digest != nil }

// gather lists the answers that can be checked, type by type. Those of which
// only the number of rows is known, and for which the oracle would have to make
// the whole answer, are left out: it would take as long as all the rest.
func gather(j *engine.Journal) []*answer {
	var all []*answer
	for kind := range j.Types {
		t := &j.Types[kind]
		for i := range t.Full {
			all = append(all, &answer{Answered: &t.Full[i], kind: kind, parts: within})
		}
		for i := range t.Counted {
			if oracle.Countable(&t.Counted[i].Query) {
				all = append(all, &answer{Answered: &t.Counted[i], kind: kind, parts: within})
			}
		}
	}
	return all
}

// differs returns how the answer differs from an expected one; empty: it is
// that.
func (a *answer) differs(x *oracle.Expectation) string {
	if a.Rows != x.Rows && x.Rows != oracle.AnyNumber && x.Choices == nil {
		return fmt.Sprintf("%d rows in the answer, %d expected", a.Rows, x.Rows)
	}
	switch {
	case x.Any: // which rows are right, nobody can say of a state that has passed
	case x.Choices != nil && a.Answer != nil:
		found := query.Answer{Rows: slices.Clone(a.Answer.Rows)}
		if d := query.CompareChoices(&a.Query, a.columns, x.Choices, &found); d != nil {
			return d.String()
		}
	case x.Choices != nil: // nor of a digest, which of them it has
	case a.Answer != nil && x.Answer == nil:
		if !digestOf(a.columns, a.Answer).Equal(x.Digest) {
			return fmt.Sprintf("its %d rows are not the expected ones", a.Rows)
		}
	case a.Digest != nil && !a.Digest.Equal(x.Digest):
		return fmt.Sprintf("its %d rows are not the expected ones", a.Digest.Rows())
	case a.Answer != nil:
		found := query.Answer{Rows: slices.Clone(a.Answer.Rows)} // whose order stays to be compared again
		if d := query.Compare(&a.Query, a.columns, x.Answer, &found); d != nil {
			return d.String()
		}
	}
	return ""
}

// judgement is what comes out of the answers of one type.
type judgement struct {
	out       *result.MixedType
	doubtful  []*answer // not right
	freshness *measure.Latency
	inParts   bool // the target shows the rows of a batch apart
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
	}
}

// examined chooses the answers that are looked at: those in full, and of the
// others as many as there is room for, evenly spread.
func (t *judgement) examined() []*answer {
	chosen := slices.Clone(t.doubtful)
	if len(chosen) > maxExamined {
		slices.SortStableFunc(chosen, func(a, b *answer) int {
			return cmp.Compare(btoi(b.inFull()), btoi(a.inFull()))
		})
		rest := slices.IndexFunc(chosen, func(a *answer) bool { return !a.inFull() })
		if rest < 0 || rest > maxExamined {
			rest = 0 // of those in full there are too many already
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

// conclude fills in what became of the doubtful answers.
func (t *judgement) conclude() error {
	for _, a := range t.doubtful {
		switch {
		case !a.examined:
			t.out.Unexamined++
		case a.stale:
			t.out.Stale++
			t.freshness.Record(a.delay)
		case t.inParts && a.Rows <= a.expected && a.beyond == "":
			// Which rows were visible nobody can say. More rows than there are is wrong all the same.
			t.out.Stale++
			t.out.InParts++
			if a.parts != matches {
				t.out.Unmatched++
			}
		case t.out.Verdict.Difference == "" && a.beyond != "":
			t.out.Verdict.Difference = fmt.Sprintf("query %d: %s; and no part of the rows has it: %s", a.Query.ID, a.difference, a.beyond)
		case t.out.Verdict.Difference == "":
			t.out.Verdict.Difference = fmt.Sprintf("query %d: %s; and it is right for no older state", a.Query.ID, a.difference)
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
