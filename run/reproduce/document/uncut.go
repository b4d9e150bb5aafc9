package document

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// Uncut are the points of an experiment that a size keeps unchanged, with the same data, load and
// queries as the full size. Repeats and time boxes may differ; only a run shows whether a time box
// ended a round early.
type Uncut struct{ points []experiment.Point }

// Uncut returns the unchanged points.
func (d *Document) Uncut(e *Experiment, size Size) (Uncut, error) {
	full, err := d.points(e, Full)
	if err != nil {
		return Uncut{}, err
	}
	here, err := d.points(e, size)
	if err != nil {
		return Uncut{}, err
	}
	return Uncut{slices.DeleteFunc(here, func(p experiment.Point) bool {
		return !slices.ContainsFunc(full, func(whole experiment.Point) bool { return sameWork(p.Experiment, whole.Experiment) })
	})}, nil
}

// Has reports whether the point with these parameters is unchanged, and the number of queries of a
// type in each of its rounds.
func (u Uncut) Has(at result.Parameters) (queries int, whole bool) {
	i := slices.IndexFunc(u.points, func(p experiment.Point) bool { return samePoint(p.Parameters, at) })
	if i < 0 {
		return 0, false
	}
	return u.points[i].Experiment.Queries.Count, true
}

// samePoint reports whether two lists of parameters are those of one point.
func samePoint(a, b result.Parameters) bool {
	a, b = slices.DeleteFunc(slices.Clone(a), experiment.LimitsNothing), slices.DeleteFunc(slices.Clone(b), experiment.LimitsNothing)
	return len(a) == len(b) && !slices.ContainsFunc(b, func(one result.Parameter) bool { return a.Value(one.Path) != one.Value })
}

// sameWork reports whether two experiments have the same rows, and load them in the same way or run
// the same queries.
func sameWork(a, b *experiment.Experiment) bool {
	work := func(x *experiment.Experiment) (workload.Spec, experiment.Load, experiment.Queries) {
		load, queries := x.Load, x.Queries
		load.Repeats, queries.Repeats, queries.TimeBox, queries.Timeout, queries.Verify = 0, 0, 0, 0, 0
		if len(queries.Types) > 0 { // the way of loading does not change the queries
			load.Workers, load.BatchSize = 0, 0
		}
		return x.Workload, load, queries
	}
	ofA, loadA, queriesA := work(a)
	ofB, loadB, queriesB := work(b)
	return reflect.DeepEqual(ofA, ofB) && reflect.DeepEqual(loadA, loadB) && reflect.DeepEqual(queriesA, queriesB)
}

// points returns the points of an experiment in a size, for one system.
func (d *Document) points(e *Experiment, size Size) ([]experiment.Point, error) {
	whole, err := d.Make(e, size, []experiment.Target{{Name: "any", Driver: cmp.Or(e.Only, "any")}})
	if err != nil {
		return nil, err
	}
	points, err := whole.Expand()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", whole.Name, err)
	}
	return points, nil
}
