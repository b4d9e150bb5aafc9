package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/runner"
	"github.com/tsmark/tsmark/run/store"
)

// reportRun writes the run's page and shows its text.
func (s *Executor) reportRun(run *result.Run) error {
	shown := report.New(run) // its estimates are computed once for all formats
	return s.show(run.ID, s.output.quiet || s.output.brief && run.Passed(), shown.Answers, shown.Write)
}

// show writes a report as the user wants it, and its page. A short text has the answers and the page
// alone.
func (s *Executor) show(id string, short bool, answers func() []string, render func(io.Writer, write.Format, write.Options) error) error {
	format, out, asText := write.Format(s.output.format), s.app.Stdout, s.output.format == string(write.Text) && s.output.file == ""
	switch {
	case s.output.file != "":
		if err := app.WriteReport(s.output.file, func(w io.Writer) error { return render(w, format, write.Options{}) }); err != nil {
			return err
		}
	case short && asText:
		for _, text := range answers() {
			fmt.Fprintln(out, text)
		}
	default:
		if err := render(out, format, s.app.TextOptions()); err != nil {
			return err
		}
	}
	page, err := s.writePage(id, func(out io.Writer) error { return render(out, write.HTML, write.Options{}) })
	if err != nil || !asText {
		return err
	}
	if !short {
		fmt.Fprintln(out)
	}
	_, err = fmt.Fprintf(out, "Page: %s\n", page)
	return err
}

// finishRun reports a run that ended with an error, or well: its figures first.
func (s *Executor) finishRun(ctx context.Context, run *result.Run, err error) error {
	if errors.Is(err, plan.ErrInput) && ctx.Err() == nil {
		return err
	}
	reportErr := s.reportRun(run)
	if reportErr != nil {
		s.page = ""
	}
	err = s.outcome(ctx, run, err)
	if s := (*app.Status)(nil); reportErr != nil && errors.As(err, &s) {
		return &app.Status{Code: s.Code, Text: s.Text + "\n" + reportErr.Error()}
	}
	return errors.Join(err, reportErr)
}

// interruption is the status of one or several runs that Ctrl-C ended with an error;
// stored continues the sentence "finished work is stored".
func (s *Executor) interruption(err error, stored string) error {
	if lost := s.notStored(err); lost != "" {
		return &app.Status{Code: app.ExitInterrupted, Text: "interrupted; " + lost}
	}
	return &app.Status{Code: app.ExitInterrupted, Text: "interrupted; finished work is stored" + stored}
}

// notStored describes the losses of a run that could not be stored at its end, and where
// its figures are. It is empty if the run was stored.
func (s *Executor) notStored(err error) string {
	var lost *runner.NotStoredError
	if !errors.As(err, &lost) {
		return ""
	}
	page := "no page has its figures"
	if s.page != "" {
		page = "its figures are on the page " + s.page
	}
	if errors.Is(err, store.ErrGone) {
		return fmt.Sprintf("run %s is not stored: %s; %s", lost.Run, printable.OneLine(lost.Error()), page)
	}
	return fmt.Sprintf("run %s is not stored as it ended: %s; %s; tsmark resume %[1]s measures again what the results lack", lost.Run, printable.OneLine(lost.Error()), page)
}

// outcome turns the outcome of a run into the exit status. The report has named
// the failures, so most need no more text.
func (s *Executor) outcome(ctx context.Context, run *result.Run, err error) error {
	lost := s.notStored(err)
	switch {
	case ctx.Err() != nil:
		return s.interruption(err, " as run "+run.ID+"; tsmark resume continues it")
	case lost != "":
		return errors.New(lost)
	case errors.Is(err, record.ErrNotQuiet):
		return &app.Status{Code: app.ExitWithheld, Text: printable.OneLine(err.Error())}
	case err != nil:
		return err
	}
	var failures []string
	for _, t := range run.Targets {
		if t.Failure != "" {
			failures = append(failures, fmt.Sprintf("target %s failed: %s", t.Name, printable.OneLine(t.Failure)))
		}
	}
	if len(failures) > 0 {
		return &app.Status{Code: app.ExitTarget, Text: strings.Join(failures, "\n")}
	}
	for _, t := range compare.SelfTests(run) {
		if len(t.Differs()) > 0 {
			return &app.Status{Code: app.ExitWithheld, Text: fmt.Sprintf("target %s differs from itself: with these settings the figures of this machine cannot be trusted", t.Target)}
		}
	}
	if !run.Passed() {
		return &app.Status{Code: app.ExitWithheld, Text: strings.Join(missingFigures(run), "; ")}
	}
	return nil
}

// StatusOf sets the exit status for the error of a run that could not reach any
// target, or whose plan could not; other errors stay as they are.
func StatusOf(err error) error {
	nobody, program := (*runner.UnreachedError)(nil), (*plan.UnreachedError)(nil)
	if errors.As(err, &nobody) || errors.As(err, &program) {
		return &app.Status{Code: app.ExitTarget, Text: err.Error()}
	}
	return err
}

// missingFigures lists the missing figures of a run with the kind of absence.
func missingFigures(run *result.Run) []string {
	var list []string
	for _, m := range []struct {
		what  string
		names []string
	}{{"figures were withheld: ", withheldFigures(run)}, {"queries failed: ", failedQueries(run)}, {"no highest rate: ", missingRates(run)}} {
		if len(m.names) > 0 {
			list = append(list, m.what+strings.Join(m.names, ", "))
		}
	}
	return list
}

// missingRates names the query types of a run whose highest rate was not found, with
// why.
func missingRates(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		for _, q := range t.Queries {
			if why := q.RateNotFound(); why != "" {
				names = append(names, fmt.Sprintf("%s %s (%s)", t.Name, q.Type, why))
			}
		}
	}
	return names
}

// failedQueries names the query types of a run that failed, with why.
func failedQueries(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		if t.Load != nil && t.Load.Mixed.Failure() != nil {
			names = append(names, t.Name+" load and queries")
		}
		for _, q := range t.Queries {
			if q.Outcome() == result.Failed {
				names = append(names, fmt.Sprintf("%s %s (%s)", t.Name, q.Type, q.Failed.Word()))
			}
		}
	}
	return names
}

func withheldFigures(run *result.Run) []string {
	var names []string
	for _, t := range run.Targets {
		if t.Load != nil && !t.Load.HasFigures() && t.Load.UnsupportedReason() == "" {
			names = append(names, t.Name+" load")
		}
		if t.Load != nil && t.Load.Mixed.Problem() != "" {
			names = append(names, t.Name+" load and queries")
		}
		if t.Load != nil && t.Load.Life.Problem() != "" {
			names = append(names, t.Name+" life")
		}
		for _, q := range t.Queries {
			if q.Withheld != "" {
				names = append(names, t.Name+" "+q.Type)
			}
		}
	}
	return names
}

// pageOf writes the page of a run.
func (s *Executor) pageOf(run *result.Run) error {
	_, err := s.writePage(run.ID, func(out io.Writer) error {
		return report.Write(out, write.HTML, []*result.Run{run}, write.Options{})
	})
	return err
}

// finishSweep reports all runs of a sweep that has ended, with that error.
func (s *Executor) finishSweep(ctx context.Context, record *result.Sweep, runs []*result.Run, err error) error {
	if reportErr := s.reportSweep(record, runs); reportErr != nil {
		return errors.Join(err, reportErr)
	}
	switch {
	case ctx.Err() != nil:
		return s.interruption(err, fmt.Sprintf(" as sweep %s; tsmark resume continues it", record.ID))
	case err != nil:
		return err
	}
	return s.sweepOutcome(ctx, runs)
}

// reportSweep writes the sweep's page and shows its text.
func (s *Executor) reportSweep(record *result.Sweep, runs []*result.Run) error {
	answers := func() (texts []string) {
		for _, a := range sweep.Answers(runs) {
			texts = append(texts, a.Text)
		}
		return texts
	}
	return s.show(record.ID, s.output.quiet, answers, func(out io.Writer, format write.Format, opts write.Options) error {
		return sweep.Write(out, format, record, runs, opts)
	})
}

// writePage writes a page, and remembers it as the newest one.
func (s *Executor) writePage(id string, write func(io.Writer) error) (page string, err error) {
	s.page, err = s.app.WritePage(id, write)
	return s.page, err
}

// sweepOutcome returns the worst outcome of the runs, of a sweep or alone, as an exit status.
func (s *Executor) sweepOutcome(ctx context.Context, runs []*result.Run) error {
	var worst *app.Status
	for _, run := range runs {
		var end *app.Status
		if errors.As(s.outcome(ctx, run, nil), &end) && (worst == nil || end.Code > worst.Code) {
			worst = &app.Status{Code: end.Code, Text: end.Text}
			if run.Points > 0 {
				worst.Text = fmt.Sprintf("point %d of %d: %s", run.Point, run.Points, end.Text)
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}
