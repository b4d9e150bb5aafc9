package site

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// memory keeps the files of a site.
type memory map[string]string

func (m memory) WriteBytes(name string, data []byte) error {
	if _, ok := m[name]; ok {
		return fmt.Errorf("%s was written twice", name)
	}
	m[name] = string(data)
	return nil
}

// folder writes the files of a site.
type folder string

func (f folder) WriteBytes(name string, data []byte) error {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// build makes the site of these runs.
func build(t testing.TB, opts Options, runs ...*result.Run) memory {
	t.Helper()
	out := memory{}
	s := New(out, opts)
	for _, r := range runs {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	return out
}

// makeRun returns a run for a test: two systems, two query types and a load each, six
// rounds, all verified on a quiet host. The second takes slower times as long.
func makeRun(t testing.TB, n int, slower float64, change ...func(*result.Run)) *result.Run {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), 7))
	started := time.Date(2026, 1, 31, 15, 45, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
	r := &result.Run{
		ID: started.Format("20060102-150405-") + fmt.Sprintf("%04x", n), Command: "run", Args: []string{"tsmark", "run", "e.yaml"},
		Experiment: "targets:\n  - driver: alpha\n  - driver: beta\n", Started: started, Finished: started.Add(time.Minute), Status: result.Complete,
		Tool: result.Tool{Version: "1.2.3", Go: "go1.26"}, CheckSeed: "42",
		QuerySets: []result.QuerySet{{Type: "lastpoint", Count: 120, Fingerprint: "f1", Definition: "b1"}, {Type: "high-cpu-1", Count: 120, Fingerprint: "f1", Definition: "b1"}},
		Host:      result.Host{OS: "Linux", Arch: "amd64", CPU: "A processor", Cores: 4, Memory: 16 << 30},
		Dataset: result.Dataset{Fingerprint: "8f14e45fceea167a", Rows: 100000, Metrics: 1000000, Spec: workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100,
			Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), End: time.Date(2016, 1, 2, 0, 0, 0, 0, time.UTC), Interval: 10 * time.Second}},
		Targets: []result.Target{
			{Name: "a", Driver: "alpha", Embedded: true, Durability: "strict", Options: map[string]string{"threads": "2"}, Changes: []driver.Change{{Name: "threads", Value: "2", Default: "one a core"}},
				Description: driver.Description{Version: "1.9", Durability: "an acknowledged row is on disk"}},
			{Name: "b", Driver: "beta", CoLocated: true, Durability: "strict", Description: driver.Description{Version: "10.0", Edition: "community", Durability: "likewise"}},
		},
	}
	for i := range r.Targets {
		times := math.Pow(slower, float64(i))
		for round := range 6 {
			repeat := result.Repeat{Number: round + 1, Load: &result.Load{Workers: 2, BatchSize: 10000, Rows: 100000, Settled: times * (1 + 0.01*random.NormFloat64()), DiskBytes: 1 << 20,
				Census: []result.CensusResult{{Table: "cpu", Expected: 100000, Counted: 100000}}, Cell: quiet()}}
			for _, name := range []string{"lastpoint", "high-cpu-1"} {
				repeat.Queries = append(repeat.Queries, makeQueries(t, random, name, round, 0.002*times))
			}
			r.Targets[i].Repeats = append(r.Targets[i].Repeats, repeat)
		}
	}
	for _, do := range change {
		do(r)
	}
	return r
}

// makeQueries returns the queries of a type in a round.
func makeQueries(t testing.TB, random *rand.Rand, name string, round int, median float64) result.Queries {
	t.Helper()
	const n = 20
	q := result.Queries{Type: name, Help: "what " + name + " wants", Workers: 1, Executed: n, First: n * round, Verdict: result.Verdict{Checked: 5, Rows: 50},
		Sample: result.Sample{Wanted: 20, Different: n}, Rows: 10 * n, Wall: n * median, Cell: quiet()}
	l, wander := measure.NewLatency(), 0.01*random.NormFloat64()
	for range n {
		seconds := median * math.Exp(0.02*random.NormFloat64()+wander)
		q.Each = append(q.Each, seconds)
		l.Record(time.Duration(seconds * 1e9))
	}
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q.Service = result.Latency{Summary: l.Summary(), Histogram: encoded}
	return q
}

// quiet is an undisturbed measurement.
func quiet() result.Cell {
	n := result.NewNoise(1, 4)
	n.Others, n.OthersMin, n.OthersMax = 0.01, 0, 0.02
	n.Judge(result.QuietShare)
	return result.Cell{Noise: &n}
}

// noisy disturbs a measurement.
func noisy(c *result.Cell) {
	n := result.NewNoise(1, 4)
	n.Others, n.OthersMin, n.OthersMax = 2, 1.9, 2.1
	n.Judge(result.QuietShare)
	c.Noise = &n
}
