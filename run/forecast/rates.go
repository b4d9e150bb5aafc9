package forecast

import (
	"cmp"
	"context"
	_ "embed" // the table of defaults
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/store"
)

// Rates are measured rates of loads and queries. Use NewRates.
type Rates struct {
	loads   []loadRate
	queries []queryRate
	learned map[string]bool // IDs of runs
	extents map[*plan.Plan]dataset
}

// loadRate is a measured load of a driver.
type loadRate struct {
	driver, workload   string
	scale              float64 // hosts, trucks or devices
	workers, batchSize int
	rows, values       float64       // values in a row
	written            time.Duration // until the last acknowledgement
	settling           time.Duration // after it
	pause              pauses
	source             string    // in words, after the rate
	from               time.Time // zero: a default
}

// pauses are the times of a run in which none of its jobs, loads and query types, is measured. Zero is
// unknown.
type pauses struct {
	load  time.Duration // after a load: counting its rows, opening the next target
	query time.Duration // after a query type
	once  time.Duration // a target's share of starting servers and of comparing answers
}

// queryRate is a measured query type of a driver.
type queryRate struct {
	driver, workload, name string
	rows                   float64
	mean                   time.Duration // 0: the system cannot run the type
	from                   time.Time
}

//go:embed defaults.tsv
var defaults string

// NewRates returns tsmark's own measurements, which runs that are learned replace.
func NewRates() *Rates {
	r := &Rates{learned: make(map[string]bool), extents: make(map[*plan.Plan]dataset)}
	for line := range strings.Lines(defaults) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t") // a test reads all
		number := func(i int) float64 { n, _ := strconv.ParseFloat(f[i], 64); return n }
		r.loads = append(r.loads, loadRate{
			driver: f[0], workload: f[1], scale: number(2), workers: int(number(3)), batchSize: int(number(4)), values: number(5), rows: number(6), written: time.Second,
			source: "measured on two cores, by tsmark",
		})
	}
	return r
}

// newest is the number of runs of each driver whose rates are read.
const newest = 20

// Read learns the newest runs of drivers in a store.
func (r *Rates) Read(ctx context.Context, kept *store.Store, drivers []string) error {
	list, err := kept.Runs(ctx)
	if err != nil {
		return err
	}
	seen := make(map[string]int)
	for _, summary := range list {
		wanted := false
		for _, t := range summary.Targets {
			if slices.Contains(drivers, t.Driver) && seen[t.Driver] < newest && summary.Status == result.Complete {
				seen[t.Driver]++
				wanted = true
			}
		}
		if !wanted || r.learned[summary.ID] {
			continue
		}
		run, err := kept.Run(ctx, summary.ID)
		if err != nil {
			return err
		}
		r.Learn(run)
	}
	return nil
}

// Learn adds the rates of a run. A run that goes on can be learned again.
func (r *Rates) Learn(run *result.Run) {
	if r.learned[run.ID] {
		r.loads = slices.DeleteFunc(r.loads, func(l loadRate) bool { return l.from.Equal(run.Started) })
		r.queries = slices.DeleteFunc(r.queries, func(q queryRate) bool { return q.from.Equal(run.Started) })
	}
	r.learned[run.ID] = true
	pause := pausesOf(run)
	source := fmt.Sprintf("in your run of %s", run.Started.Format(time.DateOnly))
	for i := range run.Targets {
		t := &run.Targets[i]
		for _, repeat := range t.MeasuredRepeats() {
			if l := repeat.Load; l != nil && l.Rows > 0 && l.Settled > 0 && l.UnsupportedReason() == "" {
				written := l.Acked
				if written == 0 || written > l.Settled {
					written = l.Settled
				}
				r.loads = append(r.loads, loadRate{
					driver: t.Driver, workload: run.Dataset.Spec.Name, scale: float64(run.Dataset.Spec.Scale), workers: l.Workers, batchSize: l.BatchSize, rows: float64(l.Rows), values: float64(l.Metrics) / float64(l.Rows),
					written: seconds(written), settling: seconds(l.Settled - written), pause: pause[t.Driver], source: source, from: run.Started,
				})
			}
			for j := range repeat.Queries {
				q := &repeat.Queries[j]
				one := queryRate{driver: t.Driver, workload: run.Dataset.Spec.Name, name: q.Type, rows: float64(run.Dataset.Rows), from: run.Started}
				if q.Unsupported == "" {
					if q.PerSecond <= 0 {
						continue
					}
					one.mean = seconds(float64(max(q.Workers, 1)) / q.PerSecond)
				}
				r.queries = append(r.queries, one)
			}
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// pausesOf returns the pauses of a run by driver. Those of a run that has not finished lack comparing
// answers.
func pausesOf(run *result.Run) map[string]pauses {
	type job struct {
		driver   string
		load     bool
		from, to float64
	}
	var jobs []job
	for i := range run.Targets {
		t := &run.Targets[i]
		for _, repeat := range t.Repeats {
			if l := repeat.Load; l != nil {
				jobs = append(jobs, job{t.Driver, true, l.From, l.To})
			}
			for j := range repeat.Queries {
				q := &repeat.Queries[j]
				jobs = append(jobs, job{t.Driver, false, q.From, q.To})
			}
		}
	}
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.from, b.from) })
	total, count := make(map[job]time.Duration), make(map[job]int)
	var once time.Duration
	for i, j := range jobs {
		kind := job{driver: j.driver, load: j.load}
		count[kind]++
		switch {
		case i+1 < len(jobs):
			total[kind] += seconds(max(jobs[i+1].from-j.to, 0))
		case !run.Finished.IsZero():
			once = max(run.Finished.Sub(run.Started)-seconds(j.to), 0)
		}
	}
	if len(jobs) > 0 {
		once += seconds(jobs[0].from)
	}
	of := make(map[string]pauses)
	mean := func(kind job) time.Duration { return total[kind] / time.Duration(max(count[kind], 1)) }
	for i := range run.Targets {
		driver := run.Targets[i].Driver
		of[driver] = pauses{mean(job{driver: driver, load: true}), mean(job{driver: driver}), once / time.Duration(len(run.Targets))}
	}
	return of
}

// load returns the measured load of a driver that is closest to that of an experiment: of the most equal
// parameters, then of the closest scale, then the newest. If its run has not finished, the pauses that
// it lacks are those of the newest run with queries.
func (r *Rates) load(driver string, e *experiment.Experiment) (closest loadRate, known bool) {
	best, nearest := -1, 0.0
	var finished loadRate // the newest with queries
	for _, m := range r.loads {
		if m.driver != driver {
			continue
		}
		if m.pause.query > 0 && !m.from.Before(finished.from) {
			finished = m
		}
		score := 0
		for _, same := range []struct {
			is     bool
			weight int
		}{{!m.from.IsZero(), 8}, {m.workload == e.Workload.Name, 4}, {m.batchSize == e.Load.BatchSize, 2}, {m.workers == e.Load.Workers, 1}} {
			if same.is {
				score += same.weight
			}
		}
		distance := math.Abs(math.Log(max(m.scale, 1) / float64(max(e.Workload.Scale, 1))))
		if score > best || score == best && (distance < nearest || distance == nearest && !m.from.Before(closest.from)) {
			best, nearest, closest = score, distance, m
		}
	}
	closest.pause.load = cmp.Or(closest.pause.load, finished.pause.load)
	closest.pause.query = cmp.Or(closest.pause.query, finished.pause.query)
	return closest, best >= 0
}

// time returns the duration of a load of a dataset, and its rate until the last acknowledgement, as
// many values a second as were measured.
func (m *loadRate) time(of dataset) (took time.Duration, rate float64) {
	if m.rows == 0 || of.rows == 0 {
		return 0, 0
	}
	rate = m.rows / m.written.Seconds()
	if m.values > 0 && of.values > 0 {
		rate *= m.values / of.values
	}
	return seconds(of.rows/rate) + m.settling, rate
}

// query returns the mean service time of a query type on the measured dataset of the workload whose
// size is closest.
func (r *Rates) query(driver, name, workload string, of dataset) (mean time.Duration, known bool) {
	var closest queryRate
	best := math.Inf(1)
	for _, m := range r.queries {
		if m.driver != driver || m.name != name || m.workload != workload {
			continue
		}
		distance := math.Abs(math.Log(max(m.rows, 1) / max(of.rows, 1)))
		if distance < best || distance == best && m.from.After(closest.from) {
			best, closest = distance, m
		}
	}
	return closest.mean, !math.IsInf(best, 1)
}
