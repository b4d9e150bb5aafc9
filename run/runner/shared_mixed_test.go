package runner_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/series"
)

// mixing is small with a mixed phase, over four hours.
func mixing(t *testing.T, w string) *experiment.Experiment {
	e := small(t, w)
	e.Workload.End = e.Workload.Start.Add(4 * time.Hour)
	e.Mixed = experiment.Mixed{Loaded: 50, Writes: "30"}
	return e
}

// joining turns a driver with targets in this process into a driver that several processes can
// write to. Its targets can be hindered.
func joining(kind driver.Driver, write func(*series.Batch), do func(context.Context, driver.Querier, driver.Request, query.Sink) (driver.Cost, error)) driver.Driver {
	kind = memory.ChangeCaps(kind, func(c *driver.Caps) { c.Embedded = false })
	kind.Name = "shared"
	open := kind.Open
	schema := new(atomic.Pointer[series.Schema])
	kind.Options = append(kind.Options, driver.Option{Name: "path"}, driver.Option{Name: "journal_mode"})
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		return driver.DB{Required: &joinable{db, schema, write, do}, Optional: driver.Optional{Join: join}}, err
	}
	return kind
}

type joinable struct {
	driver.Required
	schema *atomic.Pointer[series.Schema] // by which the tables were created
	write  func(*series.Batch)
	do     func(context.Context, driver.Querier, driver.Request, query.Sink) (driver.Cost, error)
}

func (j *joinable) Create(ctx context.Context, s *series.Schema) error {
	j.schema.Store(s)
	return j.Required.Create(ctx, s)
}

func (j *joinable) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := j.Required.NewWriter(ctx, worker)
	return &hinderedWriter{Writer: w, of: j}, err
}

func (j *joinable) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := j.Required.NewQuerier(ctx, worker)
	return hinderedQuerier{q, j.do}, err
}

type hinderedWriter struct {
	driver.Writer
	of   *joinable
	rows series.Batch
}

// Write writes the rows as rows of the tables that were created: each client has tables
// of its own.
func (w *hinderedWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if w.of.write != nil {
		w.of.write(b)
	}
	w.rows.Reset()
	for i := range b.Runs {
		run := &b.Runs[i]
		places := make([]uint32, run.Rows())
		for row := range places {
			places[row] = uint32(row)
		}
		to := w.rows.Add(w.of.schema.Load().Table(run.Table.Name))
		to.Grow(len(places))
		to.Copy(0, run, places)
	}
	return w.Writer.Write(ctx, &w.rows)
}

type hinderedQuerier struct {
	driver.Querier
	do func(context.Context, driver.Querier, driver.Request, query.Sink) (driver.Cost, error)
}

func (q hinderedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.do != nil {
		return q.do(ctx, q.Querier, r, sink)
	}
	return q.Querier.Do(ctx, r, sink)
}

// checkMixed checks a run with a mixed phase by the given number of agents.
func checkMixed(t *testing.T, what string, run *result.Run, n int) {
	t.Helper()
	l := run.Targets[0].Load
	if !run.Passed() || l.Withheld != "" || len(l.Census) == 0 || l.AllRows() != run.Dataset.Rows || l.Mixed == nil {
		t.Fatalf("%s: %s; withheld %q, %d of %d rows", what, run.Reason, l.Withheld, l.AllRows(), run.Dataset.Rows)
	}
	m := l.Mixed
	if len(m.Writes.Parts) != n || len(l.Parts) != n || m.Writes.Workers != 5 || m.Queriers != 4 || m.Writes.Settled < m.Writes.Acked || m.Wall < m.Writes.Acked {
		t.Errorf("%s: %d and %d parts, %d workers, %d queriers, acknowledged after %v s, settled after %v s, %v s in all", what, len(l.Parts), len(m.Writes.Parts), m.Writes.Workers, m.Queriers, m.Writes.Acked, m.Writes.Settled, m.Wall)
	}
	rows, batches, queries, executed := int64(0), int64(0), int64(0), int64(0)
	for _, p := range m.Writes.Parts {
		rows, batches, queries = rows+p.Rows, batches+p.Batches.Count, queries+p.Queries
		if p.Lost != "" || p.Service == nil {
			t.Errorf("%s: part %+v", what, p)
		}
	}
	for _, q := range m.Types {
		executed += q.Executed
		// An agent has the answer to one of its first three queries compared.
		few := q.Executed <= int64(2*max(n, 1)) && q.Verdict.Difference == ""
		if q.Unsupported == "" && (!q.Verdict.OK() && !few || q.Stale+q.Unexamined > 0) {
			t.Errorf("%s, %s: %d run, %s, %d stale, %d not examined, withheld %q", what, q.Type, q.Executed, q.Verdict, q.Stale, q.Unexamined, q.Withheld)
		}
	}
	if n > 0 && (rows != m.Writes.Rows || batches != m.Writes.Batches.Count || queries != executed) || executed == 0 {
		t.Errorf("%s: parts have %d rows, %d batches and %d queries, the whole %d, %d and %d", what, rows, batches, queries, m.Writes.Rows, m.Writes.Batches.Count, executed)
	}
}

// One, two and four agents write the rest of the dataset exactly and every answer is correct, as
// with one process, on SQLite and in memory: by share, by rates for a limited time, and at full
// speed. Each pair of values is tested, and each number of agents in some of the runs.
func TestAgentsMixed(t *testing.T) {
	slowtest.Skip(t)
	ways := map[string]experiment.Mixed{
		"by share":           {Loaded: 50, Writes: "30", Weights: "3:1:1"},
		"for a time":         {Loaded: 40, RowRate: "10000/s", QueryRate: "300/s", Duration: 500 * time.Millisecond},
		"as fast as it goes": {Loaded: 50, RowRate: experiment.MaxRate, QueryRate: experiment.MaxRate},
	}
	kinds := map[string]func() driver.Driver{
		"SQLite": func() driver.Driver { return (&world{delay: time.Millisecond}).driver() },
		"memory": func() driver.Driver {
			return joining(memory.Driver("shared"), func(*series.Batch) { time.Sleep(time.Millisecond) }, nil)
		},
	}
	combination := 0
	for n, name := range []string{"cpu-only", "iotdb"} {
		for w, way := range slices.Sorted(maps.Keys(ways)) {
			for k, where := range slices.Sorted(maps.Keys(kinds)) {
				if (n+w+k)%2 > 0 {
					continue
				}
				mixed, count := ways[way], []int{0, 1, 2, 4}[combination%4]
				combination++
				c := catalogOf(kinds[where]())
				var agents shared.Agents
				if count > 0 {
					agents = newCrew(t, count, c)
				}
				e := mixing(t, name)
				e.Mixed = mixed
				if name == "iotdb" {
					e.Mixed.Weights = ""
				}
				what := fmt.Sprintf("%s, %s, %s, %d agents", name, where, way, count)
				run, err := execute(t, e, c, agents, everything)
				if err != nil {
					t.Fatal(what, err)
				}
				checkMixed(t, what, run, count)
				m := run.Targets[0].Load.Mixed
				if rest := mixed.Duration > 0; (m.Rest > 0) != rest || rest && (m.Response == nil || m.Lag == nil || m.Lag.Count != m.Arrivals || m.Arrivals < 30) {
					t.Errorf("%s: %d rows were left; %d arrivals", what, m.Rest, m.Arrivals)
				}
			}
		}
	}
}

// Rows that agents wrote and that the target shows late make answers stale; answers that were never
// correct are wrong, and withhold their type.
func TestAgentsMixedNotRight(t *testing.T) {
	slowtest.Skip(t)
	const delay = 80 * time.Millisecond
	pause := func(*series.Batch) { time.Sleep(2 * time.Millisecond) }
	var answers atomic.Int64
	for name, c := range map[string]struct {
		kind  driver.Driver
		stale bool
	}{
		"late": {joining(memory.SlowDriver("shared", delay), pause, nil), true},
		"lying": {joining(memory.Driver("shared"), pause, func(ctx context.Context, q driver.Querier, r driver.Request, sink query.Sink) (driver.Cost, error) {
			if answers.Add(1)%3 == 0 { // rows that are being written
				r.Text = strings.Replace(r.Text, `"end":"2016-01-01T0`, `"end":"2016-01-01T1`, 1)
			}
			return q.Do(ctx, r, sink)
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := catalogOf(c.kind)
			e := mixing(t, "cpu-only")
			e.Mixed = experiment.Mixed{Loaded: 50, RowRate: experiment.MaxRate, QueryRate: experiment.MaxRate}
			e.Load.BatchSize = 50
			run, err := execute(t, e, catalog, newCrew(t, 3, catalog), plan.Steps{Load: true, Verify: true})
			if err != nil {
				t.Fatal(err)
			}
			m := run.Targets[0].Load.Mixed
			stale := int64(0)
			for _, q := range m.Types {
				stale += q.Stale
				if f := q.Freshness; f.Max > delay.Seconds()+0.01 {
					t.Errorf("%s: stale by %v s", q.Type, f.Max)
				}
			}
			switch {
			case c.stale && (stale == 0 || m.Problem() != "" || !run.Passed()):
				t.Errorf("%d stale, problem %q, %s", stale, m.Problem(), run.Reason)
			case !c.stale && (run.Passed() || !strings.Contains(m.Problem(), "no older state matches it")):
				t.Errorf("problem %q of a target that lies", m.Problem())
			}
		})
	}
}

// If an agent is lost at any time of a mixed phase, the phase is withheld and names the agent; the
// others, which would wait for its rows, are stopped.
func TestLostAgentsMixed(t *testing.T) {
	slowtest.Skip(t)
	random := rand.New(rand.NewPCG(18, 51))
	for i := range 10 {
		kind := joining(memory.Driver("shared"), func(*series.Batch) { time.Sleep(100 * time.Microsecond) }, nil)
		c := catalogOf(kind)
		agents := newCrew(t, 3, c)
		victim, after := random.IntN(3), 1+random.Int64N(2700)
		if i%10 == 1 {
			after = 0 // before it is ready
		}
		agents.dies = func(call, member int) int64 {
			if call == 3 && member == victim { // the first one calibrates, and the second one loads
				return after
			}
			return -1
		}
		begin := time.Now()
		run, err := execute(t, mixing(t, "cpu-only"), c, agents, plan.Steps{Load: true, Verify: true})
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		l := run.Targets[0].Load
		want := fmt.Sprintf("share %d of 3 is missing: agent %s was lost", victim+1, nameOf(victim))
		switch {
		case after == 0:
			checkMixed2(t, fmt.Sprint(i), run)
		case run.Passed() || !strings.Contains(l.Withheld, want) || run.Agents[victim].Lost == "" || len(l.Mixed.Writes.Parts) != 3:
			t.Errorf("%d: agent %s died after %d rows: withheld %q, parts %+v", i, nameOf(victim), after, l.Withheld, l.Mixed.Writes.Parts)
		}
		for _, p := range l.Mixed.Writes.Parts {
			if p.Agent != nameOf(victim) && after > 0 && !strings.HasPrefix(p.Lost, "stopped, since agent "+nameOf(victim)) {
				t.Errorf("%d: agent %s: %q", i, p.Agent, p.Lost)
			}
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%d: took %v", i, took)
		}
	}
}

// checkMixed2 checks a run that started with three agents and whose mixed phase ran with two.
func checkMixed2(t *testing.T, what string, run *result.Run) {
	t.Helper()
	l := run.Targets[0].Load
	if !run.Passed() || l.AllRows() != run.Dataset.Rows || len(l.Parts) != 3 || len(l.Mixed.Writes.Parts) != 2 {
		t.Errorf("%s: %s, withheld %q, %d rows, %d and %d parts", what, run.Reason, l.Withheld, l.AllRows(), len(l.Parts), len(l.Mixed.Writes.Parts))
	}
}

// If rows cannot be duplicated, another agent loads a lost agent's share of the rows that a mixed
// phase had no time for.
func TestLostAgentsAfterMixed(t *testing.T) {
	slowtest.Skip(t)
	for _, dedupes := range []bool{true, false} {
		w := &world{dedupes: dedupes, delay: time.Millisecond}
		c := catalogOf(w.driver())
		agents := newCrew(t, 3, c)
		agents.dies = func(call, member int) int64 {
			if call == 4 && member == 1 {
				return 100
			}
			return -1
		}
		e := mixing(t, "cpu-only")
		e.Mixed = experiment.Mixed{Loaded: 30, RowRate: "10000/s", Duration: 100 * time.Millisecond}
		run, err := execute(t, e, c, agents, plan.Steps{Load: true, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		l := run.Targets[0].Load
		if dedupes != run.Passed() || dedupes && (l.AllRows() != run.Dataset.Rows || l.Mixed.Rest == 0) || !dedupes && !strings.Contains(l.Withheld, "share 2 of 3 is missing: agent b was lost") {
			t.Errorf("dedupes %v: withheld %q, %d rows were left, %d in all", dedupes, l.Withheld, l.Mixed.Rest, l.AllRows())
		}
	}
}

// Ctrl-C stops all agents in a mixed phase, and the record has their progress.
func TestAgentsMixedInterrupted(t *testing.T) {
	slowtest.Skip(t)
	var i interrupter
	c := catalogOf(joining(memory.Driver("shared"), func(*series.Batch) { i.onWrite() }, nil))
	p, err := plan.NewPlan(mixing(t, "cpu-only"), c, plan.Steps{Load: true, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	l := runInterrupted(t, c, p, 3, &i)
	if l == nil || l.Withheld == "" || l.Mixed == nil || l.Mixed.Writes.Rows == 0 || l.AllRows() >= 18720 || len(l.Mixed.Writes.Parts) != 2 {
		t.Errorf("%+v", l)
	}
}
