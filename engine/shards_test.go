package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
)

// dealt returns a dataset with a number of rows for each of five devices, dealt to three clients;
// one client has a single device.
func dealt(t testing.TB, rows int) (workload.Sharded, func(*series.Batch) int) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := iotdb.Workload().Dataset(workload.Spec{Name: "iotdb",
		Seed: 1, Scale: 5, Start: start, End: start.Add(time.Duration(rows) * time.Second), Interval: time.Second,
		Settings: map[string]string{"iotdb.sensors": "2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	deals, err := d.(workload.Dealt).Deal(3, 100)
	if err != nil {
		t.Fatal(err)
	}
	return deals.(workload.Sharded), func(b *series.Batch) int { return d.(workload.Dealt).Client(b.Runs[0].Series[0], 3) }
}

// perWriter keeps what each writer was given.
type perWriter struct {
	mu   sync.Mutex
	rows [3][]string
}

func (p *perWriter) write(_ context.Context, worker int, b *series.Batch) (driver.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows[worker] = append(p.rows[worker], rowTexts(b)...)
	return accept(b), nil
}

// read is all rows of a reader.
func read(t *testing.T, r workload.Reader) (rows []string) {
	t.Helper()
	var b series.Batch
	for r.Next(&b, 77) == nil {
		rows = append(rows, rowTexts(&b)...)
	}
	return rows
}

// Each worker writes the rows of its own devices in their order.
func TestShards(t *testing.T) {
	d, owner := dealt(t, 1000)
	var of perWriter
	s := &stub{write: of.write}
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 200, Owner: owner}, d, driver.DB{Required: s}, ignore)
	if err != nil {
		t.Fatal(err)
	}
	for w := range of.rows {
		if want := read(t, d.OpenShard(w)); !slices.Equal(of.rows[w], want) || load.Shards[w] != int64(len(want)) {
			t.Errorf("writer %d was given %d rows, %d by the result; want the %d of its devices in their order", w, len(of.rows[w]), load.Shards[w], len(want))
		}
	}
	if load.Rows != 5000 {
		t.Errorf("%d rows", load.Rows)
	}
}

// A worker that waits holds no other up, as it would where one reader hands batches
// to all in turn: here the first one's first batch waits for all of the others'.
func TestShardsDoNotWait(t *testing.T) {
	d, owner := dealt(t, 1000)
	var others sync.WaitGroup
	others.Add(3000 / 100)
	s := &stub{write: func(_ context.Context, worker int, b *series.Batch) (driver.Receipt, error) {
		if worker == 0 {
			others.Wait()
		} else {
			others.Done()
		}
		return accept(b), nil
	}}
	if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 100, Owner: owner}, d, driver.DB{Required: s}, ignore); err != nil {
		t.Fatal(err)
	}
}

// A load that is cut off tells how far each worker came, and where it failed.
func TestShardsCutOff(t *testing.T) {
	d, owner := dealt(t, 1000)
	var of perWriter
	broken := errors.New("no more")
	s := &stub{write: func(ctx context.Context, worker int, b *series.Batch) (driver.Receipt, error) {
		of.mu.Lock()
		enough := worker == 1 && len(of.rows[1]) == 300
		of.mu.Unlock()
		if enough {
			return driver.Receipt{}, broken
		}
		return of.write(ctx, worker, b)
	}}
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 100, Owner: owner}, d, driver.DB{Required: s}, ignore)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "(rows 301 to 400 of the series of writer 1, ") {
		t.Errorf("error %v", err)
	}
	for w := range of.rows {
		n := int(load.Shards[w])
		if n != len(of.rows[w]) || !slices.Equal(of.rows[w], read(t, d.OpenShard(w))[:n]) || w == 1 && n != 300 {
			t.Errorf("writer %d: %d rows, by the result %d", w, len(of.rows[w]), n)
		}
	}
}

// A target that wants rows in order has one reader, so that no writer runs ahead.
func TestShardsInOrder(t *testing.T) {
	d, owner := dealt(t, 1000)
	var of perWriter
	load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 3, BatchSize: 100, Owner: owner, InOrder: time.Hour}, d, driver.DB{Required: &stub{write: of.write}}, ignore)
	if err != nil || load.Shards != nil || load.Rows != 5000 {
		t.Errorf("shards %v, %d rows, error %v", load.Shards, load.Rows, err)
	}
}
