package live

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/live/page"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
)

// Percentiles are those of all operations, good to 1 % of a time, whatever the times are.
func TestPercentiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		m := &measured{key: key{kind: oplog.Query}, times: newTimes()}
		m.begin(oplog.Cell{Kind: oplog.Query}, 1)
		var times []float64
		for range 100 + r.IntN(5000) {
			took := time.Duration(math.Exp(r.Float64()*17+7)) + 20*time.Microsecond // to 26 s
			times = append(times, took.Seconds())
			m.add(&oplog.Op{Duration: took})
		}
		slices.Sort(times)
		got := m.pageValues().Latency
		for q, v := range map[float64]float64{0.5: got.P50, 0.95: got.P95, 0.99: got.P99, 1: got.Max} {
			want := times[measure.Rank(int64(len(times)), q)-1]
			if v < want*0.94 || v > want*1.02 { // a microsecond of 20 is 5 %
				t.Errorf("of %d times the quantile %g is %g, want %g", len(times), q, v, want)
			}
		}
	}
}

// The counts are those of reports: no burn-in, and failures apart.
func TestOutcomes(t *testing.T) {
	run := NewRun()
	run.Begin(record.Beginning{ID: "a"})
	begin := time.Now()
	query := oplog.Cell{Kind: oplog.Query, Target: "t", Type: "q"}
	ops := []oplog.Op{{BurnIn: true, Duration: time.Hour}, {Outcome: oplog.Failed}, {Outcome: oplog.Wrong}, {Outcome: oplog.Dropped}, {Outcome: oplog.AtLeast, Duration: 2 * time.Millisecond}}
	for i := range 3 {
		ops = append(ops, oplog.Op{Start: time.Duration(i) * time.Second, Duration: time.Millisecond, Rows: 5})
	}
	run.Operations(begin, query, ops)
	run.Operations(begin, oplog.Cell{Kind: oplog.Load, Target: "t"}, []oplog.Op{
		{Outcome: oplog.Started}, {Rows: 500, Duration: 500 * time.Millisecond}, {Outcome: oplog.Retried, Duration: time.Second}, {Start: 500 * time.Millisecond, Duration: 500 * time.Millisecond, Rows: 500}})
	now := run.now(begin.Add(3 * time.Second))
	if now.Failures != 2 || len(now.Measured) != 2 {
		t.Fatalf("%+v", now)
	}
	load, q := now.Measured[0], now.Measured[1] // the one that began last comes first
	if load.What != "load" || load.Operations != 2 || load.PerSecond != 1000 || fmt.Sprint(load.Troubles) != "[{retried 1}]" {
		t.Errorf("the load: %+v", load)
	}
	if q.Operations != 3 || fmt.Sprint(q.Troubles) != "[{failed 1} {wrong 1} {at least 1} {dropped 1}]" || math.Abs(q.Latency.Max-0.002) > 0.0001 || q.Latency.P99 != 0 {
		t.Errorf("the queries: %+v", q)
	}

	// A further repeat adds to the times, and has a rate of its own.
	query.Repeat = 2
	run.Operations(begin, query, []oplog.Op{{Start: time.Minute, Duration: 100 * time.Millisecond}})
	if again := run.now(begin).Measured[0]; again.What != "q" || again.Operations != 4 || math.Abs(again.PerSecond-10) > 0.01 {
		t.Errorf("again: %+v", again)
	}
	// Of an open loop, times count from when a query was due.
	query.Type, query.Schedule = "open", "10/s"
	run.Operations(begin, query, []oplog.Op{{Intended: time.Second, Start: 2 * time.Second, Duration: time.Second}})
	if open := run.now(begin).Measured[0]; !open.Due || math.Abs(open.Latency.Max-2) > 0.02 {
		t.Errorf("open loop: %+v", open)
	}
	// A mixed phase's queries whose answers were kept count, and their times do not.
	run.Operations(begin, oplog.Cell{Kind: oplog.Query, Target: "t", Type: "q", Part: oplog.Mixed}, []oplog.Op{{BurnIn: true, Duration: time.Hour}})
	if mixed := run.now(begin).Measured[0]; mixed.What != "q, mixed" || mixed.Operations != 1 || mixed.Latency.Max != 0 {
		t.Errorf("mixed: %+v", mixed)
	}

	run.Begin(record.Beginning{ID: "a"}) // a run in progress
	if n := len(run.now(begin).Measured); n != 4 {
		t.Errorf("%d measurements of the run that goes on", n)
	}
	run.Begin(record.Beginning{ID: "b"})
	if now := run.now(begin); len(now.Measured) != 0 || now.Failures != 0 {
		t.Errorf("of another run: %+v", now)
	}
}

// The charts have each second once all of it is known, and forget the oldest.
func TestSeconds(t *testing.T) {
	run := NewRun()
	load := oplog.Cell{Kind: oplog.Load, Target: "t"}
	if now := run.now(run.began.Add(1500 * time.Millisecond)); len(now.Courses) != 0 {
		t.Errorf("%d courses at the beginning", len(now.Courses))
	}
	const total = page.Window + 50
	for i := range total {
		run.Operations(run.began, load, []oplog.Op{{Start: time.Duration(i) * time.Second, Duration: 100 * time.Millisecond, Rows: int64(i)}})
		run.tick(run.began.Add(time.Duration(i+late) * time.Second))
	}
	now := run.now(run.began.Add((total-1+late)*time.Second + 250*time.Millisecond))
	seconds := now.Courses[0].Seconds
	if len(seconds) != page.Window || now.Newest.Round(time.Millisecond) != 1250*time.Millisecond {
		t.Fatalf("%d seconds, the newest %v ago", len(seconds), now.Newest)
	}
	for i, s := range seconds {
		if want := int64(total - page.Window + i); s.Rows != want || math.Abs(s.Batches.P50-0.1) > 0.001 {
			t.Fatalf("second %d: %+v, want %d rows", i, s, want)
		}
	}
	// Long silence, and an operation that is late beyond use.
	run.Operations(run.began, load, []oplog.Op{{Rows: 99}})
	now = run.now(run.began.Add(10 * total * time.Second))
	for _, s := range now.Courses[0].Seconds {
		if s != (page.Second{}) {
			t.Fatalf("in silence: %+v", s)
		}
	}
}

// Each target has seconds of its own, and a phase ends where another target's begins.
func TestPhases(t *testing.T) {
	run := NewRun()
	run.Begin(record.Beginning{ID: "a", Targets: []string{"one", "two"}})
	second := func(kind oplog.Kind, target string, at int) {
		run.Operations(run.began, oplog.Cell{Kind: kind, Target: target}, []oplog.Op{{Start: time.Duration(at) * time.Second, Duration: time.Second / 2, Rows: 10}})
	}
	second(oplog.Load, "one", 0)
	second(oplog.Load, "one", 3)
	second(oplog.Load, "two", 4)
	second(oplog.Query, "two", 4) // at the same time
	second(oplog.Load, "one", 6)
	now := run.now(run.began.Add(10 * time.Second))
	want := []page.Phase{
		{Course: 0, Load: true, From: 10 * time.Second, To: 6500 * time.Millisecond},
		{Course: 1, Load: true, From: 6 * time.Second, To: 5500 * time.Millisecond},
		{Course: 1, From: 6 * time.Second, To: 5500 * time.Millisecond},
		{Course: 0, Load: true, From: 4 * time.Second, To: 3500 * time.Millisecond},
	}
	if !slices.Equal(now.Phases, want) {
		t.Errorf("phases %+v, want %+v", now.Phases, want)
	}
	if len(now.Courses) != 2 || now.Courses[0].Name != "one" || now.Courses[0].Seconds[4].Rows != 0 || now.Courses[1].Seconds[4].Rows != 10 || now.Courses[0].Seconds[6].Rows != 10 {
		t.Errorf("courses: %+v", now.Courses)
	}
	run.tick(run.began.Add((page.Window + 8) * time.Second))
	if now := run.now(run.began.Add((page.Window + 8) * time.Second)); len(now.Phases) != 1 {
		t.Errorf("phases that ended long ago are kept: %+v", now.Phases)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := plainClient(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", url, answer.Status, err, text)
	}
	return string(text)
}

// Prometheus sees the same figures as the page.
func TestMetrics(t *testing.T) {
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	if text := get(t, s.URL+"metrics"); !strings.Contains(text, "tsmark_run_over 0\n") {
		t.Errorf("before a run:\n%s", text)
	}
	run.Follow(func() progress.State {
		same := progress.Running{Label: "load \xff\"t\"", Unit: "rows", Done: 7, Total: 10}
		return progress.State{Step: 2, Steps: 4, Left: time.Minute, Running: []progress.Running{same, same, {Label: "settling"}}}
	})
	run.Begin(record.Beginning{ID: "r", Name: "n", Command: "load", Workload: "cpu-only", Started: time.Now(), Resources: func(int) []result.Resources {
		var host, client result.Resources
		host.Source, client.Source = "host", "client"
		host.Add(1, map[result.Metric]float64{result.CPU: 1, result.MemoryUsed: 1 << 30})
		host.Add(2, map[result.Metric]float64{result.CPU: 2.5, result.MemoryUsed: 1 << 31})
		client.Add(1, map[result.Metric]float64{result.RSS: 1 << 20, result.DiskWritten: 512})
		return []result.Resources{host, client, host}
	}})
	run.Operations(time.Now(), oplog.Cell{Kind: oplog.Load, Target: "t"}, []oplog.Op{
		{Rows: 10, Bytes: 100, Duration: 16 * time.Microsecond}, {Rows: 10, Bytes: 100, Duration: 17 * time.Microsecond}, {Duration: 2 * time.Minute}, {Outcome: oplog.Failed, Duration: time.Second}})
	run.End(page.End{})
	text := get(t, s.URL+"metrics")
	for _, want := range []string{
		`tsmark_run_info{command="load",name="n",run="r",workload="cpu-only"} 1`,
		`tsmark_run_over 1`, `tsmark_run_step 2`, `tsmark_run_steps 4`, `tsmark_run_left_seconds{bound="about"} 60`,
		`tsmark_task_done{task="load ?\"t\"",unit="rows"} 7`, `tsmark_task_total{task="load ?\"t\"",unit="rows"} 10`,
		`tsmark_operations_total{kind="load",outcome="failed",part="",target="t",type="",verified="not yet"} 1`,
		`tsmark_operations_total{kind="load",outcome="ok",part="",target="t",type="",verified="not yet"} 3`,
		`tsmark_rows_total{kind="load",part="",target="t",type="",verified="not yet"} 20`,
		`tsmark_bytes_total{kind="load",part="",target="t",type="",verified="not yet"} 200`,
		`tsmark_operation_duration_seconds_bucket{kind="load",part="",target="t",type="",verified="not yet",le="1.6e-05"} 1`,
		`tsmark_operation_duration_seconds_bucket{kind="load",part="",target="t",type="",verified="not yet",le="3.2e-05"} 2`,
		`tsmark_operation_duration_seconds_bucket{kind="load",part="",target="t",type="",verified="not yet",le="67.108864"} 2`,
		`tsmark_operation_duration_seconds_bucket{kind="load",part="",target="t",type="",verified="not yet",le="+Inf"} 3`,
		`tsmark_operation_duration_seconds_count{kind="load",part="",target="t",type="",verified="not yet"} 3`,
		`tsmark_resource_cpu_seconds_total{source="host"} 2.5`, `tsmark_resource_memory_bytes{source="host"} 2.147483648e+09`,
		`tsmark_resource_memory_bytes{source="client"} 1.048576e+06`, `tsmark_resource_disk_written_bytes_total{source="client"} 512`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A stand-in is named once a target has been opened, and each figure of it is marked: on the
// page, and in the metrics for Prometheus.
func TestStandIn(t *testing.T) {
	const what = "chDB 26.9 behind tsmark's test server, not a ClickHouse server"
	run := NewRun()
	s := start(t, run, Options{Address: "127.0.0.1:0"})
	run.Begin(record.Beginning{ID: "r", Started: time.Now(), Targets: []string{"clickhouse", "sqlite"}})
	run.TargetOpened(&result.Target{Name: "clickhouse", Description: driver.Description{StandIn: what}})
	run.TargetOpened(&result.Target{Name: "sqlite"})
	for _, target := range []string{"clickhouse", "sqlite"} {
		run.Operations(time.Now(), oplog.Cell{Kind: oplog.Load, Target: target}, []oplog.Op{{Rows: 10, Duration: time.Millisecond}})
	}
	l := run.now(time.Now())
	if !slices.Equal(l.StandIns, []string{"clickhouse is " + what}) {
		t.Errorf("stand-ins: %q", l.StandIns)
	}
	for _, m := range l.Measured {
		if m.Target != "clickhouse (stand-in)" && m.Target != "sqlite" {
			t.Errorf("a figure of %q", m.Target)
		}
	}
	text := get(t, s.URL+"metrics")
	if strings.Contains(text, `target="clickhouse"`) || !strings.Contains(text, `target="clickhouse (stand-in)"`) || !strings.Contains(text, `target="sqlite"`) {
		t.Error(text)
	}
}

// The cost of an operation for the goroutine that writes the operation log, not for a worker.
func BenchmarkOperations(b *testing.B) {
	run := NewRun()
	r := rand.New(rand.NewPCG(1, 2))
	ops := make([]oplog.Op, 4096)
	for i := range ops {
		ops[i] = oplog.Op{Sequence: int64(i), Start: time.Duration(i) * time.Millisecond, Duration: time.Duration(r.IntN(1e7)), Rows: 10}
	}
	cell, begin := oplog.Cell{Kind: oplog.Query, Target: "t", Type: "q"}, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		run.Operations(begin, cell, ops)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ops)), "ns/operation")
}

// The cost of readers: the whole content, once a second, for any number of readers.
func BenchmarkEvent(b *testing.B) {
	run := NewRun()
	var used result.Resources
	used.Source, used.Period = "client", 1
	for i := range page.Window {
		used.Add(float64(i), map[result.Metric]float64{result.CPU: float64(i), result.RSS: 1e9, result.DiskWritten: float64(i) * 1e6})
	}
	run.Begin(record.Beginning{ID: "r", Started: run.began, Resources: func(int) []result.Resources { return []result.Resources{used, used} }})
	for i := range page.Window {
		at := time.Duration(i) * time.Second
		for _, c := range []oplog.Cell{{Kind: oplog.Load, Target: "t"}, {Kind: oplog.Query, Target: "t", Type: fmt.Sprint("q", i%16)}} {
			run.Operations(run.began, c, []oplog.Op{{Start: at, Duration: time.Millisecond, Rows: 1000}})
		}
		run.tick(run.began.Add(at + 2*time.Second))
	}
	updates, err := page.NewUpdates()
	if err != nil {
		b.Fatal(err)
	}
	now := run.now(run.began.Add(page.Window * time.Second))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := updates.Write(io.Discard, now); err != nil {
			b.Fatal(err)
		}
	}
}
