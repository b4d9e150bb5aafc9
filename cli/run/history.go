package run

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/report/format"
	report "github.com/tsmark/tsmark/report/history"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/forecast"
	"github.com/tsmark/tsmark/run/history"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/servers"
)

func (s *Executor) historyCommand() *cobra.Command {
	settings, every := setting.New(s.app.Catalog), ""
	cmd := &cobra.Command{
		Use:   "history [FILE.yaml] TARGET…",
		Short: "Compare each version of a system with the one before",
		Long: `Compares each version of a system with the one before it: same dataset, same queries,
verified, their rounds in turns. It reports the steps, each shown by two runs, and the ratios
of all versions to the first one. A comparison has 20 rounds, and 1.5 s for each query type
of a version, unless you set other limits.

NAME@FROM..TO are the versions that the package registry of a system's server offers, and
NAME@VERSION,VERSION,… is a list; tsmark installs and starts them. Any other targets are
compared in the order given, such as servers of several builds.

The runs are stored like any others, and found again: the same command goes on after an
interruption, or reports if nothing is left to run, and one more version takes one more
comparison. A version that fails is n/a; tsmark resume RUN tries it again.`,
		Example: `  tsmark history questdb@8.0..9.3 --every minor
  tsmark history postgres@16,17,18 --scale 100 --query-type lastpoint,double-groupby-1
  tsmark history old=sqlite,synchronous=full new=sqlite,synchronous=off
  tsmark history experiment.yaml questdb@9.2.. --format html --output questdb.html`,
		ValidArgsFunction: s.app.Catalog.CompleteTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.history(cmd, settings, args, every)
		},
	}
	flags := s.versionFlags(cmd, settings)
	flags.Add("Versions", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&every, "every", everyVersion, "`patch`: every version; minor, major: the newest of each")
		flag.Complete(cmd, "every", []string{everyVersion, "minor", "major"})
	})
	flags.Add("Output", settings.NameFlag, s.outputFlags)
	flags.ShowFirst("", "every", "use-case", "scale", "query-type", "time", "repeats", "load-repeats", "workers", "set", "format", "output", "quiet")
	return cmd
}

// versionFlags adds the flags of commands that compare versions of a system.
func (s *Executor) versionFlags(cmd *cobra.Command, settings *setting.Flags) *flag.Groups {
	flags := flag.NewGroups(cmd)
	flags.Add("Workers", func(cmd *cobra.Command) {
		settings.WorkersFlag(cmd, "connections that load, and later connections that run queries", "load.workers", "queries.workers")
		settings.SetFlag(cmd)
	})
	flags.Add("Dataset", settings.DatasetFlags)
	flags.Add("Load", settings.LoadFlags)
	flags.Add("Queries", settings.QueryFlags)
	flags.Add("How the queries are measured", settings.TimedFlags)
	flags.Add("Queries while rows are written", settings.MixedFlags)
	flags.Add("Timeouts", settings.TimeoutFlags)
	flags.Add("While it runs", liveFlags, settings.QuietFlag)
	return flags
}

// versions is the state of a command that compares versions of a system.
type versions struct {
	executor *Executor
	names    []string
	*history.Series
}

// versionsOf returns the targets of a command line, ready to be compared. The purpose is in the name
// of their runs. Change changes the experiment before it is checked; nil: it stays.
func (s *Executor) versionsOf(cmd *cobra.Command, settings *setting.Flags, args []string, every, purpose string, change func(*experiment.Experiment) error) (*versions, error) {
	ctx, e := cmd.Context(), experiment.Default()
	if len(args) > 0 && (strings.HasSuffix(args[0], ".yaml") || strings.HasSuffix(args[0], ".yml")) {
		var err error
		if e, err = s.app.Catalog.ReadExperiment(args[0]); err != nil {
			return nil, err
		}
		args = args[1:]
	} else if len(args) == 0 {
		return nil, fmt.Errorf("tsmark %s takes the versions to compare, as in tsmark %[1]s questdb@9.0..9.3", cmd.Name())
	}
	var targets []string
	for _, arg := range args {
		list, err := expandVersions(ctx, arg, every)
		if err != nil {
			return nil, err
		}
		targets = append(targets, list...)
	}
	if err := settings.Apply(cmd, e, targets); err != nil {
		return nil, err
	}
	if change != nil {
		if err := change(e); err != nil {
			return nil, err
		}
	}
	if len(e.Targets) < 2 {
		return nil, fmt.Errorf("tsmark %s compares two targets or more, and has %d", cmd.Name(), len(e.Targets))
	}
	if e.Name == experiment.Default().Name {
		e.Name = purpose + "-" + e.Targets[0].Driver
	}
	setting.DrawSeed(s.app, &e.Workload)
	if err := setting.Survey(ctx, s.app, e); err != nil {
		return nil, err
	}
	if err := setting.DescribeData(s.app, e, true); err != nil {
		return nil, err
	}
	e.SetRounds(rounds, timeBox)
	v := &versions{executor: s, Series: &history.Series{Experiment: e, Catalog: s.app.Catalog.PlanCatalog()}}
	for i := range e.Targets {
		v.names = append(v.names, e.Targets[i].Name)
	}
	return v, v.Check()
}

// The default limits of the queries of a comparison: a step of a few percent is shown by many rounds
// rather than by long ones.
const (
	rounds  = 20
	timeBox = 1500 * time.Millisecond
)

// everyVersion is the value of --every for all versions.
const everyVersion = "patch"

// expandVersions returns the targets that an argument names: NAME@FROM..TO and NAME@VERSION,VERSION,…,
// either with options, are several.
func expandVersions(ctx context.Context, arg, every string) ([]string, error) {
	head, rest, _ := strings.Cut(arg, ",")
	if !strings.Contains(head, "@") || strings.Contains(head, "=") || strings.Contains(head, "://") {
		return []string{arg}, nil
	}
	spec, options := head, ""
	for part := range strings.SplitSeq(rest, ",") {
		switch {
		case part == "":
		case strings.Contains(part, "="):
			options += "," + part
		default:
			spec += "," + part
		}
	}
	list, err := servers.Range(ctx, spec, strings.TrimPrefix(every, everyVersion))
	for i := range list {
		list[i] += options
	}
	return list, err
}

// open opens the results, and says how long the given runs will take.
func (v *versions) open(cmd *cobra.Command) (*store.Store, error) {
	s, ctx := v.executor, cmd.Context()
	kept, err := s.app.OpenResults(ctx)
	if err != nil {
		return nil, err
	}
	host := monitor.Host(ctx, s.app.Folder())
	v.Store, v.Host = kept, &host
	v.Execute = func(_ context.Context, p *history.Pair, sweep *plan.Sweep) (*result.Run, error) {
		return v.execute(cmd, p, sweep, nil)
	}
	return kept, nil
}

// execute executes the run of a pair, with a page of its own. Reach is that of runner.Runner, if it is
// not nil.
func (v *versions) execute(cmd *cobra.Command, p *history.Pair, sweep *plan.Sweep, reach func(*result.Run, *result.Target, string) float64) (*result.Run, error) {
	s := v.executor
	var names []string
	for _, t := range sweep.Experiment.Targets {
		names = append(names, t.Name)
	}
	fmt.Fprintf(s.app.Stderr, "comparing %s\n", format.List(names))
	r, shown, err := s.newRunner(cmd, v.Store, sweep.Experiment)
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	r.DropData, r.StopOnFailure = true, true
	r.Profile = func(run *result.Run, queryType string) bool { return report.SeemsToDiffer(v.names, p, run, queryType) }
	if reach != nil {
		r.Reach = reach
	}
	w := runner.Work{Sweep: sweep, Command: "run", Args: s.app.Args}
	if p.Unfinished != nil {
		w.Runs = []*result.Run{p.Unfinished}
	}
	_, runs, err := r.Execute(cmd.Context(), w)
	if err != nil || len(runs) == 0 {
		return nil, StatusOf(err)
	}
	return runs[0], s.pageOf(runs[0])
}

// announce says how long runs will take.
func (v *versions) announce(ctx context.Context, ahead []*plan.Sweep) error {
	s, steps := v.executor, plan.Steps{Load: true, Verify: true, Query: true}
	about := format.Plural(len(v.names), "version")
	if len(ahead) == 0 {
		fmt.Fprintf(s.app.Stderr, "%s, all compared already\n", about)
		return nil
	}
	rates := readRates(ctx, v.Store, v.Experiment.Targets)
	var total forecast.Estimate
	disk := 0.0
	for _, sweep := range ahead {
		if err := setting.CheckMemory(ctx, s.app.Catalog, sweep.Experiment, steps); err != nil {
			return err
		}
		total.Add(rates.Sweep(sweep))
		largest, _ := rates.Disk(sweep)
		disk = max(disk, largest)
	}
	fmt.Fprintf(s.app.Stderr, "%s, %s: %s, and more if they differ\n", about, format.Plural(len(ahead), "comparison"), total.String())
	s.warnDisk(ctx, disk, "--scale or a shorter time")
	return nil
}

// announceBisection says how long a bisection will take.
func (v *versions) announceBisection(ctx context.Context) error {
	ends, err := v.Run(0, len(v.names)-1)
	if err != nil {
		return err
	}
	if err := setting.CheckMemory(ctx, v.executor.app.Catalog, ends.Experiment, plan.Steps{Load: true, Verify: true, Query: true}); err != nil {
		return err
	}
	rates := readRates(ctx, v.Store, v.Experiment.Targets)
	one := rates.Sweep(ends)
	total, comparisons := one, 2+bits.Len(uint(len(v.names)-2))
	total.Time = total.Time * time.Duration(comparisons) * 3 / 2 // two runs show a difference
	fmt.Fprintf(v.executor.app.Stderr, "%s, about %d comparisons of one or two runs: %s, and more if they are close; %s if the ends do not differ\n",
		format.Plural(len(v.names), "version"), comparisons, total.String(), one.String())
	largest, _ := rates.Disk(ends)
	v.executor.warnDisk(ctx, largest, "--scale or a shorter time")
	return nil
}

// history compares all neighbours, and reports them.
func (s *Executor) history(cmd *cobra.Command, settings *setting.Flags, args []string, every string) error {
	if err := s.output.check(cmd); err != nil {
		return err
	}
	v, err := s.versionsOf(cmd, settings, args, every, "history", nil)
	if err != nil {
		return err
	}
	kept, err := v.open(cmd)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	ctx := cmd.Context()
	ahead, err := v.Ahead(ctx)
	if err == nil {
		err = v.announce(ctx, ahead)
	}
	if err == nil {
		err = v.Walk(ctx)
	}
	var h *report.History
	if err == nil {
		h, err = v.complete(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return s.interruption(err, ", and the same command goes on")
	case err != nil:
		return err
	}
	err = s.show(v.Experiment.Name, s.output.quiet, func() (texts []string) {
		for _, a := range h.Answers() {
			texts = append(texts, a.Text)
		}
		return texts
	}, func(w io.Writer, format write.Format, opts write.Options) error {
		return h.Write(w, format, withoutOutput(v.PublicArgs(s.app.Args)), opts)
	})
	if err != nil {
		return err
	}
	return historyOutcome(h)
}

// withoutOutput returns a command line without the flags that say where the report goes, which are
// places on this machine.
func withoutOutput(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		name, _, inOne := strings.Cut(args[i], "=")
		switch name {
		case "--output", "--format", "--results":
			if !inOne {
				i++
			}
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}

// complete makes the comparisons that the history lacks.
func (v *versions) complete(ctx context.Context) (*report.History, error) {
	for runs := -1; ; {
		h, err := report.New(v.names, v.Pairs())
		if err != nil {
			return nil, err
		}
		before := runs
		if runs = h.RunCount(); runs == before {
			return h, nil // there is nothing more to gain
		}
		for _, w := range h.FindWanted() {
			fmt.Fprintf(v.executor.app.Stderr, "%s and %s: %s\n", v.names[w.A], v.names[w.B], w.Why)
			if _, err := v.Compare(ctx, w.A, w.B, w.Runs); err != nil {
				return nil, err
			}
		}
	}
}

// historyOutcome returns the exit status of a history.
func historyOutcome(h *report.History) error {
	failed := 0
	for i := range h.Versions {
		if h.Versions[i].Failure != "" {
			failed++
		}
	}
	if failed >= len(h.Versions)-1 {
		return &app.Status{Code: app.ExitTarget, Text: fmt.Sprintf("%d of %d versions failed: nothing was compared", failed, len(h.Versions))}
	}
	wrong := slices.ContainsFunc(h.Lines, func(l report.Line) bool {
		return slices.ContainsFunc(l.Points, func(p report.Point) bool { return p.Wrong })
	})
	if wrong {
		return &app.Status{Code: app.ExitWithheld, Text: "figures of some versions were withheld"}
	}
	return nil
}
