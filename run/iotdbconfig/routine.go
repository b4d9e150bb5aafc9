package iotdbconfig

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// startTest is the token of a routine that runs a test.
const startTest = "TEST"

// step is a test of a routine.
type step struct {
	line     int
	settings map[string]setting
	out      *experiment.Experiment
}

// ReadRoutine converts a config.properties and a routine, the file of the tool's rep-benchmark.sh,
// to a sweep. Words KEY=VALUE change parameters from there on, including parameters missing in
// config.properties, and each TEST is a point with the current parameters. Comments start with #
// and extend to the end of the line. Errors are as those of Read.
func ReadRoutine(config, routine File, o Options) (*experiment.Experiment, error) {
	r, err := newReader(config, o)
	if err != nil {
		return nil, err
	}
	steps, err := r.steps(routine)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		if steps[i].out, err = r.experimentOf(steps[i].settings); err != nil {
			return nil, err
		}
	}
	return sweep(routine.Name, steps)
}

// steps reads a routine.
func (r *reader) steps(routine File) ([]step, error) {
	at := func(line int, format string, args ...any) error {
		return &experiment.Problem{Origin: experiment.Origin{File: routine.Name, Line: line}, Text: fmt.Sprintf(format, args...)}
	}
	if len(routine.Data) > MaxSize {
		return nil, at(0, "is larger than %d bytes: not a routine", MaxSize)
	}
	var steps []step
	var problems []error
	changed := 0 // line of a change without a following test
	settings := maps.Clone(r.settings)
	for i, line := range strings.Split(strings.TrimPrefix(string(routine.Data), "\ufeff"), "\n") {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			key, value, ok := strings.Cut(word, "=")
			switch {
			case word == startTest:
				steps = append(steps, step{line: i + 1, settings: maps.Clone(settings)})
				changed = 0
			case !ok:
				problems = append(problems, at(i+1, "%s is neither KEY=VALUE nor %s", short(word), startTest))
			default:
				s := setting{routine.Name, i + 1, value}
				set, err := r.set(key, s)
				if err != nil {
					problems = append(problems, err)
				}
				for _, a := range set {
					settings[a.name] = setting{s.file, s.line, a.value}
				}
				changed = i + 1
			}
		}
	}
	switch {
	case len(problems) > 0:
	case len(steps) == 0:
		problems = append(problems, at(0, "has no %s, so that nothing is run; write one behind the parameters of each test", startTest))
	case changed > 0:
		problems = append(problems, at(changed, "there is no %s behind this, so that nothing is run with it", startTest))
	case len(steps) > experiment.MaxCombinations:
		problems = append(problems, at(steps[experiment.MaxCombinations].line, "there are more than %d tests; leave some out", experiment.MaxCombinations))
	}
	return steps, errors.Join(problems...)
}

// sweep merges the experiments of the tests into one that sweeps over their differences.
func sweep(file string, steps []step) (*experiment.Experiment, error) {
	first := steps[0].out
	var paths []string
	settings := make([]map[string]string, len(steps))
	for i, s := range steps {
		if !reflect.DeepEqual(s.out.Targets, first.Targets) {
			return nil, &experiment.Problem{Origin: experiment.Origin{File: file, Line: s.line}, Text: "this test connects elsewhere than the first; name the systems with --target, and all are measured in each test"}
		}
		settings[i] = make(map[string]string)
		for _, p := range s.out.Settings() {
			settings[i][p.Path] = p.Value
			if !slices.Contains(paths, p.Path) {
				paths = append(paths, p.Path)
			}
		}
	}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		return !slices.ContainsFunc(settings, func(s map[string]string) bool { return s[path] != settings[0][path] })
	})
	if len(steps) == 1 {
		return first, nil
	}
	seen := make(map[string]int) // line of a test, by its parameters
	for i, s := range steps {
		var entry experiment.Combination
		key := ""
		for _, path := range paths {
			value := settings[i][path]
			entry = append(entry, result.Parameter{Path: path, Value: value})
			key += path + "=" + value + "\n"
			first.SetOrigin(fmt.Sprintf("include[%d].%s", i, path), experiment.Origin{File: file, Line: s.line})
		}
		if line, twice := seen[key]; twice {
			return nil, &experiment.Problem{Origin: experiment.Origin{File: file, Line: s.line}, Text: fmt.Sprintf("this test is the same as the one on line %d; leave it out, and repeat with --repeats or --load-repeats", line)}
		}
		seen[key] = s.line
		first.Include = append(first.Include, entry)
	}
	first.Notes = append(first.Notes, fmt.Sprintf("One run for each of the %d tests of the routine %s.", len(steps), filepath.Base(file)))
	return first, nil
}
