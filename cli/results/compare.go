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
	formatName, file, different := string(write.Text), "", false
	cmd := &cobra.Command{
		Use:   "compare A B",
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

--fail-if takes conditions such as 'median > +5%' or 'load < -5%', joined by commas
or each with a flag of its own. A relative limit is also exceeded if A has a figure and B
has no figure.
` + condition.Help,
		Example: `  tsmark compare 3f2a 91c0
  tsmark compare 3f2a,77b1,08ce,d411,52f0,9e3b 91c0,1d55,e0a2,6b7c,44f9,c813
  tsmark compare latest:all latest:one --format json
  tsmark compare 3f2a latest --fail-if 'median > +10%, load < -5%'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("tsmark compare takes two runs, A and B, but was given %d; tsmark runs lists them", len(args))
			}
			return nil
		},
		ValidArgsFunction: a.CompleteSide,
		RunE: func(cmd *cobra.Command, args []string) error {
			conditions, err := condition.Parse(failIf)
			if err != nil {
				return err
			}
			format, err := write.ParseFormat(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
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
	cmd.Flags().BoolVar(&different, "allow-different", false, "compare different datasets and queries too, and give verdicts under different terms")
	return cmd
}

// writeComparison renders a comparison to a file, or to standard output.
func writeComparison(a *app.App, name string, format write.Format, c *compare.Comparison) error {
	if name == "" || name == "-" {
		return comparison.Write(a.Stdout, format, c, a.TextOptions())
	}
	return app.WriteReport(name, func(out io.Writer) error { return comparison.Write(out, format, c, write.Options{}) })
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
