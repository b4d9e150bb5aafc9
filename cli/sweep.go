package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

// pageOf writes the page of a run.
func (a *app) pageOf(run *result.Run) error {
	_, err := a.writePage(run.ID, func(out io.Writer) error {
		return report.Write(out, write.HTML, []*result.Run{run}, write.Options{})
	})
	return err
}

// resumeSweep continues a sweep, changed by the flags that are set, at the
// first point that is not complete.
func (a *app) resumeSweep(cmd *cobra.Command, kept *store.Store, found store.Found, given *settings, yes bool) error {
	ctx := cmd.Context()
	record, runs, err := readSweep(ctx, kept, found)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := notImported(run); err != nil {
			return err
		}
	}
	if record.Experiment == "" {
		return fmt.Errorf("the results folder has runs of sweep %s but not its experiment; resume it in the folder in which it began", record.ID)
	}
	unfinished := func(r *result.Run) bool { return r.Status != result.Complete }
	if len(runs) == record.Points && !slices.ContainsFunc(runs, unfinished) {
		return a.nothingToResume("sweep %s is complete; tsmark report %[1]s shows it", record.ID)
	}
	e, err := experiment.Parse("experiment of sweep "+record.ID, []byte(record.Experiment))
	if err != nil {
		return fmt.Errorf("this tsmark cannot read the experiment of the sweep: %w", err)
	}
	if err := given.apply(cmd, e, nil); err != nil {
		return err
	}
	if err := a.trusted(yes).decide("sweep "+record.ID, a.origin(false), e); err != nil {
		return err
	}
	steps, _ := stepsOf(record.Command)
	left, err := plan.NewSweep(e, a.catalog.forRunner(), steps)
	if err != nil {
		return err
	}
	if err := a.team.asBefore(cmd, runs...); err != nil {
		return err
	}
	if err := a.team.shares(left); err != nil {
		return err
	}
	_, err = a.continueWork(cmd, kept, e, runner.Work{Sweep: left, Record: record, Runs: runs, Done: a.pageOf})
	return err
}

// sweepEnded reports all runs of a sweep that has ended, with that error.
func (a *app) sweepEnded(ctx context.Context, record *result.Sweep, runs []*result.Run, err error) error {
	if reportErr := a.reportSweep(record, runs); reportErr != nil {
		return errors.Join(err, reportErr)
	}
	switch {
	case ctx.Err() != nil:
		return a.interrupted(err, fmt.Sprintf(" as sweep %s; tsmark resume continues it", record.ID))
	case err != nil:
		return err
	}
	return a.sweepOutcome(ctx, runs)
}

// reportSweep writes the sweep's page and shows its text.
func (a *app) reportSweep(record *result.Sweep, runs []*result.Run) error {
	if err := sweep.Write(a.stdout, write.Text, record, runs, a.textOptions()); err != nil {
		return err
	}
	page, err := a.writePage(record.ID, func(out io.Writer) error {
		return sweep.Write(out, write.HTML, record, runs, write.Options{})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "\nPage: %s\n", page)
	return err
}

// writePage writes the page of a run or sweep into its folder.
func (a *app) writePage(id string, write func(io.Writer) error) (page string, err error) {
	page = filepath.Join(a.folder(), id, pageName)
	if err := os.MkdirAll(filepath.Dir(page), 0o777); err != nil {
		return "", fmt.Errorf("making the folder of %s: %w", id, err)
	}
	a.page = page
	return page, writeReport(page, write)
}

// sweepOutcome returns the worst outcome of the runs, of a sweep or alone, as an exit status.
func (a *app) sweepOutcome(ctx context.Context, runs []*result.Run) error {
	var worst *status
	for _, run := range runs {
		var s *status
		if errors.As(a.outcome(ctx, run, nil), &s) && (worst == nil || s.code > worst.code) {
			worst = &status{s.code, s.text}
			if run.Points > 0 {
				worst.text = fmt.Sprintf("point %d of %d: %s", run.Point, run.Points, s.text)
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}

// readSweep reads a sweep from the result store. If only its runs were imported, the sweep
// is derived from them.
func readSweep(ctx context.Context, kept *store.Store, found store.Found) (*result.Sweep, []*result.Run, error) {
	var runs []*result.Run
	for _, id := range found.Runs {
		run, err := kept.Run(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, run)
	}
	record, err := kept.Sweep(ctx, found.Sweep)
	if errors.Is(err, store.ErrNotFound) && len(runs) > 0 {
		first := runs[0]
		return &result.Sweep{ID: found.Sweep, Name: first.Name, Command: first.Command, Started: first.Started, Points: first.Points}, runs, nil
	}
	return record, runs, err
}

// listPoints writes the points of a sweep as comments of YAML.
func listPoints(points []experiment.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %d runs:\n", len(points))
	for i, p := range points {
		var names []string
		for _, t := range p.Experiment.Targets {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "# %d. %s; targets %s\n", i+1, p.Parameters, strings.Join(names, ", "))
	}
	return b.String()
}
