package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Matrix is the parameters of a sweep: the combinations of all values, the last parameter changing
// fastest.
type Matrix []Axis

// Axis is a parameter with its values.
type Axis struct {
	// Path is the path of a key, such as load.workers, or targets.NAME.OPTION for an option, or one
	// of TargetKeys, of the target of that name.
	Path   string
	Values []string // as written; for keys with lists, items joined by commas
}

// Combination is a set of values of different parameters.
type Combination []result.Parameter

// ParseAxis reads the value of a --sweep flag, PATH=VALUE[,VALUE]…. Expand checks whether the path
// exists.
func ParseAxis(text string) (Axis, error) {
	path, values, ok := strings.Cut(text, "=")
	if !ok || path == "" || values == "" {
		return Axis{}, fmt.Errorf("%q names no parameter with values; write PATH=VALUE,VALUE…, as in load.workers=1,2,4", text)
	}
	return Axis{path, strings.Split(values, ",")}, nil
}

// ParseRamp reads the value of a --ramp flag: [PATH=]STEPS. Steps are values separated by commas, or
// a range whose steps double, such as 1..16 or 100/s..1600/s. Without a path they are of
// queries.rate if they end with /s, otherwise of queries.workers.
func ParseRamp(text string) (Axis, error) {
	path, steps, named := strings.Cut(text, "=")
	if !named {
		path, steps = result.RampWorkers, text
		if strings.HasSuffix(text, "/s") {
			path = result.RampQueries
		}
	}
	if !slices.Contains(result.RampPaths(), path) {
		return Axis{}, fmt.Errorf("%q does not raise the load; a ramp is over %s", path, strings.Join(result.RampPaths(), ", "))
	}
	first, last, isRange := strings.Cut(steps, "..")
	if !isRange {
		if values := strings.Split(steps, ","); len(values) > 1 && !slices.Contains(values, "") {
			return Axis{path, values}, nil
		}
	}
	first, perSecond := strings.CutSuffix(first, "/s")
	last, both := strings.CutSuffix(last, "/s")
	low, errLow := strconv.ParseFloat(first, 64)
	high, errHigh := strconv.ParseFloat(last, 64)
	const mostDoublings = 64
	if !isRange || errLow != nil || errHigh != nil || perSecond != both || !(low > 0 && low < high && high <= low*(1<<mostDoublings)) {
		return Axis{}, fmt.Errorf("%q is not a ramp; write a range whose steps double, as in 1..16 or 100/s..1600/s, or steps, as in 1,2,4,6", text)
	}
	unit := ""
	if perSecond {
		unit = "/s"
	}
	a := Axis{Path: path}
	for v := low; v < high; v *= 2 {
		a.Values = append(a.Values, strconv.FormatFloat(v, 'f', -1, 64)+unit)
	}
	a.Values = append(a.Values, strconv.FormatFloat(high, 'f', -1, 64)+unit)
	return a, nil
}

// Set adds an axis and replaces one with the same path.
func (m *Matrix) Set(a Axis) {
	if i := slices.IndexFunc(*m, func(other Axis) bool { return other.Path == a.Path }); i >= 0 {
		(*m)[i] = a
		return
	}
	*m = append(*m, a)
}

// MarshalYAML implements yaml.BytesMarshaler: one axis per line.
func (m Matrix) MarshalYAML() ([]byte, error) {
	var b strings.Builder
	for _, a := range m {
		items := make([]string, len(a.Values))
		for i, v := range a.Values {
			items[i] = optionText(v)
		}
		fmt.Fprintf(&b, "%s: [%s]\n", quote(a.Path), strings.Join(items, ", "))
	}
	return []byte(b.String()), nil
}

// MarshalYAML implements yaml.BytesMarshaler, on one line.
func (c Combination) MarshalYAML() ([]byte, error) {
	items := make([]string, len(c))
	for i, p := range c {
		items[i] = quote(p.Path) + ": " + optionText(p.Value)
	}
	return []byte("{" + strings.Join(items, ", ") + "}"), nil
}

// matrix decodes a mapping of paths to lists of values.
func (d *decoder) matrix(n ast.Node, path string, m *Matrix) {
	d.mapping(n, path, "parameters", func(key, _ string, value ast.Node) bool {
		inner := path + "." + key
		axis := Axis{Path: key}
		d.value(value, inner, reflect.ValueOf(&axis.Values).Elem())
		*m = append(*m, axis)
		return true
	}, nil)
}

// combination decodes a mapping of paths to single values.
func (d *decoder) combination(n ast.Node, path string, c *Combination) {
	d.mapping(n, path, "parameters", func(key, _ string, value ast.Node) bool {
		p := result.Parameter{Path: key}
		d.value(value, path+"."+key, reflect.ValueOf(&p.Value).Elem())
		*c = append(*c, p)
		return true
	}, nil)
}

// key is the destination of a parameter: a field of the experiment, a setting of its workload, or
// an option of a target.
type key struct {
	index   []int  // of the field, starting at the experiment
	setting string // name of the workload's setting; empty: the key is a field
	target  int    // index in Targets; -1: a field or a setting
	option  string // of the target, or one of TargetKeys
}

// text returns the experiment's value of a key that does not belong to a target, as experiments
// write it.
func (k key) text(e *Experiment) string {
	v := reflect.ValueOf(e).Elem().FieldByIndex(k.index)
	if k.setting != "" {
		return v.Interface().(workload.Settings)[k.setting]
	}
	return textOf(v)
}

// set sets the key to the value of a text.
func (d *decoder) set(k key, path, text string) {
	v := reflect.ValueOf(d.experiment).Elem().FieldByIndex(k.index)
	if k.setting != "" {
		v.Addr().Interface().(*workload.Settings).Set(k.setting, text)
		return
	}
	d.assign(path, text, v)
}

// find returns the key of a path of the matrix.
func (e *Experiment) find(path string) (key, bool) {
	found, longest := key{target: -1}, 0
	for i, t := range e.Targets {
		option, ok := strings.CutPrefix(path, "targets."+t.Name+".")
		if ok && option != "" && len(t.Name) > longest {
			found, longest = key{target: i, option: option}, len(t.Name)
		}
	}
	if longest > 0 {
		return found, true
	}
	for _, f := range fields() {
		setting, of := strings.CutPrefix(path, f.path)
		switch {
		case f.settings && of && strings.Contains(setting, "."):
			return key{index: f.index, setting: setting, target: -1}, true // the workload checks it
		case path == f.path && !f.settings:
			return key{index: f.index, target: -1}, true
		}
	}
	return key{}, false
}

// Paths lists the keys that a matrix can set, such as load.workers, in the order of the file. It
// excludes settings of workloads and options of targets, which only workloads and drivers know.
func Paths() []string {
	var paths []string
	for _, f := range fields() {
		if !f.settings {
			paths = append(paths, f.path)
		}
	}
	return paths
}

// hint returns the end of an error about an unknown path.
func (e *Experiment) hint(path string) string {
	section, rest, _ := strings.Cut(path, ".")
	if section == "targets" {
		var names []string
		for _, t := range e.Targets {
			names = append(names, t.Name)
		}
		return "; write targets.NAME.OPTION with the name of a target: " + strings.Join(names, ", ")
	}
	var sections, keys []string
	for _, f := range fields() {
		s, key, _ := strings.Cut(f.path, ".")
		if s == section && !f.settings {
			keys = append(keys, key)
		}
		if !slices.Contains(sections, s) {
			sections = append(sections, s)
		}
	}
	if len(keys) > 0 {
		return suggest.Paths(section, rest, keys)
	}
	return suggest.Names(section, append(sections, "targets"))
}

// Take copies the value at a path of section keys from another experiment.
func (e *Experiment) Take(path string, from *Experiment) {
	to, of := reflect.ValueOf(e).Elem(), reflect.ValueOf(from).Elem()
	for key := range strings.SplitSeq(path, ".") {
		i := 0
		for name := ""; name != key; i++ {
			name, _, _ = strings.Cut(to.Type().Field(i).Tag.Get("yaml"), ",")
		}
		to, of = to.Field(i-1), of.Field(i-1)
	}
	to.Set(of)
}

// field is a key of the file with a value, or all settings of the workload in a section; its path
// then ends with a dot.
type field struct {
	path     string
	index    []int
	settings bool
}

// fields lists the keys of the sections that are not lists.
func fields() []field {
	var list []field
	var walk func(t reflect.Type, path string, index []int)
	walk = func(t reflect.Type, path string, index []int) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			settings := f.Type == reflect.TypeFor[workload.Settings]()
			inner := append(slices.Clone(index), i)
			switch {
			case name == "-":
			case settings:
				list = append(list, field{path + ".", inner, true})
			case name == "":
			case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]():
				walk(f.Type, join(path, name), inner)
			case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.String:
			case path != "", name == MemoryPath, name == MonitorPath: // name, targets and the matrix itself are excluded
				list = append(list, field{join(path, name), inner, false})
			}
		}
	}
	walk(reflect.TypeFor[Experiment](), "", nil)
	return list
}

// assign sets the field to the value of a text.
func (d *decoder) assign(path, text string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Slice:
		var items []string
		if text != "" {
			items = strings.Split(text, ",")
		}
		v.Set(reflect.ValueOf(items))
	default:
		d.value(plain(text), path, v)
	}
}

// plain returns the node of a text that is written without quotes.
func plain(text string) ast.Node {
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err == nil && len(tree.Docs) == 1 && tree.Docs[0].Body != nil {
		if _, ok := scalar(tree.Docs[0].Body); ok {
			return tree.Docs[0].Body
		}
	}
	return ast.String(token.New(text, text, &token.Position{}))
}

// textOf returns the value of a field as experiments write it; equal values have equal texts.
func textOf(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return DurationText(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case []string:
		return strings.Join(x, ",")
	}
	return fmt.Sprint(v.Interface())
}

// optionText returns a text as a YAML scalar, with whole numbers unquoted.
func optionText(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value {
		return value
	}
	return quote(value)
}
