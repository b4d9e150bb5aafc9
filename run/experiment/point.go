package experiment

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Point is one run of a sweep.
type Point struct {
	Experiment *Experiment       // without a matrix
	Parameters result.Parameters // swept parameters with their values, without options of targets
}

// Settings lists the current values of the parameters that a matrix can set, without options of
// targets and unset settings of the workload.
func (e *Experiment) Settings() result.Parameters {
	var list result.Parameters
	for _, f := range fields() {
		if !f.settings {
			list = append(list, result.Parameter{Path: f.path, Value: key{index: f.index}.text(e)})
			continue
		}
		settings := reflect.ValueOf(e).Elem().FieldByIndex(f.index).Interface().(workload.Settings)
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			list = append(list, result.Parameter{Path: f.path + name, Value: settings[name]})
		}
	}
	return list
}

// points merges combinations that differ only in options of targets into one point.
func (x *expander) points(combinations [][]choice) []Point {
	type group struct{ set, options []choice }
	var groups []group
	at := make(map[string]int)
	keys := fieldsOf(combinations)
	for _, c := range combinations {
		set, name := x.complete(c, keys)
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name] = i
			groups = append(groups, group{set: set})
		}
		for _, v := range c {
			if v.key.target >= 0 {
				groups[i].options = append(groups[i].options, v)
			}
		}
		groups[i].options = append(groups[i].options, choice{key: key{target: -1}}) // end of this combination
	}
	// A target is named after its swept options. Without these it is named after all its options if
	// the run has several values of them.
	naming := make([]func(path string) bool, len(x.experiment.Targets))
	for i := range naming {
		swept := func(path string) bool {
			k, ok := x.experiment.find(path)
			return ok && k.target == i && slices.ContainsFunc(x.axes, func(a Axis) bool { return a.Path == path })
		}
		several := slices.ContainsFunc(groups, func(g group) bool { return len(variants(i, g.options)) > 1 })
		all := several && !slices.ContainsFunc(x.axes, func(a Axis) bool { return swept(a.Path) })
		naming[i] = func(path string) bool { return all || swept(path) }
	}
	points := make([]Point, len(groups))
	for i, g := range groups {
		points[i] = x.point(g.set, g.options, naming)
	}
	return points
}

// fieldsOf lists the fields that any of the combinations sets.
func fieldsOf(combinations [][]choice) []choice {
	var list []choice
	for _, c := range combinations {
		for _, v := range c {
			if v.key.target < 0 && !slices.ContainsFunc(list, func(known choice) bool { return known.Path == v.Path }) {
				list = append(list, v)
			}
		}
	}
	return list
}

// complete returns the values of the fields for a combination, and a text that identifies them.
func (x *expander) complete(combination, fields []choice) (set []choice, name string) {
	for _, f := range fields {
		i := slices.IndexFunc(combination, func(v choice) bool { return v.Path == f.Path })
		if i >= 0 {
			set = append(set, combination[i])
		} else {
			f.Value, f.kept = f.key.text(x.experiment), true
			set = append(set, f)
		}
		name += f.Path + "=" + set[len(set)-1].Value + "\n"
	}
	return set, name
}

// point sets parameters in a copy of the experiment. options has the options of the combinations in
// sequence, each with an end marker; naming tells for each target which options appear in its name.
func (x *expander) point(set, options []choice, naming []func(path string) bool) Point {
	e := *x.experiment
	e.Matrix, e.Exclude, e.Include = nil, nil, nil
	e.origins = make(map[string]Origin)
	for path, o := range x.experiment.origins {
		if path != "targets" && !strings.HasPrefix(path, "targets[") {
			e.origins[path] = o
		}
	}
	e.origins["targets"] = x.experiment.origin("targets")
	point := Point{Experiment: &e}
	d := decoder{experiment: &e}
	for _, c := range set {
		point.Parameters = append(point.Parameters, c.Parameter)
		if c.kept {
			continue
		}
		d.place = c.origin
		d.set(c.key, c.Path, c.Value)
		e.origins[c.Path] = c.origin
	}
	e.Targets = nil
	for i := range x.experiment.Targets {
		for _, v := range variants(i, options) {
			x.variant(&e, i, v, naming[i])
		}
	}
	return point
}

// variants returns the different combinations of a target's own options.
func variants(target int, options []choice) [][]choice {
	var list [][]choice
	var one []choice
	for _, c := range options {
		switch c.key.target {
		case target:
			one = append(one, c)
		case -1:
			same := func(other []choice) bool {
				return slices.EqualFunc(other, one, func(a, b choice) bool { return a.Parameter == b.Parameter })
			}
			if !slices.ContainsFunc(list, same) {
				list = append(list, one)
			}
			one = nil
		}
	}
	return list
}

// variant adds target i with other options to e, which is a point. The name includes the options
// selected by naming.
func (x *expander) variant(e *Experiment, i int, options []choice, naming func(path string) bool) {
	t := x.experiment.Targets[i]
	t.Options, t.Server = maps.Clone(t.Options), maps.Clone(t.Server)
	from, to := fmt.Sprintf("targets[%d]", i), fmt.Sprintf("targets[%d]", len(e.Targets))
	for path, o := range x.experiment.origins {
		if rest, ok := strings.CutPrefix(path, from); ok {
			e.origins[to+rest] = o
		}
	}
	for _, c := range options {
		switch {
		case !naming(c.Path):
		case c.key.option == versionKey:
			t.Name += version.Mark + c.Value
		default:
			t.Name += "-" + c.key.option + "-" + c.Value
		}
		_ = e.setOption(&t, to, c.key.option, c.Value, c.origin) // choice has checked the value
	}
	if t.Name != x.experiment.Targets[i].Name {
		t.Name = x.variantName(e, i, t.Name)
	}
	e.Targets = append(e.Targets, t)
}

// variantName turns the name of a variant of target i into a valid and unique file name.
func (x *expander) variantName(e *Experiment, i int, name string) string {
	name = strings.Map(func(r rune) rune {
		if !isFileRune(r) {
			return '_'
		}
		return r
	}, name)
	taken := func(name string) bool {
		same := func(t Target) bool { return strings.EqualFold(t.Name, name) }
		return len(name) > maxName || slices.ContainsFunc(e.Targets, same) || slices.ContainsFunc(x.experiment.Targets, same)
	}
	for n := 1; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", x.experiment.Targets[i].Name, n)
	}
	return name
}
