package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// observedRun returns a run with all that the runner records beside latencies:
// six repeats, an open loop, a search, resources, the client and its limits.
func observedRun(t *testing.T) *result.Run {
	t.Helper()
	run, _ := fixture(t)
	run.ID, run.Name, run.Status = "20260131-170000-0b5e", "observed", result.Complete
	run.Calibration = &result.Calibration{Workers: 4, RowsPerSecond: 4_200_000, QueriesPerSecond: 310_000}
	run.OtherDatabases = []result.OtherDatabase{{Name: "PostgreSQL", PID: 4711, Process: "postgres", RSS: 512 << 20, Share: result.Absent()}}
	run.Targets[1].CoLocated = true
	seed, clock := uint64(100), 2.0
	spend := func(seconds float64, client *result.Client) result.Cell {
		c := result.Cell{From: clock, To: clock + seconds, Client: client}
		clock += seconds + 0.5
		return c
	}
	for i := range run.Targets {
		target := &run.Targets[i]
		client := func(share, wait float64) *result.Client {
			if target.Embedded {
				return nil
			}
			return &result.Client{Wall: 8, CPU: result.Value(8 * 16 * share), User: result.Value(6 * 16 * share), System: result.Value(2 * 16 * share), Share: result.Value(share), Procs: 16, Cores: 16,
				GCPauseMax: 0.0003, SchedulingP99: result.Value(wait), SchedulingMax: result.Value(9 * wait)}
		}
		load := *target.Load
		load.Cell, load.DiskBefore, load.DiskSettled = spend(load.Settled, client(0.12, 40e-6)), 8192, load.DiskBytes*5/4
		load.Steps = []result.Step{{Name: "compress", Seconds: 2.5, DiskBytes: load.DiskBytes, Noise: noise(2.5, 10*float64(i))}}
		load.Noise = noise(8, 40*float64(i))
		types := []struct {
			name   string
			median time.Duration
		}{{"single-groupby-1-1-1", time.Duration(2-i) * time.Millisecond}, {"high-cpu-1", time.Duration(3+i) * 400 * time.Microsecond}, {"lastpoint", 5 * time.Millisecond}}
		target.Repeats = nil
		for number := 1; number <= 6; number++ {
			repeat := target.RepeatOf(number)
			if number == 1 {
				repeat.Load = &load
			}
			for k, what := range types {
				seed++
				drift := 1 + 0.04*float64(number*i)
				q := queries(t, seed, what.name, "a query", 300, time.Duration(float64(what.median)*drift), 60)
				q.Each = make([]float64, 300)
				for j := range q.Each {
					q.Each[j] = q.Service.Median * (1 + 0.1*math.Sin(float64(j)))
				}
				q.Cell = spend(6, client(0.05, 20e-6))
				if k == 2 && i == 1 && number > 4 {
					q.ClientBound = "the client used 91 % of its processors"
				}
				q.Noise = noise(6, 0.1)
				if k == 2 && i == 0 && number == 4 {
					q.Noise = noise(6, 22)
				}
				if k == 1 && i == 1 {
					q.Noise.Others, q.Noise.OthersMin, q.Noise.OthersMax, q.Noise.Unknown = result.Absent(), result.Absent(), result.Absent(), "the server cannot be seen"
				}
				if i == 1 && k < 2 {
					q.Wall, q.PerSecond = 0.31, 300/0.31
					for j := range q.Each {
						q.Each[j] *= 3
					}
					q.Open = &result.OpenLoop{Schedule: "1000/s", Queue: 1000, Arrivals: 300, Offered: 1000, Response: latencies(t, seed+500, 300, 3*what.median), EachResponse: true,
						Lag: latencies(t, seed+900, 300, 200*time.Nanosecond)}
				}
				if i == 1 && k == 0 && number == 3 {
					q.Open.Dropped, q.Open.Waiting, q.Open.Saturated = 12, 988, "saturated: 870/s done of 1,000/s scheduled, 12 arrivals dropped, 988 waiting at the end"
				}
				if i == 1 && k == 1 {
					kept := 800 + 10*float64(number)
					q.Open.Search = &result.RateSearch{Objective: "p99<10ms", Precision: 0.05, Kept: kept, Failed: 880, Tries: []result.RateTry{
						{Rate: 400}, {Rate: 1600, Failed: "response p99 is 31 ms"}, {Rate: kept}, {Rate: 880, Failed: "response p99 is 12 ms"}}}
				}
				repeat.Queries = append(repeat.Queries, q)
			}
		}
		pooled, err := target.Pool()
		if err != nil {
			t.Fatal(err)
		}
		*target = pooled
	}
	run.Finished = run.Started.Add(time.Duration(clock * float64(time.Second)))
	run.Resources = newResources(run, clock)
	return run
}

// noise is a phase on sixteen cores with the given CPU use of other processes.
func noise(wall, others float64) *result.Noise {
	n := result.NewNoise(wall, 16)
	n.Others, n.OthersMin, n.OthersMax, n.Steal, n.MemoryStall = result.Value(others), result.Value(others-0.02), result.Value(others+0.02), 0.01, 0
	n.Most = "ld"
	n.Judge(result.QuietShare)
	return &n
}

// newResources makes up the resource use of the host, the client and a server.
func newResources(run *result.Run, until float64) []result.Resources {
	var list []result.Resources
	for i, source := range []string{"host", "client", "server quest"} {
		r := result.Resources{Source: source, Measure: source, Cores: 16, Period: 1}
		cpu, written, sent := 0.0, 0.0, 0.0
		for at := 0.0; at <= until+1; at++ {
			busy := 0.1
			for j := range run.Targets {
				if l := run.Targets[j].Load; at >= l.From && at <= l.To && (i == 0 || i == j+1) {
					busy, written = 9, written+3e8
				} else if i == j+1 && at > l.To && at < l.To+115 {
					busy = 2 + math.Sin(at/3)
				}
			}
			cpu, sent = cpu+busy, sent+busy*1e6
			r.Add(at, map[result.Metric]float64{result.CPU: cpu, result.RSS: 1e9 + 3e6*at, result.MemoryUsed: 5e9 + 4e6*at,
				result.DiskWritten: written, result.DiskRead: 0, result.NetSent: sent, result.NetReceived: sent / 3})
		}
		r.Total = r.UsageTotal()
		list = append(list, r)
	}
	return list
}

func TestObservedGolden(t *testing.T) {
	run := observedRun(t)
	golden(t, "observed-80.txt", render(t, write.Text, write.Options{Width: 80}, run))
	golden(t, "observed.txt", render(t, write.Text, write.Options{Verbose: true, Width: 130}, run))
	golden(t, "observed.md", render(t, write.Markdown, write.Options{}, run))
	golden(t, "observed.csv", render(t, write.CSV, write.Options{}, run))
}

func TestObservedIsOnThePage(t *testing.T) {
	page := parse(t, render(t, write.HTML, write.Options{}, observedRun(t)))
	for _, want := range []string{
		"saturated: 870/s done of 1,000/s scheduled", "p99<10ms", "client-bound: the client used 91 % of its processors (in 2 of 6 repeats)",
		"NOISY HOST in 3 of 10 measurements; at worst other processes used 31 % of the CPU, most of it ld. Disturbed figures are marked ",
		"noisy host: other processes used 23 % of the CPU, most of it ld (in 1 of 6 phases)", "the server cannot be seen",
		"PostgreSQL", "310,000 queries/s", facts.CoLocated, "n/a: shares tsmark's process", "tsmark's own work is part of it", "after compress",
	} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}
