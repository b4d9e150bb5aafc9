package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/comparison"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

func (s *executor) runCommand() *cobra.Command {
	given := newSettings(s.app.catalog)
	print, selfTest, files, within := false, false, iotdbFiles{}, limits{}
	cmd := &cobra.Command{
		Use:   "run [FILE.yaml|NAME]",
		Short: "Run an experiment: load, check, run queries, report",
		Long: `Runs an experiment: generates the dataset, loads each target, counts its rows,
checks answers against the generator, measures the queries, and reports.

The experiment is a file, or one that tsmark experiments lists. Without either it
is TSBS's cpu-only of 50 hosts over a day in DuckDB and in SQLite; eight of the 16
query types, one of each kind, run in six rounds: a minute in all. --query-type all
runs all 16. Flags change the experiment; --print shows the result as a
file.

--sweep makes one run for each value of a parameter, and for each combination
where it is repeated. Parameters are the keys of the file; options of a target,
targets.NAME.OPTION, make variants of it that take turns within one run.

--self-test runs each target twice, as NAME and NAME-again, loads six times by
default, and says which differences this machine and these settings cannot
resolve. If a target differs from itself the exit status is 1.

--agents N waits for N tsmark agent on other machines, which share the work; see
docs/scale-out.md.

--require-quiet refuses a host on which other processes use the CPU. It repeats
disturbed measurements, up to three times in all; then the run ends incomplete.

--fail-if takes absolute limits, such as 'median > 50ms' or 'load < 100000', and relative
ones, such as 'median > +5%', which compare with the run that --baseline names.
` + conditionsHelp + `

--iotdb-config takes the scenario from the file of IoTDB-Benchmark; flags change
it as they change an experiment. --print lists in the experiment's notes what
became of each parameter.`,
		Example: `  tsmark run
  tsmark run --scale 1000 --workers 2 --query-type lastpoint,double-groupby-1
  tsmark run --target all=duckdb --target one=duckdb,threads=1,memory_limit=512MB
  tsmark run --scale 4000 --print > experiment.yaml
  tsmark run --sweep load.workers=1,2,4 --sweep load.batch-size=1000,10000
  tsmark run --target duckdb --sweep targets.duckdb.threads=1,2
  tsmark run experiment.yaml
  tsmark run experiment.yaml --self-test
  tsmark run experiment.yaml --require-quiet
  tsmark run experiment.yaml --agents 4 --agents-listen 0.0.0.0:4222 --agents-token @token
  tsmark run experiment.yaml --fail-if 'median > 50ms' --baseline 3f2a --fail-if 'median > +10%'
  tsmark run --iotdb-config config.properties --target duckdb
  tsmark run load-scaling --target duckdb`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark run takes one experiment, but was given %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: s.app.catalog.completeExperiment,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := experiment.Default()
			var err error
			switch {
			case len(args) == 1 && files.given(cmd):
				return fmt.Errorf("both %s and --%s name an experiment; remove one of them", args[0], iotdbConfigFlag)
			case len(args) == 1:
				e, err = s.app.catalog.readExperiment(args[0])
			case files.given(cmd):
				e, err = files.read(cmd, s.app.catalog.drivers, cmd.Flags().Changed("target"))
			}
			if err != nil {
				return err
			}
			if err := given.apply(cmd, e, nil); err != nil {
				return err
			}
			var leftOut []string
			if s.app.catalog.builtIn(args) && !files.given(cmd) && len(given.targets) == 0 {
				leftOut = s.app.catalog.leaveOut(e)
			}
			if selfTest {
				if err := e.SelfTest(); err != nil {
					return err
				}
			}
			return s.execute(cmd, e, print, within, leftOut)
		},
	}
	flags := newFlagGroups(cmd)
	flags.add("Targets and workers", func(cmd *cobra.Command) {
		given.targetFlag(cmd, "duckdb and sqlite; sqlite where tsmark was built without DuckDB")
		given.workersFlag(cmd, "connections that load, and later connections that run queries", "load.workers", "queries.workers")
		given.sweepFlag(cmd)
		given.setFlag(cmd)
	})
	flags.add("Dataset", given.datasetFlags)
	flags.add("Load", given.loadFlags, given.adoptFlag)
	flags.add("Queries", given.queryFlags)
	flags.add("How the queries are measured", given.timedFlags)
	flags.add("Queries while rows are written", given.mixedFlags)
	flags.add("Continuous aggregates", given.materializeFlags)
	flags.add("Timeouts", given.timeoutFlags)
	flags.add("IoTDB-Benchmark", files.configFlag, files.routineFlag)
	flags.add("Many clients", s.team.add)
	flags.add("While it runs", liveFlags)
	flags.add("The run as a whole", given.quietFlag, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&selfTest, "self-test", false, "compare each target with itself, and report which differences this machine cannot resolve")
		failIfFlag(cmd, &within.failIf)
		cmd.Flags().StringVar(&within.baseline, "baseline", "", "`run` with which relative limits of --fail-if compare, as tsmark compare takes it for A")
		completeBy(cmd, "baseline", func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.app.completeSide(cmd, nil, word)
		})
		cmd.Flags().BoolVar(&print, "print", false, "print the experiment as YAML and run nothing")
	})
	flags.done()
	return cmd
}

func (s *executor) loadCommand() *cobra.Command {
	given := newSettings(s.app.catalog)
	return s.stepCommand(given, "load [TARGET…]", "Load a dataset and leave it there",
		`Generates a dataset, loads it into each target, and counts what the target then
holds. It leaves a mark in the database, which tells tsmark query and tsmark verify
what was loaded.

With --file the rows are those of a file. Give the flags that tsmark generate, or
TSBS's tsbs_generate_data, wrote it with, and it is the dataset of these, in influx or
timescaledb format. Without them it holds rows of your own, in any format that tsmark
inspect reads: the file is surveyed first, and what the target holds is then compared with
it. Queries of your own can be run on both.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]…; the default is duckdb.`,
		`  tsmark load
  tsmark load duckdb,path=cpu.duckdb --scale 4000 --workers 2
  tsmark load duckdb,path=cpu.duckdb --replace
  tsmark load --file cpu.lp.gz --use-case cpu-only --scale 4000 --seed 123
  tsmark load duckdb --file trips.parquet
  tsmark load null --file cpu.lp --scale 4000   # how fast tsmark itself is`,
		func(flags *flagGroups) {
			flags.add("Dataset", given.datasetFlags, given.digestFlag, given.fileFlags)
			flags.add("Load", given.loadFlags, func(cmd *cobra.Command) {
				given.workersFlag(cmd, "connections that write", "load.workers")
			}, given.quietFlag)
			flags.add("Many clients", s.team.add)
		})
}

func (s *executor) queryCommand() *cobra.Command {
	given := newSettings(s.app.catalog)
	return s.stepCommand(given, "query [TARGET…]", "Verify and measure queries on a loaded target",
		`Verifies and measures queries on a target that tsmark load or run has loaded. The
mark in the database says which dataset it holds. --adopt takes a target that TSBS
loaded: repeat the flags of its generation, and tsmark compares the rows with the dataset
before a query runs. Nothing is loaded or dropped.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]…; the default is duckdb. Without a path
an embedded database is the one that its name was last loaded into.`,
		`  tsmark query
  tsmark query duckdb,path=cpu.duckdb --query-type lastpoint --workers 4
  tsmark query influxdb,host=db1,database=benchmark --adopt --scale 100 --seed 123`,
		func(flags *flagGroups) {
			flags.add("Queries", given.queryFlags)
			flags.add("How the queries are measured", given.timedFlags, func(cmd *cobra.Command) {
				given.workersFlag(cmd, "connections that run queries", "queries.workers")
			}, given.quietFlag)
			flags.add("Many clients", s.team.add)
			flags.add("Data that TSBS loaded", given.adoptFlags)
		})
}

func (s *executor) verifyCommand() *cobra.Command {
	given := newSettings(s.app.catalog)
	return s.stepCommand(given, "verify [TARGET…]", "Verify answers of a loaded target without measuring",
		`Counts the tables of a target that tsmark load or run has loaded, and compares
its answers with the generator's. Nothing is measured. --adopt takes a target that
TSBS loaded, as in tsmark query.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]…; the default is duckdb.`,
		`  tsmark verify
  tsmark verify duckdb,path=cpu.duckdb --verify 100`,
		func(flags *flagGroups) {
			flags.add("Queries", given.queryFlags)
			flags.add("Data that TSBS loaded", given.adoptFlags)
		})
}

// builtIn reports whether the arguments of tsmark run mean an experiment of tsmark's own.
func (c catalog) builtIn(args []string) bool {
	if len(args) == 0 {
		return true
	}
	_, ok := preset.Find(c.presets(), args[0])
	return ok
}

// leaveOut removes the targets that this build of tsmark cannot open from a built-in experiment,
// and returns notes about them, which it also adds to the experiment's
// notes. If no others are left, they stay, and the plan refuses them.
func (c catalog) leaveOut(e *experiment.Experiment) (notes []string) {
	missing := func(t experiment.Target) string {
		d, err := c.driver(t.Driver)
		if err != nil {
			return "" // the plan's to refuse
		}
		return d.Missing
	}
	if !slices.ContainsFunc(e.Targets, func(t experiment.Target) bool { return missing(t) == "" }) {
		return nil
	}
	e.Targets = slices.DeleteFunc(e.Targets, func(t experiment.Target) bool {
		why := missing(t)
		if why == "" {
			return false
		}
		notes = append(notes, fmt.Sprintf("%s is left out: %s", t.Name, why))
		return true
	})
	e.Notes = append(e.Notes, notes...)
	return notes
}

// stepCommand is a command for some steps of an experiment on given targets, with
// flags of its own.
func (s *executor) stepCommand(given *settings, use, short, long, example string, own func(*flagGroups)) *cobra.Command {
	files := iotdbFiles{}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		ValidArgsFunction: s.app.catalog.completeTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := experiment.Default()
			e.Name = cmd.Name()
			if files.given(cmd) {
				var err error
				if e, err = files.read(cmd, s.app.catalog.drivers, len(args) > 0 || cmd.Flags().Changed("target")); err != nil {
					return err
				}
			}
			if err := given.apply(cmd, e, args); err != nil {
				return err
			}
			var leftOut []string
			if !files.given(cmd) && len(given.targets) == 0 {
				leftOut = s.app.catalog.leaveOut(e)
				e.Targets = e.Targets[:1] // a step compares nothing
			}
			if steps, _ := plan.StepsOf(cmd.Name()); !steps.Load {
				if err := given.ownDataset(cmd, e); err != nil {
					return err
				}
			}
			return s.execute(cmd, e, false, limits{}, leftOut)
		},
	}
	flags := newFlagGroups(cmd)
	flags.add("Targets", func(cmd *cobra.Command) {
		given.targetFlag(cmd, "duckdb; sqlite where tsmark was built without DuckDB")
		given.setFlag(cmd)
	})
	own(flags)
	flags.add("Timeouts", given.timeoutFlags)
	flags.add("While it runs", liveFlags)
	flags.add("IoTDB-Benchmark", files.configFlag)
	flags.done()
	return cmd
}

// execute runs an experiment and reports it. Omissions are reported once it is
// known that there are no errors.
func (s *executor) execute(cmd *cobra.Command, e *experiment.Experiment, print bool, given limits, leftOut []string) error {
	ctx := cmd.Context()
	conditions, err := given.conditions()
	if err != nil {
		return err
	}
	if err := s.team.check(cmd); err != nil {
		return err
	}
	steps, _ := plan.StepsOf(cmd.Name())
	for i, t := range e.Targets {
		if strings.EqualFold(t.Name, pageName) {
			return e.Problem(fmt.Sprintf("targets[%d].name", i), "%s is the name of the run's page; choose another", t.Name)
		}
	}
	if !e.Adopt { // existing data has its seed already
		s.app.drawSeed(&e.Workload)
	}
	if steps.Load {
		if err := s.app.survey(ctx, e); err != nil {
			return err
		}
	}
	sweep, err := plan.NewSweep(e, s.app.catalog.forRunner(), steps)
	if err != nil {
		return err
	}
	for _, p := range sweep.Points() {
		if err := checkMemory(ctx, s.app.catalog, p.Experiment, steps); err != nil {
			return err
		}
	}
	if err := s.team.shares(sweep); err != nil {
		return err
	}
	for _, note := range leftOut {
		fmt.Fprintln(s.app.stderr, "tsmark: "+note)
	}
	if print {
		return s.print(sweep)
	}
	kept, err := s.app.openResults(ctx)
	if err != nil {
		return err
	}
	defer kept.Close() // each piece is on disk when it was saved
	single := sweep.Single() != nil
	if !single && len(conditions) > 0 {
		return errors.New("--fail-if judges one run, and a sweep has several; use tsmark compare with --fail-if instead")
	}
	var baseline *compare.Side
	if given.baseline != "" { // before anything runs: it may not be there
		side, err := side(ctx, kept, given.baseline)
		if err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
		baseline = &side
	}
	if single {
		foreseen(s.app.stderr, e, conditions)
	}
	r, shown, err := s.newRunner(cmd, kept, e)
	if err != nil {
		return err
	}
	record, runs, err := r.Execute(ctx, runner.Work{Sweep: sweep, Command: cmd.Name(), Args: s.app.args, Done: s.pageOf})
	shown.Close()
	if err := s.reported(ctx, record, runs, err); err != nil || !single {
		return err
	}
	return s.within(runs[0], baseline, conditions)
}

// continueWork executes the rest of some work, or repeats it, and reports it.
func (s *executor) continueWork(cmd *cobra.Command, kept *store.Store, e *experiment.Experiment, w runner.Work) ([]*result.Run, error) {
	r, shown, err := s.newRunner(cmd, kept, e)
	if err != nil {
		return nil, err
	}
	record, runs, err := r.Execute(cmd.Context(), w)
	shown.Close()
	return runs, s.reported(cmd.Context(), record, runs, err)
}

// reported reports the executed sweep or run, and turns its error
// into the exit status.
func (s *executor) reported(ctx context.Context, sweep *result.Sweep, runs []*result.Run, err error) error {
	switch {
	case len(runs) == 0:
		return err
	case sweep != nil:
		return s.sweepEnded(ctx, sweep, runs, err)
	}
	return s.ended(ctx, runs[0], err)
}

// limits are the limits that a run must not exceed.
type limits struct {
	failIf   []string
	baseline string // a run; empty: none
}

// conditions reads --fail-if, and whether --baseline goes with it.
func (l limits) conditions() ([]compare.Condition, error) {
	conditions, err := parseConditions(l.failIf)
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

// within turns conditions about a run, and its changes from a baseline, into the exit
// status.
func (s *executor) within(run *result.Run, baseline *compare.Side, conditions []compare.Condition) error {
	if len(conditions) == 0 {
		return nil
	}
	if baseline == nil {
		return checked(compare.SingleRun(run), conditions, ofRun)
	}
	c, err := compare.Runs(*baseline, compare.Side{Runs: []*result.Run{run}}, compare.Options{})
	if err != nil {
		return fmt.Errorf("comparing the run with --baseline: %w", err)
	}
	fmt.Fprintln(s.app.stdout)
	if err := comparison.Write(s.app.stdout, write.Text, c, s.app.textOptions()); err != nil {
		return err
	}
	return checked(c, conditions, ofRun)
}

// print shows an experiment as a file and, of a sweep, its points.
func (s *executor) print(sweep *plan.Sweep) error {
	text, err := sweep.YAML()
	if err != nil {
		return err
	}
	if sweep.Single() == nil {
		text = append(text, listPoints(sweep.Points())...)
	}
	_, err = s.app.stdout.Write(text)
	return err
}

// newRunner returns the runner of a command's experiments, and its display, which the
// caller closes.
func (s *executor) newRunner(cmd *cobra.Command, kept *store.Store, e *experiment.Experiment) (*runner.Runner, display, error) {
	if s.fleet == nil { // or a run before has the agents
		var err error
		if s.fleet, err = s.team.gather(cmd, s.app.stderr); err != nil {
			return nil, display{}, err
		}
	}
	if err := s.watch(cmd); err != nil {
		return nil, display{}, err
	}
	for _, line := range s.trusted(false).confinements(e) {
		fmt.Fprintf(s.app.stderr, "tsmark %s\n", line)
	}
	shown := s.app.newDisplay(e.Load.ReportingPeriod)
	r := &runner.Runner{
		Store: kept, Dir: s.app.folder(), Display: shown,
		Tool: buildinfo.Tool(), Modules: buildinfo.Modules, Host: monitor.Host(cmd.Context(), s.app.folder()), Input: os.Stdin,
		Children: s.app.children, Servers: s.standing, Force: force(cmd, s.app),
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

// pageName is the run's page in its folder.
const pageName = "report.html"

// reportRun writes the run's page and shows its text.
func (s *executor) reportRun(run *result.Run) error {
	shown := report.New(run) // its estimates are computed once for both
	if err := shown.Write(s.app.stdout, write.Text, s.app.textOptions()); err != nil {
		return err
	}
	page, err := s.writePage(run.ID, func(out io.Writer) error { return shown.Write(out, write.HTML, write.Options{}) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.app.stdout, "\nPage: %s\n", page)
	return err
}

// textOptions fit the terminal: its width, and colours unless NO_COLOR is set.
// Elsewhere COLUMNS may say the width.
func (a *app) textOptions() write.Options {
	options := write.Options{Verbose: a.verbose}
	options.Width, _ = strconv.Atoi(os.Getenv("COLUMNS")) // any other value is ignored
	if f, ok := a.stdout.(*os.File); ok && progress.IsTerminal(f) {
		options.Color = os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			options.Width = width
		}
	}
	return options
}

// writeReport writes a report to a file, which appears once it is whole.
func writeReport(name string, write func(io.Writer) error) error {
	out, err := outfile.Create(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// ended reports a run that ended with an error, or well: its figures first.
func (s *executor) ended(ctx context.Context, run *result.Run, err error) error {
	if errors.Is(err, plan.ErrInput) && ctx.Err() == nil {
		return err
	}
	reportErr := s.reportRun(run)
	if reportErr != nil {
		s.page = ""
	}
	err = s.outcome(ctx, run, err)
	if s := (*status)(nil); reportErr != nil && errors.As(err, &s) {
		return &status{code: s.code, text: s.text + "\n" + reportErr.Error()}
	}
	return errors.Join(err, reportErr)
}

// interrupted is the status of one or several runs that Ctrl-C ended with an error;
// stored continues the sentence "finished work is stored".
func (s *executor) interrupted(err error, stored string) error {
	if lost := s.notStored(err); lost != "" {
		return &status{code: exitInterrupted, text: "interrupted; " + lost}
	}
	return &status{code: exitInterrupted, text: "interrupted; finished work is stored" + stored}
}

// notStored describes the losses of a run that could not be stored at its end, and where
// its figures are. It is empty if the run was stored.
func (s *executor) notStored(err error) string {
	var lost *runner.NotStoredError
	if !errors.As(err, &lost) {
		return ""
	}
	page := "no page has its figures"
	if s.page != "" {
		page = "its figures are on the page " + s.page
	}
	if errors.Is(err, store.ErrGone) {
		return fmt.Sprintf("run %s is not stored: %s; %s", lost.Run, printable.OneLine(lost.Error()), page)
	}
	return fmt.Sprintf("run %s is not stored as it ended: %s; %s; tsmark resume %[1]s measures again what the results lack", lost.Run, printable.OneLine(lost.Error()), page)
}

// outcome turns the outcome of a run into the exit status. The report has named
// the failures, so most need no more text.
func (s *executor) outcome(ctx context.Context, run *result.Run, err error) error {
	lost := s.notStored(err)
	switch {
	case ctx.Err() != nil:
		return s.interrupted(err, " as run "+run.ID)
	case lost != "":
		return errors.New(lost)
	case errors.Is(err, record.ErrNotQuiet):
		return &status{code: exitWithheld, text: printable.OneLine(err.Error())}
	case err != nil:
		return err
	}
	var failures []string
	for _, t := range run.Targets {
		if t.Failure != "" {
			failures = append(failures, fmt.Sprintf("target %s failed: %s", t.Name, printable.OneLine(t.Failure)))
		}
	}
	if len(failures) > 0 {
		return &status{code: exitTarget, text: strings.Join(failures, "\n")}
	}
	for _, t := range compare.SelfTests(run) {
		if len(t.Differs()) > 0 {
			return &status{code: exitWithheld, text: fmt.Sprintf("target %s differs from itself: with these settings the figures of this machine cannot be trusted", t.Target)}
		}
	}
	if !run.Passed() {
		return &status{code: exitWithheld, text: strings.Join(missingFigures(run), "; ")}
	}
	return nil
}

// unreached sets the exit status for the error of a run that could not reach any
// target; other errors stay as they are.
func unreached(err error) error {
	if nobody := (*runner.UnreachedError)(nil); errors.As(err, &nobody) {
		return &status{code: exitTarget, text: err.Error()}
	}
	return err
}

// missingFigures lists the missing figures of a run with the kind of absence.
func missingFigures(run *result.Run) []string {
	var list []string
	for _, m := range []struct {
		what  string
		names []string
	}{{"figures were withheld: ", withheld(run)}, {"queries failed: ", failed(run)}, {"no highest rate: ", ratesNotFound(run)}} {
		if len(m.names) > 0 {
			list = append(list, m.what+strings.Join(m.names, ", "))
		}
	}
	return list
}

// ratesNotFound names the query types of a run whose highest rate was not found, with
// why.
func ratesNotFound(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		for _, q := range t.Queries {
			if why := q.RateNotFound(); why != "" {
				names = append(names, fmt.Sprintf("%s %s (%s)", t.Name, q.Type, why))
			}
		}
	}
	return names
}

// failed names the query types of a run that failed, with why.
func failed(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		if t.Load != nil && t.Load.Mixed.Failure() != nil {
			names = append(names, t.Name+" load and queries")
		}
		for _, q := range t.Queries {
			if q.Outcome() == result.Failed {
				names = append(names, fmt.Sprintf("%s %s (%s)", t.Name, q.Type, q.Failed.Word()))
			}
		}
	}
	return names
}

func withheld(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		if t.Load != nil && !t.Load.HasFigures() && t.Load.UnsupportedReason() == "" {
			names = append(names, t.Name+" load")
		}
		if t.Load != nil && t.Load.Mixed.Problem() != "" {
			names = append(names, t.Name+" load and queries")
		}
		for _, q := range t.Queries {
			if q.Withheld != "" {
				names = append(names, t.Name+" "+q.Type)
			}
		}
	}
	return names
}
