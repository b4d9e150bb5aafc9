package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/reproduction"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce"
	"github.com/tsmark/tsmark/run/store"
)

// sensitivity repeats the deciding comparisons of claims at other settings.
type sensitivity struct {
	command  *reproducing
	request  *reproduce.Request
	editions []reproduce.Edition
	kept     *store.Store
	stored   []store.Summary
	read     map[string]*result.Run // stored runs, by ID
	runs     map[string]*result.Run // of trials, by their experiment as the results have it
	pending  []pendingTrial
}

// pendingTrial is a point of a trial that has no complete run.
type pendingTrial struct {
	key     string
	edition reproduce.Edition
}

// repeated is the trial of a claim, with the keys of its runs.
type repeated struct {
	finding *claims.Finding
	base    claims.Deciding
	trial   reproduce.Trial
	keys    map[string][]string // by experiment, as base.Runs
}

// addTrials adds the stored trials to the findings of a report. With --sensitivity it first runs the
// missing ones.
func (p *reproducing) addTrials(cmd *cobra.Command, kept *store.Store, whole *reproduction.Report, request *reproduce.Request, all []reproduce.Edition, ahead *schedule) error {
	ctx := cmd.Context()
	s := &sensitivity{command: p, request: request, editions: all, kept: kept, read: make(map[string]*result.Run), runs: make(map[string]*result.Run)}
	var err error
	if s.stored, err = kept.Runs(ctx); err != nil {
		return err
	}
	var list []repeated
	for i := range whole.Findings {
		f := &whole.Findings[i]
		base, ok := f.Deciding(whole.Measured)
		if !ok {
			continue
		}
		for _, trial := range request.Trials(base.Queries, base.Systems, base.Subject, base.Weaker) {
			one := repeated{finding: f, base: base, trial: trial}
			if ok, err = s.find(ctx, &one); err != nil {
				return fmt.Errorf("trial %s of %s: %w", trial.Suffix, f.Claim.ID, err)
			}
			if ok {
				list = append(list, one)
			}
		}
	}
	if p.sensitivity && len(list) == 0 {
		fmt.Fprintln(p.executor.app.Stderr, "no claim is decided by a figure, so no comparison is repeated at other settings")
	}
	failed := s.execute(cmd, ahead)
	for i := range list {
		one := &list[i]
		runs := make(map[string][]*result.Run)
		complete := true
		for name, keys := range one.keys {
			for _, key := range keys {
				runs[name] = append(runs[name], s.runs[key])
				complete = complete && s.runs[key] != nil
			}
		}
		if complete {
			part := one.finding.Repeat(request.Document, whole.Measured, one.base, runs)
			one.finding.Trials = append(one.finding.Trials, claims.Trial{Setting: one.trial.Setting, Base: one.base.Part, Part: part})
		}
	}
	for i := range whole.Findings {
		whole.Findings[i].AddUntuned(request.Document, whole.Measured)
	}
	return failed
}

// find looks for the runs of a trial. Without some of them it is not ok, unless they are to run: then
// they are pending.
func (s *sensitivity) find(ctx context.Context, one *repeated) (ok bool, err error) {
	one.keys = make(map[string][]string)
	var missing []pendingTrial
	for name, runs := range one.base.Runs {
		i := slices.IndexFunc(s.editions, func(e reproduce.Edition) bool { return !e.Verbatim && !e.Correctness && e.Of.Name == name })
		edition := &s.editions[i]
		for _, run := range runs {
			point, err := edition.PointOf(run)
			if err != nil {
				return false, err
			}
			changed, exists := one.trial.Apply(s.request.Document, edition.Of, s.request.Size, point)
			if !exists {
				return false, nil
			}
			public := changed
			next := pendingTrial{edition: reproduce.Edition{Of: edition.Of, Experiment: edition.Of, File: changed, Trial: name + " " + one.trial.Suffix}}
			if edition.File != nil {
				if next.edition.Sweep, public, err = s.request.PlanTrial(changed); err != nil {
					return false, err
				}
			}
			text, err := experiment.Marshal(public)
			if err != nil {
				return false, err
			}
			next.key = string(text)
			one.keys[name] = append(one.keys[name], next.key)
			if s.runs[next.key] != nil {
				continue
			}
			found, err := reproduce.FindTrial(func(id string) (*result.Run, error) {
				if s.read[id] != nil {
					return s.read[id], nil
				}
				stored, err := s.kept.Run(ctx, id)
				s.read[id] = stored
				return stored, err
			}, s.stored, public)
			switch {
			case err != nil:
				return false, err
			case found != nil:
				s.runs[next.key] = found
			case s.command.sensitivity && edition.File != nil:
				missing = append(missing, next)
			default:
				return false, nil
			}
		}
	}
	for _, next := range missing {
		if !slices.ContainsFunc(s.pending, func(known pendingTrial) bool { return known.key == next.key }) {
			s.pending = append(s.pending, next)
		}
	}
	return true, nil
}

// execute runs the pending trials. It returns the first failure.
func (s *sensitivity) execute(cmd *cobra.Command, ahead *schedule) (first error) {
	for i := range s.pending {
		ahead.left = append(ahead.left, &s.pending[i].edition)
	}
	out := s.command.executor.app.Stderr
	if len(s.pending) > 0 {
		fmt.Fprintln(out, "deciding comparisons at other settings:")
	}
	for _, line := range ahead.lines() {
		fmt.Fprintln(out, line)
	}
	for i := range s.pending {
		one := &s.pending[i].edition
		ahead.begin(time.Now())
		err := s.command.execute(cmd, s.kept, one, s.request, ahead)
		if len(one.Runs) > 0 {
			s.runs[s.pending[i].key] = one.Runs[0]
		}
		var status *app.Status
		switch {
		case errors.Is(err, context.Canceled) || cmd.Context().Err() != nil:
			return s.command.executor.interruption(err, ", and the same command goes on")
		case err != nil && !errors.As(err, &status):
			return fmt.Errorf("%s: %w", one.File.Name, err)
		case err != nil && first == nil:
			first = &app.Status{Code: status.Code, Text: one.File.Name + ": " + status.Text}
		}
	}
	return first
}
