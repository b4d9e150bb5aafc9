// Package suite is the conformance suite: the requirements that every target must meet before its
// figures mean anything. It does not need go test: package conformance runs it in tests of drivers,
// and package certify in the command tsmark conformance.
package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// Config is the target and the extent of a suite.
type Config struct {
	Driver driver.Driver
	// Options have passed Resolve. The suite fills and replaces the place that they name; a target
	// without a place uses a temporary folder for each check.
	Options driver.Options
	// Sub runs a part of a check under a name of its own, as testing.T.Run does.
	Sub func(t T, name string, check func(T))
	// Short leaves out checks that others nearly cover, as go test -short does. Brief does so too, for
	// another layout of a target that is also tested in full.
	Short, Brief bool
	// Recorded means that recordings of conversations replace the server, or are made. They do not
	// include reads of rows that were added after they were made.
	Recorded bool
	Interval time.Duration // of the rows of a series; 0: RegularInterval
	Faults   []*Fault      // known ones of the server
}

// Suite is the suite for one target.
type Suite struct {
	config   Config
	driver   driver.Driver
	options  driver.Options
	caps     driver.Caps
	interval time.Duration // of the rows of a series
}

// New returns the suite for a target.
func New(c Config) *Suite {
	s := &Suite{config: c, driver: c.Driver, options: c.Options, interval: c.Interval}
	if c.Driver.Caps != nil { // else its checks are only listed
		s.caps = c.Driver.Caps(c.Options)
	}
	if s.interval == 0 {
		s.interval = RegularInterval
	}
	return s
}

// sub runs a part of a check.
func (s *Suite) sub(t T, name string, check func(T)) { s.config.Sub(t, name, check) }

// RegularInterval is the interval of the rows of a series: all rows of RunRegular are at multiples of it.
const RegularInterval = 4 * time.Minute

// Sparse divides the number of rows of a series for servers that take few rows a second.
const Sparse = 15

// Fault is a known fault of the server: the error with which it responds to correct
// queries. The suite logs these, and fails once none of them occurs any more.
type Fault struct {
	Why      string   // in words, with a link to its report
	Messages []string // parts of its errors; any one of them suffices
	met      int
}

// isKnownFault reports whether an error of a query is a known fault.
func (s *Suite) isKnownFault(t T, err error) bool {
	for _, f := range s.config.Faults {
		if err != nil && slices.ContainsFunc(f.Messages, func(m string) bool { return strings.Contains(err.Error(), m) }) {
			f.met++
			t.Logf("known fault: %s: %v", f.Why, err)
			return true
		}
	}
	return false
}

// CheckFaults fails if one of the known faults did not occur.
func (s *Suite) CheckFaults(t T) {
	for _, f := range s.config.Faults {
		if f.met == 0 && !t.Failed() {
			t.Errorf("a fault no longer occurs, take it off the list: %s", f.Why)
		}
	}
}

// recorded reports whether recordings replace the server.
func (s *Suite) recorded() bool { return s.config.Recorded }

// brief reports whether the suite leaves out tests that others nearly cover. Recordings include all
// tests.
func (s *Suite) brief() bool { return (s.config.Short || s.config.Brief) && !s.recorded() }

// Brief is brief for servers. In tsmark's own process the same tests take little time.
func (s *Suite) Brief() bool { return s.brief() && !s.caps.Embedded }

// largest returns the largest integer that the target stores.
func (s *Suite) largest() int64 {
	if !s.caps.Holds(series.LargeInts) {
		return 1 << 53
	}
	return math.MaxInt64
}

// loadAndQuery loads an example and holds the target to its census and answers,
// also after it was closed and opened again.
func (s *Suite) loadAndQuery(t T, e example, workers int) {
	ctx := t.Context()
	if s.refused(t, e.dataset.Schema()) {
		return
	}
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	held := s.storedDataset(e.dataset)
	expected, err := oracle.PassSampling(ctx, held, oracle.Drawing{Seed: t.Name(), Rows: rowsReadBack}, []string{s.driver.Semantics}, e.queries, nil, oracle.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	config := engine.LoadConfig{Workers: workers, BatchSize: 3000, Period: time.Minute, InOrder: s.caps.InOrder}
	if !s.recorded() {
		config.Visible = engine.Visibility{Render: s.driver.Renderer(s.options), Count: held == e.dataset}
	}
	load, err := engine.Load(ctx, config, e.dataset, db, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	// A load of a few rows, some without values, may remember none to query.
	if v := load.Visible; v != nil && (v.Missing != "" || v.Unchecked != "" && v.Unchecked != engine.NotCounted) {
		t.Errorf("rows of the load were not seen: %+v", v)
	}
	if held == e.dataset && load.Rows != expected.Survey.Rows {
		t.Errorf("%d rows accepted, %d written", load.Rows, expected.Survey.Rows)
	}
	if rows := expected.Survey.Rows; rows > 0 && (load.Sent <= 0 || load.Settled < load.Sent || load.Settled < load.Acked) {
		t.Errorf("times out of order: sent %v, acknowledged %v, settled %v", load.Sent, load.Acked, load.Settled)
	}
	s.flushMemory(t, db)
	s.holds(t, db, env, e, held, expected)
}

// flushMemory makes a system write its memory to its files, if it can; afterwards nothing
// may be pending.
func (s *Suite) flushMemory(t T, db driver.DB) {
	t.Helper()
	if db.FlushMemory == nil || s.recorded() {
		return
	}
	if err := db.FlushMemory(t.Context()); err != nil {
		t.Error(err)
	}
	if size, err := db.Footprint(t.Context()); err != nil || size.Pending != "" {
		t.Errorf("once all was written: %+v, %v", size, err)
	}
}

// holds holds a loaded target to its census and answers, also after it was closed and
// opened again, and closes it. With -short it runs a query of each type once it was opened
// again.
func (s *Suite) holds(t T, db driver.DB, env driver.Env, e example, held workload.Dataset, expected *oracle.Expectations) {
	t.Helper()
	ctx := t.Context()
	for _, when := range []string{"after the load", "opened again"} {
		if when == "opened again" {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			env.Create = false
			db = s.open(t, env)
		}
		census, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		s.readBack(t, db, expected, census)
		for _, c := range census {
			if c.Problem != "" {
				t.Errorf("%s: %s", when, c.Problem)
			}
		}
		seen := make(map[string]bool) // types with at least one query run
		for i := range e.queries {
			q := &e.queries[i]
			first := !seen[q.Type]
			seen[q.Type] = true
			if s.brief() && when == "opened again" && !first {
				continue
			}
			verdict, err := verify.Answers(ctx, verify.Config{Workers: 1, Semantics: s.driver.Semantics}, db, s.driver.Renderer(s.options), held, expected.Full[i:i+1])
			switch {
			case errors.Is(err, query.ErrUnsupported):
				t.Logf("%s: n/a: %v", q.Type, err)
			case s.isKnownFault(t, err):
			case err != nil:
				t.Errorf("%s, %s %d: %v", when, q.Type, q.ID, err)
			case !verdict.OK():
				t.Errorf("%s, %s: %s", when, q.Type, verdict.Difference)
			case s.brief() && (when == "opened again" || !first):
			default:
				s.checkWithoutSink(t, db, e.dataset.Schema(), q, expected.Full[i].Rows)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// rowsReadBack is the number of rows that are read back: drivers differ in rows of other types and
// tables, not in many rows.
const rowsReadBack = 30

// readBack reads the rows of the sample back.
func (s *Suite) readBack(t T, db driver.DB, expected *oracle.Expectations, census []result.CensusResult) {
	t.Helper()
	if s.recorded() {
		return
	}
	if err := verify.Rows(t.Context(), verify.Config{Workers: 1}, db, s.driver.Renderer(s.options), &expected.Survey, s.caps.Digits, census); err != nil {
		t.Errorf("reading rows back: %v", err)
	}
	for _, c := range census {
		if why := c.Contents.RowsUnread; why != "" && c.Problem == "" {
			t.Errorf("rows of table %s were not read back: %s", c.Table, why)
		}
	}
}

// refused reports whether the target has no fields of a type that the tables have,
// and says so beforehand.
func (s *Suite) refused(t T, schema *series.Schema) bool {
	t.Helper()
	for _, table := range schema.Tables {
		for _, f := range table.Fields {
			if len(s.storedTypes(f.Type)) > 0 {
				continue
			}
			err := s.caps.Schema(schema)
			if err == nil {
				t.Errorf("it does not hold fields of the type %v, and Caps.Schema says nothing of that", f.Type)
			}
			t.Logf("n/a: %v", err)
			return true
		}
	}
	return false
}

// storedDataset returns a dataset as the target holds it: with one row of each series and
// time, if such rows merge.
func (s *Suite) storedDataset(d workload.Dataset) workload.Dataset {
	if r, ok := d.(workload.Repeating); ok && s.caps.Dedupes {
		return r.Latest()
	}
	return d
}

// checkWithoutSink: without a sink, as the clock sees it, an answer has the same rows.
func (s *Suite) checkWithoutSink(t T, db driver.DB, schema *series.Schema, q *query.Query, rows int64) {
	t.Helper()
	querier, err := db.NewQuerier(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer querier.Close()
	request, err := s.driver.Render(q, schema, s.options)
	if err != nil {
		t.Fatal(err)
	}
	if cost, err := querier.Do(t.Context(), request, nil); err != nil || cost.Rows != rows {
		t.Errorf("%s without a sink: %d rows, %d expected; %v", q.Type, cost.Rows, rows, err)
	}
}

func (s *Suite) open(t T, env driver.Env) driver.DB {
	t.Helper()
	db, err := s.driver.Open(t.Context(), env, s.options)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// steps: an open target has the steps that its driver lists.
func (s *Suite) steps(t T) {
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	same := func(listed, able driver.Step) bool {
		return listed.Name == able.Name && listed.Help == able.Help && listed.Do == nil && able.Do != nil
	}
	if !slices.EqualFunc(s.caps.Steps, db.Steps, same) {
		t.Errorf("the driver lists the steps %v, an open target has %v", s.caps.Steps, db.Steps)
	}
}

// mark: the mark of a load is read back unchanged, also by another connection.
func (s *Suite) mark(t T) {
	ctx := t.Context()
	env := driver.Env{Dir: t.TempDir(), Create: true}
	db := s.open(t, env)
	e := s.cpuOnly(t, 0)
	want := session.Mark{
		Dataset: workload.Spec{Name: "it's", Seed: -5, Start: time.Unix(0, 1).UTC(), End: time.Unix(9, 0).UTC()}, Fingerprint: "f00d",
		RowsExpected: math.MaxInt64, RowsAcked: 3, Loaded: time.Unix(1700000000, 0).UTC(), Tool: "v1",
		Run: "r", Target: "t", Driver: s.driver.Name, Repeat: 2, Layout: s.driver.LayoutOf(s.options),
	}
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	if err := session.New(db).SetMark(ctx, want); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	env.Create = false
	db = s.open(t, env)
	defer db.Close()
	found, err := session.New(db).Mark(ctx)
	got, gotErr := json.Marshal(found)
	wanted, wantErr := json.Marshal(want)
	if err := errors.Join(err, gotErr, wantErr); err != nil || !bytes.Equal(got, wanted) {
		t.Errorf("the mark is not as it was written: %v\ngot  %s\nwant %s", err, got, wanted)
	}
}

// replace: preparing again removes all existing data.
func (s *Suite) replace(t T) {
	ctx := t.Context()
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	e := s.cpuOnly(t, 0)
	for range 2 {
		if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 5000, Period: time.Minute}, e.dataset, db, func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	expected, err := oracle.Pass(ctx, e.dataset, nil, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	census, err := verify.Census(ctx, db, &expected.Survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil {
		t.Fatalf("after a second load: %v", err)
	}
	if problem := census[0].Problem; problem != "" {
		t.Errorf("after a second load: %s", problem)
	}
}

// cancelledQuery: a query whose context has ended ends with the context's error.
func (s *Suite) cancelledQuery(t T) {
	ctx := t.Context()
	db := s.open(t, driver.Env{Dir: t.TempDir(), Create: true})
	defer db.Close()
	e := s.cpuOnly(t, 0)
	if err := session.New(db).Prepare(ctx, e.dataset.Schema(), session.Mark{}); err != nil {
		t.Fatal(err)
	}
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	request, err := s.driver.Render(&e.queries[0], e.dataset.Schema(), s.options)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := q.Do(ended, request, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
