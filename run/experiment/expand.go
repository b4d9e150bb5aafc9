package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// MaxCombinations limits the combinations of a matrix. Each may take minutes.
const MaxCombinations = 1000

// Expand returns the runs of the experiment: a single run without Parameters if the matrix sweeps
// over options of targets only, or if there is no matrix.
//
// Combinations work as in GitHub Actions' matrix: every value of each axis with every value of the
// others, the last axis changing fastest. An entry of Exclude removes all combinations with its
// values. Then an entry of Include is added to each combination that has the same values on the
// axes; without such a combination it becomes a combination of its own, after the others.
// Parameters that a combination does not set keep the experiment's values.
//
// Values of options do not create runs: each combination of a target's options becomes a target in
// the run, named after them, such as duckdb-threads-2, so that these targets are interleaved and
// compared. Options that only Include sets, with one value per run, do not appear in the name.
//
// The error joins problems, as the error of Check does.
func (e *Experiment) Expand() ([]Point, error) {
	x := expander{checker: checker{experiment: e}}
	if len(e.Matrix) == 0 && len(e.Include) == 0 {
		if len(e.Exclude) > 0 {
			x.add("exclude", "removes combinations of a matrix, and the experiment has no matrix")
		}
		return []Point{{Experiment: e}}, errors.Join(x.problems...)
	}
	combinations := x.include(x.exclude(x.product()))
	if len(combinations) == 0 && len(x.problems) == 0 {
		x.add("exclude", "leaves no combination")
	}
	if len(x.problems) > 0 {
		return nil, errors.Join(x.problems...)
	}
	return x.points(combinations), nil
}

// expander turns a matrix into points.
type expander struct {
	checker
	axes Matrix // the experiment's axes, with values as written by textOf
}

// choice is a parameter and the position where its value was written.
type choice struct {
	result.Parameter
	key    key
	origin Origin
	kept   bool // it is the experiment's own value
}

// product returns the combinations of all values.
func (x *expander) product() [][]choice {
	combinations := make([][]choice, min(len(x.experiment.Matrix), 1))
	for _, axis := range x.experiment.Matrix {
		path := "matrix." + axis.Path
		known := Axis{Path: axis.Path}
		var choices []choice
		for i, text := range axis.Values {
			at := fmt.Sprintf("%s[%d]", path, i)
			c, ok := x.choice(at, result.Parameter{Path: axis.Path, Value: text})
			if !ok {
				if c.Path == "" {
					break // reported once
				}
				continue
			}
			if slices.Contains(known.Values, c.Value) {
				x.add(at, "%s is there twice", c.Value)
			}
			known.Values, choices = append(known.Values, c.Value), append(choices, c)
		}
		if len(axis.Values) == 0 {
			x.add(path, "has no values")
		}
		if o := x.experiment.origins[axis.Path]; o.Flag != "" {
			x.add(axis.Path, "the matrix has values of its own for %s; give others with --sweep %s=…", axis.Path, axis.Path)
		}
		x.axes = append(x.axes, known)
		if len(combinations)*len(choices) > MaxCombinations {
			x.add("matrix", "has more than %d combinations; leave some values out", MaxCombinations)
			return nil
		}
		var next [][]choice
		for _, c := range combinations {
			for _, v := range choices {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		combinations = next
	}
	return combinations
}

// choice checks a parameter at a path of the matrix's sections. If there is no such key it adds a
// problem and returns a choice without a path.
func (x *expander) choice(at string, p result.Parameter) (choice, bool) {
	e := x.experiment
	k, ok := e.find(p.Path)
	if !ok {
		x.add(strings.TrimSuffix(at, "[0]"), "%q is not a key that can be set%s", p.Path, e.hint(p.Path))
		return choice{}, false
	}
	c := choice{Parameter: p, key: k, origin: e.origin(at)}
	if k.target >= 0 {
		if err := new(Target).Set(k.option, p.Value); err != nil {
			x.add(at, "%s", err)
			return c, false
		}
		return c, true // the driver checks options
	}
	d := decoder{experiment: &Experiment{origins: make(map[string]Origin)}, place: c.origin}
	d.set(k, at, p.Value)
	if len(d.problems) > 0 {
		x.problems = append(x.problems, d.problems...)
		return c, false
	}
	c.Value = k.text(d.experiment)
	if p.Path == "workload.seed" && c.Value == "0" {
		x.add(at, "0 draws a seed from the clock; give the seeds themselves")
		return c, false
	}
	return c, true
}

// entry checks an entry of Exclude or Include.
func (x *expander) entry(at string, entry Combination) (choices []choice, ok bool) {
	if len(entry) == 0 {
		x.add(at, "is empty; write parameters, each as path: value")
		return nil, false
	}
	ok = true
	for _, p := range entry {
		if o := x.experiment.origins[p.Path]; o.Flag != "" {
			x.add(p.Path, "the sweep has values of its own for %s; leave the flag out", p.Path)
			return nil, false
		}
		c, right := x.choice(at+"."+p.Path, p)
		choices, ok = append(choices, c), ok && right
	}
	return choices, ok
}

// exclude removes the combinations that Exclude names.
func (x *expander) exclude(combinations [][]choice) [][]choice {
	all := combinations
	for i, entry := range x.experiment.Exclude {
		at := fmt.Sprintf("exclude[%d]", i)
		choices, ok := x.entry(at, entry)
		if !ok || len(all) == 0 {
			continue
		}
		hit := func(c []choice) bool {
			return !slices.ContainsFunc(choices, func(v choice) bool { return value(c, v.Path) != v.Value })
		}
		if !slices.ContainsFunc(all, hit) {
			x.explainUnmatched(at, choices)
		}
		combinations = slices.DeleteFunc(slices.Clone(combinations), hit)
	}
	return combinations
}

// explainUnmatched explains why an entry of Exclude matches no combination.
func (x *expander) explainUnmatched(at string, choices []choice) {
	for _, c := range choices {
		i := slices.IndexFunc(x.axes, func(a Axis) bool { return a.Path == c.Path })
		switch {
		case i < 0:
			x.add(at+"."+c.Path, "matches nothing: the matrix does not sweep over it")
			return
		case !slices.Contains(x.axes[i].Values, c.Value):
			x.add(at+"."+c.Path, "matches nothing: %s is not one of %s", c.Value, strings.Join(x.axes[i].Values, ", "))
			return
		}
	}
}

// value returns the value of a path in a combination; empty: not set.
func value(c []choice, path string) string {
	for _, v := range c {
		if v.Path == path {
			return v.Value
		}
	}
	return ""
}

// include adds the combinations of Include.
func (x *expander) include(combinations [][]choice) [][]choice {
	original := len(combinations)
	for i, entry := range x.experiment.Include {
		at := fmt.Sprintf("include[%d]", i)
		choices, ok := x.entry(at, entry)
		if !ok {
			continue
		}
		isAxis := func(c choice) bool {
			return slices.ContainsFunc(x.axes, func(a Axis) bool { return a.Path == c.Path })
		}
		more := slices.DeleteFunc(slices.Clone(choices), isAxis)
		agreed := false
		for j, c := range combinations[:original] {
			if slices.ContainsFunc(choices, func(v choice) bool { return isAxis(v) && value(c, v.Path) != v.Value }) {
				continue
			}
			agreed = true
			for _, v := range more {
				c = slices.DeleteFunc(slices.Clone(c), func(old choice) bool { return old.Path == v.Path })
				combinations[j] = append(c, v)
				c = combinations[j]
			}
		}
		switch {
		case !agreed:
			combinations = append(combinations, choices)
		case len(more) == 0:
			x.add(at, "adds nothing: the matrix has it already")
		}
	}
	return combinations
}
