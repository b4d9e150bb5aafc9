package engine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
)

// A calibration ends after its time, and its rates are those of this client:
// far above what any target's would be.
func TestCalibrate(t *testing.T) {
	begin := time.Now()
	found, err := engine.Calibrate(t.Context(), engine.LoadConfig{Workers: 2, BatchSize: 10_000, Period: time.Second}, dataset(t, 100, 100*24*time.Hour), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 200*time.Millisecond || took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if found.Workers != 2 || found.RowsPerSecond < 100_000 || found.QueriesPerSecond < 10_000 {
		t.Errorf("%+v", found)
	}
}

// A dataset shorter than the time is loaded once.
func TestCalibrateBySmallDataset(t *testing.T) {
	found, err := engine.Calibrate(t.Context(), engine.LoadConfig{Workers: 1, BatchSize: 1000, Period: time.Second}, dataset(t, 10, time.Hour), 50*time.Millisecond)
	if err != nil || found.RowsPerSecond <= 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
