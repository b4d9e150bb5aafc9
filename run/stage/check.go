package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/verify"
)

// Checker counts the data of a target that this run did not load, and compares answers before the
// measurement. It records slow types.
type Checker struct {
	Plan    *plan.Plan
	Subject *subject.Subject
	Record  *record.Record
	Slow    map[SlowType]bool // one query took longer than the time box of a repeat
}

// Check compares the answers of all query types. If the contents of the target are doubtful,
// correct answers do not help: all types are withheld.
func (x *Checker) Check(ctx context.Context, on *Opened) error {
	if on.adopted {
		if err := x.compareAdopted(ctx, on); err != nil {
			return err
		}
	}
	doubt, err := x.contentProblem(ctx, on)
	if err != nil {
		return err
	}
	short, _, _ := strings.Cut(doubt, ": ")
	first := on.out.RepeatOf(1)
	for i := range x.Subject.Queries {
		q := &x.Subject.Queries[i]
		if first.Type(q.Type.Name) != nil {
			continue // before the run was resumed
		}
		task := x.Record.Display.Start(on.out.Name+" "+q.Type.Name, "answers", int64(len(q.Early)))
		checked, err := x.checkType(ctx, on, q, task)
		if driver.IsBroken(ctx, on.DB, err) { // neither another type nor the load is affected
			checked.Failed, err = result.NewFailure(result.ConnectionLost, err), nil
		}
		if err != nil {
			record.Fail(ctx, task, err)
			return fmt.Errorf("%s: %w", q.Type.Name, err)
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
		case doubt != "": // reported for the contents
			task.Fail(strings.TrimSuffix(short+"; "+checked.Verdict.Difference, "; "))
		case checked.Withheld != "":
			task.Fail(checked.Withheld)
		case checked.Failed != nil:
			task.Fail(checked.Failed.Error())
		default:
			task.Finish(checked.VerdictText())
		}
		if x.Plan.Steps.Query { // the measured answers will be verified
			v := &checked.Verdict
			checked.Sample.Early, checked.Verdict = v.Checked, result.Verdict{Difference: v.Difference}
		}
		if err := x.Record.KeepQueries(ctx, on.out, 1, checked); err != nil {
			return err
		}
	}
	return nil
}

// contentProblem returns why the contents of the target invalidate all figures; empty: they are as
// expected.
func (x *Checker) contentProblem(ctx context.Context, on *Opened) (string, error) {
	if x.Plan.Steps.Load {
		if last := lastLoad(on.out); last != nil && last.Withheld != "" {
			return "the loaded data is wrong: " + last.Withheld, nil
		}
		return "", nil
	}
	if on.adopted {
		return "", nil // it was already compared
	}
	census, err := census(ctx, x.Subject, on, verify.Sent{Acknowledged: on.mark.Complete, Twice: on.mark.SentTwice}, nil, 0)
	if err != nil {
		return "", err
	}
	for _, c := range census {
		if c.Problem == "" {
			continue
		}
		problem := "the database is not as it was loaded: " + c.Problem
		if len(x.Subject.Queries) == 0 {
			return "", errors.New(problem) // there is no figure to withhold
		}
		return problem, nil
	}
	return "", nil
}

// census compares the contents of a target with the dataset, and the given number of its rows by reading them
// back; 0: all of the sample. It displays the result, unless the previous census had the same.
func census(ctx context.Context, s *subject.Subject, on *Opened, sent verify.Sent, before []result.CensusResult, rows int) ([]result.CensusResult, error) {
	survey := s.SurveyOf(on.Planned)
	task := s.Display.Start("count "+on.out.Name, "tables", int64(len(survey.Tables)))
	found, err := verify.Census(ctx, on.DB, survey, sent, func() { task.Add(1) })
	if err == nil && len(survey.OneOf) > 0 && problemOf(found) != "" {
		// A target whose tables are of one series each keeps every row.
		if every, everyErr := verify.Census(ctx, on.DB, &s.Expected.Survey, sent, nil); everyErr == nil && problemOf(every) == "" {
			survey, found = &s.Expected.Survey, every
		}
	}
	if err == nil {
		cfg := s.Plan.VerifyConfig(on.Planned)
		cfg.Rows = rows
		err = verify.Rows(ctx, cfg, on.DB, on.Planned.Driver.Renderer(on.Planned.Options), survey, on.Planned.Caps.Digits, found)
	}
	if err != nil {
		record.Fail(ctx, task, err)
		return found, err
	}
	switch problem := problemOf(found); {
	case problem == "":
		task.Finish("contents as expected")
	case on.adopted, problem == problemOf(before): // it is reported at the end of the run, or was reported
		task.Fail("")
	default:
		task.Fail(problem)
	}
	return found, nil
}

// problemOf returns the first problem of a census; empty: none.
func problemOf(census []result.CensusResult) string {
	for _, c := range census {
		if c.Problem != "" {
			return c.Problem
		}
	}
	return ""
}

// lastLoad returns the load that queries run on; nil: none.
func lastLoad(t *result.Target) *result.Load {
	for _, r := range slices.Backward(t.Repeats) {
		if r.Load != nil {
			return r.Load
		}
	}
	return nil
}

// checkType renders all queries of a type, to detect queries that cannot run, and compares answers
// to some queries that are not measured; if nothing is measured, to the requested number.
func (x *Checker) checkType(ctx context.Context, on *Opened, q *plan.TypeQueries, task record.Task) (*result.Queries, error) {
	out := &result.Queries{Type: q.Type.Name, Help: q.Type.Help, Texts: x.Plan.TextSource(q)}
	if !x.Subject.HasExpected(q) {
		out.NoReference = x.Subject.MissingReference(q)
		return x.checkTexts(ctx, on, q, out, task)
	}
	if err := aggregateMissing(on.out, q); err != nil {
		return recordUnsupported(out, err)
	}
	render := on.Planned.Renderer(ctx, on.DB, q)
	var one query.Query // one variable for all queries, because it escapes to the heap
	for one = range q.All {
		var err error
		if q.OwnText != nil { // the database checks a text shortly before it runs
			_, err = on.Planned.Text(q.OwnText, &one)
		} else {
			_, err = render(&one, x.Subject.Dataset.Schema())
		}
		if err != nil {
			return recordUnsupported(out, err)
		}
	}
	held := x.Subject.ViewOf(on.Planned)
	cfg := x.Plan.VerifyConfig(on.Planned)
	cfg.Progress = func() { task.Add(1) }
	begin := time.Now()
	var err error
	out.By = x.Subject.VerifiedBy(q)
	out.Verdict, err = verify.Answers(ctx, cfg, on.DB, render, x.Subject.Viewed[held].Dataset, q.Expected[held].Full)
	if err != nil {
		return recordFailure(out, err)
	}
	took := time.Since(begin)
	if x.Plan.Aggregate != nil {
		if out.Read, err = x.readVolume(ctx, on, q); err != nil {
			return out, err
		}
	}
	if box := x.Plan.Experiment.TimeBoxOfRepeat(len(x.Subject.Queries)); box > 0 && took > box*time.Duration(max(out.Verdict.Checked, 1)) {
		x.Slow[SlowType{on.Planned.Name, q.Type.Name}] = true
	}
	return out, nil
}

// SlowType is a query type of a target.
type SlowType struct{ target, queryType string }

// recordFailure is recordUnsupported, and also records a failed query as a result.
func recordFailure(out *result.Queries, err error) (*result.Queries, error) {
	if errors.As(err, &out.Failed) {
		return out, nil
	}
	return recordUnsupported(out, err)
}

// recordUnsupported records the error of an unsupported operation as a result, and returns every other
// error.
func recordUnsupported(out *result.Queries, err error) (*result.Queries, error) {
	if !errors.Is(err, query.ErrUnsupported) {
		return out, err
	}
	out.Unsupported = err.Error()
	return out, nil
}
