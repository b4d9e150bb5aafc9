package analysis_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// stopping is a target that suspends tsmark during every tenth query.
type stopping struct {
	driver.Required
	pulse *pulse.Pulse
}

func (s stopping) NewQuerier(context.Context, int) (driver.Querier, error) { return s, nil }
func (stopping) Close() error                                              { return nil }

func (s stopping) Do(ctx context.Context, r driver.Request, _ query.Sink) (driver.Cost, error) {
	n, err := strconv.Atoi(r.Text)
	begin := time.Now()
	time.Sleep(100 * time.Microsecond)
	if n%10 == 9 {
		if n == 99 { // cut off for that reason
			<-ctx.Done()
		}
		s.pulse.Add(begin, time.Now())
	}
	return driver.Cost{Rows: int64(n)}, errorOf(ctx, err)
}

func errorOf(ctx context.Context, err error) error {
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// Queries during which tsmark was suspended are counted but in no figure: by the engine and from
// the log alike, in a closed and in an open loop.
func TestPaused(t *testing.T) {
	for _, schedule := range []string{"", "1000/s"} {
		p := pulse.Silent()
		cfg := engine.QueryConfig{Workers: 1, BurnIn: 10, Timeout: 500 * time.Millisecond, Pulse: func() *pulse.Pulse { return p }, Client: true}
		var want *result.Queries
		cell := oplog.Cell{Kind: oplog.Query, Target: "a", Type: "t", Schedule: schedule, Workers: 1, Queries: 200}
		got := recordCell(t, cell, func(s *oplog.Section) {
			var err error
			cfg.Log = s
			if schedule == "" {
				want, err = engine.Query(t.Context(), cfg, driver.DB{Required: stopping{pulse: p}}, queries(200), func(int) {})
			} else {
				open := engine.OpenConfig{QueryConfig: cfg, Schedule: pace.Constant(1000), Count: 200, Queue: 200}
				want, err = engine.QueryOpen(t.Context(), open, driver.DB{Required: stopping{pulse: p}}, queries(200), func(int) {})
			}
			if err != nil || want.Withheld != "" {
				t.Fatal(err, want.Withheld)
			}
		}).Queries
		if want.Paused != 19 || want.Executed != 171 || want.AtLeast != 0 || want.Service.Count != 171 || want.PausedTime <= 0 {
			t.Errorf("%q: %d paused for %v s, %d executed, %d cut off, %d times", schedule, want.Paused, want.PausedTime, want.Executed, want.AtLeast, want.Service.Count)
		}
		for place, seconds := range want.Each {
			if paused := place%10 == 9 || place < 10; paused != (seconds == 0) {
				t.Errorf("%q: query %d took %v", schedule, place, seconds)
			}
		}
		if got.Paused != want.Paused || got.PausedTime != want.PausedTime || got.ClientTime != want.ClientTime || got.Executed != want.Executed ||
			got.Wall != want.Wall || got.PerSecond != want.PerSecond || got.Service != want.Service {
			t.Errorf("%q: the log says\n%+v\nthe engine\n%+v", schedule, got, want)
		}
	}
}
