package experiment

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// decoder fills an experiment from a YAML tree. It replaces the library's own decoder, which stops
// at the first error, mentions Go types and loses the positions of values.
type decoder struct {
	file       string
	experiment *Experiment
	problems   []error
	place      Origin // position of all decoded values; zero: the positions of their nodes
}

// Decode reads YAML of another kind than an experiment into the struct behind a pointer, as Parse does: what
// names its contents, and example says where to find one. A field of type any has a pointer, or is skipped.
// problem returns the error of a value.
func Decode(file string, data []byte, what, example string, into any) (problem func(path, format string, args ...any) *Problem, err error) {
	body, err := document(file, data, what, example)
	if err != nil {
		return nil, err
	}
	e := &Experiment{origins: make(map[string]Origin)}
	d := decoder{file: file, experiment: e}
	d.value(body, "", reflect.ValueOf(into).Elem())
	return e.Problem, errors.Join(d.problems...)
}

// value decodes the node into v by v's type. A node without a value leaves v
// as it is.
func (d *decoder) value(n ast.Node, path string, v reflect.Value) {
	d.experiment.origins[path] = d.origin(n)
	switch n.(type) {
	case *ast.NullNode:
		return
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.add(path, "anchors, aliases and tags are not understood; write the value out")
		return
	}
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		d.duration(n, path, p)
	case *time.Time:
		d.time(n, path, p)
	case *Options:
		d.options(n, path, p)
	case *map[string]string:
		d.options(n, path, (*Options)(p))
	case *ownqueries.Choices:
		d.choices(n, path, p)
	case *ownqueries.Texts:
		d.options(n, path, (*Options)(p))
	case *Matrix:
		d.matrix(n, path, p)
	case *Combination:
		d.combination(n, path, p)
	default:
		switch v.Kind() {
		case reflect.Struct:
			d.section(n, path, v)
		case reflect.Slice:
			d.list(n, path, v)
		case reflect.Interface: // a pointer, or nil for a section that is decoded later
			if !v.IsNil() {
				d.value(n, path, v.Elem().Elem())
			}
		case reflect.String:
			d.text(n, path, v)
		case reflect.Bool:
			if b, ok := n.(*ast.BoolNode); ok {
				v.SetBool(b.Value)
			} else {
				d.wrong(n, path, "true or false")
			}
		default:
			d.integer(n, path, v)
		}
	}
}

// section decodes a mapping into the struct, whose yaml tags are the keys.
func (d *decoder) section(n ast.Node, path string, v reflect.Value) {
	fields := make(map[string]reflect.Value)
	var keys []string
	var settings *workload.Settings // its sections are named after workloads
	for i := range v.NumField() {
		switch key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); {
		case key == "-":
		case key != "":
			keys = append(keys, key)
			fields[key] = v.Field(i)
		case v.Field(i).Type() == reflect.TypeFor[workload.Settings]():
			settings = v.Field(i).Addr().Interface().(*workload.Settings)
		}
	}
	d.mapping(n, path, "settings", func(key, path string, value ast.Node) bool {
		field, ok := fields[key]
		_, section := value.(*ast.MappingNode)
		switch {
		case ok:
			d.value(value, path, field)
		case section && settings != nil:
			d.settings(value, path, key, settings)
			return true
		}
		return ok
	}, keys)
}

// settings decodes a mapping whose keys only the workload can check.
func (d *decoder) settings(n ast.Node, path, workload string, s *workload.Settings) {
	d.mapping(n, path, "options", func(key, path string, value ast.Node) bool {
		var text string
		if list, ok := value.(*ast.SequenceNode); ok { // a list of names, which may also be written as one text
			var items []string
			d.value(list, path, reflect.ValueOf(&items).Elem())
			text = strings.Join(items, ", ")
		} else {
			d.value(value, path, reflect.ValueOf(&text).Elem())
		}
		s.Set(workload+"."+key, text)
		return true
	}, nil)
}

// options decodes a mapping whose keys only the driver can check.
func (d *decoder) options(n ast.Node, path string, o *Options) {
	decoded := make(Options)
	d.mapping(n, path, "options", func(key, path string, value ast.Node) bool {
		var text string
		d.value(value, path, reflect.ValueOf(&text).Elem())
		decoded[key] = text
		return true
	}, nil)
	if len(decoded) > 0 {
		*o = decoded
	}
}

// choices decodes a value or a list of values.
func (d *decoder) choices(n ast.Node, path string, c *ownqueries.Choices) {
	if one, ok := scalar(n); ok {
		*c = ownqueries.Choices{one}
		return
	}
	d.list(n, path, reflect.ValueOf(c).Elem())
}

// mapping calls entry for each key of the node; false means that the key is unknown.
func (d *decoder) mapping(n ast.Node, path, of string, entry func(key, path string, value ast.Node) bool, known []string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.wrong(n, path, "a section of "+of+", each as key: value")
		return
	}
	seen := make(map[string]bool)
	for _, item := range m.Values {
		key, ok := scalar(item.Key)
		if null, is := item.Key.(*ast.NullNode); is {
			key, ok = null.GetToken().Value, true // the workload own has a setting of that name
		}
		if !ok {
			d.addProblem(item.Key, path, "a key must be plain text")
			continue
		}
		inner := join(path, key)
		switch {
		case seen[key]:
			d.addProblem(item.Key, inner, "is there twice")
		case !entry(key, inner, item.Value):
			d.addProblem(item.Key, inner, "unknown key%s", suggestKey(key, known))
		}
		seen[key] = true
	}
}

// suggestKey suggests a known key for an unknown one. If no key is similar and the section of a target
// has options, it suggests the driver's options.
func suggestKey(key string, known []string) string {
	if (key == "system" || key == "kind") && slices.Contains(known, "driver") { // other common names
		return `; did you mean "driver"?`
	}
	if slices.Contains(known, optionsKey) {
		return suggest.NamesOr(key, known, fmt.Sprintf("; did you mean %q? known: %s", optionsKey+"."+key, strings.Join(known, ", ")))
	}
	return suggest.Names(key, known)
}

// optionsKey is the key of the section with a driver's options.
const optionsKey = "options"

// list decodes a sequence into the slice and replaces its elements.
func (d *decoder) list(n ast.Node, path string, v reflect.Value) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.wrong(n, path, "a list, as in [a, b]")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	for i, item := range s.Values {
		d.value(item, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
	}
}

func (d *decoder) text(n ast.Node, path string, v reflect.Value) {
	s, ok := scalar(n)
	if !ok {
		d.wrong(n, path, "text")
		return
	}
	v.SetString(s)
}

func (d *decoder) integer(n ast.Node, path string, v reflect.Value) {
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		d.wrong(n, path, "a whole number")
		return
	}
	number := fmt.Sprint(i.Value) // int64 or uint64, whichever holds it
	if v.CanInt() {
		x, err := strconv.ParseInt(number, 10, v.Type().Bits())
		if err != nil {
			d.add(path, "must be from %d to %d, not %s", int64(-1)<<(v.Type().Bits()-1), uint64(1)<<(v.Type().Bits()-1)-1, number)
			return
		}
		v.SetInt(x)
		return
	}
	x, err := strconv.ParseUint(number, 10, v.Type().Bits())
	if err != nil {
		d.add(path, "must be from 0 to %d, not %s", ^uint64(0)>>(64-v.Type().Bits()), number)
		return
	}
	v.SetUint(x)
}

func (d *decoder) duration(n ast.Node, path string, p *time.Duration) {
	s, _ := scalar(n)
	x, err := time.ParseDuration(s)
	if err != nil {
		d.wrong(n, path, "a duration with its unit, such as 10s or 1h30m")
		return
	}
	*p = x
}

func (d *decoder) time(n ast.Node, path string, p *time.Time) {
	s, _ := scalar(n)
	x, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		d.wrong(n, path, "a time such as 2016-01-01T00:00:00Z")
		return
	}
	*p = x.UTC()
}

// wrong adds a problem with a value that has the wrong type.
func (d *decoder) wrong(n ast.Node, path, wanted string) {
	found := "something else"
	switch s, ok := scalar(n); {
	case len(s) > 100:
		found = "a long text"
	case n.GetToken().Type == token.SingleQuoteType, n.GetToken().Type == token.DoubleQuoteType:
		found = "the quoted text " + strconv.Quote(s)
	case ok:
		found = strconv.Quote(s)
	case n.Type() == ast.MappingType:
		found = "a section"
	case n.Type() == ast.SequenceType:
		found = "a list"
	}
	d.addProblem(n, path, "must be %s, not %s", wanted, found)
}

// add adds a problem with the value at the path.
func (d *decoder) add(path, format string, args ...any) {
	d.problems = append(d.problems, d.experiment.Problem(path, format, args...))
}

// addProblem adds a problem with a node, which need not be a value.
func (d *decoder) addProblem(n ast.Node, path, format string, args ...any) {
	d.problems = append(d.problems, &Problem{Path: path, Origin: d.origin(n), Text: fmt.Sprintf(format, args...)})
}

func (d *decoder) origin(n ast.Node) Origin {
	if d.place != (Origin{}) {
		return d.place
	}
	o := Origin{File: d.file, Line: 1, Column: 1}
	// The token of a mapping is the colon of its first entry.
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		o.Line, o.Column = t.Position.Line, t.Position.Column
	}
	return o
}

// scalar returns the text of a scalar as written, without quotes.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// join returns the path of the key below the path. It quotes a key that is not a plain word, so
// that a path stays on one line.
func join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !isNameRune(r) }) || slices.Contains([]rune(key), '.') {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
