// Package condition turns the limits of --fail-if into an exit status.
package condition

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

// Help describes the values of --fail-if.
const Help = `The metrics are median, mean, p90, p95, p99, p99.9, max (each query type's service
time), geomean (of the medians), load, acked, sent (rows a second), disk (bytes),
for queries that ran while rows were written, mixed-median, mixed-p99 and mixed-load
(rows a second), and, for crashes, crash-losses (share of the crashes that lost rows),
crash-answers and crash-complete (time of recovery). A relative limit, in %, is exceeded if the change is larger
and significant (corrected p below 0.05). An absolute limit, such as 50ms, 100000rows/s
or 2GiB, is exceeded if the whole 95 % interval is beyond it; this needs six repeats
(--repeats), and six loads (--load-repeats) for load, acked, sent and disk. A trailing !
ignores significance: 'median > +5%!'. p99 needs 100 queries of each type in each
repeat, p99.9 needs 1,000: raise --time-box or --queries. The exit status is 1 if a
condition holds, and 2 if a condition cannot be judged.`

// AddFlag adds --fail-if.
func AddFlag(cmd *cobra.Command, conditions *[]string) {
	cmd.Flags().StringArrayVar(conditions, "fail-if", nil, "`condition` under which the exit status is 1, such as 'median > +5%' or 'median > 50ms'; repeatable")
}

// Parse reads the values of --fail-if.
func Parse(texts []string) ([]compare.Condition, error) {
	var conditions []compare.Condition
	for _, text := range texts {
		parsed, err := compare.ParseConditions(text)
		if err != nil {
			return nil, fmt.Errorf("--fail-if %q: %w", text, err)
		}
		for _, c := range parsed {
			if c.Metric == compare.Step {
				return nil, fmt.Errorf("--fail-if %q: a step is found over many runs: use tsmark compare --history N", text)
			}
		}
		conditions = append(conditions, parsed...)
	}
	return conditions, nil
}

// ReadSide reads RUN[,RUN…][:TARGET].
func ReadSide(ctx context.Context, kept *store.Store, reference string) (s compare.Side, err error) {
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

// Subject reports whether a condition that cannot be judged depends on the settings of a run that
// was just made, or on the choice of existing runs.
type Subject bool

const (
	NewRun     Subject = true
	StoredRuns Subject = false
)

// Check turns conditions into the exit status. If none holds and all were judged, it writes of each
// which figure came closest to it.
func Check(w io.Writer, c *compare.Comparison, conditions []compare.Condition, by Subject) error {
	holds, open, closest := c.Check(conditions)
	text := func(what string, findings []compare.Finding) string {
		lines := make([]string, len(findings))
		for i, f := range findings {
			lines[i] = what + ": " + printable.OneLine(f.String())
		}
		return strings.Join(lines, "\n")
	}
	switch {
	case len(holds) > 0:
		return &app.Status{Code: app.ExitWithheld, Text: text("condition holds", holds)}
	case len(open) > 0:
		return &app.Status{Code: app.ExitUsage, Text: text("condition cannot be judged", open[:1]) + "; " + fix(open[0], len(open), by)}
	}
	for _, f := range closest {
		fmt.Fprintf(w, "tsmark: condition does not hold: %s (the closest figure)\n", printable.OneLine(f.String()))
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
	case compare.LacksCrashes:
		return fmt.Sprintf("crash it %d times or more by each kind, with --crash", repeats)
	case compare.LacksQueries:
		return "raise --time-box or --queries, or choose types with --query-type"
	}
	return ""
}

// Foresee warns of limits that a run with these settings cannot judge.
func Foresee(w io.Writer, e *experiment.Experiment, conditions []compare.Condition) {
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
func fix(f compare.Finding, n int, by Subject) string {
	help := "compare runs that have it"
	if by == NewRun {
		help = "a condition takes a metric that the run measures"
	}
	flags := flagsFor(f.Lacks(), compare.LeastRepeats)
	switch why := f.Why(); {
	case why != "" && by == NewRun:
		help = why + "; " + flags + ", or append ! to the condition to ignore significance"
	case why != "":
		help = why + "; or append ! to the condition to ignore significance"
	case f.Lacks() != compare.LacksNothing && by == NewRun:
		help = flags
	case f.Lacks() != compare.LacksNothing:
		help = "compare runs that have more: " + flags
	}
	if n > 1 {
		help += fmt.Sprintf(" (and %d more)", n-1)
	}
	return help
}
