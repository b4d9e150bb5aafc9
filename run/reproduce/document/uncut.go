package document

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// Uncut returns which points of an experiment a size has as the full size has them, with
// the same data, load and queries, by their parameters as text; and how many queries of a
// type each round of such a point has. Repeats and time boxes may be others: whether a time
// box ended a round early is for the run to say.
func (d *Document) Uncut(e *Experiment, size Size) (map[string]int, error) {
	full, err := d.pointsOf(e, Full)
	if err != nil {
		return nil, err
	}
	here, err := d.pointsOf(e, size)
	if err != nil {
		return nil, err
	}
	uncut := make(map[string]int)
	for _, p := range here {
		for _, whole := range full {
			if sameWork(p.Experiment, whole.Experiment) {
				uncut[p.Parameters.String()] = whole.Experiment.Queries.Count
			}
		}
	}
	return uncut, nil
}

// pointsOf are the points of an experiment in a size, for one target of any kind.
func (d *Document) pointsOf(e *Experiment, size Size) ([]experiment.Point, error) {
	x, err := d.Make(e, size, []experiment.Target{{Name: "any", Kind: cmp.Or(e.Only, "any")}})
	if err != nil {
		return nil, err
	}
	points, err := x.Expand()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.Name, err)
	}
	return points, nil
}

// sameWork reports whether two experiments load the same rows in the same way and run the
// same queries.
func sameWork(a, b *experiment.Experiment) bool {
	work := func(x *experiment.Experiment) (workload.Spec, experiment.Load, experiment.Queries) {
		load, queries := x.Load, x.Queries
		load.Repeats, queries.Repeats, queries.TimeBox, queries.Timeout, queries.Verify = 0, 0, 0, 0, 0
		return x.Workload, load, queries
	}
	ofA, loadA, queriesA := work(a)
	ofB, loadB, queriesB := work(b)
	return reflect.DeepEqual(ofA, ofB) && reflect.DeepEqual(loadA, loadB) && reflect.DeepEqual(queriesA, queriesB)
}
