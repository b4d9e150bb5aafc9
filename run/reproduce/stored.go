package reproduce

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

// findComplete returns the runs of the newest experiment that ended and matches the requested one;
// with nil, any one matches. If the only experiment that ended does not match, it returns the
// difference, in words that follow "was run".
func (r *Request) findComplete(ctx context.Context, kept *store.Store, edition *Edition, requested *experiment.Experiment) (runs []*result.Run, difference string, err error) {
	name, e := r.runName(edition), edition.Experiment
	list, err := kept.Runs(ctx)
	if err != nil {
		return nil, "", err
	}
	seen := make(map[string]bool) // sweeps
	for _, newest := range list {
		if newest.Name != name || newest.Status != result.Complete {
			continue
		}
		run, err := kept.Run(ctx, newest.ID)
		if err != nil {
			return nil, "", err
		}
		runs, text := []*result.Run{run}, run.Experiment
		if run.Sweep != "" {
			if seen[run.Sweep] {
				continue
			}
			seen[run.Sweep] = true
			found, err := kept.Find(ctx, run.Sweep)
			if err != nil {
				return nil, "", err
			}
			record, all, err := kept.SweepWithRuns(ctx, found)
			if err != nil {
				return nil, "", err
			}
			if len(all) != record.Points || slices.ContainsFunc(all, func(run *result.Run) bool { return !r.Ended(e, run) }) {
				continue
			}
			runs, text = all, record.Experiment
		}
		one := Difference(requested, text, run)
		if one == "" {
			return runs, "", nil
		}
		difference = cmp.Or(difference, one)
	}
	return nil, difference, nil
}

// Difference returns how a finished experiment differs from the requested one, or "". Systems
// other than the requested ones may have taken part. If this tsmark cannot read the
// experiment of a run, as for an imported sweep, only the drivers are compared.
func Difference(requested *experiment.Experiment, text string, run *result.Run) string {
	if requested == nil {
		return ""
	}
	had := make([]experiment.Target, len(run.Targets))
	for i := range run.Targets {
		had[i].Driver = run.Targets[i].Driver
	}
	was, err := experiment.Parse("experiment", []byte(text))
	known := text != "" && err == nil
	if known {
		had = was.Targets
	}
	if without := missing(requested.Targets, had, func(a, b experiment.Target) bool { return a.Driver == b.Driver }); len(without) > 0 {
		return "without " + strings.Join(without, ", ")
	}
	if !known {
		return ""
	}
	const otherwise = "with other settings, by another version of tsmark"
	wanted, err := requested.Expand()
	there, failed := was.Expand()
	if err != nil || failed != nil || len(wanted) != len(there) {
		return otherwise
	}
	same := true
	for i := range wanted {
		if others := missing(wanted[i].Experiment.Targets, there[i].Experiment.Targets, sameSystem); len(others) > 0 {
			return "with other options of " + strings.Join(others, ", ")
		}
		same = same && sameButTargets(wanted[i].Experiment, there[i].Experiment)
	}
	if !same {
		return otherwise
	}
	return ""
}

// missing returns the names of targets without a counterpart among the others. Each
// counterpart counts once.
func missing(targets, among []experiment.Target, same func(a, b experiment.Target) bool) []string {
	var names []string
	left := slices.Clone(among)
	for _, t := range targets {
		i := slices.IndexFunc(left, func(other experiment.Target) bool { return same(t, other) })
		if i < 0 {
			names = append(names, t.Name)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	return names
}

// sameSystem reports whether two targets are the same system with the same options,
// whatever they are called.
func sameSystem(a, b experiment.Target) bool {
	return a.Driver == b.Driver && a.Profile == b.Profile && a.Durability == b.Durability && a.Start == b.Start && a.Version == b.Version && a.Workers == b.Workers && a.BatchSize == b.BatchSize && maps.Equal(a.Options, b.Options) && maps.Equal(a.Server, b.Server)
}

// sameButTargets reports whether a point of an experiment equals another one except for fewer
// targets: steps after a load that only the others need may be missing.
func sameButTargets(fewer, e *experiment.Experiment) bool {
	for _, step := range fewer.Load.After {
		if !slices.Contains(e.Load.After, step) {
			return false
		}
	}
	var texts []string
	for _, one := range []experiment.Experiment{*fewer, *e} {
		one.Targets, one.Notes, one.Load.After, one.Matrix, one.Exclude, one.Include = nil, nil, nil, nil, nil, nil
		text, err := experiment.Marshal(&one)
		if err != nil {
			return false
		}
		texts = append(texts, string(text))
	}
	return texts[0] == texts[1]
}
