package engine_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// inOrder holds batches to what a server wants that takes no late rows.
type inOrder struct {
	t      *testing.T
	within int64
	mu     sync.Mutex
	newest int64 // largest time written so far
	series map[string]int64
	writer map[string]int
	rows   map[string]int
	most   int
}

func (o *inOrder) write(_ context.Context, worker int, b *series.Batch) (driver.Receipt, error) {
	o.mu.Lock()
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range b.Runs {
		run := &b.Runs[i]
		for row, s := range run.Series {
			key := fmt.Sprint(run.Table.Name, s)
			if run.Times[row] < o.series[key] {
				o.t.Errorf("a row of series %s comes late", key)
			}
			if w, ok := o.writer[key]; ok && w != worker {
				o.t.Errorf("writers %d and %d write series %s", w, worker, key)
			}
			o.series[key], o.writer[key] = run.Times[row], worker
		}
		if run.Rows() > 0 {
			first, last = min(first, slices.Min(run.Times)), max(last, slices.Max(run.Times))
		}
	}
	if first < o.newest-o.within {
		o.t.Errorf("rows come that are %v older than others", time.Duration(o.newest-first))
	}
	for _, row := range rowTexts(b) {
		o.rows[row]++
	}
	o.most = max(o.most, b.Rows())
	o.mu.Unlock()
	if worker == 0 { // who lags behind
		time.Sleep(time.Millisecond)
	}
	o.mu.Lock()
	o.newest = max(o.newest, last)
	o.mu.Unlock()
	return accept(b), nil
}

// rowTexts are the rows of a batch as texts.
func rowTexts(b *series.Batch) []string {
	var rows []string
	for i := range b.Runs {
		run := &b.Runs[i]
		for row := range run.Times {
			text := fmt.Sprint(run.Table.Name, run.Series[row], run.Times[row])
			for f := range run.Columns {
				switch c := &run.Columns[f]; {
				case run.Lacks(f, row):
					text += " -"
				case run.Table.Fields[f].Type.UsesInts():
					text += fmt.Sprint(" ", c.Ints[row])
				default:
					text += fmt.Sprint(" ", c.Floats[row])
				}
			}
			rows = append(rows, text)
		}
	}
	return rows
}

// Several workers write the rows of each series in their order, and none runs ahead.
func TestInOrder(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{Seed: 1, Scale: 40, Start: start, End: start.Add(3 * time.Hour), Interval: 10 * time.Second}
	sparse := spec
	sparse.NewFields = 2
	few := spec
	few.Scale = 2
	for name, c := range map[string]struct {
		use  workload.Workload
		spec workload.Spec
	}{"cpu-only": {tsbs.CPUOnly(), spec}, "few series": {tsbs.CPUOnly(), few}, "devops": {tsbs.Devops(), few}, "NULLs": {tsbs.CPUOnly(), sparse}} {
		t.Run(name, func(t *testing.T) {
			d, err := c.use.Dataset(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			o := &inOrder{t: t, within: int64(time.Hour), series: map[string]int64{}, writer: map[string]int{}, rows: map[string]int{}}
			s := &stub{write: o.write}
			config := engine.LoadConfig{Workers: 3, BatchSize: 1000, InOrder: time.Hour}
			if _, err := engine.Load(t.Context(), config, d, driver.DB{Required: s}, ignore); err != nil {
				t.Fatal(err)
			}
			if o.most > config.BatchSize {
				t.Errorf("a batch has %d rows", o.most)
			}
			var b series.Batch
			for r := d.Open(); ; {
				if err := r.Next(&b, 5000); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for _, row := range rowTexts(&b) {
					o.rows[row]--
				}
			}
			for row, n := range o.rows {
				if n != 0 {
					t.Fatalf("row %s: %d too many", row, n)
				}
			}
		})
	}
}

// BenchmarkInOrder measures the cost of dealing the rows.
func BenchmarkInOrder(b *testing.B) {
	for _, within := range []time.Duration{0, time.Hour} {
		b.Run(fmt.Sprint("within=", within), func(b *testing.B) {
			d := dataset(b, 100, 1000*10*time.Second)
			s := &stub{write: func(_ context.Context, _ int, batch *series.Batch) (driver.Receipt, error) { return accept(batch), nil }}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := engine.Load(b.Context(), engine.LoadConfig{Workers: 2, BatchSize: 10_000, InOrder: within}, d, driver.DB{Required: s}, ignore); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
		})
	}
}
