package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/forecast"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/reproduce"
	"github.com/tsmark/tsmark/run/store"
)

// estimateLine returns a prediction with its basis, on one line.
func estimateLine(e *forecast.Estimate) string { return format.Join(": ", e.String(), e.Reasons()) }

// knownRates returns the rates of targets that the results folder has, if there is one, and tsmark's
// own.
func (s *Executor) knownRates(ctx context.Context, targets []experiment.Target) *forecast.Rates {
	kept, err := s.app.ExistingResults(ctx)
	if err != nil {
		return forecast.NewRates()
	}
	defer kept.Close()
	return readRates(ctx, kept, targets)
}

// readRates returns the rates of targets that the results have, and tsmark's own.
func readRates(ctx context.Context, kept *store.Store, targets []experiment.Target) *forecast.Rates {
	rates := forecast.NewRates()
	drivers := make([]string, len(targets))
	for i := range targets {
		drivers[i] = targets[i].Driver
	}
	if err := rates.Read(ctx, kept, drivers); err != nil {
		return forecast.NewRates() // nothing depends on it
	}
	return rates
}

// warnDisk warns if the results folder has less free space than data takes. The advice is a way to load
// less.
func (s *Executor) warnDisk(ctx context.Context, data float64, advice string) {
	folder := s.app.Folder()
	if text := diskShortfall(data, monitor.Free(ctx, folder), folder, advice); text != "" {
		fmt.Fprintln(s.app.Stderr, text)
	}
}

// diskShortfall says that less space is free than data takes. It is empty if the data fits, or free is -1,
// unknown.
func diskShortfall(data float64, free int64, folder, advice string) string {
	if free < 0 || data <= float64(free) {
		return ""
	}
	return fmt.Sprintf("the databases store about %s of rows at once, before compression, and %s are free in %s: free some, choose another folder by --results, or load less by %s",
		humanize.IBytes(uint64(data)), humanize.IBytes(uint64(free)), folder, advice)
}

// schedule predicts the time that the experiments of a document take, again after each load.
type schedule struct {
	rates   *forecast.Rates
	left    []*reproduce.Edition // that did not begin
	current *reproduce.Edition
	began   time.Time
	shown   string
}

// newSchedule returns the schedule of the editions that must run.
func newSchedule(ctx context.Context, kept *store.Store, targets []experiment.Target, all []reproduce.Edition) *schedule {
	s := &schedule{rates: readRates(ctx, kept, targets)}
	for i := range all {
		if all[i].MustRun() {
			s.left = append(s.left, &all[i])
		}
	}
	return s
}

// total predicts all experiments that did not begin.
func (s *schedule) total() forecast.Estimate {
	var total forecast.Estimate
	for _, edition := range s.left {
		total.Add(s.rates.Sweep(edition.Sweep))
	}
	return total
}

// begin records that the first of the experiments begins.
func (s *schedule) begin(now time.Time) {
	s.current, s.left, s.began = s.left[0], s.left[1:], now
}

// refine learns the rates of a run after a load, and displays the remaining time if it changed.
func (s *schedule) refine(run *result.Run, display record.Display, now time.Time) {
	s.rates.Learn(run)
	left := s.rates.Sweep(s.current.Sweep)
	left.Time = max(left.Time-now.Sub(s.began), 0)
	left.Add(s.total())
	if text := left.String() + " left"; text != s.shown && left.Time > 0 {
		s.shown = text
		display.Start("all experiments", "", 0).Finish(text)
	}
}

// lines lists the prediction for each experiment, and for all together.
func (s *schedule) lines() []string {
	var list []string
	var total forecast.Estimate
	for _, edition := range s.left {
		took := s.rates.Sweep(edition.Sweep)
		total.Add(took)
		list = append(list, fmt.Sprintf("  %s: %s", cmp.Or(edition.Trial, edition.Experiment.Name), estimateLine(&took)))
	}
	if len(s.left) > 1 {
		list = append(list, "  all: "+total.String())
	}
	return list
}
