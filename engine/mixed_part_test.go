package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/engine/peertest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// clients runs a mixed phase with a client per target. If one fails it stops the others, as a
// coordinator does.
func clients(t *testing.T, cfg engine.MixedConfig, d workload.Dataset, render engine.Render, types []engine.MixedQueries, targets ...driver.DB) ([]*result.Mixed, []*engine.Journal, []error) {
	t.Helper()
	n := len(targets)
	phase := peertest.New(n, 3*time.Millisecond)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	outs, journals, errs := make([]*result.Mixed, n), make([]*engine.Journal, n), make([]error, n)
	var wait sync.WaitGroup
	for i, target := range targets {
		wait.Go(func() {
			share := workload.Share{Index: i, Count: n}
			own := cfg
			own.Part = engine.MixedPart{Share: share, Own: share.Reader, Peers: phase.Client(i)}
			if outs[i], journals[i], errs[i] = engine.RunMixed(ctx, own, d, target, render, slices.Clone(types), ignore); errs[i] != nil {
				stop()
			}
		})
	}
	wait.Wait()
	return outs, journals, errs
}

// lastRows returns n queries for the newest row of each host.
func lastRows(n int) []engine.MixedQueries {
	types := lastRow()
	for len(types[0].Queries) < n {
		q := types[0].Queries[0]
		q.ID = len(types[0].Queries)
		types[0].Queries = append(types[0].Queries, q)
	}
	return types
}

// No client queries rows that another client has not written: while the second client hangs,
// queries of both end where its rows end. The first client continues to query until the second one
// has written all its rows.
func TestWatermarkOfClients(t *testing.T) {
	release := make(chan struct{})
	released := func() bool {
		select {
		case <-release:
			return true
		default:
			return false
		}
	}
	at := func(b *series.Batch) string { return time.Unix(0, b.Runs[0].Times[0]).UTC().Format("04:05") }
	var mu sync.Mutex
	var newest [2]string
	targets := make([]driver.DB, 2)
	for i := range targets {
		targets[i] = driver.DB{Required: &stub{
			write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
				switch {
				case i == 0 && at(b) == "59:50":
					time.AfterFunc(30*time.Millisecond, func() { close(release) })
				case i == 1 && at(b) == "00:10":
					<-release
				case i == 1:
					time.Sleep(200 * time.Microsecond)
				}
				return accept(b), nil
			},
			do: func(_ context.Context, text string) (driver.Cost, error) {
				if !released() && text > "2016-01-01T00:00:10Z" {
					return driver.Cost{}, errors.New("a query ends at " + text)
				}
				mu.Lock()
				defer mu.Unlock()
				newest[i] = max(newest[i], text)
				return driver.Cost{}, nil
			},
		}}
	}
	cfg := mixedConfig()
	cfg.Queriers, cfg.Workers, cfg.BatchSize = 1, 1, 50 // a batch an epoch
	outs, _, errs := clients(t, cfg, dataset(t, 100, time.Hour), renderEnd, lastRow(), targets...)
	for i, out := range outs {
		if errs[i] != nil || out.Problem() != "" || out.Types[0].Executed == 0 {
			t.Errorf("client %d: %v, %q, %d queries", i, errs[i], out.Problem(), out.Types[0].Executed)
		}
		if newest[i] < "2016-01-01T00:02" || newest[i] > "2016-01-01T01" {
			t.Errorf("client %d: the last query ends at %s", i, newest[i])
		}
		if out.Writes.Settled != 0 {
			t.Errorf("client %d waited for the target to settle", i)
		}
	}
}

// What several clients write is what one writes, each row once, and each query is run once.
func TestMixedParts(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var mu sync.Mutex
		rows, ids := map[string]int{}, map[int]int{}
		targets := make([]driver.DB, n)
		for i := range targets {
			targets[i] = driver.DB{Required: &stub{
				write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
					mu.Lock()
					defer mu.Unlock()
					for r := range b.Runs {
						for row, s := range b.Runs[r].Series {
							rows[fmt.Sprint(s, " ", b.Runs[r].Times[row])]++
						}
					}
					return accept(b), nil
				},
				do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil },
			}}
		}
		render := func(q *query.Query, _ *series.Schema) (driver.Request, error) {
			mu.Lock()
			defer mu.Unlock()
			ids[q.ID]++
			return driver.Request{}, nil
		}
		cfg := mixedConfig()
		cfg.Share, cfg.Loaded, cfg.BatchSize = 0.25, 2000, 20 // three queries to a batch
		outs, journals, errs := clients(t, cfg, dataset(t, 100, 10*time.Minute), render, lastRows(1000), targets...)
		batches, executed, handed := int64(0), int64(0), int64(0)
		for i, out := range outs {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			batches, executed, handed = batches+out.Writes.Batches.Count, executed+out.Types[0].Executed, handed+journals[i].HandedRows()
		}
		if len(rows) != 4000 || handed != 4000 || batches < 200 || executed != 3*batches || len(ids) != int(executed) {
			t.Errorf("%d clients: %d rows, %d handed over, %d batches, %d queries of %d ids", n, len(rows), handed, batches, executed, len(ids))
		}
		for what, n := range rows {
			if n != 1 {
				t.Errorf("%s was written %d times", what, n)
			}
		}
		for id := range int(executed) - 3*n {
			if ids[id] != 1 {
				t.Errorf("%d clients: query %d was run %d times", n, id, ids[id])
			}
		}
	}
}

// Rates are those of all clients together, of however many rows each has.
func TestMixedPartsKeepRates(t *testing.T) {
	for n := 1; n <= 3; n++ {
		targets := make([]driver.DB, n)
		for i := range targets {
			targets[i] = driver.DB{Required: &stub{
				write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) { return accept(b), nil },
				do:    func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil },
			}}
		}
		cfg := mixedConfig()
		cfg.Loaded, cfg.BatchSize, cfg.Workers, cfg.Queriers, cfg.Queue = 2000, 20, 1, 1, 100
		cfg.RowRate, cfg.QueryRate = pace.Constant(10_000), pace.Constant(400) // 4,000 rows
		outs, _, errs := clients(t, cfg, dataset(t, 10, 100*time.Minute), renderEnd, lastRows(1000), targets...)
		arrivals, rows, last, late := int64(0), int64(0), 0.0, 0.0 // late: by how much the machine was
		for i, out := range outs {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			arrivals, rows, last = arrivals+out.Arrivals, rows+out.Writes.Rows, max(last, out.Writes.Acked)
			// The shares of ten hosts are uneven, and still end together.
			late = max(late, out.Lag.Max, out.Response.Max)
			if out.Writes.Acked < 0.39 || out.Response == nil || out.Lag == nil || out.Lag.Count != out.Arrivals {
				t.Errorf("%d clients: client %d has written after %v s; response %v, lag %v of %d arrivals", n, i, out.Writes.Acked, out.Response, out.Lag, out.Arrivals)
			}
		}
		if due := 400 * last; rows != 4000 || float64(arrivals) < due-2-400*late || float64(arrivals) > due+20+400*late {
			t.Errorf("%d clients: %d rows, %d arrivals in %v s", n, rows, arrivals, last)
		}
	}
}

// Who waits for the others ends when it is told to, and says how far it came.
func TestMixedPartsStopped(t *testing.T) {
	batches, rows, all := 0, 0, make(chan struct{})
	working := &stub{
		write: func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
			if rows += b.Rows(); rows == 3000 {
				close(all)
			}
			return accept(b), nil
		},
		do: func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 1}, nil },
	}
	failing := &stub{do: working.do}
	failing.write = func(ctx context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		if batches++; batches == 5 {
			select {
			case <-all: // however long the other one takes
			case <-ctx.Done():
			}
			return driver.Receipt{}, errors.New("disk full")
		}
		return accept(b), nil
	}
	cfg := mixedConfig()
	cfg.Workers = 1
	outs, _, errs := clients(t, cfg, dataset(t, 100, 10*time.Minute), renderEnd, lastRow(), driver.DB{Required: working}, driver.DB{Required: failing})
	if errs[0] == nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "disk full") || outs[0].Writes.Rows != 3000 || outs[1].Writes.Rows != 400 {
		t.Errorf("%v and %v after %d and %d rows", errs[0], errs[1], outs[0].Writes.Rows, outs[1].Writes.Rows)
	}
}
