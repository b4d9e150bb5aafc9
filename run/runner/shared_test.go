package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/engine/peertest"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/all"
)

// crew is agents in this process, connected to a runner as by NATS.
type crew struct {
	t          testing.TB
	mu         sync.Mutex
	agents     []*shared.Agent // nil: the agent is lost
	public     bool            // messages can be read by others
	bodies     [][]byte
	calls      int
	stopWithin time.Duration
	dismissed  []string                      // malformed messages of members
	alters     func(member int, file string) // changes the output of a member; nil: none
	requested  map[string]bool               // processes that requested to join
	// dies is the number of rows or queries in a call after which a member is lost; 0: before it is
	// ready; negative: never.
	dies func(call, member int) int64
}

func newCrew(t testing.TB, n int, c plan.Catalog) *crew {
	f := &crew{t: t}
	for range n {
		f.agents = append(f.agents, &shared.Agent{Catalog: c, Allow: func(allow.Needs) error { return nil }})
	}
	return f
}

func nameOf(i int) string { return string(rune('a' + i)) }

// Members implements shared.Agents.
func (f *crew) Members() (list []shared.Member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, a := range f.agents {
		if a != nil {
			list = append(list, shared.Member{ID: fmt.Sprint(i), Name: nameOf(i), Process: "process " + nameOf(i)})
		}
	}
	return list
}

// Private implements shared.Agents.
func (f *crew) Private() bool { return !f.public }

// Dismiss implements shared.Agents.
func (f *crew) Dismiss(member, sent string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var at int
	fmt.Sscan(member, &at)
	f.agents[at] = nil
	f.dismissed = append(f.dismissed, sent)
}

// StopWithin implements shared.Agents.
func (f *crew) StopWithin() time.Duration { return f.stopWithin }

// HasRequested implements shared.Agents.
func (f *crew) HasRequested(process string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requested[process]
}

// phase is the shared state of the links of one call.
type phase struct {
	mu              sync.Mutex
	of, ready, done int
	failed          bool
	started         chan struct{} // is closed when all start, or are called off
	at              time.Time     // zero: called off
}

// look starts all, or calls them off; the lock is held.
func (p *phase) look() {
	select {
	case <-p.started:
		return
	default:
	}
	if p.failed {
		close(p.started)
	} else if p.ready+p.done == p.of {
		p.at = time.Now().Add(5 * time.Millisecond)
		close(p.started)
	}
}

// link is a shared.Link.
type link struct {
	*os.File
	*peertest.Client
	of     *phase
	member string
	watch  shared.PhaseObserver
	dies   int64
	kill   context.CancelFunc
	dead   bool
	began  time.Time
}

var errCalledOff = errors.New("called off")

func (l *link) Ready(ctx context.Context) (time.Time, error) {
	l.of.mu.Lock()
	if l.dies == 0 {
		l.dead = true
		l.of.mu.Unlock()
		l.kill()
		return time.Time{}, ctx.Err()
	}
	l.of.ready++
	l.of.look()
	l.of.mu.Unlock()
	<-l.of.started
	if l.of.at.IsZero() {
		return time.Time{}, errCalledOff
	}
	l.began = l.of.at
	return l.of.at, ctx.Err()
}

func (l *link) Progress(done int64) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	l.watch.Progress(l.member, done)
	if l.dies > 0 && done >= l.dies {
		l.dead = true
		l.kill()
	}
}

// Do implements shared.Agents.
func (f *crew) Do(ctx context.Context, parts map[string][]byte, watch shared.PhaseObserver) (map[string]shared.Outcome, error) {
	f.mu.Lock()
	f.calls++
	call := f.calls
	f.mu.Unlock()
	p := &phase{of: len(parts), started: make(chan struct{})}
	peers := peertest.New(len(parts), 5*time.Millisecond)
	outcomes := make(map[string]shared.Outcome)
	var wait sync.WaitGroup
	for id, body := range parts {
		var at int
		fmt.Sscan(id, &at)
		f.bodies = append(f.bodies, body)
		wait.Go(func() {
			file, err := os.CreateTemp(f.t.TempDir(), "part")
			if err != nil {
				f.t.Error(err)
			}
			ctx, kill := context.WithCancel(ctx)
			defer kill()
			l := &link{File: file, Client: peers.Client(at), of: p, member: id, watch: watch, dies: -1, kill: kill}
			if f.dies != nil {
				l.dies = f.dies(call, at)
			}
			err = f.agents[at].Do(ctx, body, l)
			p.mu.Lock()
			defer p.mu.Unlock()
			o := shared.Outcome{File: file.Name(), Err: err, CalledOff: errors.Is(err, errCalledOff), Started: l.began}
			if l.dead {
				o = shared.Outcome{Lost: true, Err: fmt.Errorf("agent %s was lost", nameOf(at))}
				_ = os.Remove(file.Name())
				f.mu.Lock()
				f.agents[at] = nil
				f.mu.Unlock()
			}
			_ = file.Close()
			if f.alters != nil {
				f.alters(at, file.Name())
			}
			p.done++
			p.failed = p.failed || o.Err != nil
			p.look()
			if o.Err != nil && !p.at.IsZero() {
				watch.PartFailed(id, o.Lost)
			}
			outcomes[id] = o
		})
	}
	wait.Wait()
	return outcomes, context.Cause(ctx)
}

// world simulates a server with SQLite: several handles of a file. One of them writes the rows of
// all, and keeps, if it dedupes, one row per series and time.
type world struct {
	dedupes bool
	delay   time.Duration    // of a query and of a batch
	texts   []string         // of queries that were run, in their order
	fails   int              // the batch that cannot be written, from 1; 0: none
	agents  int              // no agent writes its second batch before this number of agents have stored one
	stored  map[*handle]bool // handles that have stored a batch
	onWrite func()           // is called before each batch; nil: nothing is
	inOrder time.Duration    // Caps.InOrder
	mu      sync.Mutex
	newest  map[string]int64 // time of a table's series
	late    int              // rows that came after newer ones of their series
	batches int
	there   map[string]bool
	main    driver.Required // created the tables; nil: tables and rows are gone
	schema  *series.Schema
	writer  driver.Writer // of main, for all; nil: none is open
}

func (w *world) driver() driver.Driver {
	k := sqlite.Driver()
	caps, open := k.Caps, k.Open
	k.Name = "shared"
	k.Options = append(slices.Clone(k.Options), driver.Option{Name: "password", Secret: true})
	k.Caps = func(o driver.Options) driver.Caps {
		c := caps(o)
		c.Embedded, c.MaxWriters, c.Dedupes, c.InOrder = false, 0, w.dedupes, w.inOrder
		return c
	}
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		if o["password"] != "" && o["password"] != "a secret word" {
			return driver.DB{}, errors.New("the password is wrong")
		}
		db, err := open(ctx, env, o)
		return driver.DB{Required: &handle{db, w}, Optional: driver.Optional{Join: join}}, err
	}
	return k
}

type handle struct {
	driver.Required
	of *world
}

func (h *handle) Create(ctx context.Context, s *series.Schema) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.of.main, h.of.schema, h.of.there, h.of.newest = h.Required, s, make(map[string]bool), make(map[string]int64)
	return h.Required.Create(ctx, s)
}

// join is driver.Optional's Join without any action.
func join(context.Context, *series.Schema) error { return nil }

func (h *handle) Settle(ctx context.Context) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if w := h.of.writer; w != nil {
		h.of.writer = nil
		if err := w.Close(); err != nil {
			return err
		}
	}
	return h.Required.Settle(ctx)
}

func (h *handle) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := h.Required.NewQuerier(ctx, worker)
	return &delayed{q, h.of}, err
}

// delayed answers queries with a delay.
type delayed struct {
	driver.Querier
	of *world
}

func (d *delayed) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	time.Sleep(d.of.delay)
	d.of.mu.Lock()
	d.of.texts = append(d.of.texts, r.Text)
	d.of.mu.Unlock()
	return d.Querier.Do(ctx, r, sink)
}

func (h *handle) NewWriter(context.Context, int) (driver.Writer, error) {
	return &writer{of: h.of, from: h}, nil
}

type writer struct {
	of    *world
	from  *handle
	fresh series.Batch
}

func (*writer) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (*writer) Close() error                                  { return nil }

func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	time.Sleep(w.of.delay)
	if w.of.onWrite != nil {
		w.of.onWrite()
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	for w.of.stored[w.from] && len(w.of.stored) < w.of.agents && ctx.Err() == nil {
		w.of.mu.Unlock()
		time.Sleep(time.Millisecond)
		w.of.mu.Lock()
	}
	if err := ctx.Err(); err != nil {
		return driver.Receipt{}, err
	}
	if w.of.batches++; w.of.batches == w.of.fails {
		return driver.Receipt{}, errors.New("the disk is full")
	}
	if w.of.main == nil {
		return driver.Receipt{Rows: int64(b.Rows())}, nil
	}
	w.fresh.Reset()
	for i := range b.Runs {
		run := &b.Runs[i]
		var places []uint32
		for row, s := range run.Series {
			of := fmt.Sprint(run.Table.Name, " ", s)
			if w.of.newest[of] > run.Times[row] {
				w.of.late++
			}
			w.of.newest[of] = max(w.of.newest[of], run.Times[row])
			key := fmt.Sprint(of, " ", run.Times[row])
			if len(w.of.schema.Shared) > 0 && w.of.schema.Shared[0].Has(run.Series[row]) { // it identifies rows by tags
				key = fmt.Sprint(run.Table.Name, w.of.schema.Representative(run.Series[row]), " ", run.Times[row])
			}
			if !w.of.dedupes || !w.of.there[key] {
				places = append(places, uint32(row))
			}
			w.of.there[key] = true
		}
		to := w.fresh.Add(w.of.schema.Table(run.Table.Name))
		to.Grow(len(places))
		to.Copy(0, run, places)
	}
	var err error
	if w.of.writer == nil {
		if w.of.writer, err = w.of.main.NewWriter(context.WithoutCancel(ctx), 0); err != nil {
			return driver.Receipt{}, err
		}
	}
	receipt, err := w.of.writer.Write(context.WithoutCancel(ctx), &w.fresh)
	receipt.Rows = int64(b.Rows())
	if w.of.stored == nil {
		w.of.stored = make(map[*handle]bool)
	}
	w.of.stored[w.from] = true
	return receipt, err
}

// noStore is a record.Store that keeps nothing.
type noStore struct{ record.Store }

func (noStore) Begin(_ context.Context, r *result.Run) error { r.ID = "run"; return nil }
func (noStore) Append(context.Context, *result.Run, *result.Piece) error {
	return nil
}
func (noStore) Save(context.Context, *result.Run) error { return nil }
func (noStore) Discard(context.Context, string) error   { return nil }
func (noStore) RunsThatLoaded(context.Context, string, string) ([]string, error) {
	return nil, nil
}
func (noStore) Lock(context.Context, string) (func(), error) { return func() {}, nil }

type silent struct{}

func (silent) Start(string, string, int64) record.Task { return silent{} }
func (silent) Overall(record.Overall)                  {}
func (silent) Add(int64)                               {}
func (silent) Finish(string)                           {}
func (silent) Fail(string)                             {}

func catalogOf(kinds ...driver.Driver) plan.Catalog {
	return plan.Catalog{
		SampleRows: 100, CalibrationTime: 50 * time.Millisecond,
		Workload: func(name string) (workload.Workload, error) {
			for _, w := range all.Workloads(nil) {
				if w.Name() == name {
					return w, nil
				}
			}
			return nil, errors.New("there is no such workload")
		},
		Driver: func(name string) (driver.Driver, error) {
			for _, k := range kinds {
				if k.Name == name {
					return k, nil
				}
			}
			return driver.Driver{}, errors.New("there is no such driver")
		},
	}
}

// small is an experiment that takes a second.
func small(t testing.TB, w string) *experiment.Experiment {
	e := experiment.Default()
	e.Workload.Name, e.Workload.Scale, e.Workload.End = w, 13, e.Workload.Start.Add(time.Hour)
	e.Targets = []experiment.Target{{Name: "x", Driver: "shared", Options: experiment.Options{"path": filepath.Join(t.TempDir(), "x.sqlite"), "journal_mode": "wal"}}}
	e.Load.Workers, e.Load.BatchSize = 5, 97
	e.Queries.Workers, e.Queries.Count, e.Queries.TimeBox, e.Queries.Repeats, e.Queries.CheckSeed = 4, 60, 0, 1, "a seed"
	e.Queries.Seed = 7 // different from the dataset's
	e.Queries.Types = []string{"single-groupby-1-1-1", "single-groupby-1-8-1", "lastpoint"}
	if w == "iotdb" {
		e.Queries.Types = []string{experiment.AllTypes}
	}
	return e
}

// execute runs an experiment with agents; nil: without.
func execute(t *testing.T, e *experiment.Experiment, c plan.Catalog, agents shared.Agents, steps plan.Steps) (*result.Run, error) {
	t.Helper()
	p, err := plan.NewPlan(e, c, steps)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}, Agents: agents}
	// Data of other tests on the server may be dropped.
	r.Force = func(context.Context, string, []string) error { return nil }
	run, err := runPlan(t.Context(), r, p)
	if run != nil {
		agreesWithLog(t, r.Dir, run, e)
	}
	return run, err
}

// agreesWithLog compares all figures of a run with those derived from its operation logs.
func agreesWithLog(t *testing.T, dir string, run *result.Run, e *experiment.Experiment) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, run.ID, "*.oplog"))
	if err != nil {
		t.Fatal(err)
	}
	var logs [][]byte
	for _, name := range names {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, log)
	}
	if unchecked, err := analysis.Check(run, logs, e.Load.ReportingPeriod); err != nil || unchecked != "" && (len(logs) > 0 || run.Status == result.Complete) {
		t.Errorf("the figures of a run and of its log: %v, %s", err, unchecked)
	}
}

var everything = plan.Steps{Load: true, Verify: true, Query: true}

// One, two and four agents load exactly the dataset, and get correct answers to every query, each
// once, as one process does.
func TestAgentsAsOne(t *testing.T) {
	for _, name := range []string{"cpu-only", "iotdb"} {
		queries := make(map[string][]int)
		for _, n := range []int{0, 1, 2, 4} {
			w := &world{}
			c := catalogOf(w.driver())
			var agents shared.Agents
			if n > 0 {
				agents = newCrew(t, n, c)
			}
			run, err := execute(t, small(t, name), c, agents, everything)
			if err != nil || run.Status != result.Complete {
				t.Fatalf("%s, %d agents: %v, %s", name, n, err, run.Reason)
			}
			x := run.Targets[0]
			if !run.Passed() || x.Load.Withheld != "" || len(x.Load.Census) == 0 || x.Load.Rows != run.Dataset.Rows || x.Load.Settled < x.Load.Sent || x.Load.Workers != 5 {
				t.Errorf("%s, %d agents: %+v", name, n, x.Load)
			}
			if len(x.Load.Parts) != n || len(run.Agents) != n {
				t.Errorf("%s: %d parts of %d agents, %d in the record", name, len(x.Load.Parts), n, len(run.Agents))
			}
			rows := int64(0)
			for _, p := range x.Load.Parts {
				rows += p.Rows
			}
			if n > 0 && rows != x.Load.Rows {
				t.Errorf("%s: parts have %d rows, the whole %d", name, rows, x.Load.Rows)
			}
			for _, q := range x.Queries {
				if q.Unsupported != "" {
					continue
				}
				if q.Withheld != "" || !q.Verdict.OK() {
					t.Errorf("%s, %d agents, %s: withheld %q, %+v", name, n, q.Type, q.Withheld, q.Verdict)
				}
				got := []int{int(q.Executed), int(q.Sample.Captured), q.Distinct, q.Sample.Different, len(q.Each), int(q.Rows), q.Workers}
				if n == 0 {
					queries[q.Type] = got
				} else if !slices.Equal(got, queries[q.Type]) {
					t.Errorf("%s, %d agents, %s: %v, one process: %v", name, n, q.Type, got, queries[q.Type])
				}
			}
		}
	}
}

// Without a load there may be more querying agents than load workers.
func TestAgentsQueryAlone(t *testing.T) {
	w := &world{}
	c := catalogOf(w.driver())
	e := small(t, "cpu-only")
	if run, err := execute(t, e, c, nil, plan.Steps{Load: true}); err != nil || run.Status != result.Complete {
		t.Fatalf("%v, %+v", err, run)
	}
	e.Load.Workers = 1
	run, err := execute(t, e, c, newCrew(t, 4, c), plan.Steps{Verify: true, Query: true})
	if err != nil || !run.Passed() || len(run.Targets[0].Queries) != 3 || len(run.Targets[0].Queries[0].Parts) != 4 {
		t.Fatalf("%v, %s", err, run.Reason)
	}
}

// At a total arrival rate any number of agents keeps the same schedule.
func TestAgentsKeepTheRate(t *testing.T) {
	slowtest.Skip(t)
	for _, n := range []int{1, 2, 4} {
		w := &world{}
		c := catalogOf(w.driver())
		e := small(t, "cpu-only")
		e.Queries.Rate, e.Queries.Count, e.Queries.Types = "poisson:200/s", 100, []string{"single-groupby-1-1-1"}
		run, err := execute(t, e, c, newCrew(t, n, c), everything)
		if err != nil || !run.Passed() {
			t.Fatalf("%d agents: %v, %s", n, err, run.Reason)
		}
		q := run.Targets[0].Queries[0]
		if q.Open == nil || q.Open.Arrivals != 100 || q.Executed != 100 || q.Open.Offered < 120 || q.Open.Offered > 330 {
			t.Errorf("%d agents: %+v", n, q.Open)
		}
	}
}

// The agents' results add up to the total, and are measured in the same way; they share one sample
// of answers.
func TestPartsAddUp(t *testing.T) {
	const count = 240
	for _, rate := range []string{"", "200/s"} {
		for _, n := range []int{1, 3} {
			w := &world{delay: 3 * time.Millisecond}
			c := catalogOf(w.driver())
			e := small(t, "cpu-only")
			e.Queries.Workers, e.Queries.Rate, e.Queries.Count, e.Queries.Verify, e.Queries.Types = 6, rate, count, 80, []string{"single-groupby-1-1-1"}
			run, err := execute(t, e, c, newCrew(t, n, c), everything)
			if err != nil || !run.Passed() {
				t.Fatalf("%d agents at %q: %v, %s", n, rate, err, run.Reason)
			}
			q := run.Targets[0].Queries[0]
			executed, perSecond := int64(0), 0.0
			for i := range q.Parts {
				p := &q.Parts[i]
				executed, perSecond = executed+p.Queries, perSecond+p.QueryRate()
			}
			if q.Sample.Captured != 80 || executed != q.Executed {
				t.Errorf("%d agents at %q: %d ran, of all %d; %d answers were kept", n, rate, executed, q.Executed, q.Sample.Captured)
			}
			switch ratio := perSecond / q.PerSecond; {
			case n == 1 && perSecond != q.PerSecond:
				t.Errorf("at %q the agent did %v/s, and all %v/s", rate, perSecond, q.PerSecond)
			case ratio < 0.95 || ratio > 2.5: // each measures only its own time, and some end earlier
				t.Errorf("%d agents at %q: their rates add up to %v times that of all", n, rate, ratio)
			}
		}
	}
}

// All agents together search for the highest rate.
func TestAgentsFindTheRate(t *testing.T) {
	slowtest.Skip(t)
	w := &world{delay: 0}
	c := catalogOf(w.driver())
	e := small(t, "cpu-only")
	e.Queries.FindMaxRate, e.Queries.Types, e.Queries.TimeBox = "p50<5s", []string{"single-groupby-1-1-1"}, 20*time.Millisecond
	run, err := execute(t, e, c, newCrew(t, 2, c), everything)
	if err != nil || !run.Passed() {
		t.Fatal(err, run.Reason)
	}
	if q := run.Targets[0].Queries[0]; q.Open == nil || q.Open.Search == nil || len(q.Open.Search.Tries) < 2 || len(q.Parts) != 2 {
		t.Errorf("%+v", q.Open)
	}
}

// Secrets are sent only over private connections; otherwise agents have them in their own
// environment, or report the missing ones.
func TestSecretsOfAgents(t *testing.T) {
	for _, public := range []bool{false, true} {
		w := &world{}
		c := catalogOf(w.driver())
		c.Environ = []string{"TSMARK_X_PASSWORD=a secret word"}
		e := small(t, "cpu-only")
		e.Queries.Types = nil
		for _, environ := range [][]string{nil, c.Environ} {
			agents := newCrew(t, 2, c)
			agents.public = public
			for _, a := range agents.agents {
				a.Catalog.Environ = environ
			}
			run, err := execute(t, e, c, agents, everything)
			missing := public && environ == nil
			if passed := err == nil && run.Passed(); passed == missing {
				t.Errorf("public %v, environment %v: %v, %+v", public, environ, err, run)
			}
			if missing && (err == nil || !strings.Contains(err.Error(), "TSMARK_X_PASSWORD is not set on this agent")) && !strings.Contains(run.Reason, "TSMARK_X_PASSWORD is not set on this agent") {
				t.Errorf("error %v, reason %s", err, run.Reason)
			}
			for _, body := range agents.bodies {
				if sent := strings.Contains(string(body), "a secret word"); sent == public {
					t.Errorf("public %v: the secret was sent: %v", public, sent)
				}
			}
		}
	}
}

// Another agent executes the unfinished share of a lost agent if rows cannot be duplicated.
// Otherwise the load has no figures, and names the missing share.
func TestLostAgents(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 50))
	steps := plan.Steps{Load: true}
	for i := range 10 {
		w := &world{dedupes: i%5 != 0}
		c := catalogOf(w.driver())
		agents := newCrew(t, 3, c)
		victim, after := random.IntN(3), random.Int64N(1200)
		if i%10 == 1 {
			after = 0 // before it is ready
		}
		agents.dies = func(call, member int) int64 {
			if call == 2 && member == victim { // the first call calibrates
				return after
			}
			return -1
		}
		run, err := execute(t, small(t, "cpu-only"), c, agents, steps)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		l := run.Targets[0].Load
		switch {
		case w.dedupes || after == 0:
			if run.Status != result.Complete || l.Withheld != "" || l.Rows != run.Dataset.Rows || len(l.Missing()) > 0 {
				t.Errorf("%d: agent %s died after %d rows: %s, %q, %d of %d rows", i, nameOf(victim), after, run.Reason, l.Withheld, l.Rows, run.Dataset.Rows)
			}
		case !strings.Contains(l.Withheld, fmt.Sprintf("share %d of 3 is missing: agent %s was lost", victim+1, nameOf(victim))):
			t.Errorf("%d: withheld %q, parts %+v", i, l.Withheld, l.Parts)
		}
		if after > 0 && run.Agents[victim].Lost == "" {
			t.Errorf("%d: the record does not say that agent %s was lost", i, nameOf(victim))
		}
	}
}

// A lost share of queries withholds the type, and the remaining agents run the next type.
func TestLostAgentOfQueries(t *testing.T) {
	w := &world{}
	c := catalogOf(w.driver())
	agents := newCrew(t, 2, c)
	agents.dies = func(call, member int) int64 {
		if call == 3 && member == 1 {
			return 5
		}
		return -1
	}
	run, err := execute(t, small(t, "cpu-only"), c, agents, everything)
	if err != nil || run.Passed() {
		t.Fatal(err, "passed")
	}
	q := run.Targets[0].Queries
	if !strings.Contains(q[0].Withheld, "share 2 of 2 is missing: agent b was lost") || q[1].Withheld != "" || len(q[1].Parts) != 1 || !q[1].Verdict.OK() {
		t.Errorf("first %q, second %q: %+v, %+v", q[0].Withheld, q[1].Withheld, q[1].Parts, q[1].Verdict)
	}
}

// If a load can no longer have figures, because a missing share cannot be repeated or because the
// target failed at one agent, all agents are stopped, and the record has their results so far.
func TestAgentsAreStopped(t *testing.T) {
	const rows = 13 * 10 * 360
	for _, c := range []struct {
		fails int
		want  string // in the reason
	}{{0, "share 2 of 3 is missing: agent b was lost"}, {12, "the disk is full"}} {
		w := &world{delay: 3 * time.Millisecond, fails: c.fails, agents: 3}
		catalog := catalogOf(w.driver())
		agents := newCrew(t, 3, catalog)
		agents.dies = func(call, member int) int64 {
			if c.fails == 0 && call == 2 && member == 1 {
				return 300 // more than its first batches, which its two workers may write at once
			}
			return -1
		}
		e := small(t, "cpu-only")
		e.Workload.End = e.Workload.Start.Add(10 * time.Hour)
		run, err := execute(t, e, catalog, agents, plan.Steps{Load: true})
		if err != nil {
			t.Fatal(err)
		}
		l := run.Targets[0].Load
		if run.Passed() || !strings.Contains(l.Withheld, c.want) || l.Rows == 0 || l.Rows > rows/3 {
			t.Errorf("%s: withheld %q, %d of %d rows", c.want, l.Withheld, l.Rows, rows)
		}
		stopped := 0
		for _, p := range l.Parts {
			if strings.HasPrefix(p.Lost, "stopped, since agent ") && p.Rows > 0 {
				stopped++
			}
		}
		if stopped != 2 {
			t.Errorf("%s: %d agents were stopped: %+v", c.want, stopped, l.Parts)
		}
	}
}

// unwatched ignores all events.
type unwatched struct{}

func (unwatched) Progress(string, int64)  {}
func (unwatched) PartFailed(string, bool) {}

// An agent of a killed run that continues to write for a while writes nothing into the tables that
// are created again.
func TestNoOrphanLoads(t *testing.T) {
	slowtest.Skip(t)
	w := &world{}
	c := catalogOf(w.driver())
	e := small(t, "cpu-only")
	e.Workload.End = e.Workload.Start.Add(10 * time.Hour)
	e.Load.Workers = 3 // the orphan has one of them: more work than it has time for
	p, err := plan.NewPlan(e, c, plan.Steps{Load: true})
	if err != nil {
		t.Fatal(err)
	}
	before := newCrew(t, 2, c)
	before.stopWithin = 2 * time.Minute
	r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}, Agents: before}
	run, err := runPlan(t.Context(), r, p)
	if err != nil || !run.Passed() || run.AgentsStopWithin != 120 || run.Agents[1].Process != "process b" {
		t.Fatalf("%v, %+v", err, run)
	}
	// It was killed during its load: one agent has joined the other coordinator, and a spare one
	// replaces the second, which continues.
	run.Status, run.Targets[0].Repeats, run.Targets[0].Load = result.Running, nil, nil
	w.delay, w.main, w.batches = 40*time.Millisecond, nil, 0
	now := newCrew(t, 3, c)
	now.agents[1], now.requested = nil, map[string]bool{"process a": true, "process c": true}
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second) // after the calibration
	defer stop()
	file, err := os.Create(filepath.Join(t.TempDir(), "orphan"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	orphan := &link{File: file, Client: peertest.New(1, time.Millisecond).Client(0), of: &phase{of: 1, started: make(chan struct{})}, watch: unwatched{}, dies: -1, kill: stop}
	body := before.bodies[len(before.bodies)-1]
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := before.agents[1].Do(ctx, body, orphan); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the orphan ends by %v", err)
		}
		now.mu.Lock()
		defer now.mu.Unlock()
		now.requested["process b"] = true
	}()
	r.Agents = now
	begun := time.Now()
	resumed, err := runPlan(t.Context(), r, p, run)
	if took := time.Since(begun); err != nil || took > 100*time.Second {
		t.Fatalf("after %v: %v", took, err)
	}
	<-ended
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := resumed.Targets[0].Load; !resumed.Passed() || l.Withheld != "" || len(l.Census) == 0 || len(l.Parts) != 2 {
		t.Errorf("%s, withheld %q, %+v", resumed.Reason, l.Withheld, l.Parts)
	}
	if least := int(resumed.Dataset.Rows/97) + 50; w.batches < least {
		t.Errorf("%d batches were written: the orphan wrote hardly any", w.batches)
	}
}

// interrupter interrupts a run at the tenth batch of a command.
type interrupter struct {
	left   atomic.Int64 // batches until the interrupt; 0 or negative: none follows
	cancel context.CancelCauseFunc
}

func (i *interrupter) onWrite() {
	if i.left.Add(-1) == 0 {
		i.cancel(errors.New("Ctrl-C"))
	}
}

// runInterrupted runs a plan with two agents, which call the interrupter's onWrite before each batch,
// and interrupts it in a given command. It returns the load.
func runInterrupted(t *testing.T, c plan.Catalog, p *plan.Plan, work int, i *interrupter) *result.Load {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	i.cancel = cancel
	agents := newCrew(t, 2, c)
	agents.dies = func(call, member int) int64 {
		if call == work && member == 0 {
			i.left.Store(10)
		}
		return -1
	}
	r := &runner.Runner{Store: noStore{}, Dir: t.TempDir(), Display: silent{}, Agents: agents}
	run, err := runPlan(ctx, r, p)
	if err == nil || run == nil || run.Status == result.Complete {
		t.Fatalf("%v, %+v", err, run)
	}
	return run.Targets[0].Load
}

// Ctrl-C stops all agents, and the record has their progress.
func TestAgentsAreInterrupted(t *testing.T) {
	const rows = 13 * 10 * 360
	var i interrupter
	w := &world{delay: 3 * time.Millisecond, onWrite: i.onWrite}
	c := catalogOf(w.driver())
	e := small(t, "cpu-only")
	e.Workload.End = e.Workload.Start.Add(10 * time.Hour)
	p, err := plan.NewPlan(e, c, plan.Steps{Load: true})
	if err != nil {
		t.Fatal(err)
	}
	l := runInterrupted(t, c, p, 2, &i)
	if l == nil || l.Withheld == "" || l.Rows == 0 || l.Rows >= rows || len(l.Parts) != 2 || l.Parts[0].Complete() {
		t.Errorf("%+v", l)
	}
}

// If rows are ordered only within their series, agents with several workers keep the order. They
// cannot keep an order over all series.
func TestAgentsKeepTheOrder(t *testing.T) {
	w := &world{inOrder: driver.InSeries, delay: time.Millisecond}
	c := catalogOf(w.driver())
	e := small(t, "cpu-only")
	e.Load.Workers = 8
	run, err := execute(t, e, c, newCrew(t, 2, c), plan.Steps{Load: true})
	if err != nil || run.Status != result.Complete || run.Targets[0].Load.Rows != run.Dataset.Rows {
		t.Fatalf("%v, %+v", err, run)
	}
	if w.late > 0 {
		t.Errorf("%d of %d rows came late", w.late, run.Dataset.Rows)
	}
	w.inOrder = time.Hour
	if _, err := execute(t, e, c, newCrew(t, 2, c), plan.Steps{Load: true}); err == nil || !strings.Contains(err.Error(), "takes rows in the order of their times") {
		t.Errorf("%v", err)
	}
}

// Plans that agents cannot share are refused before anything begins.
func TestNotForAgents(t *testing.T) {
	w := &world{}
	c := catalogOf(w.driver(), sqlite.Driver())
	for want, change := range map[string]func(*experiment.Experiment){
		"load.workers: 1 is less than the number of agents, 2": func(e *experiment.Experiment) { e.Load.Workers = 1 },
		"queries.workers: 1 is less":                           func(e *experiment.Experiment) { e.Queries.Workers = 1 },
		"mixed.queriers: 1 is less than the number of agents, 2": func(e *experiment.Experiment) {
			e.Mixed = experiment.Mixed{Loaded: 50, Writes: "50", Queriers: 1}
		},
		"queries.until":      func(e *experiment.Experiment) { e.Queries.Until = "5%" },
		"is in this process": func(e *experiment.Experiment) { e.Targets[0].Driver = "sqlite" },
	} {
		e := small(t, "cpu-only")
		change(e)
		if _, err := execute(t, e, c, newCrew(t, 2, c), everything); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Agents load each target with its own workers and batches; in iotdb the series belong to workers.
func TestAgentsOfOwnWorkers(t *testing.T) {
	for _, name := range []string{"cpu-only", "iotdb"} {
		first, second := &world{}, &world{}
		other := second.driver()
		other.Name = "other"
		c := catalogOf(first.driver(), other)
		e := small(t, name)
		e.Targets = append(e.Targets, experiment.Target{Name: "y", Driver: "other", Workers: 3, BatchSize: 40, Options: experiment.Options{"path": filepath.Join(t.TempDir(), "y.sqlite")}})
		run, err := execute(t, e, c, newCrew(t, 2, c), plan.Steps{Load: true})
		if err != nil || run.Status != result.Complete || !run.Passed() {
			t.Fatalf("%s: %v, %+v", name, err, run)
		}
		for i, want := range []result.Load{{Workers: 5, BatchSize: 97}, {Workers: 3, BatchSize: 40}} {
			l := run.Targets[i].Load
			if l.Workers != want.Workers || l.BatchSize != want.BatchSize || l.Rows != run.Dataset.Rows || len(l.Parts) != 2 || len(l.Census) == 0 || l.Withheld != "" {
				t.Errorf("%s, %s: %+v", name, run.Targets[i].Name, l)
			}
		}
		if first.batches >= second.batches {
			t.Errorf("%s: %d batches of 97 rows, %d of 40", name, first.batches, second.batches)
		}
	}
}

// Agents show their total speed against a target that discards rows.
func TestAgentsOfNothing(t *testing.T) {
	c := catalogOf(null.Driver())
	e := small(t, "devops")
	e.Targets = []experiment.Target{{Name: "x", Driver: "null"}}
	run, err := execute(t, e, c, newCrew(t, 3, c), plan.Steps{Load: true})
	if err != nil || run.Status != result.Complete || run.Targets[0].Load.Rows != 13*360*9 || len(run.Targets[0].Load.Parts) != 3 {
		t.Errorf("%v: %+v", err, run)
	}
}

// runPlan executes a plan, or continues a run of it.
func runPlan(ctx context.Context, r *runner.Runner, p *plan.Plan, begun ...*result.Run) (*result.Run, error) {
	_, runs, err := r.Execute(ctx, runner.Work{Sweep: plan.One(p), Command: "run", Runs: begun})
	if len(runs) == 0 {
		return nil, err
	}
	return runs[0], err
}
