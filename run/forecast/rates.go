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
	"github.com/tsmark/tsmark/run/store"
)

// Rates are measured rates of loads and queries. Use NewRates.
type Rates struct {
	loads   []loadRate
	queries []queryRate
	learned map[string]bool // IDs of runs
}

// loadRate is a measured load of a driver.
type loadRate struct {
	driver, workload   string
	workers, batchSize int
	rows, values       float64       // values in a row
	written            time.Duration // until the last acknowledgement
	settling           time.Duration // after it
	overhead           time.Duration // between jobs: checks, opening, starting servers
	source             string        // in words, after the rate
	from               time.Time     // zero: a default
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
	r := &Rates{learned: make(map[string]bool)}
	for line := range strings.Lines(defaults) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t") // a test reads all
		number := func(i int) float64 { n, _ := strconv.ParseFloat(f[i], 64); return n }
		r.loads = append(r.loads, loadRate{
			driver: f[0], workload: f[1], workers: int(number(2)), batchSize: int(number(3)), values: number(4), rows: number(5), written: time.Second,
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
	overhead := overheadOf(run)
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
					driver: t.Driver, workload: run.Dataset.Spec.Name, workers: l.Workers, batchSize: l.BatchSize, rows: float64(l.Rows), values: float64(l.Metrics) / float64(l.Rows),
					written: seconds(written), settling: seconds(l.Settled - written), overhead: overhead, source: source, from: run.Started,
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

// overheadOf returns the time of a run outside of its loads and queries, for each of its jobs; until
// now, if it has not finished.
func overheadOf(run *result.Run) time.Duration {
	var left, last time.Duration
	jobs := 0
	for i := range run.Targets {
		loads, rounds := 0, 0
		for _, repeat := range run.Targets[i].Repeats {
			if l := repeat.Load; l != nil {
				left -= seconds(l.To - l.From)
				last = max(last, seconds(l.To))
				loads++
			}
			for j := range repeat.Queries {
				q := &repeat.Queries[j]
				left -= seconds(q.To - q.From)
				last = max(last, seconds(q.To))
			}
			if len(repeat.Queries) > 0 {
				rounds++
			}
		}
		jobs += loads
		if rounds > 0 {
			jobs += rounds + 2 // checking and comparing answers
		}
	}
	if !run.Finished.IsZero() {
		last = run.Finished.Sub(run.Started)
	}
	return max(left+last, 0) / time.Duration(max(jobs, 1))
}

// load returns the measured load of a driver that is closest to that of an experiment. If its run has
// not finished, the time between jobs is that of the newest run that has.
func (r *Rates) load(driver string, e *experiment.Experiment) (closest loadRate, known bool) {
	best := -1
	var finished loadRate
	for _, m := range r.loads {
		if m.driver != driver {
			continue
		}
		if m.overhead > 0 && !m.from.Before(finished.from) {
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
		if score > best || score == best && !m.from.Before(closest.from) {
			best, closest = score, m
		}
	}
	closest.overhead = cmp.Or(closest.overhead, finished.overhead)
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
