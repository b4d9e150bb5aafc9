package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/ingest"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/verify"
	"github.com/tsmark/tsmark/workload"
)

// Store keeps a run piece by piece.
type Store interface {
	Begin(context.Context, *result.Run) error
	SaveTarget(ctx context.Context, runID string, t *result.Target) error
	SaveLoad(ctx context.Context, runID, target string, l *result.Load) error
	SaveQueries(ctx context.Context, runID, target string, q *result.Queries) error
	Finish(context.Context, *result.Run) error
	// LastLoad returns the id of the newest run that loaded a target of the
	// name and kind, or "".
	LastLoad(ctx context.Context, target, kind string) (string, error)
}

// Display shows what is going on.
type Display interface {
	// Start begins to show a piece of work of the given total, 0 where it is
	// not known, counted in the unit.
	Start(label, unit string, total int64) Task
}

// Task is a piece of work that is shown. Add may be called from several
// goroutines at once.
type Task interface {
	Add(n int64)
	Done(note string) // it ended well; the note says what came of it
	Fail(note string) // it ended otherwise
}

// Runner executes plans.
type Runner struct {
	Store   Store
	Dir     string // results folder; each run has a folder of its own in it
	Display Display
	Tool    result.Tool
	Host    result.Host
	Input   io.Reader // standard input, for an experiment whose rows come from there
}

// ErrInput is wrapped by errors about what the user gave that only show once
// a target is open: the database holds something else, or nothing.
var ErrInput = errors.New("cannot go on")

// Run executes a plan and returns the run as it was stored. What
// concerns one target, such as a server that gives up, is in the run; the
// error is for what ends all of it: ctx's end, ErrInput, or a store that does
// not work. args is the command line, for the record.
func (r *Runner) Run(ctx context.Context, p *Plan, command string, args []string) (*result.Run, error) {
	yaml, err := experiment.Marshal(p.experiment)
	if err != nil {
		return nil, err
	}
	x := &execution{Runner: r, plan: p, steps: p.steps}
	x.run = result.Run{
		Name: p.experiment.Name, Command: command, Args: args, Experiment: string(yaml),
		Started: time.Now().UTC(), Tool: r.Tool, Host: r.Host,
	}
	if p.steps.Load {
		if err := x.openFile(); err != nil {
			return nil, err
		}
	}
	if p.steps.Load && !x.unknown() {
		// Impossible questions show before anything is stored or loaded.
		spec := p.experiment.Workload
		spec.Limit = p.experiment.Load.Limit
		if err := x.prepare(spec); err != nil {
			return nil, err
		}
	}
	if err := r.Store.Begin(ctx, &x.run); err != nil {
		return nil, err
	}
	err = x.execute(ctx)

	x.run.Finished = time.Now().UTC()
	switch {
	case ctx.Err() != nil:
		x.run.Status, x.run.Reason = result.Incomplete, "interrupted"
	case err != nil:
		x.run.Status, x.run.Reason = result.Incomplete, err.Error()
	case x.failed() != "":
		x.run.Status, x.run.Reason = result.Incomplete, x.failed()
	default:
		x.run.Status = result.Complete
	}
	// An interrupted run is stored all the same, and says that it was.
	if finishErr := r.Store.Finish(context.WithoutCancel(ctx), &x.run); finishErr != nil {
		err = both(err, finishErr)
	}
	return &x.run, err
}

// both is an error, on one line, and what then happened to storing it.
func both(err, stored error) error {
	if err == nil || stored == nil {
		return errors.Join(err, stored)
	}
	return fmt.Errorf("%w (and it could not be stored: %w)", err, stored)
}

// errStore is wrapped where a result could not be stored, which is no fault of
// the target's and ends the run.
var errStore = errors.New("results cannot be stored")

// stored returns the error of a store, marked as one.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// execution is one run on its way.
type execution struct {
	*Runner
	plan  *Plan
	steps Steps
	run   result.Run

	spec      workload.Spec
	dataset   workload.Dataset
	questions []questions
	expected  *oracle.Expectations // once the dataset has been passed over
	file      *ingest.Source       // where the rows come from; nil: they are generated
	parsed    *ingest.Dataset      // the file's rows, once a target needed them
}

// prepare fixes the dataset and draws the queries.
func (x *execution) prepare(spec workload.Spec) error {
	w, types, err := x.plan.dataset(spec)
	if err != nil {
		return err
	}
	if x.questions, err = x.plan.draw(w, types, spec, x.plan.experiment.Queries.PerType()); err != nil {
		return err
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return x.plan.specProblem(err)
	}
	if spec.Limit >= spec.RowsAtMost(len(d.Schema().Tables)) {
		spec.Limit = 0 // all of it: the same dataset as without a limit
	}
	x.spec = spec
	if spec.Limit > 0 {
		d = workload.Limited(d, spec.Limit)
	}
	x.dataset = d
	x.run.Dataset = result.Dataset{Spec: spec, Fingerprint: spec.Fingerprint(), Series: d.Schema().Series, Source: x.run.Dataset.Source}
	return nil
}

// failed says which targets gave up.
func (x *execution) failed() string {
	for i := range x.run.Targets {
		if t := &x.run.Targets[i]; t.Failure != "" {
			return fmt.Sprintf("target %s: %s", t.Name, t.Failure)
		}
	}
	return ""
}

func (x *execution) execute(ctx context.Context) error {
	for i := range x.plan.targets {
		planned := &x.plan.targets[i]
		x.run.Targets = append(x.run.Targets, result.Target{
			Name: planned.name, Kind: planned.kind.Name, Embedded: planned.kind.Caps.Embedded, Options: planned.options,
		})
		out := &x.run.Targets[i]
		err := x.measure(ctx, planned, out)
		if errors.Is(err, syscall.ENOSPC) && planned.kind.Caps.Embedded {
			err = fmt.Errorf("%w: %w", ErrInput, err) // tsmark's own disk, not a server's
		}
		if errors.Is(err, ingest.ErrSource) {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, ErrInput) || errors.Is(err, errStore)) {
			return err
		}
		if err != nil {
			out.Failure = err.Error()
		}
		if err := x.Store.SaveTarget(context.WithoutCancel(ctx), x.run.ID, out); err != nil {
			return err
		}
	}
	return nil
}

// measure takes one target through all steps.
func (x *execution) measure(ctx context.Context, planned *plannedTarget, out *result.Target) error {
	env, err := x.env(ctx, planned)
	if err != nil {
		return err
	}
	if x.steps.Load {
		defer removeEmpty(env.Dir) // where the database has a path of its own
	}
	t, err := planned.kind.Open(ctx, env, planned.options)
	if err != nil {
		// No server is down: the path, or what is there, is not right.
		if ctx.Err() == nil && (planned.kind.Caps.Embedded || errors.Is(err, target.ErrForeign)) {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
		return err
	}
	defer t.Close() // everything that matters was flushed, and checked, before
	mark, err := x.face(ctx, t)
	if err != nil {
		return err
	}
	if out.Description, err = t.Describe(ctx); err != nil {
		return fmt.Errorf("asking for version and settings: %w", err)
	}
	if err := x.Store.SaveTarget(ctx, x.run.ID, out); err != nil {
		return stored(err)
	}
	// What is discarded as it is needs no survey, which would take longer.
	if x.expected == nil && !x.unknown() && !(planned.kind.Caps.Discards && x.asLines(t)) {
		if err := x.expect(ctx); err != nil {
			return err
		}
	}
	doubt := "" // why no figure can stand on what the target holds
	if x.steps.Load {
		if err := x.load(ctx, t, planned.kind.Caps.Discards, mark, out); err != nil {
			return err
		}
		if out.Load.Withheld != "" {
			doubt = "what was loaded is not right: " + out.Load.Withheld
		}
	} else {
		problem, err := x.census(ctx, t)
		switch {
		case err != nil:
			return err
		case problem != "" && len(x.questions) == 0:
			return errors.New(problem) // there is no figure to withhold
		}
		doubt = problem
	}
	if x.steps.Verify {
		return x.ask(ctx, t, planned, out, doubt)
	}
	return nil
}

// removeEmpty removes a folder of a run, and the run's own, if nothing is in
// them.
func removeEmpty(dir string) {
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir)) // fails, and stays, where something else is in it
	}
}

// env gives a loaded target a folder within this run's, and an existing one
// the folder it was loaded in.
func (x *execution) env(ctx context.Context, planned *plannedTarget) (target.Env, error) {
	id := x.run.ID
	if !x.steps.Load {
		var err error
		if id, err = x.Store.LastLoad(ctx, planned.name, planned.kind.Name); err != nil {
			return target.Env{}, err
		}
		if id == "" && planned.kind.Caps.Embedded && planned.options["path"] == "" {
			return target.Env{}, fmt.Errorf("%w: no target %s of kind %s has been loaded into %s; load it with tsmark load, or give its path",
				ErrInput, planned.name, planned.kind.Name, x.Dir)
		}
	}
	env := target.Env{Dir: filepath.Join(x.Dir, id, planned.name), Existing: !x.steps.Load}
	if x.steps.Load && planned.kind.Caps.Embedded {
		if err := os.MkdirAll(env.Dir, 0o777); err != nil {
			return env, fmt.Errorf("%w: making the run's folder: %w", ErrInput, err)
		}
	}
	return env, nil
}

// face reads the mark and decides whether the steps may go on with what the
// database holds.
func (x *execution) face(ctx context.Context, t target.Target) (target.Mark, error) {
	mark, err := t.ReadMark(ctx)
	unmarked := errors.Is(err, target.ErrNoMark)
	switch {
	case errors.Is(err, target.ErrForeign):
		return mark, fmt.Errorf("%w: %w", ErrInput, err)
	case err != nil && !unmarked:
		return mark, err
	}
	if x.steps.Load {
		if !unmarked && !x.plan.experiment.Load.Replace {
			return mark, fmt.Errorf("%w: the database holds dataset %s already (%s, %d of %d rows); add --replace to load it anew, or use tsmark query",
				ErrInput, mark.Fingerprint, mark.Dataset.Name, mark.RowsAcked, mark.RowsExpected)
		}
		return x.newMark(), nil
	}
	switch {
	case unmarked:
		return mark, fmt.Errorf("%w: %w; load one with tsmark load", ErrInput, err)
	case mark.Unverified != "":
		return mark, fmt.Errorf("%w: %s; load the file again with --replace and the flags that say what generated it, as in --use-case cpu-only --scale 100",
			ErrInput, mark.Unverified)
	case !mark.Complete:
		return mark, fmt.Errorf("%w: the load of dataset %s ended after %d of %d rows; load it again with --replace",
			ErrInput, mark.Fingerprint, mark.RowsAcked, mark.RowsExpected)
	case x.dataset == nil:
		return mark, x.adopt(mark)
	case mark.Fingerprint != x.run.Dataset.Fingerprint:
		return mark, fmt.Errorf("%w: the targets hold different datasets, %s and %s; ask them one by one",
			ErrInput, x.run.Dataset.Fingerprint, mark.Fingerprint)
	}
	return mark, nil
}

// adopt makes the marked dataset the one that this run is about.
func (x *execution) adopt(mark target.Mark) error {
	if mark.Dataset.Fingerprint() != mark.Fingerprint {
		return fmt.Errorf("%w: the dataset was loaded as %s, and this tsmark generates %s from the same settings; load it again with --replace",
			ErrInput, mark.Fingerprint, mark.Dataset.Fingerprint())
	}
	if err := x.prepare(mark.Dataset); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	// The record shows the experiment that would repeat this.
	adopted := *x.plan.experiment
	adopted.Workload, adopted.Load.Limit = mark.Dataset, mark.Dataset.Limit
	yaml, err := experiment.Marshal(&adopted)
	if err != nil {
		return err
	}
	x.run.Experiment = string(yaml)
	return nil
}

func (x *execution) newMark() target.Mark {
	return target.Mark{
		Dataset: x.run.Dataset.Spec, Fingerprint: x.run.Dataset.Fingerprint, RowsExpected: -1,
		Loaded: time.Now().UTC(), Tool: x.Tool.Version, Unverified: x.run.Dataset.Unverified,
	}
}

// expect passes over the dataset for its size and all expected answers.
func (x *execution) expect(ctx context.Context) error {
	var full, counted []query.Query
	for _, q := range x.questions {
		full = append(full, q.queries[:q.verified]...)
		if x.steps.Ask {
			counted = append(counted, q.queries...)
		}
	}
	label := "surveying the dataset"
	if len(full) > 0 {
		label = "computing expected answers"
	}
	task := x.Display.Start(label, "rows", x.rowsAtMost())
	expected, err := oracle.Pass(ctx, x.dataset, full, counted, func(rows int) { task.Add(int64(rows)) })
	if err != nil {
		task.Fail(reason(ctx, err))
		return err
	}
	task.Done("")
	x.expected = expected
	d := &x.run.Dataset
	d.Rows, d.Metrics, d.RawBytes = expected.Survey.Rows, expected.Survey.Metrics, expected.Survey.RawBytes
	return nil
}

// rowsAtMost is an upper bound on the dataset's rows, for progress bars.
func (x *execution) rowsAtMost() int64 {
	rows := x.spec.RowsAtMost(len(x.dataset.Schema().Tables))
	if x.spec.Limit > 0 {
		rows = min(rows, x.spec.Limit)
	}
	return rows
}

// load loads, settles, counts and stores.
func (x *execution) load(ctx context.Context, t target.Target, discards bool, mark target.Mark, out *result.Target) error {
	f, err := x.feed(ctx, t)
	if err != nil {
		return err
	}
	defer f.close()
	mark.RowsExpected = f.rows
	begin := time.Now()
	if err := t.Prepare(ctx, f.schema, mark); err != nil {
		return fmt.Errorf("preparing for the load: %w", err)
	}
	prepared := time.Since(begin)

	settings := &x.plan.experiment.Load
	task := x.Display.Start("load "+out.Name, "rows", max(f.rows, 0))
	load, err := f.load(ctx, engine.LoadConfig{
		Workers: settings.Workers, BatchSize: settings.BatchSize, Period: settings.ReportingPeriod,
	}, t, func(rows int) { task.Add(int64(rows)) })
	load.Prepare = prepared.Seconds()
	out.Load = load
	if x.file != nil {
		x.conclude(f, load, err)
		if mark.RowsExpected < 0 && err == nil {
			mark.RowsExpected = f.read()
		}
	}

	mark.RowsAcked = load.Rows
	mark.Complete = err == nil && load.Rows == mark.RowsExpected
	// Of an interrupted load too, a later command must know how far it came.
	if markErr := t.WriteMark(context.WithoutCancel(ctx), mark); err == nil {
		err = markErr
	}
	if err != nil {
		of := ""
		if mark.RowsExpected >= 0 {
			of = fmt.Sprintf(" of %d", mark.RowsExpected)
		}
		err = fmt.Errorf("loading stopped after %d%s rows: %w", load.Rows, of, err)
		load.Withheld = reason(ctx, err)
		task.Fail(load.Withheld)
		return both(err, stored(x.Store.SaveLoad(context.WithoutCancel(ctx), x.run.ID, out.Name, load)))
	}
	task.Done("")
	if load.Rows != mark.RowsExpected {
		load.Withheld = fmt.Sprintf("%d rows were accepted, %d expected", load.Rows, mark.RowsExpected)
	}
	if discards {
		load.Unverified = discarded
	} else if x.expected == nil {
		load.Unverified = uncounted
	} else if err = x.count(ctx, t, load); err != nil {
		load.Withheld = "not counted: " + reason(ctx, err) // what nobody counted is no figure
	}
	if err == nil {
		if load.DiskBytes, err = t.Footprint(ctx); err != nil {
			load.DiskBytes, err = -1, fmt.Errorf("measuring the size on disk: %w", err)
		}
	}
	return both(err, stored(x.Store.SaveLoad(context.WithoutCancel(ctx), x.run.ID, out.Name, load)))
}

// discarded is what is said of a load into a target that keeps nothing.
const discarded = "not verified: null target"

// uncounted is what is said of lines that nobody parsed, nor could make again.
const uncounted = "not verified: the lines were sent as they are, and the dataset is unknown"

// count compares the census with the dataset; a difference withholds the load.
func (x *execution) count(ctx context.Context, t target.Target, load *result.Load) error {
	var err error
	if load.Census, err = verify.Census(ctx, t, &x.expected.Survey); err != nil {
		return err
	}
	for _, c := range load.Census {
		if c.Problem != "" && load.Withheld == "" {
			load.Withheld = c.Problem
		}
	}
	return nil
}

// census holds a target that was loaded earlier to what its mark says.
func (x *execution) census(ctx context.Context, t target.Target) (problem string, err error) {
	results, err := verify.Census(ctx, t, &x.expected.Survey)
	if err != nil {
		return "", err
	}
	for _, c := range results {
		if c.Problem != "" {
			return "the database is not as it was loaded: " + c.Problem, nil
		}
	}
	return "", nil
}

// ask verifies all query types, and measures them unless there is a doubt about
// what the target holds, which withholds them all.
func (x *execution) ask(ctx context.Context, t target.Target, planned *plannedTarget, out *result.Target, doubt string) error {
	fullAt, countedAt := 0, 0
	for i := range x.questions {
		q := &x.questions[i]
		full := x.expected.Full[fullAt : fullAt+q.verified]
		fullAt += q.verified
		var counted []int64
		if x.steps.Ask {
			counted = x.expected.Counted[countedAt : countedAt+len(q.queries)]
			countedAt += len(q.queries)
		}
		task := x.Display.Start(out.Name+" "+q.kind.Name, "queries", 0)
		measured, err := x.askType(ctx, t, planned, q, full, counted, doubt, task)
		if err != nil {
			task.Fail(reason(ctx, err))
			return fmt.Errorf("%s: %w", q.kind.Name, err)
		}
		measured.Type, measured.Help = q.kind.Name, q.kind.Help
		switch {
		case measured.Unsupported != "":
			task.Done("n/a: " + measured.Unsupported)
		case measured.Withheld != "":
			task.Fail(measured.Withheld)
		default:
			task.Done(measured.Verdict.String())
		}
		out.Queries = append(out.Queries, *measured)
		if err := x.Store.SaveQueries(ctx, x.run.ID, out.Name, measured); err != nil {
			return stored(err)
		}
	}
	return nil
}

// askType checks and measures one type. Where there is doubt about the data no
// right answer makes up for it: the type is withheld.
func (x *execution) askType(ctx context.Context, t target.Target, planned *plannedTarget, q *questions, full []oracle.Expectation, counted []int64, doubt string, task Task) (*result.Queries, error) {
	var out result.Queries
	schema := x.dataset.Schema()
	asked := make([]engine.Question, len(counted))
	for i := range asked {
		request, err := planned.kind.Render(&q.queries[i], schema)
		if err != nil {
			return unsupported(err)
		}
		asked[i] = engine.Question{ID: q.queries[i].ID, Request: request, Rows: counted[i]}
	}
	verdict, err := verify.Answers(ctx, t, planned.kind.Render, x.dataset, full)
	if err != nil {
		return unsupported(err)
	}
	out.Verdict, out.Withheld = verdict, cmp.Or(verdict.Difference, doubt)
	if verdict.Difference != "" && doubt != "" {
		out.Withheld = doubt + "; " + verdict.Difference
	}
	if out.Withheld != "" || !x.steps.Ask {
		return &out, nil
	}
	settings := &x.plan.experiment.Queries
	measured, err := engine.Query(ctx, engine.QueryConfig{
		Workers: settings.Workers, BurnIn: settings.BurnIn, TimeBox: settings.TimeBox, Timeout: settings.Timeout,
	}, t, asked, func(n int) { task.Add(int64(n)) })
	measured.Verdict = verdict
	return measured, err
}

// unsupported turns the error of what a target cannot do into a result, and
// passes on every other error.
func unsupported(err error) (*result.Queries, error) {
	if errors.Is(err, query.ErrUnsupported) {
		return &result.Queries{Unsupported: err.Error()}, nil
	}
	return &result.Queries{}, err
}

// reason is an error as a line for people.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}
