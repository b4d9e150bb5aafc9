package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
)

// checkStage counts what a target holds where this run did not load it, and
// compares answers before anything is measured. It notes which types are slow.
type checkStage struct {
	plan    *Plan
	subject *subject
	record  *record
	slow    map[slowType]bool // one query took longer than the time box of a repeat
}

// check compares the answers of all query types. Where there is doubt about
// what the target holds no right answer makes up for it: all are withheld.
func (x *checkStage) check(ctx context.Context, on *turn) error {
	if on.adopted {
		if err := x.compareAdopted(ctx, on); err != nil {
			return err
		}
	}
	doubt, err := x.doubt(ctx, on)
	if err != nil {
		return err
	}
	short, _, _ := strings.Cut(doubt, ": ")
	first := on.out.RepeatOf(1)
	for i := range x.subject.queries {
		q := &x.subject.queries[i]
		if first.Type(q.queryType.Name) != nil {
			continue // before the run was resumed
		}
		task := x.record.display.Start(on.out.Name+" "+q.queryType.Name, "answers", int64(len(q.early)))
		checked, err := x.checkType(ctx, on, q, task)
		if driver.Broken(ctx, on.db, err) { // no other type is concerned, nor the load
			checked.Failed, err = result.NewFailure(result.ConnectionLost, err), nil
		}
		if err != nil {
			fail(ctx, task, err)
			return fmt.Errorf("%s: %w", q.queryType.Name, err)
		}
		if checked.Unsupported == "" {
			checked.Withheld = cmp.Or(checked.Withheld, checked.Verdict.Difference, doubt)
			if doubt != "" && checked.Verdict.Difference != "" {
				checked.Withheld = doubt + "; " + checked.Verdict.Difference
			}
		}
		switch {
		case checked.Unsupported != "":
			task.Finish("n/a: " + checked.Unsupported)
		case doubt != "": // which was told of the contents
			task.Fail(strings.TrimSuffix(short+"; "+checked.Verdict.Difference, "; "))
		case checked.Withheld != "":
			task.Fail(checked.Withheld)
		case checked.Failed != nil:
			task.Fail(checked.Failed.Error())
		default:
			task.Finish(checked.VerdictText())
		}
		if x.plan.steps.Query { // what is verified will be the answers that are measured
			v := &checked.Verdict
			checked.Sample.Early, checked.Verdict = v.Checked, result.Verdict{Difference: v.Difference}
		}
		if err := x.record.keepQueries(ctx, on.out, 1, checked); err != nil {
			return err
		}
	}
	return nil
}

// doubt returns why no figure can stand on what the target holds; empty: all
// is as it should be.
func (x *checkStage) doubt(ctx context.Context, on *turn) (string, error) {
	if x.plan.steps.Load {
		if last := lastLoad(on.out); last != nil && last.Withheld != "" {
			return "what was loaded is not right: " + last.Withheld, nil
		}
		return "", nil
	}
	if on.adopted {
		return "", nil // it was compared
	}
	census, err := census(ctx, x.subject, on, verify.Sent{Acknowledged: on.mark.Complete, Twice: on.mark.SentTwice}, nil)
	if err != nil {
		return "", err
	}
	for _, c := range census {
		if c.Problem == "" {
			continue
		}
		problem := "the database is not as it was loaded: " + c.Problem
		if len(x.subject.queries) == 0 {
			return "", errors.New(problem) // there is no figure to withhold
		}
		return problem, nil
	}
	return "", nil
}

// census compares what a target holds with the dataset, and shows what comes of it, unless
// the census before said so already.
func census(ctx context.Context, s *subject, on *turn, sent verify.Sent, before []result.CensusResult) ([]result.CensusResult, error) {
	survey := s.surveyFor(on.planned)
	task := s.display.Start("count "+on.out.Name, "tables", int64(len(survey.Tables)))
	found, err := verify.Census(ctx, on.db, survey, sent, func() { task.Add(1) })
	if err == nil {
		err = verify.Rows(ctx, s.plan.verifying(on.planned), on.db, on.planned.driver.Renderer(on.planned.options), survey, on.planned.caps.Digits, found)
	}
	if err != nil {
		fail(ctx, task, err)
		return found, err
	}
	switch problem := problemOf(found); {
	case problem == "":
		task.Finish("contents as expected")
	case on.adopted, problem == problemOf(before): // it is told where the run ends, or was
		task.Fail("")
	default:
		task.Fail(problem)
	}
	return found, nil
}

// problemOf is the first problem of a census; empty: there is none.
func problemOf(census []result.CensusResult) string {
	for _, c := range census {
		if c.Problem != "" {
			return c.Problem
		}
	}
	return ""
}

// lastLoad is the load that queries run on; nil: there is none.
func lastLoad(t *result.Target) *result.Load {
	for _, r := range slices.Backward(t.Repeats) {
		if r.Load != nil {
			return r.Load
		}
	}
	return nil
}

// checkType renders all queries of a type, so that what cannot be run shows,
// and compares answers to some that are not measured, or to as many as wanted
// where nothing is.
func (x *checkStage) checkType(ctx context.Context, on *turn, q *typeQueries, task Task) (*result.Queries, error) {
	out := &result.Queries{Type: q.queryType.Name, Help: q.queryType.Help, Texts: x.plan.texts(q)}
	if !x.subject.expects(q) {
		out.NoReference = x.subject.noReference(q)
		return x.checkTexts(ctx, on, q, out, task)
	}
	if err := noAggregate(on.out, q); err != nil {
		return unsupported(out, err)
	}
	render := on.planned.renderer(ctx, on.db, q)
	var one query.Query // one for all: what is given on moves to the heap
	for one = range q.all {
		var err error
		if q.written != nil { // the database checks a text shortly before it runs
			_, err = on.planned.text(q.written, &one)
		} else {
			_, err = render(&one, x.subject.dataset.Schema())
		}
		if err != nil {
			return unsupported(out, err)
		}
	}
	held := x.subject.viewOf(on.planned)
	cfg := x.plan.verifying(on.planned)
	cfg.Progress = func() { task.Add(1) }
	begin := time.Now()
	var err error
	out.By = x.subject.by(q)
	out.Verdict, err = verify.Answers(ctx, cfg, on.db, render, x.subject.viewed[held].dataset, q.expected[held].full)
	if err != nil {
		return unanswered(out, err)
	}
	took := time.Since(begin)
	if x.plan.aggregate != nil {
		if out.Read, err = x.read(ctx, on, q); err != nil {
			return out, err
		}
	}
	if box := x.plan.experiment.TimeBoxOfRepeat(); box > 0 && took > box*time.Duration(max(out.Verdict.Checked, 1)) {
		x.slow[slowType{on.planned.name, q.queryType.Name}] = true
	}
	return out, nil
}

// slowType is a query type of a target.
type slowType struct{ target, queryType string }

// verifying is how answers are asked for that are compared off the clock.
func (p *Plan) verifying(planned *plannedTarget) verify.Config {
	settings := &p.experiment.Queries
	workers := settings.Workers
	if planned.caps.Embedded {
		workers = max(workers, min(runtime.NumCPU(), 4)) // off the clock nobody waits in vain
	}
	return verify.Config{Workers: workers, Timeout: settings.Timeout}
}

// unanswered is unsupported that also turns a failure of a query into a result.
func unanswered(out *result.Queries, err error) (*result.Queries, error) {
	if errors.As(err, &out.Failed) {
		return out, nil
	}
	return unsupported(out, err)
}

// unsupported turns the error of what a target cannot do into a result, and
// passes on every other error.
func unsupported(out *result.Queries, err error) (*result.Queries, error) {
	if !errors.Is(err, query.ErrUnsupported) {
		return out, err
	}
	out.Unsupported = err.Error()
	return out, nil
}
