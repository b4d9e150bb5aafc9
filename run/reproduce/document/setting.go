package document

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// Setting is a set of options of a system in an experiment.
type Setting struct {
	Driver string `yaml:"driver"`
	// At selects points: path and the document's values; empty: all points.
	At map[string][]string `yaml:"at"`
	// Set are the options, or experiment.TargetKeys; workers are cut as load.workers. A value such as span/12 is a part of the time span of a point's data, in
	// whole seconds, at least one.
	Set map[string]string `yaml:"set"`
}

// OptionNames lists the options of a system that the document and its experiments set, in order.
func (d *Document) OptionNames(s *System) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.Options)), maps.Keys(s.Started))
	for _, e := range d.Experiments {
		for _, setting := range e.Options {
			if setting.Driver == s.Driver {
				names = slices.AppendSeq(names, maps.Keys(setting.Set))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// spanned marks values of options that are parts of the data's time span.
const spanned = "span/"

// prepare adds the targets to an experiment, with the options of the document's systems and of its
// experiment, overridden by the user's, and the steps after its loads.
func (d *Document) prepare(x *experiment.Experiment, e *Experiment, size Size, users []experiment.Target) error {
	x.Targets = slices.Clone(users)
	for i := range x.Targets {
		t := &x.Targets[i]
		for _, step := range e.After[t.Driver] {
			if !slices.Contains(x.Load.After, step) {
				x.Load.After = append(x.Load.After, step)
			}
		}
		s, ok := d.System(t.Driver)
		if ok && t.Start != "" {
			t.StartFor = cmp.Or(t.StartFor, s.StartFor)
		}
		if !ok || len(s.Options)+len(s.Started) == 0 {
			continue
		}
		options := make(experiment.Options)
		maps.Copy(options, s.Options)
		if !e.IsWhole(size) {
			maps.Copy(options, s.Cut)
		}
		if t.Start != "" {
			maps.Copy(options, s.Started)
		}
		maps.Copy(options, t.Options)
		t.Options = options
	}
	if len(e.Options) == 0 || len(x.Targets) == 0 {
		return nil
	}
	points, err := x.Expand()
	if err != nil {
		return err
	}
	// For each point: the options of each target.
	sets := make([]experiment.Combination, len(points))
	alike := true
	for i, p := range points {
		if sets[i], err = e.optionsAt(p, e.Cut(size), users, x.Targets); err != nil {
			return err
		}
		alike = alike && slices.Equal(sets[i], sets[0])
	}
	if alike {
		for _, set := range sets[0] {
			for i := range x.Targets {
				t := &x.Targets[i]
				if option, ok := strings.CutPrefix(set.Path, "targets."+t.Name+"."); ok {
					t.Options = maps.Clone(t.Options)
					if err := t.Set(option, set.Value); err != nil {
						return fmt.Errorf("%s of %s: %w", option, t.Driver, err)
					}
				}
			}
		}
		return nil
	}
	// Entries of their own, or, with a matrix, added to its points.
	if len(x.Matrix) == 0 {
		x.Include = nil
	}
	for i, p := range points {
		x.Include = append(x.Include, append(experiment.Combination(slices.Clone(p.Parameters)), sets[i]...))
	}
	return nil
}

// optionsAt returns the options that apply to the targets at a point, by path, except the ones that
// the users' own targets set.
func (e *Experiment) optionsAt(p experiment.Point, cut Cut, users, targets []experiment.Target) (experiment.Combination, error) {
	var list experiment.Combination
	for i, t := range targets {
		for _, setting := range e.Options {
			if setting.Driver != t.Driver || !setting.holds(p, cut) {
				continue
			}
			for _, option := range slices.Sorted(maps.Keys(setting.Set)) {
				if _, theirs := users[i].Options[option]; theirs || option == "workers" && users[i].Workers > 0 || option == "batch-size" && users[i].BatchSize > 0 {
					continue
				}
				value := setting.Set[option]
				if option == "workers" {
					value = cmp.Or(cut.For["load.workers"][value], value)
				}
				if parts, ok := strings.CutPrefix(value, spanned); ok {
					n, err := strconv.Atoi(parts)
					if err != nil || n < 1 {
						return nil, fmt.Errorf("%s of %s: %q must be a part of the span, such as span/12", option, setting.Driver, value)
					}
					value = part(p.Experiment.Workload.End.Sub(p.Experiment.Workload.Start), n)
				}
				list = append(list, result.Parameter{Path: "targets." + t.Name + "." + option, Value: value})
			}
		}
	}
	return list, nil
}

// part returns one of n parts of a span in the form of an option, rounded up to seconds, so that
// there are at most n.
func part(span time.Duration, n int) string {
	seconds := (span + time.Duration(n)*time.Second - 1) / (time.Duration(n) * time.Second)
	return (max(seconds, 1) * time.Second).String()
}

// holds reports whether options apply to a point.
func (s *Setting) holds(p experiment.Point, cut Cut) bool {
	for path, values := range s.At {
		if !slices.ContainsFunc(p.Parameters, func(set result.Parameter) bool {
			return set.Path == path && slices.ContainsFunc(values, func(v string) bool {
				if ours, ok := cut.For[path][v]; ok {
					v = ours
				}
				return v == set.Value
			})
		}) {
			return false
		}
	}
	return true
}
