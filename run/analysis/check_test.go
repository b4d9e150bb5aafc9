package analysis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

const checkPeriod = 10 * time.Millisecond

// aRun is a run with a load and its mixed phase, a closed and an open loop, and its log.
func aRun(t *testing.T) (*result.Run, []byte) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 20, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log, err := oplog.NewWriter(&out, oplog.Header{})
	if err != nil {
		t.Fatal(err)
	}
	section := func(c oplog.Cell) *oplog.Section {
		c.Target, c.Repeat = "a", 1
		return log.Section(c)
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 100, Period: checkPeriod, Log: section(oplog.Cell{Kind: oplog.Load, Workers: 3})}, d, driver.DB{Required: stub{}}, func(int) {})
	ok(err)
	cfg := engine.QueryConfig{Workers: 2, BurnIn: 5, Timeout: 5 * time.Millisecond, Log: section(oplog.Cell{Kind: oplog.Query, Type: "closed", Workers: 2, Queries: 60})}
	closed, err := engine.Query(t.Context(), cfg, driver.DB{Required: stub{}}, queries(60), func(int) {})
	ok(err)
	cfg.Log = section(oplog.Cell{Kind: oplog.Query, Type: "open", Workers: 2, Queries: 60, Schedule: "1000/s"})
	open, err := engine.QueryOpen(t.Context(), engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Constant(1000), Count: 60, Queue: 1}, driver.DB{Required: stub{}}, queries(60), func(int) {})
	ok(err)
	var rendered atomic.Int64
	render := func(*query.Query, *series.Schema) (driver.Request, error) {
		if rendered.Add(1)%20 == 0 {
			return driver.Request{Text: "16"}, nil // never answered
		}
		return driver.Request{Text: "15"}, nil
	}
	last := query.Query{Type: "beside", Table: "cpu", Shape: query.Last{By: "hostname", Fields: []string{"usage_user"}}}
	beside := oplog.Cell{Kind: oplog.Query, Part: oplog.Mixed, Type: "beside", Schedule: "1000/s", Workers: 2}
	load.Mixed, _, err = engine.RunMixed(t.Context(), engine.MixedConfig{
		LoadConfig: engine.LoadConfig{Workers: 3, BatchSize: 100, Period: checkPeriod, Log: section(oplog.Cell{Kind: oplog.Load, Part: oplog.Mixed, Schedule: "100000/s", Workers: 3})},
		Queriers:   2, Timeout: 5 * time.Millisecond, Queue: 1000, Start: start, Windows: workload.Uniform, Keep: 10,
		RowRate: pace.Constant(100_000), QueryRate: pace.Constant(1000),
	}, d, driver.DB{Required: stub{}}, render, []engine.MixedQueries{{Type: "beside", Queries: []query.Query{last}, Log: section(beside)}}, func(int) {})
	ok(err)
	ok(log.Close())
	closed.Type, open.Type = "closed", "open"
	load.BatchSize, load.Prepare, load.DiskBefore, load.DiskSettled, load.DiskBytes = 100, 0.5, 1000, 3000, 2000 // not in the log
	run := &result.Run{ID: "20260131-154500-3f2a", Targets: []result.Target{{Name: "a", Driver: "stub",
		Repeats: []result.Repeat{{Number: 1, Load: load, Queries: []result.Queries{*closed, *open}}}}}}
	return again(t, run), out.Bytes()
}

// again returns a run as an export contains it.
func again(t *testing.T, run *result.Run) *result.Run {
	t.Helper()
	document, err := result.Encode(run)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := result.Decode(document)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// An honest run matches its log. If any figure in the log was changed in the run, the error names
// it with both values.
func TestDoctored(t *testing.T) {
	run, log := aRun(t)
	if unchecked, err := analysis.Check(run, [][]byte{log}, checkPeriod); err != nil || unchecked != "" {
		t.Fatalf("an honest run: %v, %q", err, unchecked)
	}
	if unchecked, err := analysis.Check(run, [][]byte{log}, -1); err != nil || unchecked != "" {
		t.Errorf("an honest run of an unknown period: %v, %q", err, unchecked)
	}
	r := func(run *result.Run) *result.Repeat { return &run.Targets[0].Repeats[0] }
	latencies := map[string]func(*result.Run) *result.Latency{
		"batches":           func(run *result.Run) *result.Latency { return &r(run).Load.Batches },
		"closed":            func(run *result.Run) *result.Latency { return &r(run).Queries[0].Service },
		"open":              func(run *result.Run) *result.Latency { return &r(run).Queries[1].Service },
		"response":          func(run *result.Run) *result.Latency { return &r(run).Queries[1].Open.Response },
		"lag":               func(run *result.Run) *result.Latency { return &r(run).Queries[1].Open.Lag },
		"mixed":             func(run *result.Run) *result.Latency { return &r(run).Load.Mixed.Types[0].Service },
		"batches, mixed":    func(run *result.Run) *result.Latency { return &r(run).Load.Mixed.Writes.Batches },
		"response of mixed": func(run *result.Run) *result.Latency { return r(run).Load.Mixed.Response },
	}
	doctored := make(map[string]func(*result.Run))
	for name, latency := range latencies {
		doctored["mean of "+name] = func(run *result.Run) { latency(run).Mean *= 0.9 }
		doctored["p50 of "+name] = func(run *result.Run) { latency(run).Median *= 0.9 }
		doctored["max of "+name] = func(run *result.Run) { latency(run).Max *= 0.9 }
		doctored["count of "+name] = func(run *result.Run) { latency(run).Count++ }
		doctored["histogram of "+name] = func(run *result.Run) { latency(run).Histogram = latencies["batches"](run).Histogram + " " }
	}
	doctored["p99"] = func(run *result.Run) { r(run).Queries[0].Service.P99 = 1e-6 }
	doctored["each"] = func(run *result.Run) { r(run).Queries[0].Each[7] *= 0.9 }
	doctored["the last ones of each"] = func(run *result.Run) { r(run).Queries[0].Each = r(run).Queries[0].Each[:50] }
	doctored["queries"] = func(run *result.Run) { r(run).Queries[0].Executed-- }
	doctored["queries cut off"] = func(run *result.Run) { r(run).Queries[0].AtLeast-- }
	doctored["queries/s"] = func(run *result.Run) { r(run).Queries[0].PerSecond *= 2 }
	doctored["wall"] = func(run *result.Run) { r(run).Queries[0].Wall /= 2 }
	doctored["rows of answers"] = func(run *result.Run) { r(run).Queries[0].Rows++ }
	doctored["dropped"] = func(run *result.Run) { r(run).Queries[1].Open.Dropped++ }
	doctored["offered"] = func(run *result.Run) { r(run).Queries[1].Open.Offered *= 2 }
	doctored["no open loop"] = func(run *result.Run) { r(run).Queries[1].Open = nil }
	doctored["rows"] = func(run *result.Run) { r(run).Load.Rows *= 2 }
	doctored["values"] = func(run *result.Run) { r(run).Load.Metrics *= 2 }
	doctored["sent"] = func(run *result.Run) { r(run).Load.Sent /= 2 }
	doctored["acknowledged"] = func(run *result.Run) { r(run).Load.Acked /= 2 }
	doctored["settled before all was acknowledged"] = func(run *result.Run) { r(run).Load.Settled = r(run).Load.Acked / 2 }
	doctored["rate"] = func(run *result.Run) { r(run).Load.Rates[0].Rows++ }
	doctored["retries"] = func(run *result.Run) { r(run).Load.Retries = &result.Retries{Tries: 3} }
	doctored["rows of mixed"] = func(run *result.Run) { r(run).Load.Mixed.Writes.Rows++ }
	doctored["rest"] = func(run *result.Run) { r(run).Load.Mixed.Rest = 9 }
	doctored["wall of mixed"] = func(run *result.Run) { r(run).Load.Mixed.Wall /= 2 }
	doctored["queries/s of mixed"] = func(run *result.Run) { r(run).Load.Mixed.Types[0].PerSecond *= 2 }
	doctored["queries of mixed"] = func(run *result.Run) { r(run).Load.Mixed.Types[0].Executed++ }
	for name, change := range doctored {
		bad := again(t, run)
		change(bad)
		unchecked, err := analysis.Check(bad, [][]byte{log}, checkPeriod)
		if !errors.Is(err, analysis.ErrContradiction) || unchecked != "" || !strings.Contains(fmt.Sprint(err), " in the run, ") || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v, %q", name, err, unchecked)
		}
	}
	bad := again(t, run)
	first := bad.Targets[0].Repeats[0]
	first.Queries = slices.Clone(first.Queries)
	first.Queries[0].Service.Median /= 2
	bad.Targets[0].Repeats = []result.Repeat{first, bad.Targets[0].Repeats[0]}
	if _, err := analysis.Check(bad, [][]byte{log}, checkPeriod); !errors.Is(err, analysis.ErrContradiction) || !strings.Contains(err.Error(), " is in the run twice") {
		t.Errorf("a round that is there twice: %v", err)
	}
	bad = again(t, run)
	bad.Targets[0].Repeats[0].Queries[0].Service.Median = 0.000001
	want := fmt.Sprintf("median of service of closed of a in round 1 is 1e-06 in the run, %v in the log", run.Targets[0].Repeats[0].Queries[0].Service.Median)
	if _, err := analysis.Check(bad, [][]byte{log}, checkPeriod); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("said %v, want %s", err, want)
	}
}

// The failed queries of a life are in the log, including queries that were cut off, and queries of a type with wrong
// answers.
func TestFailuresOfLife(t *testing.T) {
	run, log := aRun(t)
	l := run.Targets[0].Repeats[0].Load
	l.Life, l.Mixed = &result.Life{Base: *l.Mixed, Failed: l.Mixed.Types[0].AtLeast}, nil
	if l.Life.Failed == 0 {
		t.Fatal("no query was cut off")
	}
	for _, withheld := range []string{"", "a wrong answer"} {
		l.Life.Base.Types[0].Withheld = withheld
		if _, err := analysis.Check(run, [][]byte{log}, checkPeriod); err != nil {
			t.Errorf("withheld %q: %v", withheld, err)
		}
	}
	l.Life.Failed--
	if _, err := analysis.Check(run, [][]byte{log}, checkPeriod); !errors.Is(err, analysis.ErrContradiction) {
		t.Errorf("a failed query that the life does not mention: %v", err)
	}
}

// Failed operations that the run does not mention are a contradiction.
func TestFailuresThatAreNotSaid(t *testing.T) {
	run, _ := aRun(t)
	run.Targets[0].Repeats[0].Load, run.Targets[0].Repeats[0].Queries = nil, run.Targets[0].Repeats[0].Queries[:1]
	var out bytes.Buffer
	w, err := oplog.NewWriter(&out, oplog.Header{})
	if err != nil {
		t.Fatal(err)
	}
	s := w.Section(oplog.Cell{Kind: oplog.Query, Target: "a", Repeat: 1, Type: "closed", Queries: 2, Workers: 1})
	r := s.Recorder(0, time.Now())
	r.Record(oplog.Op{Duration: time.Millisecond, Rows: 1})
	r.Record(oplog.Op{Duration: time.Millisecond, Sequence: 1, Outcome: oplog.Failed})
	r.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := oplog.NewReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	a, err := analysis.Log(reader, 0)
	if err != nil {
		t.Fatal(err)
	}
	run.Targets[0].Repeats[0].Queries[0] = *a.Cells[0].Queries
	if _, err := analysis.Check(run, [][]byte{out.Bytes()}, 0); err == nil || !strings.Contains(err.Error(), "failed queries of closed of a in round 1 is 0 in the run, 1 in the log") {
		t.Errorf("said %v", err)
	}
}

// Figures missing in the log are reported as unchecked, and are not a contradiction.
func TestUnchecked(t *testing.T) {
	run, log := aRun(t)
	_, other := aRun(t)
	lost := again(t, run)
	lost.LostOperations = 5
	for name, c := range map[string]struct {
		run  *result.Run
		logs [][]byte
		want string
	}{
		"none":            {run, nil, "the export has no operation log"},
		"cut off":         {run, [][]byte{log[:len(log)/2]}, "the operation log was cut off"},
		"cut off, all in": {run, [][]byte{log, log[:len(log)/2]}, ""},
		"no log":          {run, [][]byte{[]byte("no log")}, "the operation log cannot be read"},
		"operations lost": {lost, [][]byte{other}, "the operation log lacks 5 operations"},
		"resumed":         {run, [][]byte{other[:0:0], log}, ""},
		"of another run":  {run, [][]byte{emptyLog(t)}, "the operation log has nothing of load 1 of a"},
	} {
		if unchecked, err := analysis.Check(c.run, c.logs, checkPeriod); err != nil || unchecked != c.want {
			t.Errorf("%s: %v, %q, want %q", name, err, unchecked, c.want)
		}
	}
	// For a repeated measurement the last try counts, or another attempt.
	if unchecked, err := analysis.Check(run, [][]byte{other, log}, checkPeriod); err != nil || unchecked != "" {
		t.Errorf("measured again: %v, %q", err, unchecked)
	}
	none := *run
	none.Targets = nil
	if unchecked, err := analysis.Check(&none, [][]byte{log}, checkPeriod); err != nil || unchecked != "" {
		t.Errorf("nothing measured: %v, %q", err, unchecked)
	}
}

func emptyLog(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := oplog.NewWriter(&out, oplog.Header{})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Each number in the record of a query type or a load is compared, or listed here as independent of
// the operations.
func TestEveryFigureIsCompared(t *testing.T) {
	run, log := aRun(t)
	ignored := map[string]bool{"distinct": true, "timeout": true, "time_box": true, "batch_size": true, "prepare": true, "settled": true,
		"disk_bytes": true, "disk_before": true, "disk_settled": true, "skipped": true}
	for what, of := range map[string]func(*result.Run) reflect.Value{
		"queries": func(run *result.Run) reflect.Value {
			return reflect.ValueOf(&run.Targets[0].Repeats[0].Queries[0]).Elem()
		},
		"load": func(run *result.Run) reflect.Value { return reflect.ValueOf(run.Targets[0].Repeats[0].Load).Elem() },
		"summary": func(run *result.Run) reflect.Value {
			return reflect.ValueOf(&run.Targets[0].Repeats[0].Queries[0].Service.Summary).Elem()
		},
	} {
		for i := range of(run).NumField() {
			bad := again(t, run)
			field := of(bad).Field(i)
			name, _, _ := strings.Cut(of(bad).Type().Field(i).Tag.Get("json"), ",")
			switch {
			case field.CanInt():
				field.SetInt(field.Int() + 1)
			case field.CanFloat():
				field.SetFloat(field.Float() + 1)
			default:
				continue
			}
			if _, err := json.Marshal(bad); err != nil {
				t.Fatal(err)
			}
			if _, err := analysis.Check(bad, [][]byte{log}, checkPeriod); (err == nil) != ignored[name] {
				t.Errorf("%s: %s: %v", what, name, err)
			}
		}
	}
}

// Whatever operations a log has, a check ends without a panic.
func TestHostileLogs(t *testing.T) {
	run, log := aRun(t)
	extreme := []int64{math.MinInt64, -1, 0, 1, 1 << 40, math.MaxInt64}
	random := rand.New(rand.NewPCG(1, 2))
	any := func() int64 { return extreme[random.IntN(len(extreme))] }
	for range 6 {
		var out bytes.Buffer
		w, err := oplog.NewWriter(&out, oplog.Header{})
		if err != nil {
			t.Fatal(err)
		}
		for cell := range 80 {
			c := oplog.Cell{Kind: oplog.Query, Target: "a", Repeat: 1, Type: "closed", Setting: fmt.Sprint(cell), Queries: int(any()), Workers: int(any()), First: int(any())}
			if cell%2 == 0 {
				c = oplog.Cell{Kind: oplog.Load, Target: "a", Repeat: 1, Part: []oplog.Part{"", oplog.Mixed, oplog.Rest}[cell%3], Setting: fmt.Sprint(cell / 6)}
			}
			r := w.Section(c).Recorder(0, time.Now())
			for range 20 {
				r.Record(oplog.Op{Outcome: oplog.Outcome(random.IntN(int(oplog.Outcomes))), Sequence: any(), Query: any(), Start: time.Duration(any()), Intended: time.Duration(any()),
					Lag: time.Duration(any()), Duration: time.Duration(any()), Sent: time.Duration(any()), Rows: any(), Bytes: any(), Values: any(), Client: time.Duration(any())})
			}
			r.Close()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if unchecked, err := analysis.Check(run, [][]byte{out.Bytes()}, checkPeriod); err == nil && unchecked == "" {
			t.Error("operations of nothing agree with a run")
		}
	}
	for range 40 {
		damaged := bytes.Clone(log)
		damaged[random.IntN(len(damaged))] ^= byte(1 + random.IntN(255))
		if _, err := analysis.Check(run, [][]byte{damaged}, checkPeriod); err != nil {
			t.Errorf("a damaged log: %v", err)
		}
	}
}
