package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	report "github.com/tsmark/tsmark/report/history"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/history"
	"github.com/tsmark/tsmark/run/plan"
)

// bisecting is the state of tsmark bisect.
type bisecting struct {
	executor         *Executor
	settings         *setting.Flags
	figure           string
	good, bad, build string
	builds           *history.Builds // nil: versions of servers, or targets
	commits          []string
}

func (s *Executor) bisectCommand() *cobra.Command {
	b := &bisecting{executor: s, settings: setting.New(s.app.Catalog)}
	cmd := &cobra.Command{
		Use:   "bisect [FILE.yaml] TARGET…",
		Short: "Find the first version of a system in which a figure changed",
		Long: `Finds the first version in which a figure changed. It first compares the ends; if they
differ, it halves the versions between them. Each comparison ends once it is decided, at
the latest after three runs, or eight of loads alone; a difference takes two that point the
same way. A version that fails is skipped.

Targets are as in tsmark history. For a source checkout, name one target and two commits
of the repository in the current folder: --build is executed in a checkout of each commit
that is tested, which {build} in the target's start command and options stands for. As in
git bisect run, its exit status 125 skips a commit. TSMARK_COMMIT is the commit.

The exit status is 0 if the version was found, and 1 if the ends do not differ or the
version was not decided.`,
		Example: `  tsmark bisect questdb@9.2.3..9.3.4 --query-type lastpoint
  tsmark bisect postgres@12..18 --figure disk
  tsmark bisect 'questdb,start={build}/run.sh {dir} {port}' --good v1.2 --bad main --build ./build.sh --query-type lastpoint`,
		ValidArgsFunction: s.app.Catalog.CompleteTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.run(cmd, args)
		},
	}
	flags := s.versionFlags(cmd, b.settings)
	var names []string
	for _, m := range report.Figures() {
		names = append(names, string(m))
	}
	flags.Add("Versions", func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.StringVar(&b.figure, "figure", "", "figure to look at: "+strings.Join(names, ", ")+"; default: median of one --query-type, geomean of several")
		f.StringVar(&b.good, "good", "", "`commit` before the change")
		f.StringVar(&b.bad, "bad", "", "`commit` after it")
		f.StringVar(&b.build, "build", "", "`command` that builds a commit")
		flag.Complete(cmd, "figure", names)
	})
	flags.Add("Output", b.settings.NameFlag, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&s.output.quiet, "quiet", false, "show no progress, and only the answer")
	})
	flags.ShowFirst("", "figure", "query-type", "good", "bad", "build", "use-case", "scale", "time", "load-repeats", "workers", "set", "quiet")
	return cmd
}

// judge returns the judge of the figure that was chosen, and adapts the experiment to it.
func (b *bisecting) judge(cmd *cobra.Command, e *experiment.Experiment, names []string) (*report.Judge, error) {
	single := len(e.Queries.Types) == 1 && e.Queries.TypeName(0) != ""
	j := &report.Judge{Metric: compare.Metric(b.figure), Names: names}
	if b.figure == "" {
		if j.Metric = compare.GeoMean; single {
			j.Metric = compare.Median
		}
	}
	switch {
	case !slices.Contains(report.Figures(), j.Metric):
		return nil, fmt.Errorf("--figure %q: must be one of %s", b.figure, strings.Trim(fmt.Sprint(report.Figures()), "[]"))
	case j.Metric == compare.Median && !single:
		return nil, errors.New("--figure median is of one query type; name it with --query-type")
	case j.Metric == compare.GeoMean && single:
		return nil, errors.New("--figure geomean is of several query types; use median")
	case j.Metric == compare.Load || j.Metric == compare.Disk:
		if cmd.Flags().Changed("query-type") {
			return nil, fmt.Errorf("--query-type: --figure %s runs no queries; leave it out", j.Metric)
		}
		e.Queries.Types = nil
	case j.Metric == report.Answers && !cmd.Flags().Changed("time") && !cmd.Flags().Changed("repeats"):
		e.Queries.Time, e.Queries.Repeats, e.Load.Repeats = 0, 1, max(e.Load.Repeats, 1)
	}
	if single && (j.Metric == compare.Median || j.Metric == report.Answers) {
		j.Type = e.Queries.Types[0]
	}
	decisions := 2 + math.Ceil(math.Log2(float64(len(names))))
	j.Alpha = stats.Alpha / decisions
	return j, nil
}

// Maximum numbers of runs for a decision: a run has many rounds of queries, but possibly a single load.
const (
	bisectRuns     = 3
	bisectLoadRuns = 8
)

func (b *bisecting) run(cmd *cobra.Command, args []string) (err error) {
	s, ctx := b.executor, cmd.Context()
	switch withBuild := b.good != "" || b.bad != "" || b.build != ""; {
	case withBuild && (b.good == "" || b.bad == "" || b.build == ""):
		return errors.New("--good, --bad and --build go together: two commits, and the command that builds one")
	case withBuild:
		if b.commits, err = history.Commits(ctx, b.good, b.bad); err != nil {
			return err
		}
	}
	v, err := s.versionsOf(cmd, b.settings, args, everyVersion, "bisect", b.targets)
	if err != nil {
		return err
	}
	j, err := b.judge(cmd, v.Experiment, v.names)
	if err == nil {
		err = v.Check()
	}
	if err != nil {
		return err
	}
	kept, err := v.open(cmd)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	bisection := &history.Bisection{
		Series: v.Series, Names: v.names, Least: report.LeastStep, MostRuns: bisectRuns,
		Judge: func(p *history.Pair) history.Evidence { return j.Evidence(p, nil) },
		Say: func(text string) {
			if !s.output.quiet {
				fmt.Fprintln(s.app.Stdout, text)
			}
		},
	}
	if j.Metric == compare.Load || j.Metric == compare.Disk {
		bisection.MostRuns = bisectLoadRuns
	}
	if b.builds != nil {
		defer func() { err = errors.Join(err, b.builds.Remove(context.WithoutCancel(ctx))) }()
		bisection.Prepare = func(ctx context.Context, target int) (string, error) {
			return b.builds.Make(ctx, b.commits[target])
		}
	}
	v.Execute = func(_ context.Context, p *history.Pair, sweep *plan.Sweep) (*result.Run, error) {
		return v.execute(cmd, p, sweep, func(run *result.Run, _ *result.Target, _ string) float64 {
			if bisection.Decided(j.Evidence(p, run)) {
				return 0
			}
			return 1 // so that further rounds follow, as long as there is time
		})
	}
	if err := v.announceBisection(ctx); err != nil {
		return err
	}
	found, err := bisection.Find(ctx)
	switch {
	case ctx.Err() != nil:
		return s.interruption(err, ", and the same command goes on")
	case errors.Is(err, history.ErrNoFigure):
		return &app.Status{Code: app.ExitTarget, Text: err.Error()}
	case err != nil:
		return err
	}
	if _, err := fmt.Fprintln(s.app.Stdout, j.Answer(found)); err != nil {
		return err
	}
	if found.Same || found.Undecided || len(found.Skipped) > 0 {
		return &app.Status{Code: app.ExitWithheld}
	}
	return nil
}

// targets returns a target for each commit in place of the one that was named.
func (b *bisecting) targets(e *experiment.Experiment) error {
	if b.commits == nil {
		return nil
	}
	if len(e.Targets) != 1 {
		return fmt.Errorf("--build is for one target, and %d are named", len(e.Targets))
	}
	folder, err := filepath.Abs(filepath.Join(b.executor.app.Folder(), "bisect"))
	if err == nil {
		err = os.MkdirAll(folder, 0o777)
	}
	if err != nil {
		return fmt.Errorf("making the folder of builds: %w", err)
	}
	command := b.build
	if path, rest, _ := strings.Cut(command, " "); strings.Contains(path, "/") && !filepath.IsAbs(path) {
		if _, err := os.Stat(path); err == nil { // it may lack in the checkouts
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			command = strings.TrimSpace(plan.ShellQuote(path) + " " + rest)
		}
	}
	b.builds = &history.Builds{Dir: folder, Command: command}
	of := e.Targets[0]
	e.Targets = nil
	for _, commit := range b.commits {
		t := of
		t.Name = of.Name + "@" + commit[:10]
		t.Start = strings.ReplaceAll(of.Start, history.BuildPlace, plan.ShellQuote(b.builds.Folder(commit)))
		t.Options = maps.Clone(of.Options)
		for name, value := range t.Options {
			t.Options[name] = strings.ReplaceAll(value, history.BuildPlace, b.builds.Folder(commit))
		}
		e.Targets = append(e.Targets, t)
	}
	return nil
}
