package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/condition"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/write"
)

func compareCommand(a *app.App) *cobra.Command {
	var failIf []string
	formatName, file, different, history := string(write.Text), "", false, 0
	cmd := &cobra.Command{
		Use:   "compare A B | --history N [[RUN:REFERENCE] RUN[:TARGET]]",
		Short: "Compare runs: how much they differ, and how certain that is",
		Long: `Compares B with A: for each query type the ratio of the medians with its 95 %
interval, the p-value of the Mann-Whitney test across repeats (corrected by Holm
for the number of types), and a verdict; the geometric mean; load rates and
size. The comparison uses only queries that every repeat of both sides answered. If the
runs drew different queries, it uses the same number from each side, the first ones. Types
without a figure are listed with the reason.

A and B are runs as tsmark runs lists them, the beginning or the end of an id,
or latest. Runs joined by commas are repeats of one experiment; a colon and a name
select one target. Targets are matched by name, otherwise by driver. A difference needs
at least four repeats a side, and more with more query types.

The comparison lists different terms: workers, batches, options such as an index, memory,
clients, the place of the server. If the loop (closed, or open with a rate), the cache
(warm, cold), the durability or the host differs, it shows the figures without a verdict
and cannot judge --fail-if. It refuses different datasets and queries (exit status 2).
--allow-different compares all of them. A side with wrong answers never has a verdict.

--history N shows a target (of the latest run, if no run is named) over the newest N runs of
the same experiment on the same host, and where the level of its figures changed: steps. It
leaves out runs that differ in anything but versions. With a second target of the same run,
figures are ratios of the target to this reference, in which slow nights cancel out:
--history 90 latest:pinned latest:nightly. Its only condition, 'step > 3%', holds if steps
within these N runs make a figure worse by more than 3 % altogether, or if the newest run lacks
a figure. Choose N to reach back to the last accepted run.

--fail-if takes conditions such as 'median > +5%' or 'load < -5%', joined by commas
or each with a flag of its own. A relative limit is also exceeded if A has a figure and B
has no figure.
` + condition.Help,
		Example: `  tsmark compare 3f2a 91c0
  tsmark compare 3f2a,77b1,08ce,d411,52f0,9e3b 91c0,1d55,e0a2,6b7c,44f9,c813
  tsmark compare latest:all latest:one --format json
  tsmark compare 3f2a latest --fail-if 'median > +10%, load < -5%'
  tsmark compare --history 30 latest:questdb --fail-if 'step > 3%'`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case cmd.Flags().Changed("history") && len(args) <= 2:
			case cmd.Flags().Changed("history"):
				return fmt.Errorf("tsmark compare --history takes at most a reference and a target, but was given %d arguments", len(args))
			case len(args) != 2:
				return fmt.Errorf("tsmark compare takes two runs, A and B, but was given %d; tsmark runs lists them", len(args))
			}
			return nil
		},
		ValidArgsFunction: a.CompleteSide,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := write.ParseFormat(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			if cmd.Flags().Changed("history") {
				return showHistory(cmd.Context(), a, args, history, failIf, file, format)
			}
			conditions, err := condition.Parse(failIf)
			if err != nil {
				return err
			}
			c, err := compareRuns(cmd.Context(), a, args[0], args[1], different)
			if err != nil {
				return err
			}
			err = writeComparison(a, file, format, c)
			if err != nil {
				return err
			}
			return condition.Check(a.Stderr, c, conditions, condition.StoredRuns)
		},
	}
	condition.AddFlag(cmd, &failIf)
	cmd.Flags().StringVar(&formatName, "format", formatName, strings.Join(write.Formats(), ", "))
	cmd.Flags().StringVar(&file, "output", "", "`file` to write (default standard output)")
	flag.Complete(cmd, "format", write.Formats())
	cmd.Flags().Var(flag.Count(&history, 2), "history", "`number` of newest runs of one target to show, with the steps in them")
	cmd.Flags().BoolVar(&different, "allow-different", false, "compare different datasets and queries too, and give verdicts under different terms")
	return cmd
}

// writeComparison renders a comparison to a file, or to standard output.
func writeComparison(a *app.App, name string, format write.Format, c *compare.Comparison) error {
	return writeTo(a, name, func(out io.Writer, opts write.Options) error { return comparison.Write(out, format, c, opts) })
}

// writeTo writes a report to a file, or to standard output.
func writeTo(a *app.App, name string, report func(io.Writer, write.Options) error) error {
	if name == "" || name == "-" {
		return report(a.Stdout, a.TextOptions())
	}
	return app.WriteReport(name, func(out io.Writer) error { return report(out, write.Options{}) })
}

// compareRuns reads the runs of both sides and compares them.
func compareRuns(ctx context.Context, a *app.App, first, second string, different bool) (*compare.Comparison, error) {
	kept, err := a.ExistingResults(ctx)
	if err != nil {
		return nil, err
	}
	defer kept.Close() // reading only
	var sides [2]compare.Side
	for i, reference := range []string{first, second} {
		if sides[i], err = condition.ReadSide(ctx, kept, reference); err != nil {
			return nil, err
		}
	}
	c, err := compare.Runs(sides[0], sides[1], compare.Options{Different: different})
	if errors.Is(err, compare.ErrDifferent) {
		err = fmt.Errorf("%w; add --allow-different to compare them anyway", err)
	}
	return c, err
}
