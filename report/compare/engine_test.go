package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// stub is a target in tsmark's own process that answers each query after
// the time that it takes.
type stub struct {
	driver.Required
	takes func(n int) time.Duration
}

func (s stub) NewQuerier(context.Context, int) (driver.Querier, error) { return s, nil }
func (s stub) Close() error                                            { return nil }

func (s stub) Do(_ context.Context, r driver.Request, _ query.Sink) (driver.Cost, error) {
	var n int
	if _, err := fmt.Sscan(r.Text, &n); err != nil {
		return driver.Cost{}, err
	}
	time.Sleep(s.takes(n))
	return driver.Cost{Rows: 1}, nil
}

const queriesPerType = 50

// measureStub runs a stub 50 queries of each type through the engine, as one
// repeat. Latencies are lognormal; each repeat is as a whole faster or slower
// by 1 %, as a standard deviation, and neighbours are alike.
func measureStub(t *testing.T, r *rand.Rand, id string, types int, slower float64) *result.Run {
	list := make(engine.List, queriesPerType)
	for i := range list {
		list[i] = engine.Rendered{ID: i, Request: driver.Request{Text: fmt.Sprint(i)}, Rows: 1}
	}
	out := run(id, subject("stub"))
	for i := range types {
		repeat, last := 0.01*r.NormFloat64(), 0.0
		s := stub{takes: func(n int) time.Duration {
			last = 0.5*last + 0.02*r.NormFloat64()
			return time.Duration(2e6 * slower * math.Exp(0.1*math.Sin(float64(n))+last+repeat))
		}}
		q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 1}, driver.DB{Required: s}, list, func(int) {})
		if err != nil || q.Withheld != "" {
			t.Fatal(err, q.Withheld)
		}
		q.Type, q.Verdict = fmt.Sprint("type ", i), result.Verdict{Checked: 10, Rows: 10}
		first := out.Targets[0].RepeatOf(1)
		first.Queries = append(first.Queries, *q)
	}
	return out
}

func subject(name string) result.Target { return result.Target{Name: name, Driver: "stub"} }

// alarms counts, among comparisons of a stub with itself or with a slower one,
// those in which a difference of any type's median was shown.
func alarms(t *testing.T, seed uint64, comparisons, types int, slower float64) int {
	r, count := rand.New(rand.NewPCG(seed, 4)), 0
	for range comparisons {
		var a, b Side
		for i := range 6 { // in turn, as runs do it
			a.Runs = append(a.Runs, measureStub(t, r, fmt.Sprint("a", i), types, 1))
			b.Runs = append(b.Runs, measureStub(t, r, fmt.Sprint("b", i), types, slower))
		}
		if slices.ContainsFunc(mustCompare(t, a, b).Targets[0].Figures, func(f Figure) bool {
			return f.Metric == Median && f.Significant()
		}) {
			count++
		}
	}
	return count
}

// A stub server that the engine measures by six repeats is compared with
// itself 100 times: a false alarm is raised at most 5 % of the time, and a stub
// made 5 % slower is found at least 95 % of the time. The clock is simulated,
// so that nothing but the seed decides. Package measure/stats has more of this,
// without the engine.
func TestStubServer(t *testing.T) {
	slowtest.Skip(t)
	for _, c := range []struct {
		types, comparisons int
		slower             float64
		least, most        int
	}{
		{2, 100, 1, 0, 5},
		{1, 100, 1.05, 95, 100},
		{16, 10, 1.05, 10, 10},
	} {
		t.Run(fmt.Sprintf("%d types, %v as slow", c.types, c.slower), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := alarms(t, 1, c.comparisons, c.types, c.slower)
				t.Logf("a difference was shown in %d of %d comparisons", n, c.comparisons)
				if n < c.least || n > c.most {
					t.Errorf("a difference was shown in %d of %d comparisons", n, c.comparisons)
				}
			})
		})
	}
}
