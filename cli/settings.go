package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// settings are the flags of the commands that run an experiment. Flags write
// into an experiment of their own, from which apply copies the ones that the user set.
type settings struct {
	catalog catalog
	flags   *experiment.Experiment
	targets []string
	sweeps  []string
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

func newSettings(c catalog) *settings {
	return &settings{catalog: c, flags: experiment.Default()}
}

// means names the parts of an experiment that a flag sets.
func (s *settings) means(flag string, paths ...string) {
	s.copies = append(s.copies, setting{flag, func(to *experiment.Experiment) {
		for _, path := range paths {
			to.Take(path, s.flags)
			to.FromFlag(path, "--"+flag)
		}
	}})
}

// sets says which settings of an experiment, below a path, a flag sets.
func (s *settings) sets(flag, path string, given *pairs, of func(*experiment.Experiment) *workload.Settings) {
	s.copies = append(s.copies, setting{flag, func(to *experiment.Experiment) {
		for _, key := range given.keys {
			of(to).Set(key, (*given.settings)[key])
			_, name, _ := strings.Cut(key, ".")
			to.FromFlag(path+key, "--"+flag+" "+name)
		}
	}})
}

// apply copies the user's settings into e: flags, and targets that are arguments.
func (s *settings) apply(cmd *cobra.Command, e *experiment.Experiment, args []string) error {
	for _, c := range s.copies {
		if cmd.Flags().Changed(c.flag) {
			c.copy(e)
		}
	}
	if cmd.Flags().Changed("query-type") && len(e.Queries.Types) == 0 {
		return fmt.Errorf("--query-type: is empty; name query types, or %s or %s", experiment.CoreTypes, experiment.AllTypes)
	}
	if err := addOwn(e, s.own); err != nil {
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
	if err := s.applyTargets(e, args); err != nil {
		return err
	}
	return setKeys(e, s.keys)
}

// applyTargets puts the targets that the user gave into e.
func (s *settings) applyTargets(e *experiment.Experiment, args []string) error {
	flag := "--target "
	if len(args) > 0 && len(s.targets) > 0 {
		return fmt.Errorf("targets are both arguments and values of --target; use only one of the two")
	}
	if len(args) > 0 {
		s.targets, flag = args, ""
	}
	if len(s.targets) == 0 {
		return nil
	}
	e.Targets = nil
	for i, text := range s.targets {
		t, err := experiment.ParseTarget(text)
		if err != nil {
			return err
		}
		e.Targets = append(e.Targets, t)
		e.FromFlag(fmt.Sprintf("targets[%d]", i), flag+text)
	}
	return nil
}

// adoptFlag adds --adopt.
func (s *settings) adoptFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.flags.Adopt, adoptFlagName, false, "query a dataset that TSBS loaded: compare it with the dataset of the flags; load and drop nothing")
	s.means(adoptFlagName, "adopt")
}

const adoptFlagName = "adopt"

// adoptFlags adds --adopt, with the flags that say which dataset it is, to a command that
// else takes that from the mark.
func (s *settings) adoptFlags(cmd *cobra.Command) {
	s.adoptFlag(cmd)
	s.datasetFlags(cmd)
}

// ownDataset returns an error where flags say which dataset it is, and the mark does.
func (s *settings) ownDataset(cmd *cobra.Command, e *experiment.Experiment) error {
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

// datasetFlags adds the flags of the workload section.
func (s *settings) datasetFlags(cmd *cobra.Command) {
	before := len(s.copies)
	defer func() {
		for _, c := range s.copies[before:] {
			s.dataset = append(s.dataset, c.flag)
		}
	}()
	for _, p := range s.catalog.specFlags(cmd, &s.flags.Workload) {
		s.sets(p.workload, "workload.", p, func(e *experiment.Experiment) *workload.Settings { return &e.Workload.Settings })
	}
	s.means("use-case", "workload.name")
	for _, flag := range []string{
		"seed", "scale", "initial-scale", "timestamp-start", "timestamp-end", "log-interval", "max-data-points", "max-metric-count",
		"interleaved-generation-groups", "interleaved-generation-group-id",
	} {
		s.means(flag, "workload."+flag)
	}
}

// digestFlag adds --digest.
func (s *settings) digestFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.flags.Digest, "digest", false, digestHelp)
	s.means("digest", "digest")
}

const digestHelp = "compute the content digest of the rows, which is the same in any order: one more pass over them"

// targetFlag adds --target.
func (s *settings) targetFlag(cmd *cobra.Command, unset string) {
	cmd.Flags().StringArrayVar(&s.targets, "target", nil, "system to measure, `[NAME=]DRIVER[,OPTION=VALUE]…`; may be repeated (default "+unset+")")
	completeBy(cmd, "target", s.catalog.completeTarget)
}

// setFlag adds --set.
func (s *settings) setFlag(cmd *cobra.Command) {
	setFlag(cmd, &s.keys)
	completeBy(cmd, setFlagName, s.completeSweep)
}

const setFlagName = "set"

// setFlag adds --set, which gathers PATH=VALUE.
func setFlag(cmd *cobra.Command, keys *[]string) {
	cmd.Flags().StringArrayVar(keys, setFlagName, nil, "`PATH=VALUE`: any key of an experiment that has no flag, such as load.columns=appear; repeatable")
}

// setKeys gives an experiment the values of --set.
func setKeys(e *experiment.Experiment, keys []string) error {
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

// sweepFlag adds --sweep.
func (s *settings) sweepFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.sweeps, "sweep", nil, "`PATH=VALUE,…`: a run for each value, such as load.workers=1,2,4; may be repeated, for all combinations")
	completeBy(cmd, "sweep", s.completeSweep)
}

// loadFlags adds the flags of the load section.
func (s *settings) loadFlags(cmd *cobra.Command) {
	f, l := cmd.Flags(), &s.flags.Load
	f.Var(count(&l.BatchSize, 1), "batch-size", "rows a write")
	f.Var(count(&l.Limit, 0), "limit", "maximum number of rows to load; 0: all")
	f.Var((*span)(&l.ReportingPeriod), "reporting-period", "between two plain lines of progress, and between two records of the rate; shorter in short loads")
	f.StringSliceVar(&l.After, "after-load", nil, "`steps` to run after the load, timed separately, such as analyze; targets without a step of the name skip it")
	s.means("after-load", "load.after")
	completeBy(cmd, "after-load", s.catalog.completeSteps)
	f.Var(count(&l.Repeats, 0), "load-repeats", "number of loads; queries run on the last one; 0: six for quick comparisons of targets, otherwise one")
	f.BoolVar(&l.Replace, "replace", l.Replace, "drop a dataset that tsmark loaded earlier")
	f.StringVar(&l.Retry, "retry", "", "retry a failed batch up to `N` times or for DURATION, after a cut connection or a restart of the server: 5, 60s or 5,60s")
	s.means("retry", "load.retry")
	forceFlag(cmd)
	s.means("batch-size", "load.batch-size")
	s.means("load-repeats", "load.repeats")
	s.means("limit", "load.limit")
	s.means("reporting-period", "load.reporting-period")
	s.means("replace", "load.replace")
}

// mixedFlags adds flags of the mixed section.
func (s *settings) mixedFlags(cmd *cobra.Command) {
	f, m := cmd.Flags(), &s.flags.Mixed
	f.Var(count(&m.Loaded, 0), "mixed", "`percent` of the rows that are loaded first; the rest is written while queries run, 1 to 99; 0: everything is loaded first")
	f.StringVar((*string)(&m.Writes), "mixed-writes", "", "batches in a hundred operations of the mixed part, as in `80`, or batches to one query, as in 4:1; default: each side at its own rate")
	s.means("mixed", "mixed.loaded")
	s.means("mixed-writes", "mixed.writes")
}

// materializeFlags adds flags of the materialize section.
func (s *settings) materializeFlags(cmd *cobra.Command) {
	f, m := cmd.Flags(), &s.flags.Materialize
	f.Var((*span)(&m.Bucket), "materialize", "also keep a continuous aggregate with buckets of this width, such as 1h, and run from it, too, the query types that it can answer; 0: none")
	s.means("materialize", "materialize.bucket")
}

// timeoutFlags adds the flags for the time limits of everything except measuring.
func (s *settings) timeoutFlags(cmd *cobra.Command) {
	f, t, l := cmd.Flags(), &s.flags.Timeouts, limit.Default()
	t.Statement, t.Step = l.Statement, l.Step
	f.Var((*span)(&t.Statement), limit.StatementFlag, "time limit of tsmark's own statements whose cost does not grow with the data, such as connecting, reading the mark or waiting for a lock; 0: the default")
	f.Var((*span)(&t.Step), limit.StepFlag, "time limit of statements whose cost grows with the data: dropping and creating tables, settling, counting, steps after the load; 0: the default")
	s.means(limit.StatementFlag, "timeouts.statement")
	s.means(limit.StepFlag, "timeouts.step")
}

// workersFlag adds --workers, which sets the settings at paths.
func (s *settings) workersFlag(cmd *cobra.Command, help string, paths ...string) {
	cmd.Flags().Var(countBoth(&s.flags.Load.Workers, &s.flags.Queries.Workers, 1), "workers", help)
	s.means("workers", paths...)
}

const querySeedFlag = "query-seed"

const ownQueriesHelp = "`file` of query types of your own, beside the workload's: docs/own-queries.md; may be repeated"

const windowsHelp = "recent: windows end close to the dataset's end; sliding: each overlaps the one before by 98 %, or sliding:5s: is 5s behind it; uniform, the default: as TSBS draws them"

// queryFlags adds the flags that say which answers are checked.
func (s *settings) queryFlags(cmd *cobra.Command) {
	f, q := cmd.Flags(), &s.flags.Queries
	f.StringSliceVar(&q.Types, "query-type", q.Types, "query `types`, separated by commas; core: one of each kind; all; core,-TYPE and all,-TYPE leave one out")
	f.StringArrayVar(&s.own, ownQueriesFlag, nil, ownQueriesHelp)
	f.Var(count(&q.Verify, 1), "verify", "answers of each type and target that are compared with the expected ones, a random sample")
	f.Var(count(&q.Seed, math.MinInt64), querySeedFlag, "seed of the queries; the dataset's seed draws TSBS's own; 0: a random seed for each run, so that the queries are new to the server")
	s.means(querySeedFlag, "queries.seed")
	f.StringVar(&q.Texts, "query-texts", "", "equal: all targets run the same queries, each in its own language; tsbs: each runs the text that TSBS's generator writes for its system, unverified; default: equal")
	s.means("query-texts", "queries.query-texts")
	for _, p := range s.catalog.querySettingFlags(cmd, &q.Settings) {
		s.sets(p.workload+"-queries", "queries.", p, func(e *experiment.Experiment) *workload.Settings { return &e.Queries.Settings })
	}
	f.StringVar((*string)(&q.Windows), "windows", "", windowsHelp)
	s.means("windows", "queries.windows")
	s.means("query-type", "queries.types")
	s.means("verify", "queries.verify")
	completeBy(cmd, "query-type", s.catalog.completeQueryTypes)
}

// quietFlag adds the flag that requires a host on which little else runs.
func (s *settings) quietFlag(cmd *cobra.Command) {
	const flag = "require-quiet"
	cmd.Flags().StringVar(&s.flags.RequireQuiet, flag, "",
		"refuse a host on which other processes use more than this `share` of the CPU, and repeat disturbed measurements")
	cmd.Flags().Lookup(flag).NoOptDefVal = fmt.Sprintf("%.0f%%", 100*result.QuietShare)
	s.means(flag, flag)
}

// timedFlags adds the flags that say how queries are measured.
func (s *settings) timedFlags(cmd *cobra.Command) {
	f, q := cmd.Flags(), &s.flags.Queries
	f.Var(count(&q.Count, 1), "queries", "different queries of each type, which all rounds share")
	f.Var(count(&q.Repeats, 0), "repeats", "rounds in which all types run; 0: six where targets are compared, else one")
	f.StringVar(&q.Rate, "rate", "", "`schedule` of query arrivals, independent of the answers: 1000/s, poisson:1000/s, ramp:100..5000/s:60s, steps:100/s:10s,200/s:10s")
	f.StringVar(&q.FindMaxRate, "find-max-rate", "", "find the highest rate that keeps an `objective` such as 'p99<10ms'; a try takes the time box")
	f.StringVar((*string)(&q.WarmUp), "warm-up", "", "what runs of each query type before every round and is not recorded: the first `100` of its queries, or 5s of further ones")
	f.StringVar(&q.Cache, "cache", "", "cold: one query per type and repeat, after dropping the target's files from the page cache")
	s.means("warm-up", "queries.warm-up")
	s.means("cache", "queries.cache")
	f.Var((*span)(&q.TimeBox), "time-box", "time for the queries of one type, all rounds together; 0: no limit")
	f.StringVar(&q.Until, "until", "", "stop a query type when the confidence interval of its median is within this `share` of it, such as 2%; --queries and --time-box still limit it")
	s.means("until", "queries.until")
	f.Var((*span)(&q.Timeout), "timeout", "time limit of a query; 0: no limit")
	s.means("queries", "queries.count")
	s.means("repeats", "queries.repeats")
	s.means("rate", "queries.rate")
	s.means("find-max-rate", "queries.find-max-rate")
	s.means("time-box", "queries.time-box")
	s.means("timeout", "queries.timeout")
}
