package run

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/condition"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

func (s *Executor) rerunCommand() *cobra.Command {
	var failIf []string
	yes, sameQueries := false, false
	settings := setting.New(s.app.Catalog)
	cmd := &cobra.Command{
		Use:   "rerun [RUN]",
		Short: "Repeat a run and compare both",
		Long: `Repeats a run as a new run, and compares it with the first one as tsmark compare does.
Figures without a difference are summed up; --verbose shows everything. The new run draws new queries in the same way, and replaces the data that
the first one loaded. RUN is an id as tsmark runs lists them, the beginning or the end of
one, or latest, which is the default.

If somebody else may have configured the run, since it was imported or its results are in
a database, tsmark first shows the commands and query texts that it will execute and the
places that it reads and writes, and waits for confirmation.

--fail-if takes conditions as tsmark compare does.`,
		Example: `  tsmark rerun
  tsmark rerun 3f2a --fail-if 'median > +10%'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark rerun takes one run, but was given %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: s.app.CompleteRuns(app.RunFilter{Most: 1}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			conditions, err := condition.Parse(failIf)
			if err != nil {
				return err
			}
			kept, err := s.app.ExistingResults(ctx)
			if err != nil {
				return err
			}
			defer kept.Close() // each piece is on disk when it was saved
			reference := store.Latest
			if len(args) == 1 {
				reference = args[0]
			}
			first, err := kept.Run(ctx, reference)
			if err != nil {
				return err
			}
			e, planned, err := s.planOf(cmd, first, settings, func(e *experiment.Experiment) error {
				return s.newTrust(yes).decide("run "+first.ID, s.origin(!first.Imported.IsZero()), e)
			})
			if err != nil {
				return err
			}
			planned.KeepOrder(first)
			planned.Earlier = append(planned.Earlier, first.ID)
			if sameQueries {
				planned.KeepQueries(first)
			}
			s.output.brief = !s.app.Verbose
			runs, err := s.continueWork(cmd, kept, e, runner.Work{Sweep: plan.One(planned), Command: first.Command, Args: s.app.Args})
			if err != nil {
				return err
			}
			c, err := compare.Runs(compare.Side{Runs: []*result.Run{first}}, compare.Side{Runs: runs}, compare.Options{})
			if err != nil {
				return fmt.Errorf("comparing the runs: %w", err)
			}
			fmt.Fprintln(s.app.Stdout)
			if options := s.app.TextOptions(); options.Verbose {
				err = comparison.Write(s.app.Stdout, write.Text, c, options)
			} else {
				err = comparison.WriteFolded(s.app.Stdout, c, options, fmt.Sprintf("tsmark report %[2]s shows the tables of the run; tsmark compare %[1]s %[2]s shows all figures, and how to read them.", first.ID, c.B.Runs[0]))
			}
			if err != nil {
				return err
			}
			return condition.Check(s.app.Stderr, c, conditions, condition.NewRun)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "execute a run that somebody else may have configured without confirmation")
	cmd.Flags().BoolVar(&sameQueries, "same-queries", false, "run the same queries again, which a result cache may answer; default: new queries, drawn in the same way")
	condition.AddFlag(cmd, &failIf)
	settings.TimeoutFlags(cmd)
	setting.ForceFlag(cmd)
	liveFlags(cmd)
	return cmd
}
