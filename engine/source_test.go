package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
)

// blocky is a Source of several blocks. Each takes time to render and replaces the previous one.
type blocky struct {
	engine.List
	size     int
	takes    time.Duration
	busy     *atomic.Int64 // queries on their way
	rendered int
	at       []int // places that were rendered from
	failing  bool
	block    engine.List
}

func (b *blocky) Render(ctx context.Context, place int) ([]engine.Rendered, error) {
	if b.busy.Load() != 0 {
		return nil, errors.New("queries are on their way")
	}
	if b.failing && place > 0 {
		return nil, errors.New("no more")
	}
	time.Sleep(b.takes)
	for i := range b.block {
		b.block[i] = engine.Rendered{Rows: -2} // it is no longer valid
	}
	b.block = append(b.block[:0], b.List[place:min(place+b.size, len(b.List))]...)
	b.rendered, b.at = b.rendered+len(b.block), append(b.at, place)
	return b.block, nil
}

// counting is a target that notes its queries.
func counting() (*stub, *atomic.Int64, func() map[string]int) {
	var mu sync.Mutex
	var busy atomic.Int64
	ran := map[string]int{}
	return &stub{do: func(_ context.Context, text string) (driver.Cost, error) {
		busy.Add(1)
		defer busy.Add(-1)
		mu.Lock()
		ran[text]++
		mu.Unlock()
		time.Sleep(200 * time.Microsecond)
		return driver.Cost{Rows: 2}, nil
	}}, &busy, func() map[string]int { mu.Lock(); defer mu.Unlock(); return ran }
}

// Every query of a Source that renders blocks runs once, and the clock is paused during rendering.
func TestBlocks(t *testing.T) {
	const n, takes = 95, 20 * time.Millisecond
	for name, cfg := range map[string]engine.QueryConfig{
		"plain":    {},
		"burn-in":  {BurnIn: 15},
		"until":    {Until: 1e-9},
		"time box": {TimeBox: time.Hour},
		"captured": {Capture: &engine.Capture{Sample: engine.NewSample("seed", "t", 20)}},
	} {
		s, busy, ran := counting()
		source := &blocky{List: queries(n), size: 10, takes: takes, busy: busy}
		cfg.Workers = 3
		begin := time.Now()
		q, err := engine.Query(t.Context(), cfg, driver.DB{Required: s}, source, ignore)
		passed := time.Since(begin)
		if err != nil || q.Withheld != "" || q.Executed+q.BurnIn != n || len(q.Each) > n || q.Distinct != n || q.Sample.Different != int(q.Executed) {
			t.Fatalf("%s: %d ran, %d in the burn-in, %d different of %d, %q, error %v", name, q.Executed, q.BurnIn, q.Sample.Different, q.Distinct, q.Withheld, err)
		}
		for i := range n {
			if times := ran()[fmt.Sprint(i)]; times != 1 {
				t.Errorf("%s: query %d was run %d times", name, i, times)
			}
		}
		if pauses := time.Duration(len(source.at)) * takes; len(source.at) != 10 || q.Wall > (passed-pauses).Seconds() {
			t.Errorf("%s: rendered from %v; the clock showed %v s of %v, including %v of rendering", name, source.at, q.Wall, passed, pauses)
		}
	}
}

// A time box ends by the clock that is paused during rendering, and no further block is rendered
// then.
func TestBlocksInATimeBox(t *testing.T) { synctest.Test(t, blocksInATimeBox) }

func blocksInATimeBox(t *testing.T) {
	s, busy, _ := counting()
	source := &blocky{List: queries(100_000), size: 20, takes: 10 * time.Millisecond, busy: busy}
	const box = 30 * time.Millisecond
	q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2, TimeBox: box}, driver.DB{Required: s}, source, ignore)
	if err != nil || !strings.Contains(q.Stopped, "time") || q.Wall < box.Seconds() || source.rendered > int(q.Executed)+2*source.size || q.Distinct != 100_000 {
		t.Errorf("stopped by %q after %v s and %d queries, %d rendered, error %v", q.Stopped, q.Wall, q.Executed, source.rendered, err)
	}
}

// A block that cannot be rendered ends the type with an error, and nobody waits.
func TestBlocksFail(t *testing.T) {
	s, busy, _ := counting()
	source := &blocky{List: queries(50), size: 10, busy: busy, failing: true}
	if q, err := engine.Query(t.Context(), engine.QueryConfig{Workers: 2}, driver.DB{Required: s}, source, ignore); err == nil || !strings.Contains(err.Error(), "no more") || q.Executed != 10 {
		t.Errorf("%d ran, error %v", q.Executed, err)
	}
}

// An open loop, which waits for nobody, has rendered beforehand what its schedule
// runs, and no more.
func TestBlocksOfASchedule(t *testing.T) {
	for _, c := range []struct{ count, queries, rendered int }{{35, 100, 40}, {100, 35, 35}, {10, 100, 10}} {
		s, busy, ran := counting()
		source := &blocky{List: queries(c.queries), size: 10, busy: busy}
		open := engine.OpenConfig{QueryConfig: engine.QueryConfig{Workers: 2}, Schedule: pace.Constant(5000), Count: c.count, Queue: c.count}
		q, err := engine.QueryOpen(t.Context(), open, driver.DB{Required: s}, source, ignore)
		if err != nil || q.Withheld != "" || q.Executed != int64(c.count) || source.rendered != c.rendered || len(ran()) != min(c.count, c.queries) {
			t.Errorf("%+v: %d ran, of %d queries, %d rendered, %q, error %v", c, q.Executed, len(ran()), source.rendered, q.Withheld, err)
		}
	}
}
