package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/verify"
)

// PendingAnswers lists the phases of a target that have recorded answers and no verdict yet.
func PendingAnswers(t *result.Target) []record.Phase {
	var list []record.Phase
	for _, r := range t.Repeats {
		for i := range r.Queries {
			if q := &r.Queries[i]; q.Sample.Captured > 0 && q.Verdict == (result.Verdict{}) && !q.WithoutFigure() {
				list = append(list, record.Phase{Target: t.Name, QueryType: q.Type, Repeat: r.Number})
			}
		}
	}
	return list
}

// pendingCount returns the number of a target's answers without a verdict.
func pendingCount(t *result.Target) int64 {
	answers := int64(0)
	for _, p := range PendingAnswers(t) {
		answers += t.RepeatOf(p.Repeat).Type(p.QueryType).Sample.Captured
	}
	return answers
}

// Comparer compares the answers recorded in a part of the run.
type Comparer struct {
	plan    *plan.Plan
	subject *subject.Subject
	record  *record.Record
	answers [plan.Views]map[takenQuery]*oracle.Expectation // nil: not computed yet
	// By target, for types that only agreement can verify: the recorded answers, and the row counts
	// of all.
	texts map[takenQuery]map[string]*query.Answer
	rows  map[string]map[string]rowCounts // by type and target
}

// NewComparer returns a Comparer for the part of the run that begins.
func NewComparer(s *subject.Subject, r *record.Record) *Comparer {
	return &Comparer{plan: s.Plan, subject: s, record: r}
}

// decision is the verdict on the answers of a phase.
type decision struct {
	phase     record.Phase
	verdict   result.Verdict
	failure   *result.Failure // why an answer could not be compared; nil: all were, or one was wrong
	agreed    int64           // further answers with as many rows as those of other systems
	disagrees string          // difference from another system's answer, if the correct one is unknown
}

// takenQuery identifies a query with a recorded answer, by the ID that it shares with equal
// queries.
type takenQuery struct {
	queryType string
	id        int
}

// expect passes over the dataset once to compute the expected answers to the recorded queries of
// all targets.
func (x *Comparer) expect(ctx context.Context) error {
	var wanted [plan.Views]map[takenQuery]bool
	for v := range wanted {
		wanted[v] = make(map[takenQuery]bool)
	}
	x.texts, x.rows = make(map[takenQuery]map[string]*query.Answer), make(map[string]map[string]rowCounts)
	for i := range x.record.Doc.Targets {
		held := x.subject.ViewOf(&x.plan.Targets[i])
		for _, p := range PendingAnswers(&x.record.Doc.Targets[i]) {
			answers, err := x.record.Answers().Get(p)
			if err != nil {
				return record.StoreError(err)
			}
			for _, a := range answers {
				key := x.keyOf(p, &a)
				if !x.subject.ComparesSystems(x.subject.QueriesOf(p.QueryType)) {
					wanted[held][key] = true
					continue
				}
				if x.rows[p.QueryType] == nil {
					x.rows[p.QueryType] = make(map[string]rowCounts)
				}
				x.rows[p.QueryType][p.Target] = x.rows[p.QueryType][p.Target].set(key.id, a.Rows)
				if a.Answer == nil {
					continue
				}
				if x.texts[key] == nil {
					x.texts[key] = make(map[string]*query.Answer)
				}
				x.texts[key][p.Target] = a.Answer
			}
		}
	}
	// All or nothing: after a failed pass the next target requests it again.
	var answers [plan.Views]map[takenQuery]*oracle.Expectation
	for v := range plan.Views {
		answers[v] = make(map[takenQuery]*oracle.Expectation)
		if len(wanted[v]) == 0 {
			continue
		}
		var full []query.Query
		var keys []takenQuery
		for i := range x.subject.Queries {
			q, place := &x.subject.Queries[i], 0
			var texts []query.Query
			var textKeys []takenQuery
			for one := range q.All {
				if key := (takenQuery{q.Type.Name, place}); !wanted[v][key] {
				} else if q.OwnText != nil {
					texts, textKeys = append(texts, one), append(textKeys, key)
				} else {
					full, keys = append(full, one), append(keys, key)
				}
				place++
			}
			found, err := x.subject.AnswerByReference(ctx, v, q, texts)
			if err != nil {
				return err
			}
			for i, key := range textKeys {
				answers[v][key] = &found[i]
			}
		}
		if len(full) == 0 {
			continue
		}
		expected, err := x.subject.Pass(ctx, "computing expected answers", x.subject.Viewed[v].Dataset, full, nil)
		if err != nil {
			return err
		}
		for i, key := range keys {
			answers[v][key] = &expected.Full[i]
		}
	}
	x.answers = answers
	return nil
}

// keyOf returns the key of an answer's query.
func (x *Comparer) keyOf(p record.Phase, a *engine.Answered) takenQuery {
	return takenQuery{p.QueryType, x.subject.QueriesOf(p.QueryType).Blocks.ID(a.Place)}
}

// Compare compares the answers recorded while a target was measured. With every error it returns
// the verdicts so far. It reports whether answers remain that need the target, if it was called
// without one.
func (x *Comparer) Compare(ctx context.Context, t driver.DB, planned *plan.Target, out *result.Target) (found []decision, doubtful bool, err error) {
	if x.answers[plan.EveryRow] == nil {
		if err := x.expect(ctx); err != nil {
			return nil, false, err
		}
	}
	task := x.record.Display.Start("compare answers of "+out.Name, "answers", pendingCount(out))
	held, wrong := x.subject.ViewOf(planned), false
	cfg := x.plan.VerifyConfig(planned)
	cfg.Gone, cfg.Progress = out.Failure != "", func() { task.Add(1) }
	for _, p := range PendingAnswers(out) {
		if q := x.subject.QueriesOf(p.QueryType); x.subject.ComparesSystems(q) {
			answers, err := x.record.Answers().Get(p)
			if err != nil {
				return found, false, record.StoreError(err)
			}
			found = append(found, x.agree(q, p, answers, cfg.Progress))
			continue
		}
		verdict, open, err := x.compareType(ctx, cfg, t, planned, held, p)
		var failure *result.Failure
		if errors.As(err, &failure) {
			err = nil
		}
		if err != nil {
			record.Fail(ctx, task, err)
			return found, false, err
		}
		if open {
			doubtful = true
			continue
		}
		wrong = wrong || verdict.Difference != ""
		found = append(found, decision{phase: p, verdict: verdict, failure: failure})
	}
	spread(found)
	if wrong {
		task.Fail("wrong answers")
	} else {
		task.Finish("")
	}
	return found, doubtful, nil
}

// compareType compares the answers of a phase.
func (x *Comparer) compareType(ctx context.Context, cfg verify.Config, t driver.DB, planned *plan.Target, held plan.View, p record.Phase) (result.Verdict, bool, error) {
	answers, err := x.record.Answers().Get(p)
	if err != nil {
		return result.Verdict{}, false, record.StoreError(err)
	}
	list := make([]verify.Taken, len(answers))
	for i := range answers {
		list[i] = verify.Taken{Answered: &answers[i], Expected: x.answers[held][x.keyOf(p, &answers[i])]}
	}
	verdict, open, err := verify.CheckCaptured(ctx, cfg, t, planned.Renderer(ctx, t, x.subject.QueriesOf(p.QueryType)), x.subject.Viewed[held].Dataset, list)
	if err != nil {
		err = fmt.Errorf("comparing answers of %s: %w", p.QueryType, err)
	}
	return verdict, open, err
}

// Decide records verdicts. Types with wrong answers are withheld.
func (x *Comparer) Decide(ctx context.Context, out *result.Target, found []decision) error {
	for _, d := range found {
		q := *out.RepeatOf(d.phase.Repeat).Type(d.phase.QueryType)
		q.Verdict, q.Disagrees, q.Withheld = d.verdict, d.disagrees, cmp.Or(q.Withheld, d.verdict.Difference)
		q.Failed, q.Sample.Agreed = cmp.Or(q.Failed, d.failure), d.agreed
		if q.Verdict == (result.Verdict{}) { // there were no expected answers
			q.Sample.Captured = 0
		}
		if err := x.record.KeepQueries(ctx, out, d.phase.Repeat, &q); err != nil {
			return err
		}
		x.record.Answers().Drop(d.phase)
	}
	return nil
}
