package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/tsmark/tsmark/internal/version"
)

// Limits for untrusted files: parsing time is at least quadratic in the nesting depth.
const (
	MaxFile    = 64 << 10 // bytes of an experiment
	maxNesting = 100      // brackets open at once; an experiment needs three
)

// nestingDepth returns the maximum number of brackets open at once. It ignores quotes: no quoted text
// contains that many.
func nestingDepth(data []byte) int {
	open, most := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			open++
			most = max(most, open)
		case ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// Parse reads an experiment from YAML. Missing keys have the values of Default, and a target
// without a name has its driver's. The errors are *Problem, one per mistake and on one line each,
// joined as by errors.Join, with file as the file's name. Values are not validated further: see
// Check.
func Parse(file string, data []byte) (*Experiment, error) {
	body, err := document(file, data, "experiment", "tsmark run --print shows one")
	if err != nil {
		return nil, err
	}
	if ofTSBS(body) {
		return nil, newFileProblem(file, "is a file of tsbs_load, not an experiment: data-source.simulator is workload here, data-source.file.location load.file, "+
			"loader.runner load, and loader.db-specific the options of a target; tsmark run --print shows an experiment")
	}
	e := Default()
	e.origins = make(map[string]Origin)
	d := decoder{file: file, experiment: e}
	d.value(body, "", reflect.ValueOf(e).Elem())
	if len(d.problems) > 0 {
		return nil, errors.Join(d.problems...)
	}
	for i := range e.Targets {
		t := &e.Targets[i]
		t.splitVersion()
		t.Name = cmp.Or(t.Name, version.Join(t.Driver, t.Version))
	}
	if _, named := e.origins["queries.time-box"]; e.Queries.Time > 0 && !named {
		e.Queries.TimeBox = 0
	}
	return e, nil
}

// newFileProblem returns a problem with a file as a whole.
func newFileProblem(file, format string, args ...any) *Problem {
	return &Problem{Origin: Origin{File: file, Line: 1, Column: 1}, Text: fmt.Sprintf(format, args...)}
}

// document returns the only document of a file; what names its expected contents, and example says
// where to find an example. Its error is a *Problem.
func document(file string, data []byte, what, example string) (ast.Node, error) {
	if len(data) > MaxFile {
		return nil, newFileProblem(file, "is larger than %d bytes: not an %s; %s", MaxFile, what, example)
	}
	if nestingDepth(data) > maxNesting {
		return nil, newFileProblem(file, "opens more than %d brackets within each other: not an %s", maxNesting, what)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // the byte order mark that some editors write
	// Duplicate keys are found below, where the message can include the path.
	tree, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntaxProblem(file, err)
	}
	docs := slices.DeleteFunc(tree.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		return nil, newFileProblem(file, "holds no %s; %s", what, example)
	case 1:
		return docs[0].Body, nil
	}
	return nil, newFileProblem(file, "holds %d documents; an %s is one", len(docs), what)
}

// ofTSBS reports whether a file is a configuration written by tsbs_load config.
func ofTSBS(n ast.Node) bool {
	m, ok := n.(*ast.MappingNode)
	return ok && slices.ContainsFunc(m.Values, func(item *ast.MappingValueNode) bool {
		key, _ := scalar(item.Key)
		return key == "data-source" || key == "loader"
	})
}

// syntaxProblem shortens the parser's error, which shows several lines of the source, to one line.
func syntaxProblem(file string, err error) *Problem {
	p := &Problem{Origin: Origin{File: file, Line: 1, Column: 1}}
	message := err.Error()
	var located yaml.Error
	if errors.As(err, &located) {
		message = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			p.Origin.Line, p.Origin.Column = t.Position.Line, t.Position.Column
		}
	}
	message = strings.ReplaceAll(message, "\t", `\t`)
	p.Text = "not YAML: " + strings.Join(strings.Fields(message), " ")
	return p
}

// Marshal returns the experiment as YAML that Parse reads as the same experiment. Keys are in the
// order of the types' fields.
func Marshal(e *Experiment) ([]byte, error) {
	data, err := yaml.MarshalWithOptions(e,
		yaml.IndentSequence(true),
		yaml.CustomMarshaler(func(d time.Duration) ([]byte, error) { return []byte(DurationText(d)), nil }),
		yaml.CustomMarshaler(func(s string) ([]byte, error) { return []byte(quote(s)), nil }),
	)
	if err != nil {
		return nil, fmt.Errorf("write the experiment as YAML: %w", err)
	}
	return data, nil
}

// MarshalYAML implements yaml.BytesMarshaler: options by name on one line, with whole numbers
// unquoted.
func (o Options) MarshalYAML() ([]byte, error) {
	items := make([]string, 0, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		items = append(items, quote(name)+": "+optionText(o[name]))
	}
	return []byte("{" + strings.Join(items, ", ") + "}"), nil
}

// Amount is a text that may be a whole number, such as 100 or 5s.
type Amount string

// MarshalYAML implements yaml.BytesMarshaler, with whole numbers unquoted.
func (a Amount) MarshalYAML() ([]byte, error) { return []byte(optionText(string(a))), nil }

// quote returns the text as a YAML scalar, in double quotes unless it is certainly plain. The
// library leaves texts unquoted that it then reads as another type.
func quote(s string) string {
	special := func(r rune) bool { return !isNameRune(r) && r != '/' }
	if token.IsNeedQuoted(s) || strings.ContainsFunc(s, special) || strings.IndexAny(s, "-.") == 0 {
		return strconv.Quote(s)
	}
	return s
}

// DurationText returns d as experiments write it: d.String() without trailing zero minutes and
// seconds: 24h, 1m, 1h30m.
func DurationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
