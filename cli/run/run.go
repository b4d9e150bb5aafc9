package run

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/condition"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

func (s *Executor) runCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	print, selfTest, files, judge := false, false, setting.IoTDBFiles{}, limits{}
	cmd := &cobra.Command{
		Use:   "run [FILE.yaml|NAME|DATA…|TARGET…]",
		Short: "Run an experiment: load, check, run queries, report",
		Long: `Runs an experiment: generates the dataset, loads each target, counts its rows,
checks answers against the generator, measures the queries, and reports.

The experiment is a file of YAML, or one that tsmark experiments lists. DATA is rows
of your own: files in any format that tsmark inspect reads, a folder, or - for
standard input. tsmark infers their columns, and generates query types for them;
--own changes how they are read. A TARGET is written as for --target; a file or an
experiment of the same name comes first. SERVER@VERSION is a server that tsmark
installs, starts and stops; tsmark server versions lists its versions. Without
arguments the experiment is TSBS's cpu-only of 50 hosts over a day in DuckDB and in
SQLite; eight of the 16 query types, one of each kind, run in six rounds: a minute in
all. Flags change the experiment; --print shows the result as a file. --help-all shows
all flags.`,
		Example: `  tsmark run
  tsmark run sqlite --scale 1000 --workers 2 --query-type lastpoint,double-groupby-1
  tsmark run --target all=duckdb --target one=duckdb,threads=1,memory_limit=512MB
  tsmark run --scale 4000 --print > experiment.yaml
  tsmark run --sweep load.workers=1,2,4 --sweep load.batch-size=1000,10000
  tsmark run --target duckdb --sweep targets.duckdb.threads=1,2
  tsmark run questdb@9.2.3 questdb@9.3.4 --scale 10
  tsmark run trips.parquet --target duckdb --target postgres,host=db1
  tsmark run experiment.yaml
  tsmark run experiment.yaml --self-test
  tsmark run experiment.yaml --require-quiet
  tsmark run experiment.yaml --agents 4 --agents-listen 0.0.0.0:4222 --agents-token @token
  tsmark run experiment.yaml --fail-if 'median > 50ms' --baseline 3f2a --fail-if 'median > +10%'
  tsmark run --iotdb-config config.properties --target duckdb
  tsmark run load-scaling --target duckdb`,
		ValidArgsFunction: s.app.Catalog.CompleteExperiment,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && files.IsSet(cmd) {
				return fmt.Errorf("both %s and --%s name an experiment; remove one of them", args[0], setting.IoTDBConfigFlag)
			}
			e := experiment.Default()
			targets, args := s.targets(args)
			data, err := s.ownData(cmd.Context(), args)
			switch {
			case err != nil:
			case data != nil:
				e, err = data, settings.CheckOwnRows(cmd, args[0])
			case len(args) == 1:
				e, err = s.app.Catalog.ReadExperiment(args[0])
			case files.IsSet(cmd):
				e, err = files.Read(cmd, s.app.Catalog.Drivers, cmd.Flags().Changed("target"))
			}
			if err != nil {
				return err
			}
			if err := settings.Apply(cmd, e, targets); err != nil {
				return err
			}
			var leftOut []string
			if (data != nil || s.app.Catalog.IsBuiltIn(args)) && !files.IsSet(cmd) && len(settings.Targets) == 0 {
				leftOut = s.app.Catalog.RemoveMissing(e)
				if (len(args) == 0 || data != nil) && len(e.Targets) == 1 { // without DuckDB: two layouts of SQLite
					e.Targets = []experiment.Target{{Name: "clustered", Driver: "sqlite"}, {Name: "tags_time", Driver: "sqlite", Options: experiment.Options{"index": "tags_time"}}}
				}
			}
			if err := s.output.check(cmd); err != nil {
				return err
			}
			if selfTest {
				if err := e.SelfTest(); err != nil {
					return err
				}
			}
			err = s.execute(cmd, e, print, judge, leftOut)
			if data != nil {
				err = ownDataProblem(err)
			}
			return err
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Targets and workers", func(cmd *cobra.Command) {
		settings.TargetFlag(cmd, "duckdb and sqlite; two layouts of sqlite where tsmark was built without DuckDB")
		settings.WorkersFlag(cmd, "connections that load, and later connections that run queries", "load.workers", "queries.workers")
		settings.SweepFlag(cmd)
		settings.RampFlag(cmd)
		settings.SetFlag(cmd)
	})
	flags.Add("Dataset", settings.DatasetFlags)
	flags.Add("Load", settings.LoadFlags, settings.AdoptFlag)
	flags.Add("Queries", settings.QueryFlags)
	flags.Add("How the queries are measured", settings.TimedFlags)
	flags.Add("Queries while rows are written", settings.MixedFlags)
	flags.Add("Crashes", settings.CrashFlag)
	flags.Add("Continuous aggregates", settings.MaterializeFlags)
	flags.Add("Timeouts", settings.TimeoutFlags)
	flags.Add("IoTDB-Benchmark", files.ConfigFlag, files.RoutineFlag)
	flags.Add("Many clients", s.team.Add)
	flags.Add("While it runs", liveFlags)
	flags.Add("The run as a whole", settings.QuietFlag, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&selfTest, "self-test", false, "compare each target with itself, and report which differences this machine cannot resolve")
		condition.AddFlag(cmd, &judge.failIf)
		cmd.Flags().StringVar(&judge.baseline, "baseline", "", "`run` with which relative limits of --fail-if compare, as tsmark compare takes it for A")
		flag.CompleteBy(cmd, "baseline", func(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.app.CompleteSide(cmd, nil, word)
		})
		cmd.Flags().BoolVar(&print, "print", false, "print the experiment as YAML and run nothing")
	})
	flags.Add("Output", settings.NameFlag, s.outputFlags)
	flags.ShowFirst(moreAboutRun, "target", "workers", "use-case", "scale", "batch-size", "query-type", "time", "repeats", "load-repeats",
		"rate", "mixed", "sweep", "set", "fail-if", "self-test", "print", "output", "quiet")
	return cmd
}

// moreAboutRun explains the flags of tsmark run that take more than a line.
const moreAboutRun = `--sweep makes one run for each value of a parameter, and for each combination
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
` + condition.Help + `

--iotdb-config takes the scenario from the file of IoTDB-Benchmark; flags change
it as they change an experiment. --print lists in the experiment's notes what
became of each parameter.`

func (s *Executor) loadCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	return s.stepCommand(settings, "load [TARGET…]", "Load a dataset and leave it there",
		`Generates a dataset, loads it into each target, and counts what the target then
holds. It leaves a mark in the database, which tells tsmark query and tsmark verify
which dataset that is.

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
		func(flags *flag.Groups) {
			flags.Add("Dataset", settings.DatasetFlags, settings.DigestFlag, settings.FileFlags)
			flags.Add("Load", settings.LoadFlags, func(cmd *cobra.Command) {
				settings.WorkersFlag(cmd, "connections that write", "load.workers")
			}, settings.QuietFlag)
			flags.Add("Many clients", s.team.Add)
		})
}

func (s *Executor) queryCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	return s.stepCommand(settings, "query [TARGET…]", "Verify and measure queries on a loaded target",
		`Verifies and measures queries on a target that tsmark load or run has loaded. The
mark in the database says which dataset it holds. --adopt takes a target that TSBS
loaded: repeat the flags of its generation, and tsmark compares the rows with the dataset
before a query runs. Nothing is loaded or dropped.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]…; the default is duckdb. Without a path
an embedded database is the one that its name was last loaded into.`,
		`  tsmark query
  tsmark query duckdb,path=cpu.duckdb --query-type lastpoint --workers 4
  tsmark query influxdb,host=db1,database=benchmark --adopt --scale 100 --seed 123`,
		func(flags *flag.Groups) {
			flags.Add("Queries", settings.QueryFlags)
			flags.Add("How the queries are measured", settings.TimedFlags, func(cmd *cobra.Command) {
				settings.WorkersFlag(cmd, "connections that run queries", "queries.workers")
			}, settings.RampFlag, settings.QuietFlag)
			flags.Add("Many clients", s.team.Add)
			flags.Add("Data that TSBS loaded", settings.AdoptFlags)
		})
}

func (s *Executor) verifyCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	return s.stepCommand(settings, "verify [TARGET…]", "Verify answers of a loaded target without measuring",
		`Counts the tables of a target that tsmark load or run has loaded, and compares
its answers with the generator's. Nothing is measured. --adopt takes a target that
TSBS loaded, as in tsmark query.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]…; the default is duckdb.`,
		`  tsmark verify
  tsmark verify duckdb,path=cpu.duckdb --verify 100`,
		func(flags *flag.Groups) {
			flags.Add("Queries", settings.QueryFlags)
			flags.Add("Data that TSBS loaded", settings.AdoptFlags)
		})
}

// stepCommand is a command for some steps of an experiment on given targets, with
// flags of its own.
func (s *Executor) stepCommand(settings *setting.Flags, use, short, long, example string, own func(*flag.Groups)) *cobra.Command {
	files := setting.IoTDBFiles{}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		ValidArgsFunction: s.app.Catalog.CompleteTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := experiment.Default()
			e.Name = cmd.Name()
			if files.IsSet(cmd) {
				var err error
				if e, err = files.Read(cmd, s.app.Catalog.Drivers, len(args) > 0 || cmd.Flags().Changed("target")); err != nil {
					return err
				}
			}
			if err := settings.Apply(cmd, e, args); err != nil {
				return err
			}
			var leftOut []string
			if !files.IsSet(cmd) && len(settings.Targets) == 0 {
				leftOut = s.app.Catalog.RemoveMissing(e)
				e.Targets = e.Targets[:1] // a step compares nothing
			}
			if steps, _ := plan.StepsOf(cmd.Name()); !steps.Load {
				if err := settings.CheckDataset(cmd, e); err != nil {
					return err
				}
			}
			return s.execute(cmd, e, false, limits{}, leftOut)
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Targets", func(cmd *cobra.Command) {
		settings.TargetFlag(cmd, "duckdb; sqlite where tsmark was built without DuckDB")
		settings.SetFlag(cmd)
	})
	own(flags)
	flags.Add("Timeouts", settings.TimeoutFlags)
	flags.Add("While it runs", liveFlags)
	flags.Add("IoTDB-Benchmark", files.ConfigFlag)
	flags.Show()
	return cmd
}
