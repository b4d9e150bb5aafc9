package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/series"
)

func TestParseRetry(t *testing.T) {
	for text, want := range map[string]retry.Policy{
		"":       {},
		"5":      {Times: 5},
		"60s":    {Within: time.Minute},
		"5,1m0s": {Times: 5, Within: time.Minute},
		"1m, 3":  {Times: 3, Within: time.Minute},
	} {
		got, err := retry.Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := retry.Parse(got.String()); err != nil || again != got {
			t.Errorf("%q: read again as %+v, %v", text, again, err)
		}
	}
	for _, text := range []string{"0", "-1", "0s", "-3s", "5,6", "1s,2s", "60 s", "often", ",", "5,", "1,2s,3"} {
		if r, err := retry.Parse(text); err == nil || !strings.Contains(err.Error(), "such as 5, 60s or 5,60s") {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
}

// flaky is a target that stores row times, and keeps rows back: it accepts a
// batch with the one after it.
type flaky struct {
	driver.Required
	stored []int64 // first time of each batch
	writes int     // so far
	opened int
	// fail is called before the n-th write, from 1, and connect before the n-th
	// connection.
	fail    func(n int) error
	connect func(n int) error
	keep    bool
}

func (f *flaky) Settle(context.Context) error { return nil }

func (f *flaky) NewWriter(context.Context, int) (driver.Writer, error) {
	f.opened++
	if f.connect != nil {
		if err := f.connect(f.opened); err != nil {
			return nil, err
		}
	}
	return &flakyWriter{flaky: f}, nil
}

type flakyWriter struct {
	*flaky
	kept   int64
	failed bool
}

func (w *flakyWriter) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	if w.failed {
		return driver.Receipt{}, errors.New("used after a failure")
	}
	w.writes++
	if w.fail != nil {
		if err := w.fail(w.writes); err != nil {
			w.failed = true
			return driver.Receipt{}, err
		}
	}
	w.stored = append(w.stored, b.Runs[0].Times[0])
	rows := int64(b.Rows())
	if w.keep {
		rows, w.kept = w.kept, rows
	}
	return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: rows}, nil
}

func (w *flakyWriter) Flush(context.Context) (driver.Receipt, error) {
	rows := w.kept
	w.kept = 0
	return driver.Receipt{Sent: time.Now(), Acked: time.Now(), Rows: rows}, nil
}

func (w *flakyWriter) Close() error { return nil }

var errCut = errors.New("connection reset by peer")

func cut() error { return fmt.Errorf("writing: %w", &driver.Temporary{Err: errCut}) }

// failAt fails at the given operations.
func failAt(err error, numbers ...int) func(int) error {
	return func(n int) error {
		if slices.Contains(numbers, n) {
			return err
		}
		return nil
	}
}

// 3,600 rows in batches of 360: each failed batch is sent again by a new
// writer, with what the old one had kept back, and nothing is counted twice.
func TestRetry(t *testing.T) {
	refused := &driver.Temporary{Err: errors.New("busy"), After: 3 * time.Second, Refused: true}
	for name, c := range map[string]struct {
		target    flaky
		retry     retry.Policy
		tries     int64
		sentTwice int64
		stored    int           // batches
		longest   time.Duration // of a batch, at least
	}{
		"nothing fails":       {retry: retry.Policy{Times: 1}, stored: 10},
		"first batch":         {target: flaky{fail: failAt(cut(), 1)}, retry: retry.Policy{Times: 1}, tries: 1, sentTwice: 360, stored: 10, longest: 50 * time.Millisecond},
		"three in a row":      {target: flaky{fail: failAt(cut(), 4, 5, 6)}, retry: retry.Policy{Within: time.Second}, tries: 3, sentTwice: 3 * 360, stored: 10, longest: 350 * time.Millisecond},
		"refused":             {target: flaky{fail: failAt(refused, 2)}, retry: retry.Policy{Times: 1}, tries: 1, stored: 10, longest: 3 * time.Second},
		"kept back":           {target: flaky{keep: true, fail: failAt(cut(), 5)}, retry: retry.Policy{Times: 1}, tries: 1, sentTwice: 2 * 360, stored: 11, longest: 50 * time.Millisecond},
		"server away":         {target: flaky{fail: failAt(cut(), 3), connect: failAt(fmt.Errorf("connecting: %w", driver.ErrUnreachable), 2, 3, 4)}, retry: retry.Policy{Within: 10 * time.Second}, tries: 4, sentTwice: 360, stored: 10, longest: 750 * time.Millisecond},
		"kept back, and away": {target: flaky{keep: true, fail: failAt(cut(), 5), connect: failAt(cut(), 2)}, retry: retry.Policy{Times: 2}, tries: 2, sentTwice: 2 * 360, stored: 11},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				load, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 360, Retry: c.retry}, dataset(t, 10, time.Hour), driver.DB{Required: &c.target}, ignore)
				if err != nil {
					t.Fatal(err)
				}
				if load.Rows != 3600 || load.Batches.Count != 10 || len(c.target.stored) != c.stored {
					t.Errorf("%d rows, %d batches, %d stored; want 3600, 10, %d", load.Rows, load.Batches.Count, len(c.target.stored), c.stored)
				}
				if distinct := slices.Compact(slices.Sorted(slices.Values(c.target.stored))); len(distinct) != 10 {
					t.Errorf("%d different batches arrived, 10 were sent", len(distinct))
				}
				switch r := load.Retries; {
				case c.tries == 0 && r != nil:
					t.Errorf("retries %+v where nothing failed", r)
				case c.tries > 0 && (r == nil || r.Tries != c.tries || r.SentTwice != c.sentTwice || r.Values != 3600*c.tries || r.Cause == ""):
					t.Errorf("retries %+v; want %d, %d rows", r, c.tries, c.sentTwice)
				}
				if got := time.Duration(load.Batches.Max * float64(time.Second)); got < c.longest {
					t.Errorf("the longest batch took %v, less than %v: not from its first try", got, c.longest)
				}
			})
		})
	}
}

// A batch fails where its tries or its time are used up, where the error
// is not temporary, and with the context.
func TestRetryEnds(t *testing.T) {
	always := func(err error) func(int) error { return func(int) error { return err } }
	for want, c := range map[string]struct {
		target flaky
		retry  retry.Policy
		within time.Duration
	}{
		"writer 0, batch 1 (rows 1 to 360, cpu from 2016-01-01T00:00:00Z to 2016-01-01T00:05:50Z): writing: connection reset by peer": {flaky{fail: always(cut())}, retry.Policy{}, 0},
		"connection reset by peer (failed after 3 retries in ":                                                                        {flaky{fail: always(cut())}, retry.Policy{Times: 3}, time.Second},
		": --retry 10s allows no more)":                                               {flaky{fail: always(cut())}, retry.Policy{Within: 10 * time.Second}, 10 * time.Second},
		"writing: no such column":                                                     {flaky{fail: always(errors.New("writing: no such column"))}, retry.Policy{Times: 3}, 0},
		"connecting again: wrong password":                                            {flaky{fail: always(cut()), connect: failAt(errors.New("wrong password"), 2)}, retry.Policy{Times: 3}, time.Second},
		"and the server requests a pause of 1h0m0s)":                                  {flaky{fail: always(&driver.Temporary{Err: errCut, After: time.Hour})}, retry.Policy{Within: time.Minute}, 0},
		"the server requests a pause of 277777h46m39s, and tsmark waits at most 5m0s": {flaky{fail: always(&driver.Temporary{Err: errCut, After: 999_999_999 * time.Second})}, retry.Policy{Times: 5}, 0},
		"(rows 1 to 360, cpu from 2016-01-01T0":                                       {flaky{fail: always(cut())}, retry.Policy{Times: 2}, time.Second},
		"context deadline exceeded":                                                   {flaky{fail: always(cut())}, retry.Policy{Within: time.Hour}, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			load, err := engine.Load(ctx, engine.LoadConfig{Workers: 1, BatchSize: 360, Retry: c.retry}, dataset(t, 10, time.Hour), driver.DB{Required: &c.target}, ignore)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %s", err, want)
			}
			if took := time.Since(begin); took > c.within || load.Rows != 0 {
				t.Errorf("%s: it took %v, at most %v wanted; %d rows", want, took, c.within, load.Rows)
			}
		})
	}
}

// A target that is gone when everything is acknowledged is waited for.
func TestRetrySettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &unsettled{flaky: &flaky{}}
		if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 360, Retry: retry.Policy{Within: time.Minute}}, dataset(t, 10, time.Hour), driver.DB{Required: s}, ignore); err != nil || s.ran != 4 {
			t.Errorf("%v after %d times", err, s.ran)
		}
		s = &unsettled{flaky: &flaky{}}
		if _, err := engine.Load(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 360}, dataset(t, 10, time.Hour), driver.DB{Required: s}, ignore); !errors.Is(err, driver.ErrUnreachable) {
			t.Errorf("without retry: %v", err)
		}
	})
}

type unsettled struct {
	*flaky
	ran int
}

func (u *unsettled) Settle(context.Context) error {
	if u.ran++; u.ran < 4 {
		return fmt.Errorf("the server %w", driver.ErrUnreachable)
	}
	return nil
}

// In a mixed phase too a batch that failed is sent again, and the watermark
// waits for it.
func TestMixedRetry(t *testing.T) {
	d := dataset(t, 100, time.Hour)
	s, failed := &stub{}, false
	s.write = func(_ context.Context, _ int, b *series.Batch) (driver.Receipt, error) {
		if first := time.Unix(0, b.Runs[0].Times[0]).UTC().Format("04:05"); first == "10:00" && !failed {
			failed = true
			return driver.Receipt{}, cut()
		}
		return accept(b), nil
	}
	s.do = func(context.Context, string) (driver.Cost, error) { return driver.Cost{Rows: 100}, nil }
	c := mixedConfig()
	c.Workers, c.Retry = 1, retry.Policy{Times: 2}
	out, journal, err := engine.RunMixed(t.Context(), c, d, driver.DB{Required: s}, renderEnd, lastRow(), ignore)
	if err != nil {
		t.Fatal(err)
	}
	if w := out.Writes; w.Rows != 36_000 || w.Retries == nil || w.Retries.Tries != 1 || w.Retries.SentTwice != 100 {
		t.Errorf("%d rows, retries %+v", w.Rows, w.Retries)
	}
	if batch := journal.Shares[0].Writes[60]; batch.Acked-batch.Begin < 50*time.Millisecond {
		t.Errorf("the failed batch took %v, back-off included", batch.Acked-batch.Begin)
	}
	if s.writers.Load() != 0 {
		t.Errorf("%d writers were left open", s.writers.Load())
	}
}
