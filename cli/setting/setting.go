// Package setting makes experiments from the flags of a command line.
package setting

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// Flags are the flags of the commands that run an experiment. Flags write
// into an experiment of their own, from which apply copies the ones that the user set.
type Flags struct {
	catalog catalog.Catalog
	flags   *experiment.Experiment
	Targets []string
	sweeps  []string
	ramp    string
	keys    []string // PATH=VALUE of --set
	own     []string // files of own queries
	copies  []setting
	dataset []string // flags that say which dataset it is
}

// setting is a flag and its effect on an experiment.
type setting struct {
	flag string
	copy func(to *experiment.Experiment)
}

func New(c catalog.Catalog) *Flags {
	return &Flags{catalog: c, flags: experiment.Default()}
}

// means names the parts of an experiment that a flag sets.
func (s *Flags) means(flag string, paths ...string) {
	s.copies = append(s.copies, setting{flag, func(to *experiment.Experiment) {
		for _, path := range paths {
			to.Take(path, s.flags)
			to.FromFlag(path, "--"+flag)
		}
	}})
}

// sets says which settings of an experiment, below a path, a flag sets.
func (s *Flags) sets(flag, path string, pairs *flag.Pairs, of func(*experiment.Experiment) *workload.Settings) {
	s.copies = append(s.copies, setting{flag, func(to *experiment.Experiment) {
		for _, key := range pairs.Keys {
			of(to).Set(key, (*pairs.Settings)[key])
			_, name, _ := strings.Cut(key, ".")
			to.FromFlag(path+key, "--"+flag+" "+name)
		}
	}})
}

// Apply copies the user's settings into e: flags, and targets that are arguments.
func (s *Flags) Apply(cmd *cobra.Command, e *experiment.Experiment, args []string) error {
	s.applyCopies(cmd, e)
	if cmd.Flags().Changed("query-type") && len(e.Queries.Types) == 0 {
		return fmt.Errorf("--query-type: is empty; name query types, or %s or %s", experiment.CoreTypes, experiment.AllTypes)
	}
	declared := len(e.Queries.Own)
	if err := AddOwnQueries(e, s.own); err != nil {
		return err
	}
	if err := s.runOwnQueries(cmd, e, declared); err != nil {
		return err
	}
	if err := s.loadOwnFile(cmd, e); err != nil {
		return err
	}
	for _, text := range s.sweeps {
		axis, err := experiment.ParseAxis(text)
		if err != nil {
			return fmt.Errorf("--sweep: %w", err)
		}
		e.Matrix.Set(axis)
		e.FromFlag("matrix."+axis.Path, "--sweep "+text)
	}
	if s.ramp != "" {
		axis, err := experiment.ParseRamp(s.ramp)
		if err != nil {
			return fmt.Errorf("--ramp: %w", err)
		}
		e.Matrix.Set(axis)
		e.FromFlag("matrix."+axis.Path, "--ramp "+s.ramp)
	}
	if err := s.applyTargets(cmd.Context(), e, args); err != nil {
		return err
	}
	return SetKeys(e, s.keys)
}

// ApplyDataset copies the flags of DatasetFlags and SetFlag that the user set into e.
func (s *Flags) ApplyDataset(cmd *cobra.Command, e *experiment.Experiment) error {
	s.applyCopies(cmd, e)
	return SetKeys(e, s.keys)
}

// applyCopies copies the flags that the user set into e.
func (s *Flags) applyCopies(cmd *cobra.Command, e *experiment.Experiment) {
	for _, c := range s.copies {
		if cmd.Flags().Changed(c.flag) {
			c.copy(e)
		}
	}
}

// applyTargets puts the targets that the user gave into e.
func (s *Flags) applyTargets(ctx context.Context, e *experiment.Experiment, args []string) error {
	flag := "--target "
	if len(args) > 0 && len(s.Targets) > 0 {
		return fmt.Errorf("targets are both arguments and values of --target; use only one of the two")
	}
	if len(args) > 0 {
		s.Targets, flag = args, ""
	}
	if len(s.Targets) == 0 {
		return nil
	}
	e.Targets = nil
	for i, text := range s.Targets {
		t, err := ReadTarget(ctx, text)
		if err != nil {
			return err
		}
		e.Targets = append(e.Targets, t)
		e.FromFlag(fmt.Sprintf("targets[%d]", i), flag+text)
	}
	return compatible.Read(s.catalog.Driver, e, ".")
}

// AdoptFlag adds --adopt.
func (s *Flags) AdoptFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.flags.Adopt, adoptFlagName, false, "query a dataset that TSBS loaded: compare it with the dataset of the flags; load and drop nothing")
	s.means(adoptFlagName, "adopt")
}

const adoptFlagName = "adopt"

// AdoptFlags adds --adopt, with the flags that say which dataset it is, to a command that
// else takes that from the mark.
func (s *Flags) AdoptFlags(cmd *cobra.Command) {
	s.AdoptFlag(cmd)
	s.DatasetFlags(cmd)
}

// CheckDataset returns an error where flags say which dataset it is, and the mark does.
func (s *Flags) CheckDataset(cmd *cobra.Command, e *experiment.Experiment) error {
	for _, flag := range s.dataset {
		if !e.Adopt && cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: the mark in the database says which dataset tsmark loaded; remove the flag, or add --%s to query a dataset that TSBS loaded", flag, adoptFlagName)
		}
	}
	for _, text := range s.keys {
		if !e.Adopt && strings.HasPrefix(text, "workload.") {
			return fmt.Errorf("--%s %s: the mark in the database says which dataset tsmark loaded; leave the flag out, or add --%s to query what TSBS loaded", setFlagName, text, adoptFlagName)
		}
	}
	return nil
}

// CheckOwnRows returns an error for flags about generated rows, where a file has the rows.
func (s *Flags) CheckOwnRows(cmd *cobra.Command, file string) error {
	for _, flag := range s.dataset {
		if flag != "own" && flag != "seed" && cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: is for rows that are generated, and %s has rows of your own; remove one of the two", flag, file)
		}
	}
	return nil
}

// DatasetFlags adds the flags of the workload section.
func (s *Flags) DatasetFlags(cmd *cobra.Command) {
	before := len(s.copies)
	defer func() {
		for _, c := range s.copies[before:] {
			s.dataset = append(s.dataset, c.flag)
		}
	}()
	for _, p := range SpecFlags(s.catalog, cmd, &s.flags.Workload) {
		s.sets(p.Workload, "workload.", p, func(e *experiment.Experiment) *workload.Settings { return &e.Workload.Settings })
	}
	s.means("use-case", "workload.name")
	for _, flag := range []string{
		"seed", "scale", "initial-scale", "timestamp-start", "timestamp-end", "log-interval", "max-data-points", "max-metric-count",
		"interleaved-generation-groups", "interleaved-generation-group-id",
	} {
		s.means(flag, "workload."+flag)
	}
}

// DigestFlag adds --digest.
func (s *Flags) DigestFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.flags.Digest, "digest", false, DigestHelp)
	s.means("digest", "digest")
}

// DigestHelp describes --digest.
const DigestHelp = "compute the content digest of the rows, which is the same in any order: one more pass over them"

// TargetFlag adds --target.
func (s *Flags) TargetFlag(cmd *cobra.Command, unset string) {
	cmd.Flags().StringArrayVar(&s.Targets, "target", nil, "system to measure, a `TARGET`: [NAME=]DRIVER[@VERSION][,OPTION=VALUE]… or a connection string; may be repeated (default "+unset+")")
	flag.CompleteBy(cmd, "target", s.catalog.CompleteTarget)
}

// NameFlag adds --name.
func (s *Flags) NameFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.flags.Name, "name", s.flags.Name, "`name` of the run in lists and reports")
	s.means("name", "name")
}

// SetFlag adds --set.
func (s *Flags) SetFlag(cmd *cobra.Command) {
	SetFlag(cmd, &s.keys)
	flag.CompleteBy(cmd, setFlagName, s.completeSweep)
}

const setFlagName = "set"

// SetFlag adds --set, which gathers PATH=VALUE.
func SetFlag(cmd *cobra.Command, keys *[]string) {
	cmd.Flags().StringArrayVar(keys, setFlagName, nil, "`PATH=VALUE`: any key of an experiment that has no flag, such as load.columns=appear; repeatable")
}

// SetKeys gives an experiment the values of --set.
func SetKeys(e *experiment.Experiment, keys []string) error {
	for _, text := range keys {
		path, value, err := experiment.ParseSetting(text)
		if err != nil {
			return fmt.Errorf("--%s: %w", setFlagName, err)
		}
		if err := e.Set(path, value, experiment.Origin{Flag: "--" + setFlagName + " " + path}); err != nil {
			return err
		}
	}
	return nil
}

// SweepFlag adds --sweep.
func (s *Flags) SweepFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.sweeps, "sweep", nil, "`PATH=VALUE,…`: a run for each value, such as load.workers=1,2,4; may be repeated, for all combinations")
	flag.CompleteBy(cmd, "sweep", s.completeSweep)
}

// RampFlag adds --ramp.
func (s *Flags) RampFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.ramp, "ramp", "", "`STEPS` of more and more workers, 1..16, or of rates, 100/s..1600/s, each double the last; or mixed.row-rate=STEPS")
}

// LoadFlags adds the flags of the load section.
func (s *Flags) LoadFlags(cmd *cobra.Command) {
	f, l := cmd.Flags(), &s.flags.Load
	f.Var(flag.Count(&l.BatchSize, 1), "batch-size", "rows a write")
	f.Var(flag.Count(&l.Limit, 0), "limit", "maximum number of rows to load; 0: all")
	f.Var((*flag.Duration)(&l.ReportingPeriod), "reporting-period", "between two plain lines of progress, and between two records of the rate; shorter in short loads")
	f.StringSliceVar(&l.After, "after-load", nil, "`steps` to run after the load, timed separately, such as analyze; targets without a step of the name skip it")
	s.means("after-load", "load.after")
	flag.CompleteBy(cmd, "after-load", s.catalog.CompleteSteps)
	f.Var(flag.Count(&l.Repeats, 0), "load-repeats", "number of loads; queries run on the last one; 0: six for quick comparisons of targets, otherwise one")
	f.BoolVar(&l.Replace, "replace", l.Replace, "drop a dataset that tsmark loaded earlier")
	f.StringVar(&l.Retry, "retry", "", "retry a failed batch up to `N` times or for DURATION, after a cut connection or a restart of the server: 5, 60s or 5,60s")
	s.means("retry", "load.retry")
	ForceFlag(cmd)
	s.means("batch-size", "load.batch-size")
	s.means("load-repeats", "load.repeats")
	s.means("limit", "load.limit")
	s.means("reporting-period", "load.reporting-period")
	s.means("replace", "load.replace")
}

// MixedFlags adds flags of the mixed section.
func (s *Flags) MixedFlags(cmd *cobra.Command) {
	f, m := cmd.Flags(), &s.flags.Mixed
	f.Var(flag.Count(&m.Loaded, 0), "mixed", "`percent` of the rows that are loaded first; the rest is written while queries run, 1 to 99; 0: everything is loaded first")
	f.StringVar((*string)(&m.Writes), "mixed-writes", "", "batches in a hundred operations of the mixed part, as in `80`, or batches to one query, as in 4:1; default: each side at its own rate")
	s.means("mixed", "mixed.loaded")
	s.means("mixed-writes", "mixed.writes")
}

// CrashFlag adds --crash.
func (s *Flags) CrashFlag(cmd *cobra.Command) {
	cmd.Flags().Var(flag.Count(&s.flags.Crash.Count, 0), "crash", "crash each target `N` times while rows are written after its load, by kill, pause and power failure in turn, and count the acknowledged rows that it loses; no queries are measured")
	s.means("crash", "crash.count")
}

// MaterializeFlags adds flags of the materialize section.
func (s *Flags) MaterializeFlags(cmd *cobra.Command) {
	f, m := cmd.Flags(), &s.flags.Materialize
	f.Var((*flag.Duration)(&m.Bucket), "materialize", "also keep a continuous aggregate with buckets of this width, such as 1h, and run from it, too, the query types that it can answer; 0: none")
	s.means("materialize", "materialize.bucket")
}

// TimeoutFlags adds the flags for the time limits of everything except measuring.
func (s *Flags) TimeoutFlags(cmd *cobra.Command) {
	f, t, l := cmd.Flags(), &s.flags.Timeouts, limit.Default()
	t.Statement, t.Step = l.Statement, l.Step
	f.Var((*flag.Duration)(&t.Statement), limit.StatementFlag, "time limit of tsmark's own statements whose cost does not grow with the data, such as connecting, reading the mark or waiting for a lock; 0: the default")
	f.Var((*flag.Duration)(&t.Step), limit.StepFlag, "time limit of statements whose cost grows with the data: dropping and creating tables, settling, counting, steps after the load; 0: the default")
	s.means(limit.StatementFlag, "timeouts.statement")
	s.means(limit.StepFlag, "timeouts.step")
}

// WorkersFlag adds --workers, which sets the settings at paths.
func (s *Flags) WorkersFlag(cmd *cobra.Command, help string, paths ...string) {
	cmd.Flags().Var(flag.CountBoth(&s.flags.Load.Workers, &s.flags.Queries.Workers, 1), "workers", help)
	s.means("workers", paths...)
}

// QuerySeedFlag is the name of the flag for the seed of the queries.
const QuerySeedFlag = "query-seed"

// OwnQueriesHelp describes --own-queries.
const OwnQueriesHelp = "`file` of query types of your own, beside the workload's: docs/own-queries.md; may be repeated"

// WindowsHelp describes --windows.
const WindowsHelp = "recent: windows end close to the dataset's end; sliding: each overlaps the one before by 98 %, or sliding:5s: is 5s behind it; uniform, the default: as TSBS draws them"

// QueryFlags adds the flags that say which answers are checked.
func (s *Flags) QueryFlags(cmd *cobra.Command) {
	f, q := cmd.Flags(), &s.flags.Queries
	f.StringSliceVar(&q.Types, "query-type", q.Types, "query `types`, separated by commas; core: one of each kind; all; compliance; core,-TYPE leaves one out")
	f.StringArrayVar(&s.own, OwnQueriesFlag, nil, OwnQueriesHelp)
	f.Var(flag.Count(&q.Verify, 1), "verify", "answers of each type and target that are compared with the expected ones, a random sample")
	f.Var(flag.Count(&q.Seed, math.MinInt64), QuerySeedFlag, "seed of the queries; the dataset's seed draws TSBS's own; 0: a random seed for each run, so that the queries are new to the server")
	s.means(QuerySeedFlag, "queries.seed")
	f.StringVar(&q.Texts, "query-texts", "", "equal: all targets run the same queries, each in its own language; tsbs: each runs the text that TSBS's generator writes for its system, unverified; default: equal")
	s.means("query-texts", "queries.query-texts")
	for _, p := range QuerySettingFlags(s.catalog, cmd, &q.Settings) {
		s.sets(p.Workload+"-queries", "queries.", p, func(e *experiment.Experiment) *workload.Settings { return &e.Queries.Settings })
	}
	f.StringVar((*string)(&q.Windows), "windows", "", WindowsHelp)
	s.means("windows", "queries.windows")
	s.means("query-type", "queries.types")
	s.means("verify", "queries.verify")
	flag.CompleteBy(cmd, "query-type", s.catalog.CompleteQueryTypes)
}

// QuietFlag adds the flag that requires a host on which little else runs.
func (s *Flags) QuietFlag(cmd *cobra.Command) {
	const flag = "require-quiet"
	cmd.Flags().StringVar(&s.flags.RequireQuiet, flag, "",
		"refuse a host on which other processes use more than this `share` of the CPU, and repeat disturbed measurements")
	cmd.Flags().Lookup(flag).NoOptDefVal = fmt.Sprintf("%.0f%%", 100*result.QuietShare)
	s.means(flag, flag)
}

// TimedFlags adds the flags that say how queries are measured.
func (s *Flags) TimedFlags(cmd *cobra.Command) {
	f, q := cmd.Flags(), &s.flags.Queries
	f.Var(flag.Count(&q.Count, 1), "queries", "different queries of each type, which all rounds share")
	f.Var(flag.Count(&q.Repeats, 0), "repeats", "rounds in which all types run, in place of --time; 0: as many as --time allows, or without it six, but one for a single target with another limit than --queries or --time-box, or with both")
	f.StringVar(&q.Rate, "rate", "", "`schedule` of query arrivals, independent of the answers: 1000/s, poisson:1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s")
	f.StringVar(&q.FindMaxRate, "find-max-rate", "", "find the highest rate that keeps an `objective` such as 'p99<10ms'; a try takes the time box")
	f.StringVar((*string)(&q.WarmUp), "warm-up", "", "what runs of each query type before every round and is not recorded: the first `100` of its queries, or 5s of further ones")
	f.StringVar(&q.Cache, "cache", "", "cold: one query per type and repeat, after dropping the target's files from the page cache")
	s.means("warm-up", "queries.warm-up")
	s.means("cache", "queries.cache")
	f.Var((*flag.Duration)(&q.Time), "time", "budget: time for all rounds of queries together (loads use up to half of it), given to the types whose median is not yet known within ±10 %; 1m, or 5m with servers, unless other limits are set")
	f.Var((*flag.Duration)(&q.TimeBox), "time-box", "time for the queries of one type, all rounds together, in place of --time; 0: no limit; 1.2s with --queries or --repeats alone")
	f.Lookup("time").DefValue, f.Lookup("time-box").DefValue = "", "" // they depend on each other
	f.StringVar(&q.Until, "until", "", "stop a query type when the confidence interval of its median is within this `share` of it, such as 2%; --queries and --time-box still limit it")
	s.means("until", "queries.until")
	f.Var((*flag.Duration)(&q.Timeout), "timeout", "time limit of a query; 0: no limit")
	s.means("queries", "queries.count")
	s.means("repeats", "queries.repeats")
	s.means("rate", "queries.rate")
	s.means("find-max-rate", "queries.find-max-rate")
	s.means("time", "queries.time")
	s.means("time-box", "queries.time-box")
	s.means("timeout", "queries.timeout")
}

// completeSweep offers the paths of an experiment that --sweep takes, with those of the
// targets that are given.
func (s *Flags) completeSweep(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(word, "=") {
		return nil, flag.NoFiles
	}
	e := experiment.Default() // errors in the command line are reported when it runs
	if len(args) > 0 {
		if read, err := s.catalog.ReadExperiment(args[0]); err == nil {
			e = read
		}
	}
	for i, text := range s.Targets {
		if i == 0 {
			e.Targets = nil
		}
		if t, err := experiment.ParseTarget(text); err == nil {
			e.Targets = append(e.Targets, t)
		}
	}
	var list []cobra.Completion
	for _, path := range experiment.Paths() {
		list = append(list, path+"=")
	}
	for _, w := range s.catalog.Workloads {
		for section, options := range map[string][]option.Option{"workload.": w.Settings(), "queries.": w.QuerySettings()} {
			for _, o := range options {
				list = append(list, cobra.CompletionWithDesc(section+w.Name()+"."+o.Name+"=", o.Help))
			}
		}
	}
	for _, t := range e.Targets {
		if d, err := s.catalog.Driver(t.Driver); err == nil {
			for _, o := range d.Options {
				list = append(list, cobra.CompletionWithDesc("targets."+t.Name+"."+o.Name+"=", o.Help))
			}
		}
	}
	return list, flag.NoSpace
}

// OwnQueriesFlag is the flag that names files of own queries.
const OwnQueriesFlag = "own-queries"

// AddOwnQueries adds the queries of files that were given as flags to an experiment.
func AddOwnQueries(e *experiment.Experiment, files []string) error {
	for _, name := range files {
		if err := e.AddOwn(name); err != nil {
			return fmt.Errorf("--%s: %w", OwnQueriesFlag, err)
		}
	}
	return nil
}
