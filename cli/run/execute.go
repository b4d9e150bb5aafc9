package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/condition"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/forecast"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

// execute runs an experiment and reports it. Omissions are reported once it is
// known that there are no errors.
func (s *Executor) execute(cmd *cobra.Command, e *experiment.Experiment, print bool, limits limits, leftOut []string) error {
	ctx := cmd.Context()
	conditions, err := limits.conditions()
	if err != nil {
		return err
	}
	if err := s.team.Check(cmd); err != nil {
		return err
	}
	if err := setting.ResolveVersions(ctx, e); err != nil {
		return err
	}
	steps, _ := plan.StepsOf(cmd.Name())
	for i, t := range e.Targets {
		if strings.EqualFold(t.Name, app.PageName) {
			return e.Problem(fmt.Sprintf("targets[%d].name", i), "%s is the name of the run's page; choose another", t.Name)
		}
	}
	if !e.Adopt { // existing data has its seed already
		setting.DrawSeed(s.app, &e.Workload)
	}
	if steps.Load {
		if err := setting.Survey(ctx, s.app, e); err != nil {
			return err
		}
		if err := setting.DescribeData(s.app, e, steps.Query); err != nil {
			return err
		}
	}
	if steps.Query {
		e.SetBudget(setting.DefaultBudget(s.app.Catalog, e))
	}
	sweep, err := plan.NewSweep(e, s.app.Catalog.PlanCatalog(), steps)
	if err != nil {
		return err
	}
	for _, p := range sweep.Points() {
		if err := setting.CheckMemory(ctx, s.app.Catalog, p.Experiment, steps); err != nil {
			return err
		}
	}
	if err := s.team.CheckShares(sweep); err != nil {
		return err
	}
	if !print {
		_, all := forecast.NewRates().Disk(sweep)
		s.warnDisk(ctx, all, "--scale or a shorter time")
	}
	for _, note := range leftOut {
		fmt.Fprintln(s.app.Stderr, "tsmark: "+note)
	}
	if print {
		return s.print(sweep, s.knownRates(ctx, e.Targets))
	}
	kept, err := s.app.OpenResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	single := sweep.Single() != nil
	if !single && len(conditions) > 0 {
		return errors.New("--fail-if judges one run, and a sweep has several; use tsmark compare with --fail-if instead")
	}
	var baseline *compare.Side
	if limits.baseline != "" { // before anything runs: it may not be there
		side, err := condition.ReadSide(ctx, kept, limits.baseline)
		if err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
		baseline = &side
	}
	if single {
		condition.Foresee(s.app.Stderr, e, conditions)
	}
	r, shown, err := s.newRunner(cmd, kept, e)
	if err != nil {
		return err
	}
	if steps.Query && e.Queries.Time > 0 {
		took := readRates(ctx, kept, e.Targets).Sweep(sweep)
		r.Expected = estimateLine(&took)
	}
	record, runs, err := r.Execute(ctx, runner.Work{Sweep: sweep, Command: cmd.Name(), Args: s.app.Args, Done: s.pageOf})
	shown.Close()
	if err := s.finish(ctx, record, runs, err); err != nil || !single {
		return err
	}
	return s.judge(runs[0], baseline, conditions)
}

// continueWork executes the rest of some work, or repeats it, and reports it.
func (s *Executor) continueWork(cmd *cobra.Command, kept *store.Store, e *experiment.Experiment, w runner.Work) ([]*result.Run, error) {
	r, shown, err := s.newRunner(cmd, kept, e)
	if err != nil {
		return nil, err
	}
	record, runs, err := r.Execute(cmd.Context(), w)
	shown.Close()
	return runs, s.finish(cmd.Context(), record, runs, err)
}

// finish reports the executed sweep or run, and turns its error
// into the exit status.
func (s *Executor) finish(ctx context.Context, sweep *result.Sweep, runs []*result.Run, err error) error {
	switch {
	case len(runs) == 0:
		return err
	case sweep != nil:
		return s.finishSweep(ctx, sweep, runs, err)
	}
	return s.finishRun(ctx, runs[0], err)
}

// limits are the limits that a run must not exceed.
type limits struct {
	failIf   []string
	baseline string // a run; empty: none
}

// conditions reads --fail-if, and whether --baseline goes with it.
func (l limits) conditions() ([]compare.Condition, error) {
	conditions, err := condition.Parse(l.failIf)
	if err != nil {
		return nil, err
	}
	change := slices.IndexFunc(conditions, func(c compare.Condition) bool { return !c.Absolute })
	switch {
	case change >= 0 && l.baseline == "":
		return nil, fmt.Errorf("--fail-if %q is a relative limit and needs --baseline RUN; an absolute limit is written as in 'p99 > 50ms'", conditions[change])
	case change < 0 && l.baseline != "":
		return nil, errors.New("--baseline is used only by relative limits, and --fail-if has none; add one, as in --fail-if 'p99 > +5%'")
	}
	return conditions, nil
}

// judge turns conditions about a run, and its changes from a baseline, into the exit
// status.
func (s *Executor) judge(run *result.Run, baseline *compare.Side, conditions []compare.Condition) error {
	if len(conditions) == 0 {
		return nil
	}
	if baseline == nil {
		return condition.Check(s.app.Stderr, compare.SingleRun(run), conditions, condition.NewRun)
	}
	c, err := compare.Runs(*baseline, compare.Side{Runs: []*result.Run{run}}, compare.Options{})
	if err != nil {
		return fmt.Errorf("comparing the run with --baseline: %w", err)
	}
	fmt.Fprintln(s.app.Stdout)
	if err := comparison.Write(s.app.Stdout, write.Text, c, s.app.TextOptions()); err != nil {
		return err
	}
	return condition.Check(s.app.Stderr, c, conditions, condition.NewRun)
}

// print shows an experiment as a file and, of a sweep, its points. Comments before it say how long it
// takes.
func (s *Executor) print(sweep *plan.Sweep, rates *forecast.Rates) error {
	text, err := sweep.YAML()
	if err != nil {
		return err
	}
	took := rates.Sweep(sweep)
	text = append([]byte(experiment.SchemaComment+"# "+estimateLine(&took)+"\n"), text...)
	if sweep.Single() == nil {
		text = append(text, listPoints(sweep.Points())...)
	}
	_, err = s.app.Stdout.Write(text)
	return err
}

// newRunner returns the runner of a command's experiments, and its display, which the
// caller closes.
func (s *Executor) newRunner(cmd *cobra.Command, kept *store.Store, e *experiment.Experiment) (*runner.Runner, app.Display, error) {
	if s.fleet == nil { // or a run before has the agents
		var err error
		if s.fleet, err = s.team.Gather(cmd, s.app.Stderr); err != nil {
			return nil, app.Display{}, err
		}
	}
	if err := s.watch(cmd); err != nil {
		return nil, app.Display{}, err
	}
	for _, line := range s.newTrust(false).confinements(e) {
		fmt.Fprintf(s.app.Stderr, "tsmark %s\n", line)
	}
	shown := s.app.NewDisplay(e.Load.ReportingPeriod)
	if s.output.quiet {
		shown = app.Display{Display: progress.New(io.Discard, false, e.Load.ReportingPeriod)}
	}
	r := &runner.Runner{
		Store: kept, Dir: s.app.Folder(), Display: shown,
		Tool: buildinfo.Tool(), Modules: buildinfo.Modules, Host: monitor.Host(cmd.Context(), s.app.Folder()), Input: os.Stdin,
		Children: s.app.Children, Servers: s.pool, Force: setting.Force(cmd, s.app), Reach: estimate.Reach,
	}
	if s.fleet != nil {
		r.Agents = s.fleet
	}
	if s.audience != nil {
		s.audience.run.Follow(shown.State)
		r.Observer = s.audience.run
	}
	return r, shown, nil
}
