package report_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

var started = time.Date(2026, 1, 31, 15, 45, 0, 0, time.UTC)

// latencies returns n latencies around the median, with a long tail.
func latencies(t *testing.T, seed uint64, n int, median time.Duration) result.Latency {
	t.Helper()
	l, _ := drawnLatencies(t, seed, n, median)
	return l
}

// drawnLatencies returns also each of them, in seconds.
func drawnLatencies(t *testing.T, seed uint64, n int, median time.Duration) (result.Latency, []float64) {
	t.Helper()
	var each []float64
	r := rand.New(rand.NewPCG(seed, 42))
	l := measure.NewLatency()
	for range n {
		x := math.Exp(r.NormFloat64() * 0.35)
		if r.IntN(100) == 0 {
			x *= 4
		}
		d := time.Duration(float64(median) * x)
		l.Record(d)
		each = append(each, d.Seconds())
	}
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return result.Latency{Summary: l.Summary(), Histogram: encoded}, each
}

func queries(t *testing.T, seed uint64, name, help string, n int, median time.Duration, rows int64) result.Queries {
	t.Helper()
	q := result.Queries{
		Type: name, Help: help, Verdict: result.Verdict{Checked: 10, Rows: 10 * rows}, Workers: 2, Executed: int64(n), WarmUp: result.WarmUp{Queries: 6, Seconds: 20 * median.Seconds()}, BurnIn: 10,
		Sample:   result.Sample{Wanted: 10, Early: 2, Captured: 10, Different: n, Repeated: name == "lastpoint"},
		Distinct: 1000, Rows: int64(n) * rows, Bytes: int64(n) * rows * 16,
	}
	q.Service, q.Each = drawnLatencies(t, seed, n, median)
	q.Wall = q.Service.Mean * float64(n) / 2
	q.PerSecond = float64(n) / q.Wall
	return q
}

func rates(seed uint64, n int, perSecond float64) []result.RatePoint {
	r := rand.New(rand.NewPCG(seed, 1))
	points := make([]result.RatePoint, n)
	for i := range points {
		points[i] = result.RatePoint{At: float64(i + 1), Rows: int64(perSecond * (0.85 + 0.3*r.Float64()) * (1 - 0.3*float64(i)/float64(n)))}
	}
	return points
}

// fixture returns a complete run of two targets with every kind of outcome, and
// one that was killed on its way.
func fixture(t *testing.T) (complete, killed *result.Run) {
	t.Helper()
	spec := workload.Spec{Name: "cpu-only", Seed: 123, Scale: 1000, Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End: time.Date(2016, 1, 2, 0, 0, 0, 0, time.UTC), Interval: 10 * time.Second}
	base := result.Run{
		ID: "20260131-154500-3f2a", Name: "nightly", Command: "run", Args: []string{"tsmark", "run", "my experiment.yaml"},
		Experiment: "name: nightly\nworkload:\n  name: cpu-only\n  scale: 1000\n  seed: 123\ntargets:\n  - driver: duckdb\n    name: duck\n  - driver: questdb\n    name: quest\n",
		Started:    started, Finished: started.Add(3*time.Minute + 12*time.Second), Status: result.Complete,
		Tool: result.Tool{Version: "0.1.0", Commit: "5d5a9de", Go: "go1.26.1"},
		Host: result.Host{OS: "Debian GNU/Linux 12", Kernel: "6.1.0", Arch: "amd64", CPU: "AMD EPYC 7763", Cores: 16, Memory: 64 << 30,
			FileSystem: "ext4", Virtualization: "kvm", Disk: "a model, SSD", Swap: 1 << 30, NUMANodes: 2, ClockSource: "tsc",
			Governor: "performance", Turbo: "on", OpenFiles: 1024, CPULimit: 1.5, MemoryLimit: 8 << 30},
		QuerySets: []result.QuerySet{{Type: "lastpoint", Count: 1000, Fingerprint: "8899aabbccddeeff", Definition: "0011223344556677"},
			{Type: "high-cpu-1", Count: 100, Fingerprint: "ffeeddccbbaa9988", Definition: "0011223344556677"}},
		Dataset: result.Dataset{Spec: spec, Fingerprint: "8f14e45fceea167a", Series: 1000, Rows: 8_640_000, Metrics: 86_400_000, RawBytes: 3_120_450_000},
	}
	wrong := queries(t, 6, "high-cpu-1", "readings of one host above a threshold", 1000, 900*time.Microsecond, 300)
	wrong.Verdict.Difference = "query 4, row 17: usage_user is 93.5, found 93.25"
	wrong.Withheld = "wrong answer to query 4"
	slow := queries(t, 14, "double-groupby-all", "mean of all metrics, by host and hour", 120, 1900*time.Millisecond, 12000)
	slow.AtLeast, slow.Timeout = 7, 60
	noRows := queries(t, 7, "cpu-max-all-8", "highest values of all metrics of eight hosts, hourly", 1000, 270*time.Microsecond, 0)
	noRows.Verdict.Empty = 10
	alsoNoRows := queries(t, 17, "cpu-max-all-8", noRows.Help, 1000, 390*time.Microsecond, 0)
	alsoNoRows.Verdict.Empty = 10
	unchecked := queries(t, 18, "groupby-orderby-limit", "newest five minutes before a time, highest values", 1000, 6*time.Millisecond, 5)
	unchecked.Verdict = result.Verdict{}

	run := base
	run.Targets = []result.Target{
		{
			Name: "duck", Driver: "duckdb", Embedded: true, Options: map[string]string{"threads": "", "memory-limit": "4GiB"},
			Changes: []driver.Change{{Name: "memory-limit", Value: "4GiB", Default: "80% of the machine's"}},
			Modules: []result.Module{{Path: "example.org/duck-bindings", Version: "v0.1.2"}},
			Description: driver.Description{Version: "v1.4.1", Location: "tsmark-results/duck.duckdb", Durability: "an acknowledged row is in the write-ahead log",
				Settings: map[string]string{"threads": "16", "memory_limit": "4.0 GiB"}},
			Load: &result.Load{
				Workers: 1, BatchSize: 10000, Rows: 8_640_000, Metrics: 86_400_000, WireBytes: 950_400_000, Prepare: 0.0123,
				Sent: 9.81, Acked: 9.93, Settled: 11.2, Batches: latencies(t, 1, 864, 11*time.Millisecond), DiskBytes: 402_653_184,
				Rates: rates(1, 10, 980_000), Census: []result.CensusResult{{Table: "cpu", Expected: 8_640_000, Counted: 8_640_000}},
			},
			Queries: []result.Queries{
				queries(t, 2, "single-groupby-1-1-1", "highest value of one metric of one host, by minute, one hour", 1000, 2100*time.Microsecond, 60),
				queries(t, 3, "single-groupby-5-8-1", "highest values of five metrics of eight hosts, by minute, one hour", 1000, 5*time.Millisecond, 60),
				queries(t, 4, "double-groupby-all", "mean of all metrics, by host and hour", 120, 412*time.Millisecond, 12000),
				noRows, wrong,
				queries(t, 8, "groupby-orderby-limit", unchecked.Help, 1000, 31*time.Millisecond, 5),
				{Type: "lastpoint", Help: "newest row of each host", Unsupported: "the dialect has no such query"},
			},
		},
		{
			Name: "quest", Driver: "questdb", Options: map[string]string{"address": "localhost:9000", "password": "***"},
			Description: driver.Description{Version: "9.0.1", Edition: "open source", Location: "localhost:9000", Durability: "asynchronous: up to a second of rows can be lost",
				Settings: map[string]string{"cairo.wal.enabled": "true"}},
			Load: &result.Load{
				Workers: 4, BatchSize: 10000, Rows: 8_640_000, Metrics: 86_400_000, WireBytes: 3_120_450_000, Prepare: 0.2,
				Sent: 6.02, Settled: 8.4, DiskBytes: 1_181_116_006, Rates: rates(2, 7, 1_500_000),
				Census: []result.CensusResult{{Table: "cpu", Expected: 8_640_000, Counted: -1}},
			},
			Queries: []result.Queries{
				queries(t, 12, "single-groupby-1-1-1", "highest value of one metric of one host, by minute, one hour", 1000, 780*time.Microsecond, 60),
				queries(t, 13, "single-groupby-5-8-1", "highest values of five metrics of eight hosts, by minute, one hour", 1000, 9*time.Millisecond, 60),
				slow, alsoNoRows,
				queries(t, 16, "high-cpu-1", wrong.Help, 1000, 1400*time.Microsecond, 300),
				unchecked,
				queries(t, 19, "lastpoint", "newest row of each host", 1000, 1100*time.Microsecond, 1000),
			},
		},
	}

	stopped := base
	stopped.ID, stopped.Name = "20260131-160000-00ff", ""
	stopped.Started, stopped.Finished, stopped.Status = started.Add(15*time.Minute), time.Time{}, result.Running
	lost := *run.Targets[0].Load
	lost.Census = []result.CensusResult{{Table: "cpu", Expected: 8_640_000, Counted: 8_639_999, Problem: "1 row is missing"}}
	lost.Withheld = "the census differs from the rows sent"
	duck := run.Targets[0]
	duck.Load, duck.Queries = &lost, run.Targets[0].Queries[:1]
	stopped.Targets = []result.Target{duck, {Name: "quest", Driver: "questdb", Failure: "localhost:9000 cannot be reached"}}
	return &run, &stopped
}

// secondsOf is a time in seconds as a duration.
func secondsOf(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }
