package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// chatty answers every query with rows of one integer and records the queries that ran.
type chatty struct {
	driver.Required
	rows int

	mu    sync.Mutex
	ran   []string
	taken int // answers that somebody wanted to see
}

func (c *chatty) NewQuerier(context.Context, int) (driver.Querier, error) { return c, nil }
func (c *chatty) Close() error                                            { return nil }
func (c *chatty) Do(_ context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran = append(c.ran, r.Text)
	if sink == nil {
		return driver.Cost{Rows: int64(c.rows)}, nil
	}
	c.taken++
	for n := range c.rows {
		if err := sink.Row([]query.Value{{Kind: query.Int, Int: int64(n)}}); err != nil {
			return driver.Cost{Rows: int64(n)}, err
		}
	}
	return driver.Cost{Rows: int64(c.rows)}, nil
}

func capturable(n, rows int, whole bool) engine.List {
	list := queries(n)
	for i := range list {
		list[i].Rows, list[i].Columns, list[i].Whole = int64(rows), []query.Column{{Name: "n", Kind: query.Int}}, whole
	}
	return list
}

// With Counts the number of rows of every other answer is kept, once, however often the
// queries come.
func TestCaptureCounts(t *testing.T) {
	inBothLoops(t, func(t *testing.T, run queryFunc) {
		c := &engine.Capture{Sample: engine.NewSample("seed", "t", 10), Counts: true}
		list := capturable(100, 0, true)
		for i := range list {
			list[i].Rows = engine.AnyRows
		}
		q, err := run(t.Context(), engine.QueryConfig{Workers: 2, BurnIn: 3, First: 200, Capture: c}, driver.DB{Required: &chatty{rows: 3}}, list, ignore)
		if err != nil {
			t.Fatal(err)
		}
		places := make(map[int]bool)
		whole := int64(0)
		for _, a := range c.Answers() {
			if places[a.Place] || a.Rows != 3 || a.Place < 203 || a.Place > 299 {
				t.Errorf("%d rows at place %d", a.Rows, a.Place)
			}
			if places[a.Place] = true; a.Answer != nil {
				whole++
			}
		}
		if len(places) != 97 || whole != q.Sample.Captured || whole != 10 {
			t.Errorf("%d places, %d whole answers of %d captured", len(places), whole, q.Sample.Captured)
		}
	})
}

// Every answer is read and has a time; those of the sample are kept, whole or as digests.
func TestCapture(t *testing.T) {
	for _, whole := range []bool{false, true} {
		sample := engine.NewSample("seed", "t", 10)
		c, s := &engine.Capture{Sample: sample}, &chatty{rows: 3}
		q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2, First: 200, BurnIn: 5, Capture: c}, driver.DB{Required: s}, capturable(105, 3, whole), ignore)
		if err != nil || q.Withheld != "" {
			t.Fatal(err, q.Withheld)
		}
		want := sampledQueries(sample, ascending(100))
		for _, a := range c.Answers() {
			if (a.Answer != nil) != whole || (a.Digest != nil) == whole || a.Rows != 3 || whole && len(a.Answer.Rows) != 3 || !whole && a.Digest.Rows() != 3 {
				t.Errorf("the answer at place %d was kept as %+v", a.Place, a)
			}
			if place := int64(a.Place) - 205; place != a.Position || !want[place] {
				t.Errorf("the answer at place %d was kept, which is number %d", a.Place, a.Position)
			}
			delete(want, a.Position)
		}
		if len(want) > 0 {
			t.Errorf("answers %v were not kept", want)
		}
		if q.Executed != 100 || q.Sample.Captured != 10 || q.Sample.Different != 100 || s.taken != 105 {
			t.Errorf("%d ran, %+v, %d were read", q.Executed, q.Sample, s.taken)
		}
	}
}

// An answer without an end is wrong at its first row too many, and takes no memory.
func TestCaptureIsBounded(t *testing.T) {
	c := &engine.Capture{Sample: engine.NewSample("seed", "t", 1)}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 1, Capture: c}, driver.DB{Required: &chatty{rows: 1_000_000}}, capturable(1, 5, true), ignore)
	if err != nil || q.Withheld != "query 0: more than the 5 rows expected in the answer" || len(c.Answers()) != 0 {
		t.Errorf("withheld %q, error %v, %d answers", q.Withheld, err, len(c.Answers()))
	}
}

// Each connection is warmed up with other queries, which nothing is recorded of.
func TestWarmUp(t *testing.T) {
	s := &chatty{rows: 2}
	warm := queries(50)
	for i := range warm {
		warm[i].Request.Text = fmt.Sprint("warm ", i)
		warm[i].Rows = -1
	}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2, WarmUp: engine.WarmUp{Queries: warm}}, driver.DB{Required: s}, queries(10), ignore)
	if err != nil || q.Withheld != "" || q.Executed != 10 {
		t.Fatal(err, q.Withheld, q.Executed)
	}
	before := 0
	for before < len(s.ran) && strings.HasPrefix(s.ran[before], "warm ") {
		before++
	}
	if before < 2 || before > 6 || len(s.ran) != before+10 {
		t.Errorf("ran %v", s.ran)
	}
	if q.WarmUp.Queries != int64(before) || q.WarmUp.Seconds <= 0 {
		t.Errorf("told %+v of %d queries", q.WarmUp, before)
	}
	cold, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2}, driver.DB{Required: s}, queries(10), ignore)
	if err != nil || cold.WarmUp != (result.WarmUp{}) {
		t.Errorf("without a warm-up: %+v, error %v", cold.WarmUp, err)
	}
}

// A time box is extended for the queries that a comparison needs, and not for
// ever; with one of them it ends in any case.
func TestTimeBoxIsExtended(t *testing.T) {
	const each = 20 * time.Millisecond
	s := &stub{do: func(context.Context, string) (driver.Cost, error) { time.Sleep(each); return driver.Cost{Rows: 2}, nil }}
	for _, test := range []struct {
		box         time.Duration
		least       int
		atLeast, at int64
	}{
		{each / 2, 0, 1, 1},  // started queries are finished
		{each / 2, 3, 1, 3},  // as many as are wanted
		{each / 40, 9, 1, 1}, // ten times the box is half a query
		{10 * each, 3, 1, 11},
	} {
		q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 1, TimeBox: test.box, Least: test.least}, driver.DB{Required: s}, queries(50), ignore)
		if err != nil || q.Executed < test.atLeast || q.Executed > test.at || test.least == 3 && q.Executed < 3 && test.box >= each/2 && q.Wall < 10*test.box.Seconds() {
			t.Errorf("%+v: %d ran in %v s, error %v", test, q.Executed, q.Wall, err)
		}
	}
}
