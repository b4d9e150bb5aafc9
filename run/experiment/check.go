package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/rate"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Check returns the problems with values that are impossible for every workload and target, each a
// *Problem on its own line, joined as by errors.Join. It does not know the existing workloads,
// drivers, options and query types.
func (e *Experiment) Check() error {
	c := checker{experiment: e}
	c.fileName("name", e.Name)
	if e.Workload.Name == "" {
		c.add("workload.name", "is empty; name a workload, such as cpu-only")
	}
	for i, format := range e.InputFormats {
		if _, err := encode.Loader(format); err != nil {
			c.add(fmt.Sprintf("input-formats[%d]", i), "%s", err)
		}
	}
	c.monitorInterval(e)
	c.targets(e.Targets)
	c.twins(e.Targets)
	for i, t := range e.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		c.server(path, &t, e.Queries.Cache, e.Load.Replace, e.Crash.Enabled())
		c.checkRange(path+".workers", t.Workers, 0, MaxWorkers)
		c.checkRange(path+".batch-size", t.BatchSize, 0, MaxBatchSize)
	}

	if e.RequireQuiet != "" {
		if _, err := ParseQuiet(e.RequireQuiet); err != nil {
			c.add("require-quiet", "%s", err)
		}
	}
	c.memory(e)
	c.expect(&e.Expect)

	l := &e.Load
	c.checkRange("load.workers", l.Workers, 1, MaxWorkers)
	c.checkRange("load.batch-size", l.BatchSize, 1, MaxBatchSize)
	c.checkRange("load.repeats", l.Repeats, 0, MaxRepeats)
	if l.Limit < 0 {
		c.add("load.limit", "must be 0 (all rows) or more, not %d", l.Limit)
	}
	if l.SkipBadLines < 0 {
		c.add("load.skip-bad-lines", "must be 0 or more, not %d", l.SkipBadLines)
	}
	if l.SkipBadLines > 0 && l.File == "" {
		c.add("load.skip-bad-lines", "is for the lines of a file; name one in load.file, or leave it out")
	}
	if l.File == "-" && len(e.Targets) > 1 {
		c.add("load.file", "standard input can be read only once; name a file, or one target")
	}
	if l.File == "-" && l.Repeats > 1 {
		c.add("load.repeats", "standard input can be read only once; name a file, or load once")
	}
	c.columns(e)
	c.duration("load.reporting-period", l.ReportingPeriod)
	if _, err := retry.Parse(l.Retry); err != nil {
		c.add("load.retry", "%s", err)
	}

	q := &e.Queries
	c.types(q)
	c.checkRange("queries.count", q.Count, 1, MaxQueries)
	c.checkRange("queries.workers", q.Workers, 1, MaxWorkers)
	warmUp, err := ParseWarmUp(q.WarmUp)
	if err != nil {
		c.add("queries.warm-up", "%s", err)
	}
	if share := q.Count / max(e.QueryRepeats(), 1); warmUp.Queries > 0 && warmUp.Queries >= max(share, 1) {
		c.add("queries.warm-up", "leaves nothing to record: must be less than the %d queries of each type that a repeat runs", max(share, 1))
	}
	c.checkRange("queries.repeats", q.Repeats, 0, MaxRepeats)
	c.duration("queries.time-box", q.TimeBox)
	c.budget(e)
	c.duration("queries.timeout", q.Timeout)
	if q.Until != "" {
		if _, err := ParseShare(q.Until); err != nil {
			c.add("queries.until", "%s", err)
		}
		if q.Open() || q.Cache != "" {
			c.add("queries.until", "is for queries that follow each other: leave it out, or rate, find-max-rate and cache")
		}
	}
	switch {
	case q.Cache != "" && q.Cache != CacheCold:
		c.add("queries.cache", "%q is not a cache state; write %s, or omit it", q.Cache, CacheCold)
	case q.Cache == CacheCold && (warmUp != (WarmUp{}) || q.Open()):
		c.add("queries.cache", "cold runs one query after each dropping of the cache; leave out warm-up, rate and find-max-rate")
	}
	c.open(e)
	if err := q.Windows.Check(); err != nil {
		c.add("queries.windows", "%s", err)
	}
	c.texts(e)
	c.checkDeclared(q)
	c.atLeast("queries.verify", q.Verify, 1) // every figure needs a checked answer
	c.checkMixed(e)
	c.life(e)
	c.crash(e)
	c.materialize(e)
	c.adopt(e)
	c.duration("timeouts.statement", e.Timeouts.Statement)
	c.duration("timeouts.step", e.Timeouts.Step)
	return errors.Join(c.problems...)
}

// ParseShare reads a percentage from 0.1% to 50%, such as 2%, as a share: 0.02.
func ParseShare(text string) (float64, error) { return parseShare(text, "the median", "2%") }

// ParseQuiet reads the share of the CPU that other programs may use.
func ParseQuiet(text string) (float64, error) { return parseShare(text, "the CPU", "10%") }

// MemoryPath is the path of Experiment.ServerMemory in a sweep.
const MemoryPath = "server-memory"

// MonitorPath is the path of Experiment.MonitorInterval.
const MonitorPath = "monitor-interval"

// AllMemory is the value of Experiment.ServerMemory without a limit, for a sweep that also has
// limited points.
const AllMemory = "all"

// LimitsNothing reports whether a parameter of a sweep is AllMemory. On a host that cannot limit
// memory, points omit this parameter.
func LimitsNothing(p result.Parameter) bool { return p.Path == MemoryPath && p.Value == AllMemory }

// leastMemory is the minimum for ParseMemory: no server runs with less.
const leastMemory = 16 << 20

// ParseMemory reads an amount of memory, such as 512MB or 1GiB, in bytes: 16 MiB or more, or 0
// for AllMemory.
func ParseMemory(text string) (int64, error) {
	if text == AllMemory {
		return 0, nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n < leastMemory || n > math.MaxInt64 {
		return 0, fmt.Errorf("must be an amount of memory from 16MiB on, such as 1GiB, or %s, not %q", AllMemory, text)
	}
	return int64(n), nil
}

// monitorInterval checks the time between readings of resources.
func (c *checker) monitorInterval(e *Experiment) {
	if d := e.MonitorInterval; d != 0 && (d < leastMonitorInterval || d > greatestMonitorInterval) {
		c.add(MonitorPath, "must be from %v to %v, not %v", leastMonitorInterval, greatestMonitorInterval, d)
	}
}

// memory checks the memory limit of servers.
func (c *checker) memory(e *Experiment) {
	if e.ServerMemory == "" {
		return
	}
	n, err := ParseMemory(e.ServerMemory)
	if err != nil {
		c.add(MemoryPath, "%s", err)
	}
	if n > 0 && !slices.ContainsFunc(e.Targets, func(t Target) bool { return t.Starts() }) {
		c.add(MemoryPath, "is for servers that tsmark starts; add start to a target, or leave it out")
	}
}

func parseShare(text, of, example string) (float64, error) {
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(percent >= 0.1 && percent <= 50) {
		return 0, fmt.Errorf("must be a share of %s from 0.1%% to 50%%, such as %s, not %q", of, example, text)
	}
	return percent / 100, nil
}

// columns checks the settings for columns that are added during the load.
func (c *checker) columns(e *Experiment) {
	const path = "load.columns"
	switch l := &e.Load; {
	case l.Columns == "":
	case l.Columns != ColumnsAppear:
		c.add(path, "must be %s or left out, not %q", ColumnsAppear, l.Columns)
	case e.Workload.NewTags == 0 && e.Workload.NewFields == 0:
		c.add(path, "no column of the dataset appears on the way; give workload.new-tags or new-fields, or leave it out")
	case l.File != "":
		c.add(path, "is for rows that are generated, not for those of a file; leave out load.file or load.columns")
	case l.Limit > 0:
		c.add(path, "loads all steps whole; leave out load.limit or load.columns")
	case e.Mixed.Enabled():
		c.add(path, "cannot stand beside a mixed part; leave out load.columns or the section mixed")
	case e.Materialize.Enabled():
		c.add(path, "cannot stand beside an aggregate; leave out load.columns or the section materialize")
	}
}

// open checks the settings of an open loop.
func (c *checker) open(e *Experiment) {
	q := &e.Queries
	if q.Rate != "" {
		if _, err := pace.Parse(q.Rate); err != nil {
			c.add("queries.rate", "%s", err)
		}
	}
	if q.FindMaxRate != "" {
		c.objective(e)
	}
	if q.Rate != "" && q.FindMaxRate != "" {
		c.add("queries.find-max-rate", "looks for a rate, and queries.rate gives one; leave one of them out")
	}
	if q.Queue != 0 && !q.Open() {
		c.add("queries.queue", "is for queries that come at a rate of their own; give queries.rate or queries.find-max-rate, or leave it out")
	}
	c.checkRange("queries.queue", q.Queue, 0, MaxQueries)
}

// objective checks the objective of a search. Without a time box each try runs the queries of its
// repeat once, so there must be enough of them for the percentile.
func (c *checker) objective(e *Experiment) {
	q := &e.Queries
	keep, err := rate.Parse(q.FindMaxRate)
	if err != nil {
		c.add("queries.find-max-rate", "%s", err)
		return
	}
	warmUp, _ := ParseWarmUp(q.WarmUp) // Check judges it
	runs := q.Count/max(e.QueryRepeats(), 1) - warmUp.Queries
	if q.TimeBox == 0 && int64(runs) < keep.MinimumCount() {
		c.add("queries.find-max-rate", "%s needs at least %d answers, and a try would run %d queries: raise queries.count, or set queries.time-box", keep.Statistic, keep.MinimumCount(), max(runs, 0))
	}
}

// texts checks the settings for query texts. TSBS's texts have windows of their own and cannot run
// while rows are written.
func (c *checker) texts(e *Experiment) {
	const path = "queries.query-texts"
	q := &e.Queries
	switch {
	case q.Texts != "" && q.Texts != TextsEqual && q.Texts != TextsTSBS:
		c.add(path, "must be %s (the default: all targets run the same queries) or %s (TSBS's own texts), not %q", TextsEqual, TextsTSBS, q.Texts)
	case !q.Verbatim():
	case q.Windows != "" && q.Windows != workload.Uniform:
		c.add(path, "%s has the windows that TSBS draws; leave out queries.windows, or write %s", TextsTSBS, TextsEqual)
	case q.AlignWindows:
		c.add(path, "%s has the windows that TSBS draws; leave out queries.align-windows, or write %s", TextsTSBS, TextsEqual)
	case e.Materialize.Enabled():
		c.add(path, "%s's are about rows and not about aggregates; leave out the section materialize, or write %s", TextsTSBS, TextsEqual)
	case e.Mixed.Enabled():
		c.add(path, "beside writes answers must be verified, which %s's cannot; leave out the section mixed, or write %s", TextsTSBS, TextsEqual)
	}
}

// Bounds that keep a typing error from exhausting memory: a batch per worker and all generated
// queries are in memory at once.
const (
	MaxWorkers   = 10_000
	MaxBatchSize = 1_000_000 // rows
	MaxQueries   = 1_000_000 // of a type
	MaxRepeats   = 1000
)

// WarmUp is the work before a query type is measured: its first queries, or a duration.
type WarmUp struct {
	Queries int
	Time    time.Duration
}

// ParseWarmUp reads a number of queries, such as 100, or a duration, such as 5s.
func ParseWarmUp(amount Amount) (w WarmUp, err error) {
	text := string(amount)
	if text == "" {
		return w, nil
	}
	if w.Queries, err = strconv.Atoi(text); err != nil {
		w.Time, err = time.ParseDuration(text)
	}
	if err != nil || w.Queries < 0 || w.Time < 0 {
		return WarmUp{}, fmt.Errorf("must be a number of queries, such as 100, or a time, such as 5s, not %q", text)
	}
	return w, nil
}

// checker collects problems.
type checker struct {
	experiment *Experiment
	problems   []error
}

func (c *checker) add(path, format string, args ...any) {
	c.problems = append(c.problems, c.experiment.Problem(path, format, args...))
}

func (c *checker) atLeast(path string, n, least int) {
	if n < least {
		c.add(path, "must be %d or more, not %d", least, n)
	}
}

func (c *checker) checkRange(path string, n, least, most int) {
	c.atLeast(path, n, least)
	if n > most {
		c.add(path, "must be %d or less, not %d", most, n)
	}
}

func (c *checker) duration(path string, d time.Duration) {
	if d < 0 {
		c.add(path, "must be 0 or more, not %s", DurationText(d))
	}
}

// maxName is the maximum length of file names.
const maxName = 64

// fileName adds a problem unless the name is a valid file name on every system.
func (c *checker) fileName(path, name string) {
	switch {
	case name == "":
		c.add(path, "is empty")
	case len(name) > maxName:
		c.add(path, "is longer than %d characters", maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !isFileRune(r) }) || strings.IndexAny(name, ".-@") == 0:
		c.add(path, "%q cannot be a file name: use letters, digits, and . _ - @ inside", name)
	}
}

// isFileRune reports whether a name of a target or run can contain a character.
func isFileRune(r rune) bool { return isNameRune(r) || r == '@' }

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

func (c *checker) targets(targets []Target) {
	if len(targets) == 0 {
		c.add("targets", "names no target; add one, such as driver: duckdb")
	}
	for i, t := range targets {
		path := fmt.Sprintf("targets[%d]", i)
		if t.Driver == "" {
			c.add(path+".driver", "is missing; name a database system, such as duckdb")
			continue
		}
		c.fileName(path+".name", t.Name)
		// Names that differ only in case are the same file on some systems.
		same := func(other Target) bool { return strings.EqualFold(other.Name, t.Name) }
		if first := slices.IndexFunc(targets[:i], same); first >= 0 {
			c.add(path+".name", "%q is the name of targets[%d] already; give each target its own, as in --target NAME=%s", t.Name, first, t.Driver)
		}
	}
}

// server checks how a target's server is started.
func (c *checker) server(path string, t *Target, cache string, replace, crashes bool) {
	c.serverSettings(path, t)
	switch {
	case t.Restart != "" && cache != CacheCold && !crashes:
		c.add(path+".restart", "is for crashes, and for queries of a cold cache; add queries.cache: %s, or leave it out", CacheCold)
	case t.Restart != "" && t.Start != "":
		c.add(path+".restart", "is not needed where start says how to start the server; leave it out")
	}
	if t.Start != "" && !strings.Contains(t.Start, StartPort) {
		c.add(path+".start", "must hold %s, where the server's port goes", StartPort)
	}
	switch t.Idle {
	case "", IdlePause, IdleStop, IdleRun:
		if t.Idle != "" && !t.Starts() {
			c.add(path+".idle", "is for servers that tsmark starts; add start, or leave it out")
		}
	default:
		c.add(path+".idle", "must be %s, %s or %s, not %q", IdlePause, IdleStop, IdleRun, t.Idle)
	}
	switch t.StartFor {
	case "", ForRun, ForSweep:
		if t.StartFor != "" && !t.Starts() {
			c.add(path+".start-for", "is for servers that tsmark starts; add start, or leave it out")
		}
		if t.StartFor == ForSweep && !replace {
			c.add(path+".start-for", "%s: each run loads into the server of the run before; add load.replace: true, or leave it out", ForSweep)
		}
	default:
		c.add(path+".start-for", "must be %s or %s, not %q", ForRun, ForSweep, t.StartFor)
	}
}

func (c *checker) types(q *Queries) {
	const path = "queries.types"
	for i, name := range q.Types {
		item := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case name == "":
			c.add(item, "is empty")
		case slices.Contains(q.Types[:i], name):
			c.add(item, "%q is there twice", name)
		case i > 0 && slices.Contains(TypeWords(), name):
			c.add(item, "%s cannot stand beside other types; behind it, %sTYPE leaves one out", name, Without)
		case i > 0 && q.chosenByWord() && !strings.HasPrefix(name, Without):
			c.add(item, "%s cannot stand beside other types; behind it, %sTYPE leaves one out", q.Types[0], Without)
		case strings.HasPrefix(name, Without) && !q.chosenByWord():
			c.add(item, "%q leaves a type out of %s or %s, which must come first", name, AllTypes, CoreTypes)
		}
	}
}
