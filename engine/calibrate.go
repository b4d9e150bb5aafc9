package engine

import (
	"context"
	"errors"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Calibrate measures the speed of this client without a database. For about span it loads
// the dataset into a target that discards all rows; then queryWorkers workers query that
// target for span. No measured target can be faster. Work of a target's own writers on the
// client, such as encoding, is not included.
func Calibrate(ctx context.Context, cfg LoadConfig, queryWorkers int, d workload.Dataset, span time.Duration) (result.Calibration, error) {
	found := result.Calibration{Workers: cfg.Workers, QueryWorkers: queryWorkers}
	sink := driver.DB{Required: &sink{end: time.Now().Add(span)}}
	begin := time.Now()
	load, err := Load(ctx, cfg, d, sink, func(int) {})
	if err != nil && !errors.Is(err, errEnough) {
		return found, err
	}
	found.RowsPerSecond = float64(load.Rows) / time.Since(begin).Seconds()
	queries, err := Query(ctx, QueryConfig{Workers: queryWorkers, TimeBox: span}, sink, make(List, 1_000_000), func(int) {})
	if err != nil {
		return found, err
	}
	found.QueriesPerSecond = queries.PerSecond
	return found, nil
}

// errEnough ends a calibration.
var errEnough = errors.New("measured for long enough")

// sink is a target that discards all rows and returns empty answers.
type sink struct {
	driver.Required
	end time.Time // afterwards a writer refuses batches, except its first
}

func (s *sink) NewWriter(context.Context, int) (driver.Writer, error) {
	return &sinkWriter{sink: s}, nil
}
func (s *sink) NewQuerier(context.Context, int) (driver.Querier, error) { return sinkQuerier{}, nil }
func (s *sink) Settle(context.Context) error                            { return nil }

type sinkWriter struct {
	*sink
	taken bool
}

func (w *sinkWriter) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	now := time.Now()
	if w.taken && now.After(w.end) {
		return driver.Receipt{}, errEnough
	}
	w.taken = true
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
}

func (*sinkWriter) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (*sinkWriter) Close() error                                  { return nil }

type sinkQuerier struct{}

func (sinkQuerier) Do(context.Context, driver.Request, query.Sink) (driver.Cost, error) {
	return driver.Cost{}, nil
}
func (sinkQuerier) Close() error { return nil }
