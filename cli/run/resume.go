package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

func (s *Executor) resumeCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	yes := false
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Continue a run or sweep that was interrupted or killed",
		Long: `Continues a run or sweep that did not finish because it was interrupted or killed, or
because a target failed. Finished work is not repeated; an interrupted load starts over.

RUN is the id of a run or sweep as tsmark runs lists them, the beginning or the end
of one, or latest; the default is the newest that did not finish. A run of a sweep selects the
whole sweep. Imported runs are not resumed. If the results are in
a database, to which others may write, tsmark first shows the commands and query texts that
it will execute, and waits for confirmation. A run with agents waits for as many agents as
it had, unless --agents says how many.`,
		Example: `  tsmark resume
  tsmark resume 3f2a`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark resume takes one run, but was given %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: s.app.CompleteRuns(app.RunFilter{Most: 1, Sweeps: true, Unfinished: true}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			kept, err := s.app.ExistingResults(ctx)
			if err != nil {
				return err
			}
			defer kept.Close() // each piece is on disk when it was saved
			store.RemoveLeftovers(s.app.Folder())
			reference := store.Unfinished
			if len(args) == 1 {
				reference = args[0]
			}
			found, err := kept.Find(ctx, reference)
			if errors.Is(err, store.ErrAllComplete) {
				return s.nothingToResume("%v.", store.ErrAllComplete)
			}
			if err != nil {
				return err
			}
			if found.Sweep != "" {
				return s.resumeSweep(cmd, kept, found, settings, yes)
			}
			run, err := kept.Run(ctx, found.Runs[0])
			if err != nil {
				return err
			}
			if run.Sweep != "" {
				if found, err = kept.Find(ctx, run.Sweep); err != nil {
					return err
				}
				return s.resumeSweep(cmd, kept, found, settings, yes)
			}
			if run.Status == result.Complete {
				return s.nothingToResume("run %s is complete; tsmark report %[1]s shows it", run.ID)
			}
			if err := notImported(run); err != nil {
				return err
			}
			if err := s.team.KeepAgents(cmd, run); err != nil {
				return err
			}
			e, planned, err := s.planOf(cmd, run, settings, func(e *experiment.Experiment) error {
				return s.newTrust(yes).decide("run "+run.ID, s.origin(false), e)
			})
			if err != nil {
				return err
			}
			if err := s.team.CheckShares(planned); err != nil {
				return err
			}
			_, err = s.continueWork(cmd, kept, e, runner.Work{Sweep: plan.One(planned), Runs: []*result.Run{run}})
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "execute a run that somebody else may have configured without confirmation")
	settings.TimeoutFlags(cmd)
	s.team.Add(cmd)
	setting.ForceFlag(cmd)
	liveFlags(cmd)
	return cmd
}

// nothingToResume reports why there is nothing to do, which is not an error.
func (s *Executor) nothingToResume(format string, why any) error {
	_, err := fmt.Fprintf(s.app.Stdout, "Nothing to resume: "+format+"\n", why)
	return err
}

// notImported refuses to execute a run that came from a file.
func notImported(run *result.Run) error {
	if run.Imported.IsZero() {
		return nil
	}
	return fmt.Errorf("run %s was imported and cannot be resumed; tsmark report %s --experiment prints its experiment, tsmark rerun %s runs it again as a run of your own", run.ID, run.ID, run.ID)
}

// planOf plans the work of a run, changed by the flags that are set.
func (s *Executor) planOf(cmd *cobra.Command, run *result.Run, settings *setting.Flags, agree func(*experiment.Experiment) error) (*experiment.Experiment, *plan.Plan, error) {
	e, err := experiment.Parse("experiment of run "+run.ID, []byte(run.Experiment))
	if err != nil {
		return nil, nil, fmt.Errorf("this tsmark cannot read the experiment of the run: %w", err)
	}
	if err := settings.Apply(cmd, e, nil); err != nil {
		return nil, nil, err
	}
	steps, ok := plan.StepsOf(run.Command)
	if !ok {
		return nil, nil, fmt.Errorf("run %s was made by tsmark %s, which cannot be repeated", run.ID, run.Command)
	}
	if err := setting.Survey(cmd.Context(), s.app, e); err != nil {
		return nil, nil, err
	}
	if err := agree(e); err != nil { // planning starts the programs of external drivers
		return nil, nil, err
	}
	plan, err := plan.NewPlan(e, s.app.Catalog.PlanCatalog(), steps)
	return e, plan, err
}

// resumeSweep continues a sweep, changed by the flags that are set, at the
// first point that is not complete.
func (s *Executor) resumeSweep(cmd *cobra.Command, kept *store.Store, found store.Found, settings *setting.Flags, yes bool) error {
	ctx := cmd.Context()
	record, runs, err := kept.SweepWithRuns(ctx, found)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := notImported(run); err != nil {
			return err
		}
	}
	if record.Experiment == "" {
		return fmt.Errorf("the results folder has runs of sweep %s but not its experiment; resume it in the folder in which it began", record.ID)
	}
	unfinished := func(r *result.Run) bool { return r.Status != result.Complete }
	if len(runs) == record.Points && !slices.ContainsFunc(runs, unfinished) {
		return s.nothingToResume("sweep %s is complete; tsmark report %[1]s shows it", record.ID)
	}
	e, err := experiment.Parse("experiment of sweep "+record.ID, []byte(record.Experiment))
	if err != nil {
		return fmt.Errorf("this tsmark cannot read the experiment of the sweep: %w", err)
	}
	if err := settings.Apply(cmd, e, nil); err != nil {
		return err
	}
	if err := s.newTrust(yes).decide("sweep "+record.ID, s.origin(false), e); err != nil {
		return err
	}
	steps, _ := plan.StepsOf(record.Command)
	left, err := plan.NewSweep(e, s.app.Catalog.PlanCatalog(), steps)
	if err != nil {
		return err
	}
	if err := s.team.KeepAgents(cmd, runs...); err != nil {
		return err
	}
	if err := s.team.CheckShares(left); err != nil {
		return err
	}
	_, err = s.continueWork(cmd, kept, e, runner.Work{Sweep: left, Record: record, Runs: runs, Done: s.pageOf})
	return err
}
