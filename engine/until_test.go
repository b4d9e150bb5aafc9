package engine_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/stats"
)

// A steady target is queried until the rule has looked and seen enough, every
// query once and in order.
func TestUntil(t *testing.T) {
	const burnIn, count = 7, 20_000
	var times [count]atomic.Int64
	s := &stub{do: func(_ context.Context, text string) (driver.Cost, error) {
		n, err := strconv.Atoi(text)
		times[n].Add(1)
		time.Sleep(100 * time.Microsecond)
		return driver.Cost{Rows: 2}, err
	}}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 3, BurnIn: burnIn, Until: 0.2}, driver.DB{Required: s}, queries(count), ignore)
	if err != nil || q.Stopped != "interval within 20 %" {
		t.Fatalf("stopped %q, error %v", q.Stopped, err)
	}
	var looks []int64
	for n := stats.LeastToStop; n < count; n += n / 2 {
		looks = append(looks, int64(n))
	}
	if q.Executed == looks[0] || !slices.Contains(looks, q.Executed) || q.Service.Count != q.Executed || q.BurnIn != burnIn {
		t.Errorf("recorded %d, counted %d, burn-in %d; the looks are at %v", q.Executed, q.Service.Count, q.BurnIn, looks)
	}
	for i := range times {
		want := int64(0)
		if i < burnIn+int(q.Executed) {
			want = 1
		}
		if got := times[i].Load(); got != want {
			t.Fatalf("query %d was run %d times, want %d", i, got, want)
		}
	}
	if len(q.Each) != burnIn+int(q.Executed) || slices.Contains(q.Each[burnIn:], 0) {
		t.Errorf("%d times, some of them 0, for %d queries", len(q.Each), q.Executed)
	}
}

// The other limits hold where the median is never known so well.
func TestUntilIsBounded(t *testing.T) {
	var n atomic.Int64
	s := &stub{do: func(context.Context, string) (driver.Cost, error) {
		time.Sleep(time.Duration(n.Add(1)%3) * time.Millisecond)
		return driver.Cost{Rows: 2}, nil
	}}
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2, Until: 0.001}, driver.DB{Required: s}, queries(120), ignore)
	if err != nil || q.Executed != 120 || q.Stopped != "all run before interval within 0.1 %" {
		t.Errorf("ran %d, stopped %q, error %v", q.Executed, q.Stopped, err)
	}
	q, err = engine.Query(t.Context(), engine.QueryConfig{Workers: 2, Until: 0.001, TimeBox: 80 * time.Millisecond}, driver.DB{Required: s}, queries(10_000), ignore)
	if err != nil || q.Executed == 0 || q.Executed > 2000 || q.Stopped != "time box before interval within 0.1 %" {
		t.Errorf("ran %d, stopped %q, error %v", q.Executed, q.Stopped, err)
	}
	q, err = engine.Query(t.Context(), engine.QueryConfig{Workers: 2, TimeBox: 20 * time.Millisecond}, driver.DB{Required: s}, queries(10_000), ignore)
	if err != nil || q.Stopped != "time box" {
		t.Errorf("stopped %q, error %v", q.Stopped, err)
	}
}
