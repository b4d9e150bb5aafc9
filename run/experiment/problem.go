package experiment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/workload"
)

// Origin is the place where the user wrote a value: a flag, or a position in a file.
type Origin struct {
	Flag   string // as typed, such as --batch-size; empty: the value is in File
	File   string
	Line   int // from 1; 0: the value is missing in the file
	Column int // from 1, in characters; 0: only the line is known
	// Key is the key in a file that is not an experiment, such as DEVICE_NUMBER. It is then more
	// helpful than the path of the value.
	Key string
}

// String returns the flag, or file:line:column, as far as known, with the key.
func (o Origin) String() string {
	if o.Flag != "" {
		return o.Flag
	}
	text := o.File
	if o.Line > 0 {
		text += ":" + strconv.Itoa(o.Line)
	}
	if o.Column > 0 {
		text += ":" + strconv.Itoa(o.Column)
	}
	if o.Key != "" {
		text += ": " + o.Key
	}
	return text
}

// Problem is an error in a value of an experiment, on one line.
type Problem struct {
	Path   string // YAML path of the value, such as targets[0].options.threads; empty: the whole experiment
	Origin Origin // zero: the value is a default, or was set by a program
	Text   string // error and advice
}

// Error returns the text, prefixed with the place to fix: a flag, a position in a file together
// with the path, or the path alone.
func (p *Problem) Error() string {
	var parts []string
	if p.Origin != (Origin{}) {
		parts = append(parts, p.Origin.String())
	}
	if p.Path != "" && p.Origin.Flag == "" && p.Origin.Key == "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Text), ": ")
}

// Problem returns a *Problem with the value at the path and its origin. Callers report errors that
// Check cannot find: unknown workloads, drivers, options and query types.
func (e *Experiment) Problem(path, format string, args ...any) *Problem {
	return &Problem{Path: path, Origin: e.origin(path), Text: fmt.Sprintf(format, args...)}
}

// SpecProblem adds the origin of a setting that a workload rejects.
func (e *Experiment) SpecProblem(err error) error {
	var bad *workload.SpecError
	if !errors.As(err, &bad) {
		return err
	}
	path := "workload." + bad.Setting
	if bad.OfQueries {
		path = "queries." + bad.Setting
	}
	problem := e.Problem(path, "%s", bad.Problem)
	if problem.Origin == (Origin{}) {
		return bad // a default: its name is more helpful than a path
	}
	return problem
}

// FromFlag records that the flag set the value at the path and all values below it, so that
// problems name the flag. The flag includes its dashes, and its value if it can be repeated:
// "--target duckdb,threads=2".
func (e *Experiment) FromFlag(path, flag string) { e.SetOrigin(path, Origin{Flag: flag}) }

// SetOrigin records the origin of the value at the path and all values below it.
func (e *Experiment) SetOrigin(path string, o Origin) {
	if e.origins == nil {
		e.origins = make(map[string]Origin)
	}
	for p := range e.origins {
		if strings.HasPrefix(p, path) && p != path && isBoundary(p[len(path)]) {
			delete(e.origins, p)
		}
	}
	e.origins[path] = o
}

// origin returns the origin of the value at the path, or of the closest enclosing section if the
// value is missing, or zero.
func (e *Experiment) origin(path string) Origin {
	for {
		if o, ok := e.origins[path]; ok || path == "" {
			return o
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// isBoundary reports whether the byte separates elements of a path.
func isBoundary(c byte) bool { return c == '.' || c == '[' }
