package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
)

// expect passes over the dataset for its size and all expected answers.
func (x *execution) expect(ctx context.Context) error {
	var full []query.Query
	for i := range x.questions {
		full = append(full, x.questions[i].early...)
	}
	var counted iter.Seq[query.Query]
	if x.steps.Ask {
		counted = func(yield func(query.Query) bool) {
			for i := range x.questions {
				for q := range x.questions[i].all {
					if !yield(q) {
						return
					}
				}
			}
		}
	}
	label := "surveying the dataset"
	if len(full) > 0 {
		label = "computing expected answers"
	}
	for v := range views {
		held := &x.viewed[v]
		if held.dataset == nil {
			continue
		}
		task := x.Display.Start(label, "rows", x.rowsAtMost())
		expected, err := oracle.Pass(ctx, held.dataset, full, counted, func(rows int) { task.Add(int64(rows)) })
		if err != nil {
			task.Fail(reason(ctx, err))
			return err
		}
		task.Done("")
		held.survey = &expected.Survey
		x.expectAnswers(v, expected)
		if v == everyRow {
			x.expected = expected
		}
	}
	d := &x.run.Dataset
	d.Rows, d.Metrics, d.RawBytes = x.expected.Survey.Rows, x.expected.Survey.Metrics, x.expected.Survey.RawBytes
	d.Lateness = x.expected.Survey.Lateness.Seconds()
	if l := x.expected.Survey.Late; l != nil {
		d.Late = &result.Late{
			Share: l.Share, Least: l.Least, Most: l.Most,
			P50: l.Delays[0], P90: l.Delays[1], P99: l.Delays[2], Max: l.Delays[3],
		}
	}
	return nil
}

// expectAnswers deals the answers of a pass to the types of questions.
func (x *execution) expectAnswers(v view, expected *oracle.Expectations) {
	n := x.plan.experiment.Queries.PerType()
	fullAt := 0
	for i := range x.questions {
		q := &x.questions[i]
		q.expected[v].full = expected.Full[fullAt : fullAt+len(q.early)]
		fullAt += len(q.early)
		if x.steps.Ask {
			q.expected[v].counted = expected.Counted[i*n : (i+1)*n]
		}
	}
}

// rowsAtMost is an upper bound on the dataset's rows, for progress bars.
func (x *execution) rowsAtMost() int64 {
	rows := x.spec.RowsAtMost(len(x.dataset.Schema().Tables))
	if x.spec.Limit > 0 {
		rows = min(rows, x.spec.Limit)
	}
	return rows
}

// check compares the answers of all query types. Where there is doubt about
// what the target holds no right answer makes up for it: all are withheld.
func (x *execution) check(ctx context.Context, t driver.DB, planned *plannedTarget, mark session.Mark, out *result.Target) error {
	doubt, err := x.doubt(ctx, t, planned, mark, out)
	if err != nil {
		return err
	}
	first := out.RepeatOf(1)
	for i := range x.questions {
		q := &x.questions[i]
		if first.Type(q.kind.Name) != nil {
			continue // before the run was resumed
		}
		task := x.Display.Start(out.Name+" "+q.kind.Name, "queries", 0)
		checked, err := x.checkType(ctx, t, planned, q)
		if err != nil {
			task.Fail(reason(ctx, err))
			return fmt.Errorf("%s: %w", q.kind.Name, err)
		}
		if checked.Unsupported == "" {
			checked.Withheld = cmp.Or(checked.Verdict.Difference, doubt)
			if doubt != "" && checked.Verdict.Difference != "" {
				checked.Withheld = doubt + "; " + checked.Verdict.Difference
			}
		}
		switch {
		case checked.Unsupported != "":
			task.Done("n/a: " + checked.Unsupported)
		case checked.Withheld != "":
			task.Fail(checked.Withheld)
		default:
			task.Done(checked.Verdict.String())
		}
		if x.steps.Ask { // what is verified will be the answers that are measured
			v := &checked.Verdict
			checked.Sample.Early, checked.Verdict = v.Checked, result.Verdict{Difference: v.Difference}
		}
		first.Put(checked)
		if err := x.keepQueries(ctx, out, 1, checked); err != nil {
			return err
		}
	}
	return nil
}

// doubt returns why no figure can stand on what the target holds; empty: all
// is as it should be.
func (x *execution) doubt(ctx context.Context, t driver.DB, planned *plannedTarget, mark session.Mark, out *result.Target) (string, error) {
	if x.steps.Load {
		if last := lastLoad(out); last != nil && last.Withheld != "" {
			return "what was loaded is not right: " + last.Withheld, nil
		}
		return "", nil
	}
	census, err := verify.Census(ctx, t, x.surveyFor(planned), verify.Sent{Acknowledged: mark.Complete, Twice: mark.SentTwice})
	if err != nil {
		return "", err
	}
	for _, c := range census {
		if c.Problem == "" {
			continue
		}
		problem := "the database is not as it was loaded: " + c.Problem
		if len(x.questions) == 0 {
			return "", errors.New(problem) // there is no figure to withhold
		}
		return problem, nil
	}
	return "", nil
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

// checkType renders all queries of a type, so that what cannot be asked shows,
// and compares answers to some that are not measured, or to as many as wanted
// where nothing is.
func (x *execution) checkType(ctx context.Context, t driver.DB, planned *plannedTarget, q *questions) (*result.Queries, error) {
	out := &result.Queries{Type: q.kind.Name, Help: q.kind.Help}
	var one query.Query // one for all: what is given on moves to the heap
	for one = range q.all {
		if _, err := planned.kind.Render(&one, x.dataset.Schema(), planned.options); err != nil {
			return unsupported(out, err)
		}
	}
	held := x.viewOf(planned)
	begin := time.Now()
	var err error
	out.Verdict, err = verify.Answers(ctx, x.verifying(planned), t, planned.kind.Renderer(planned.options), x.viewed[held].dataset, q.expected[held].full)
	if err != nil {
		return unsupported(out, err)
	}
	if box := x.plan.experiment.TimeBoxOfRepeat(); box > 0 && time.Since(begin) > box*time.Duration(max(out.Verdict.Checked, 1)) {
		x.slow[slowType{planned.name, q.kind.Name}] = true
	}
	return out, nil
}

// slowType is a query type of a target.
type slowType struct{ target, queryType string }

// verifying is how answers are asked for that are compared off the clock.
func (x *execution) verifying(planned *plannedTarget) verify.Config {
	settings := &x.plan.experiment.Queries
	workers := settings.Workers
	if planned.caps.Embedded {
		workers = max(workers, min(runtime.NumCPU(), 4)) // off the clock nobody waits in vain
	}
	return verify.Config{Workers: workers, Timeout: settings.Timeout}
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
