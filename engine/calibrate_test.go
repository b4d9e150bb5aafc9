package engine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
)

// A calibration ends after its time, and has both rates.
func TestCalibrate(t *testing.T) {
	begin := time.Now()
	found, err := engine.Calibrate(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 10_000, Period: time.Second}, 3, dataset(t, 100, 100*24*time.Hour), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 200*time.Millisecond || took > time.Minute {
		t.Errorf("took %v", took)
	}
	if found.Workers != 2 || found.QueryWorkers != 3 || found.RowsPerSecond <= 0 || found.QueriesPerSecond <= 0 {
		t.Errorf("%+v", found)
	}
}

// A dataset shorter than the time is loaded once, and one that is slower than it to its
// first batch.
func TestCalibrateBySmallDataset(t *testing.T) {
	for _, span := range []time.Duration{time.Nanosecond, 50 * time.Millisecond} {
		found, err := engine.Calibrate(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1000, Period: time.Second}, 1, dataset(t, 10, time.Hour), span)
		if err != nil || found.RowsPerSecond <= 0 {
			t.Errorf("%+v, %v", found, err)
		}
	}
}
