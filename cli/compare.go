package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

func (a *app) compareCommand() *cobra.Command {
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
` + conditionsHelp,
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
		ValidArgsFunction: a.completeSide,
		RunE: func(cmd *cobra.Command, args []string) error {
			conditions, err := parseConditions(failIf)
			if err != nil {
				return err
			}
			format, err := write.ParseFormat(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			c, err := a.compared(cmd.Context(), args[0], args[1], different)
			if err != nil {
				return err
			}
			err = a.writeComparison(file, format, c)
			if err != nil {
				return err
			}
			return checked(c, conditions, ofRuns)
		},
	}
	failIfFlag(cmd, &failIf)
	cmd.Flags().StringVar(&formatName, "format", formatName, strings.Join(write.Formats(), ", "))
	cmd.Flags().StringVar(&file, "output", "", "`file` to write (default standard output)")
	complete(cmd, "format", write.Formats())
	cmd.Flags().BoolVar(&different, "allow-different", false, "compare different datasets and queries too, and give verdicts under different terms")
	return cmd
}

// writeComparison renders a comparison to a file, or to standard output.
func (a *app) writeComparison(name string, format write.Format, c *compare.Comparison) error {
	if name == "" || name == "-" {
		return comparison.Write(a.stdout, format, c, a.textOptions())
	}
	return writeReport(name, func(out io.Writer) error { return comparison.Write(out, format, c, write.Options{}) })
}

// conditionsHelp describes the values of --fail-if.
const conditionsHelp = `The metrics are median, mean, p90, p95, p99, p99.9, max (each query type's service
time), geomean (of the medians), load, acked, sent (rows a second), disk (bytes),
and, for queries that ran while rows were written, mixed-median, mixed-p99 and
mixed-load (rows a second). A relative limit, in %, is exceeded if the change is larger
and significant (corrected p below 0.05). An absolute limit, such as 50ms, 100000rows/s
or 2GiB, is exceeded if the whole 95 % interval is beyond it; this needs six repeats
(--repeats), and six loads (--load-repeats) for load, acked, sent and disk. A trailing !
ignores significance: 'median > +5%!'. p99 needs 100 queries of each type in each
repeat, p99.9 needs 1,000: raise --time-box or --queries. The exit status is 1 if a
condition holds, and 2 if a condition cannot be judged.`

func failIfFlag(cmd *cobra.Command, conditions *[]string) {
	cmd.Flags().StringArrayVar(conditions, "fail-if", nil, "`condition` under which the exit status is 1, such as 'median > +5%' or 'median > 50ms'; repeatable")
}

// parseConditions reads the values of --fail-if.
func parseConditions(texts []string) ([]compare.Condition, error) {
	var conditions []compare.Condition
	for _, text := range texts {
		parsed, err := compare.ParseConditions(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if %q: %w", text, err)
		}
		conditions = append(conditions, parsed...)
	}
	return conditions, nil
}

// compared reads the runs of both sides and compares them.
func (a *app) compared(ctx context.Context, first, second string, different bool) (*compare.Comparison, error) {
	kept, err := a.existingResults(ctx)
	if err != nil {
		return nil, err
	}
	defer kept.Close() // reading only
	var sides [2]compare.Side
	for i, reference := range []string{first, second} {
		if sides[i], err = side(ctx, kept, reference); err != nil {
			return nil, err
		}
	}
	c, err := compare.Runs(sides[0], sides[1], compare.Options{Different: different})
	if errors.Is(err, compare.ErrDifferent) {
		err = fmt.Errorf("%w; add --allow-different to compare them anyway", err)
	}
	return c, err
}

// side reads RUN[,RUN…][:TARGET].
func side(ctx context.Context, kept *store.Store, reference string) (s compare.Side, err error) {
	runs, target, named := strings.Cut(reference, ":")
	s.Target = target
	found := false
	for one := range strings.SplitSeq(runs, ",") {
		run, err := kept.Run(ctx, one)
		if err != nil {
			return s, err
		}
		s.Runs = append(s.Runs, run)
		for _, t := range run.Targets {
			found = found || t.Name == target
		}
	}
	slices.SortStableFunc(s.Runs, func(a, b *result.Run) int { return a.Started.Compare(b.Started) })
	if named && !found {
		return s, fmt.Errorf("%s has no target %q; tsmark runs lists them", reference, target)
	}
	return s, nil
}

// settle reports whether a condition that cannot be judged depends on the settings of a run that
// was just made, or on the choice of existing runs.
type settle bool

const (
	ofRun  settle = true
	ofRuns settle = false
)

// checked turns conditions into the exit status.
func checked(c *compare.Comparison, conditions []compare.Condition, by settle) error {
	holds, open := c.Check(conditions)
	text := func(what string, findings []compare.Finding) string {
		lines := make([]string, len(findings))
		for i, f := range findings {
			lines[i] = what + ": " + printable.OneLine(f.String())
		}
		return strings.Join(lines, "\n")
	}
	switch {
	case len(holds) > 0:
		return &status{code: exitWithheld, text: text("condition holds", holds)}
	case len(open) > 0:
		return &status{code: exitUsage, text: text("condition cannot be judged", open[:1]) + "; " + fix(open[0], len(open), by)}
	}
	return nil
}

// flagsFor names the flags of tsmark run that fix a lack.
func flagsFor(lack compare.Lack, repeats int) string {
	switch lack {
	case compare.LacksLoads:
		return fmt.Sprintf("load as often with --load-repeats %d", repeats)
	case compare.LacksRepeats:
		return fmt.Sprintf("repeat with --repeats %d or more", repeats)
	case compare.LacksQueries:
		return "raise --time-box or --queries, or choose types with --query-type"
	}
	return ""
}

// foreseen warns of limits that a run with these settings cannot judge.
func foreseen(w io.Writer, e *experiment.Experiment, conditions []compare.Condition) {
	loads, _ := e.LoadRepeats()
	for _, c := range conditions {
		lack, needs := c.Foreseen(e.QueryRepeats(), loads, e.Queries.Count)
		if lack == compare.LacksNothing {
			continue
		}
		why := fmt.Sprintf("an interval of 95 %% takes %d %s", needs, lack)
		if lack == compare.LacksQueries {
			why = fmt.Sprintf("%s takes %d queries in each repeat, and of %d drawn each of %d repeats has fewer", c.Metric, needs, e.Queries.Count, e.QueryRepeats())
		}
		fmt.Fprintf(w, "tsmark: --fail-if %q will not be judged by this run: %s; %s\n", c, why, flagsFor(lack, needs))
	}
}

// fix suggests a remedy for a condition that cannot be judged.
func fix(f compare.Finding, n int, by settle) string {
	help := "compare runs that have it"
	if by == ofRun {
		help = "a condition takes a metric that the run measures"
	}
	flags := flagsFor(f.Lacks(), compare.LeastRepeats)
	switch why := f.Why(); {
	case why != "" && by == ofRun:
		help = why + "; " + flags + ", or append ! to the condition to ignore significance"
	case why != "":
		help = why + "; or append ! to the condition to ignore significance"
	case f.Lacks() != compare.LacksNothing && by == ofRun:
		help = flags
	case f.Lacks() != compare.LacksNothing:
		help = "compare runs that have more: " + flags
	}
	if n > 1 {
		help += fmt.Sprintf(" (and %d more)", n-1)
	}
	return help
}
