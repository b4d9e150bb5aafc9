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
func (s *executor) pageOf(run *result.Run) error {
	_, err := s.writePage(run.ID, func(out io.Writer) error {
		return report.Write(out, write.HTML, []*result.Run{run}, write.Options{})
	})
	return err
}

// resumeSweep continues a sweep, changed by the flags that are set, at the
// first point that is not complete.
func (s *executor) resumeSweep(cmd *cobra.Command, kept *store.Store, found store.Found, given *settings, yes bool) error {
	ctx := cmd.Context()
	record, runs, err := kept.SweepWithRuns(ctx, found)
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
		return s.nothingToResume("sweep %s is complete; tsmark report %[1]s shows it", record.ID)
	}
	e, err := experiment.Parse("experiment of sweep "+record.ID, []byte(record.Experiment))
	if err != nil {
		return fmt.Errorf("this tsmark cannot read the experiment of the sweep: %w", err)
	}
	if err := given.apply(cmd, e, nil); err != nil {
		return err
	}
	if err := s.trusted(yes).decide("sweep "+record.ID, s.origin(false), e); err != nil {
		return err
	}
	steps, _ := plan.StepsOf(record.Command)
	left, err := plan.NewSweep(e, s.app.catalog.forRunner(), steps)
	if err != nil {
		return err
	}
	if err := s.team.asBefore(cmd, runs...); err != nil {
		return err
	}
	if err := s.team.shares(left); err != nil {
		return err
	}
	_, err = s.continueWork(cmd, kept, e, runner.Work{Sweep: left, Record: record, Runs: runs, Done: s.pageOf})
	return err
}

// sweepEnded reports all runs of a sweep that has ended, with that error.
func (s *executor) sweepEnded(ctx context.Context, record *result.Sweep, runs []*result.Run, err error) error {
	if reportErr := s.reportSweep(record, runs); reportErr != nil {
		return errors.Join(err, reportErr)
	}
	switch {
	case ctx.Err() != nil:
		return s.interrupted(err, fmt.Sprintf(" as sweep %s; tsmark resume continues it", record.ID))
	case err != nil:
		return err
	}
	return s.sweepOutcome(ctx, runs)
}

// reportSweep writes the sweep's page and shows its text.
func (s *executor) reportSweep(record *result.Sweep, runs []*result.Run) error {
	if err := sweep.Write(s.app.stdout, write.Text, record, runs, s.app.textOptions()); err != nil {
		return err
	}
	page, err := s.writePage(record.ID, func(out io.Writer) error {
		return sweep.Write(out, write.HTML, record, runs, write.Options{})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.app.stdout, "\nPage: %s\n", page)
	return err
}

// writePage writes the page of a run or sweep into its folder.
func (a *app) writePage(id string, write func(io.Writer) error) (page string, err error) {
	page = filepath.Join(a.folder(), id, pageName)
	if err := os.MkdirAll(filepath.Dir(page), 0o777); err != nil {
		return "", fmt.Errorf("making the folder of %s: %w", id, err)
	}
	return page, writeReport(page, write)
}

// writePage writes a page, and remembers it as the newest one.
func (s *executor) writePage(id string, write func(io.Writer) error) (page string, err error) {
	s.page, err = s.app.writePage(id, write)
	return s.page, err
}

// sweepOutcome returns the worst outcome of the runs, of a sweep or alone, as an exit status.
func (s *executor) sweepOutcome(ctx context.Context, runs []*result.Run) error {
	var worst *status
	for _, run := range runs {
		var end *status
		if errors.As(s.outcome(ctx, run, nil), &end) && (worst == nil || end.code > worst.code) {
			worst = &status{code: end.code, text: end.text}
			if run.Points > 0 {
				worst.text = fmt.Sprintf("point %d of %d: %s", run.Point, run.Points, end.text)
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
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
