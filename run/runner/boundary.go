package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// measureBoundary measures the boundary to external drivers: tsmark's null driver in a program of its
// own. It returns nil if the run has no external driver, or if that program does not start.
func (x *execution) measureBoundary(ctx context.Context, target *plan.Target, dataset workload.Dataset, owner func(*series.Batch) int) *result.Boundary {
	if !slices.ContainsFunc(x.plan.Targets, func(t plan.Target) bool { return t.Driver.External != "" }) {
		return nil
	}
	self, err := os.Executable()
	if err != nil || !strings.HasPrefix(filepath.Base(self), "tsmark") { // a test has no such command
		return nil
	}
	task := x.record.Display.Start("measuring the boundary to external drivers", "rows", 0)
	found, err := x.boundaryOf(ctx, "'"+self+"' serve-driver null", target, dataset, owner)
	if err != nil {
		task.Fail("not measured: " + err.Error())
		return nil
	}
	task.Finish(fmt.Sprintf("%.0f rows/s at most, %.0f µs a query", found.RowsPerSecond, 1e6*found.QuerySeconds))
	return found
}

func (x *execution) boundaryOf(ctx context.Context, command string, target *plan.Target, dataset workload.Dataset, owner func(*series.Batch) int) (*result.Boundary, error) {
	// As the slowest of the targets' drivers are used.
	programs := external.Programs{Calls: slices.ContainsFunc(x.plan.Targets, func(t plan.Target) bool { return t.Driver.External != "" && !t.Driver.Exchanges })}
	defer programs.Close()
	d, err := programs.Driver().Program(map[string]string{external.OptionCommand: command})
	if err != nil {
		return nil, err
	}
	options, err := d.Resolve(nil)
	if err != nil {
		return nil, err
	}
	db, err := d.Open(ctx, driver.Env{Create: true}, options)
	if err != nil {
		return nil, err
	}
	defer db.Close() // nothing was stored
	if err := db.Create(ctx, dataset.Schema()); err != nil {
		return nil, err
	}
	span := x.plan.Catalog.CalibrationSpan()
	return engine.MeasureBoundary(ctx, engine.LoadConfig{Workers: target.Workers, BatchSize: target.BatchSize, Period: span, Owner: owner}, x.plan.Experiment.Queries.Workers, dataset, db, span)
}
