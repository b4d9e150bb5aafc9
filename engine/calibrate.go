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
	rows, queries, err := measureNull(ctx, cfg, queryWorkers, d, driver.DB{Required: discards{}}, span)
	if err == nil {
		found.QueriesPerSecond = queries.PerSecond
	}
	found.RowsPerSecond = rows
	return found, err
}

// MeasureBoundary is Calibrate with a target that discards all rows and returns empty answers in a
// program of its own.
func MeasureBoundary(ctx context.Context, cfg LoadConfig, queryWorkers int, d workload.Dataset, null driver.DB, span time.Duration) (*result.Boundary, error) {
	rows, queries, err := measureNull(ctx, cfg, queryWorkers, d, null, span)
	if err != nil {
		return nil, err
	}
	if queries.Failed != nil {
		return nil, queries.Failed
	}
	return &result.Boundary{RowsPerSecond: rows, QuerySeconds: queries.Service.Median}, nil
}

// measureNull loads a dataset and runs queries, each for about span.
func measureNull(ctx context.Context, cfg LoadConfig, queryWorkers int, d workload.Dataset, null driver.DB, span time.Duration) (rowsPerSecond float64, queries *result.Queries, err error) {
	sink := driver.DB{Required: &sink{Required: null.Required, end: time.Now().Add(span)}}
	begin := time.Now()
	load, err := Load(ctx, cfg, d, sink, func(int) {})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, nil, err
	}
	rowsPerSecond = float64(load.Rows) / time.Since(begin).Seconds()
	queries, err = Query(ctx, QueryConfig{Workers: queryWorkers, TimeBox: span}, sink, make(List, 1_000_000), func(int) {})
	return rowsPerSecond, queries, err
}

// errEnough ends a calibration.
var errEnough = errors.New("measured for long enough")

// sink is a target whose writers refuse batches after a while, except their first.
type sink struct {
	driver.Required
	end time.Time
}

func (s *sink) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := s.Required.NewWriter(ctx, worker)
	return &sinkWriter{Writer: w, sink: s}, err
}

type sinkWriter struct {
	driver.Writer
	sink  *sink
	taken bool
}

func (w *sinkWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if w.taken && time.Now().After(w.sink.end) {
		return driver.Receipt{}, errEnough
	}
	w.taken = true
	return w.Writer.Write(ctx, b)
}

// discards is a target that discards all rows and returns empty answers.
type discards struct{ driver.Required }

func (discards) NewWriter(context.Context, int) (driver.Writer, error)   { return discards{}, nil }
func (discards) NewQuerier(context.Context, int) (driver.Querier, error) { return discards{}, nil }
func (discards) Settle(context.Context) error                            { return nil }

func (discards) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	now := time.Now()
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
}

func (discards) Flush(context.Context) (driver.Receipt, error) { return driver.Receipt{}, nil }
func (discards) Do(context.Context, driver.Request, query.Sink) (driver.Cost, error) {
	return driver.Cost{}, nil
}
func (discards) Close() error { return nil }
