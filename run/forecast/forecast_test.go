package forecast

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// sweepOf returns the plans of an experiment with memory databases as targets.
func sweepOf(t *testing.T, text string) *plan.Sweep {
	t.Helper()
	e, err := experiment.Parse("experiment", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c := plan.Catalog{
		Driver: func(name string) (driver.Driver, error) { return memory.Driver(name), nil },
		Workload: func(name string) (workload.Workload, error) {
			list := tsbs.Workloads()
			i := slices.IndexFunc(list, func(w workload.Workload) bool { return w.Name() == name })
			if i < 0 {
				return nil, fmt.Errorf("no workload %s", name)
			}
			return list[i], nil
		},
	}
	steps, _ := plan.StepsOf("run")
	s, err := plan.NewSweep(e, c, steps)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clock makes runs of plans as they would be measured: loads at a rate, with a settling time, queries
// until their time box ends, and a pause after each job.
type clock struct {
	rate, settling, pause, service float64 // rows/s of ten values, seconds
}

func (c clock) run(t *testing.T, p *plan.Plan, id string) *result.Run {
	t.Helper()
	size, err := NewRates().extent(p)
	if err != nil {
		t.Fatal(err)
	}
	e := p.Experiment
	r := &result.Run{ID: id, Started: time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC), Dataset: result.Dataset{Spec: e.Workload, Rows: int64(size.rows)}}
	at := 0.0
	cell := func(took float64) result.Cell {
		from := at
		at += took
		own := result.Cell{From: from, To: at}
		at += c.pause
		return own
	}
	for i := range p.Targets {
		target := result.Target{Name: p.Targets[i].Name, Driver: p.Targets[i].Driver.Name}
		for n := range p.LoadRepeats() {
			acked := size.rows * size.values / 10 / c.rate
			target.Repeats = append(target.Repeats, result.Repeat{Number: n + 1, Load: &result.Load{
				Workers: e.Load.Workers, BatchSize: e.Load.BatchSize, Rows: int64(size.rows), Metrics: int64(size.rows * size.values), Acked: acked, Settled: acked + c.settling, Cell: cell(acked + c.settling),
				Census: []result.CensusResult{{Table: "cpu", Expected: 1, Counted: 1}},
			}})
		}
		for n := range e.QueryRepeats() {
			if n >= len(target.Repeats) {
				target.Repeats = append(target.Repeats, result.Repeat{Number: n + 1})
			}
			for _, queryType := range size.types {
				took := c.service * float64(e.Queries.Count) / float64(e.Queries.Workers)
				if box := e.TimeBoxOfRepeat(len(size.types)).Seconds(); box > 0 {
					took = min(took, box)
				}
				target.Repeats[n].Queries = append(target.Repeats[n].Queries, result.Queries{Type: queryType.Name, Workers: e.Queries.Workers, PerSecond: float64(e.Queries.Workers) / c.service, Cell: cell(took)})
			}
		}
		r.Targets = append(r.Targets, target)
	}
	r.Finished = r.Started.Add(seconds(at))
	return r
}

const base = `
name: base
workload: {name: cpu-only, seed: 1, scale: 10, timestamp-start: "2016-01-01T00:00:00Z", timestamp-end: "2016-01-02T00:00:00Z", log-interval: 10s}
load: {workers: 1, batch-size: 1000, repeats: 2}
targets: [{name: slow, driver: slow}]
`

// A prediction from a stored run lies near the time that a larger run, with other parameters, takes.
func TestPrediction(t *testing.T) {
	measured := clock{rate: 2350, settling: 30, pause: 5, service: 0.02}
	queries := `queries: {types: [lastpoint, high-cpu-1], count: 100, workers: 1, repeats: 2, time-box: 10s}`
	rates := NewRates()
	rates.Learn(measured.run(t, sweepOf(t, base+queries).Plans[0], "20261126-030000-aaaa"))
	for _, c := range []struct{ name, text string }{
		{"the same", base + queries},
		{"five times the rows", strings.Replace(base, "scale: 10", "scale: 50", 1) + queries},
		{"as many queries as there are", base + strings.Replace(queries, "time-box: 10s", "time-box: 0s", 1)},
		{"other batches", strings.Replace(base, "batch-size: 1000", "batch-size: 100", 1) + queries},
		{"eleven tables", strings.Replace(base, "cpu-only", "devops", 1) + queries},
		{"loads alone", base + "queries: {types: []}"},
	} {
		s := sweepOf(t, c.text)
		predicted := rates.Sweep(s)
		run := measured.run(t, s.Plans[0], "20261127-030000-bbbb")
		took := run.Finished.Sub(run.Started)
		if share := predicted.Time.Seconds() / took.Seconds(); share < 1/1.05 || share > 1.05 {
			t.Errorf("%s: %v is predicted, and it takes %v", c.name, predicted.Time, took)
		}
		if want := "slow 2,350 rows/s in your run of 2026-11-26"; c.name != "eleven tables" && !strings.HasPrefix(predicted.Reasons(), want) || len(predicted.Unknown) > 0 {
			t.Errorf("%s: %s; %s", c.name, predicted.String(), predicted.Reasons())
		}
	}
}

// A mixed phase takes as long as its rates say, and as one load of each target is long, it is not repeated.
func TestMixedPhases(t *testing.T) {
	measured := clock{rate: 8640, service: 0.001} // 10 s for the rows
	rates := NewRates()
	rates.Learn(measured.run(t, sweepOf(t, base+"queries: {types: [lastpoint], repeats: 1, time-box: 1s}").Plans[0], "20261126-030000-aaaa"))
	two := strings.NewReplacer(", repeats: 2", "", "targets: [", "targets: [{name: other, driver: slow}, ").Replace(base)
	for _, c := range []struct {
		name, text string
		want       time.Duration
	}{
		{"no phase", base, 20 * time.Second},
		{"default rates", base + "mixed: {loaded: 50}", 70 * time.Second},
		{"a duration", base + "mixed: {loaded: 50, duration: 10s}", 30 * time.Second},
		{"a rate of rows", base + "mixed: {loaded: 50, row-rate: 432/s}", 210 * time.Second},
		{"a rate of rows for a time", base + "mixed: {loaded: 50, row-rate: 432/s, duration: 20s}", 58 * time.Second},
		{"as fast as possible", base + "mixed: {loaded: 50, row-rate: max, query-rate: 10/s}", 20 * time.Second},
		{"long loads of two targets", two + "mixed: {loaded: 50}", 70 * time.Second},
		{"long repeats", two, 20 * time.Second},
		{"short repeats", strings.Replace(two, "scale: 10", "scale: 1", 1), 12 * time.Second},
	} {
		got := rates.Sweep(sweepOf(t, c.text+"\nqueries: {types: [lastpoint], count: 1, repeats: 1, time-box: 1ms}"))
		if rounded := got.Time.Round(time.Second); rounded != c.want {
			t.Errorf("%s: %v, want %v", c.name, rounded, c.want)
		}
	}
}

// The time that one system's checks take is not expected of others, nor of queries.
func TestPauses(t *testing.T) {
	run := &result.Run{Started: time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)}
	cell := func(from, to float64) result.Cell { return result.Cell{From: from, To: to} }
	run.Targets = []result.Target{
		{Driver: "slow", Repeats: []result.Repeat{{Load: &result.Load{Cell: cell(10, 20)}, Queries: []result.Queries{{Cell: cell(101, 102)}, {Cell: cell(103, 104)}}}}},
		{Driver: "fast", Repeats: []result.Repeat{{Load: &result.Load{Cell: cell(80, 81)}, Queries: []result.Queries{{Cell: cell(90, 100)}}}}},
	}
	unfinished := pausesOf(run)
	run.Finished = run.Started.Add(110 * time.Second)
	for driver, want := range map[string]pauses{
		"slow": {load: time.Minute, query: 500 * time.Millisecond, once: 8 * time.Second},
		"fast": {load: 9 * time.Second, query: time.Second, once: 8 * time.Second},
	} {
		if got := pausesOf(run)[driver]; got != want {
			t.Errorf("%s: %+v, want %+v", driver, got, want)
		}
		want.once = 5 * time.Second
		if unfinished[driver] != want {
			t.Errorf("%s of a run that goes on: %+v", driver, unfinished[driver])
		}
	}
}

// Rates of one's own runs replace tsmark's, the closest and the newest first; a system without a rate
// has none.
func TestRates(t *testing.T) {
	s := sweepOf(t, strings.Replace(base, "driver: slow", "driver: kairosdb", 1)+"queries: {types: []}")
	rates := NewRates()
	took := rates.Sweep(s)
	if text := took.Reasons(); !strings.HasPrefix(text, "slow ") || !strings.HasSuffix(text, " rows/s measured on two cores, by tsmark") {
		t.Errorf("%s: %s", took.String(), text)
	}
	faster := clock{rate: 5000}.run(t, s.Plans[0], "20261126-030000-aaaa")
	rates.Learn(faster)
	newer := clock{rate: 6000}.run(t, s.Plans[0], "20261127-030000-aaaa")
	newer.Started, newer.Finished = newer.Started.AddDate(0, 0, 1), newer.Finished.AddDate(0, 0, 1)
	rates.Learn(newer)
	rates.Learn(newer) // again, as after each of its loads
	otherBatch := clock{rate: 9000}.run(t, s.Plans[0], "20261128-030000-aaaa")
	otherBatch.Started, otherBatch.Targets[0].Repeats[0].Load.BatchSize, otherBatch.Targets[0].Repeats[1].Load.BatchSize = otherBatch.Started.AddDate(0, 0, 2), 7, 7
	rates.Learn(otherBatch)
	took = rates.Sweep(s)
	if want := "slow 6,000 rows/s in your run of 2026-11-27"; took.Reasons() != want {
		t.Errorf("%s: %s", took.String(), took.Reasons())
	}
	s = sweepOf(t, base+"queries: {types: [lastpoint], time-box: 0s}")
	took = NewRates().Sweep(s)
	if want := "no time is known: no rate known of loads of slow, queries of slow"; took.String()+": "+took.Reasons() != want {
		t.Errorf("%s: %s", took.String(), took.Reasons())
	}
}

// update writes the rates that the pages have today into defaults.tsv.
var update = flag.Bool("update", false, "write the rates of today's pages into defaults.tsv")

// Each default is that of a page, within half of it; the source names the page, the table and the line:
// pages are measured again more often than rates change. Those of docs/performance.md are ranges there, and
// those of a commit are of a page that has other lines today.
func TestDefaults(t *testing.T) {
	var lines []string
	for line := range strings.Lines(defaults) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(f[len(f)-1], "docs/performance.md") {
			lines = append(lines, line)
			continue
		}
		source := strings.Split(f[len(f)-1], " | ")
		if len(f) != 8 || len(source) != 3 {
			t.Fatalf("%q has %d fields, and its source %d", line, len(f), len(source))
		}
		page, err := os.ReadFile(filepath.Join("../..", source[0]))
		if err != nil {
			t.Fatal(err)
		}
		_, table, _ := strings.Cut(string(page), "\n### "+source[1]+"\n")
		head, table, _ := strings.Cut(strings.TrimSpace(table), "\n")
		_, row, found := strings.Cut(table, "\n| "+source[2]+" | ")
		column := slices.Index(strings.Split(strings.Trim(head, "| "), " | "), f[0])
		if !found || column < 1 {
			t.Errorf("%s has no line %q with %s under %s", source[0], source[2], f[0], source[1])
			continue
		}
		cell, _, _ := strings.Cut(strings.Split(row, " | ")[column-1], " ")
		rate, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
		values, _ := strconv.ParseFloat(f[5], 64)
		stored, _ := strconv.ParseFloat(f[6], 64)
		if strings.Contains(source[1], "metrics/s") {
			rate /= values
		}
		if err != nil || rate > 1.5*stored || rate < stored/1.5 {
			t.Errorf("%s: %.0f rows/s in the page, and %.0f here: go test ./run/forecast -run TestDefaults -update (%v)", line, rate, stored, err)
		}
		f[6] = strings.ReplaceAll(rows(rate), ",", "")
		lines = append(lines, strings.Join(f, "\t")+"\n")
	}
	if *update {
		if err := os.WriteFile("defaults.tsv", []byte(strings.Join(lines, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range NewRates().loads {
		if l.rows <= 0 || l.values <= 0 || l.scale <= 0 || l.workers <= 0 || l.batchSize <= 0 {
			t.Errorf("%+v", l)
		}
	}
}

// InfluxDB's default rate depends on the number of hosts.
func TestScale(t *testing.T) {
	for scale, want := range map[string]string{"scale: 2": "slow 78,500 rows/s", "scale: 3000": "slow 20,700 rows/s"} {
		s := sweepOf(t, strings.NewReplacer("driver: slow", "driver: influxdb", "cpu-only", "devops", "scale: 10", scale, "batch-size: 1000", "batch-size: 10000").Replace(base)+"queries: {types: []}")
		if took := NewRates().Sweep(s); !strings.HasPrefix(took.Reasons(), want) {
			t.Errorf("%s: %s, want %s", scale, took.Reasons(), want)
		}
	}
}

// The data of embedded databases, and of servers that tsmark starts, is on this machine; servers that
// runs share have the data of one.
func TestDisk(t *testing.T) {
	s := sweepOf(t, base+"queries: {types: []}\nmatrix: {workload.scale: [10, 30]}\n")
	for _, c := range []struct {
		embedded     bool
		start        string
		startFor     string
		largest, all float64 // hosts
	}{
		{largest: 0, all: 0},
		{embedded: true, largest: 30, all: 40},
		{start: "server", largest: 30, all: 40},
		{start: "server", startFor: experiment.ForSweep, largest: 30, all: 30},
	} {
		for _, p := range s.Plans {
			target := &p.Targets[0]
			target.Caps.Embedded, target.Start, target.StartFor = c.embedded, c.start, c.startFor
		}
		largest, all := NewRates().Disk(s)
		const perHost = 8640 * 11 * 8 // a day, ten values and a time
		if largest != c.largest*perHost || all != c.all*perHost {
			t.Errorf("%+v: %v and %v hosts", c, largest/perHost, all/perHost)
		}
	}
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		200 * time.Millisecond: "1 s", 95 * time.Second: "95 s", 7*time.Minute + 10*time.Second: "7 min", 2*time.Hour + 32*time.Minute: "2 h 30 min", 3 * time.Hour: "3 h", 263 * time.Hour: "11 days",
	} {
		if got := round(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// A budget of queries is the most that they take, whatever they took before.
func TestBudget(t *testing.T) {
	rates := NewRates()
	for _, c := range []struct{ name, driver, want string }{
		{"a known rate of loads", "griddb", "by tsmark, a budget of 5m, or until medians are within ±10 %"},
		{"none", "unknown", "at most 5 min for the known work; a budget of 5m, or until medians are within ±10 %; no rate known of loads of slow"},
	} {
		took := rates.Sweep(sweepOf(t, strings.Replace(base, "driver: slow", "driver: "+c.driver, 1)+"queries: {types: [lastpoint], time: 5m}"))
		if got := took.String() + "; " + took.Reasons(); !strings.HasSuffix(got, c.want) || !strings.HasPrefix(got, "at most 5 min") || !took.AtMost || took.Time != 5*time.Minute {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
