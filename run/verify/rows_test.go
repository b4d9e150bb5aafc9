package verify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Values swapped between rows change no figure of the census, but rows that are read back differ.
func TestRows(t *testing.T) {
	for _, kind := range []driver.Driver{lie.Apply(memory.Driver("swaps-values"), lie.Find(lie.Contents(40*60), "swaps-values")), memory.Driver("memory")} {
		swaps := kind.Name == "swaps-values"
		census, survey := readBack(t, kind, "a seed", 40, 2)
		c := &census[0]
		switch {
		case c.Contents.RowsUnread != "":
			t.Errorf("%s: not read: %s", kind.Name, c.Contents.RowsUnread)
		case swaps && !(strings.HasPrefix(c.Problem, "table cpu: the row of hostname=host_") && strings.Contains(c.Problem, ": usage_")):
			t.Errorf("%s: problem %q", kind.Name, c.Problem)
		case !swaps && (c.Problem != "" || c.Contents.Rows != int64(len(survey.Sample)) || c.Contents.Rows != oracle.SampleRows):
			t.Errorf("%s: problem %q, %d of %d rows compared", kind.Name, c.Problem, c.Contents.Rows, len(survey.Sample))
		}
	}
}

// readBack loads a target, and compares its census and its rows.
func readBack(t *testing.T, kind driver.Driver, seed string, scale uint32, workers int) ([]result.CensusResult, *oracle.Survey) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	w := tsbs.CPUOnly()
	d, err := w.Dataset(workload.Spec{Name: w.Name(), Seed: 1, Scale: scale, Start: start, End: start.Add(time.Hour), Interval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	db, err := kind.Open(t.Context(), driver.Env{}, nil)
	if err == nil {
		err = db.Create(t.Context(), d.Schema())
	}
	if err == nil {
		_, err = engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 100}, d, db, func(int) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	expected, err := oracle.PassSampling(t.Context(), d, oracle.Drawing{Seed: seed}, nil, nil, nil, oracle.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	survey := &expected.Survey
	census, err := verify.Census(t.Context(), db, survey, verify.Sent{Acknowledged: true}, nil)
	if err != nil || census[0].Problem != "" {
		t.Fatalf("error %v, problem %q", err, census[0].Problem)
	}
	if err := verify.Rows(t.Context(), verify.Config{Workers: workers}, db, kind.Renderer(nil), survey, 0, census); err != nil {
		t.Fatal(err)
	}
	return census, survey
}

// A connection that breaks while rows are read back is not a difference: the census says why they
// were not compared. A target that is gone is an error.
func TestRowsOverBrokenConnections(t *testing.T) {
	for workers, want := range map[int]int64{1: 4, 2: oracle.SampleRows - 1} {
		census, survey := readBack(t, disconnecting(5), "a seed", 40, workers)
		c := &census[0]
		if c.Problem != "" || c.Contents.Rows != want || int64(len(survey.Sample)) != oracle.SampleRows || c.Contents.RowsUnread != "some of them: the server hung up: cannot be reached" {
			t.Errorf("%d workers: problem %q, %d rows compared, %q", workers, c.Problem, c.Contents.Rows, c.Contents.RowsUnread)
		}
	}
}

// If a server accepts fewer connections than there are workers, all rows are read over the accepted
// ones; accepting none is an error.
func TestRowsOverFewConnections(t *testing.T) {
	census, _ := readBack(t, refusing(1), "a seed", 40, 4)
	if c := &census[0]; c.Problem != "" || c.Contents.Rows != oracle.SampleRows || c.Contents.RowsUnread != "" {
		t.Errorf("problem %q, %d rows compared, %q", c.Problem, c.Contents.Rows, c.Contents.RowsUnread)
	}
	none := refusing(0)
	db, err := none.Open(t.Context(), driver.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	census, survey := readBack(t, memory.Driver("memory"), "a seed", 40, 1)
	err = verify.Rows(t.Context(), verify.Config{Workers: 4}, db, none.Renderer(nil), survey, 0, census)
	if err == nil || err.Error() != "connecting to read rows back: no more connections" {
		t.Errorf("no connection at all: %v", err)
	}
}

// refusing is a driver whose target accepts a limited total number of connections for queries.
func refusing(most int64) driver.Driver {
	kind, taken := memory.Driver("refusing"), new(atomic.Int64)
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		return driver.DB{Required: &refused{db, most, taken}}, err
	}
	return kind
}

type refused struct {
	driver.Required
	most  int64
	taken *atomic.Int64
}

func (d *refused) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	if d.taken.Add(1) > d.most {
		return nil, errors.New("no more connections")
	}
	return d.Required.NewQuerier(ctx, worker)
}

// disconnecting is a driver with a connection that breaks at a given query.
func disconnecting(at int64) driver.Driver {
	kind, queries := memory.Driver("disconnecting"), new(atomic.Int64)
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		return driver.DB{Required: &disconnected{db, at, queries}}, err
	}
	return kind
}

type disconnected struct {
	driver.Required
	at      int64
	queries *atomic.Int64
}

func (d *disconnected) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := d.Required.NewQuerier(ctx, worker)
	return &disconnectedQuerier{q, d}, err
}

type disconnectedQuerier struct {
	driver.Querier
	of *disconnected
}

func (q *disconnectedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.of.queries.Add(1) == q.of.at {
		return driver.Cost{}, fmt.Errorf("the server hung up: %w", driver.ErrUnreachable)
	}
	return q.Querier.Do(ctx, r, sink)
}
