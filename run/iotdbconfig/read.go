package iotdbconfig

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/properties"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/experiment"
)

// MaxSize is the maximum size of a file in bytes.
const MaxSize = properties.MaxSize

// File is the contents of a file, and its name for errors.
type File struct {
	Name string
	Data []byte
}

// Options is the information in addition to the file.
type Options struct {
	Drivers []driver.Driver // the available drivers
	Targets bool            // the caller adds the targets: the experiment has none
}

// Read converts a config.properties to an experiment. Missing parameters have the defaults of the
// tool's code, connections excepted. The experiment's Notes describe the effect of each parameter
// in the file, and its values have their positions in the file. The errors are *experiment.Problem,
// one per mistake and on one line each, joined as by errors.Join.
func Read(config File, o Options) (*experiment.Experiment, error) {
	r, err := newReader(config, o)
	if err != nil {
		return nil, err
	}
	return r.experimentOf(r.settings)
}

// setting is a value with its position.
type setting struct {
	file  string
	line  int
	value string
}

// reader reads one file.
type reader struct {
	file       string
	options    Options
	parameters []Parameter
	settings   map[string]setting // by name
}

// newReader reads a file and checks each parameter separately.
func newReader(config File, o Options) (*reader, error) {
	r := &reader{file: config.Name, options: o, parameters: Parameters(), settings: make(map[string]setting)}
	entries, err := properties.Parse(config.Data)
	var at *properties.Error
	if errors.As(err, &at) {
		return nil, &experiment.Problem{Origin: experiment.Origin{File: config.Name, Line: at.Line}, Text: at.Text}
	}
	var problems []error
	for _, e := range entries {
		s := setting{config.Name, e.Line, e.Value}
		set, err := r.set(e.Key, s)
		for _, a := range set {
			if first, twice := r.settings[a.name]; twice && err == nil {
				err = s.problem(e.Key, "sets %s, as line %d does; leave one of them out", a.name, first.line)
			}
			r.settings[a.name] = setting{s.file, s.line, a.value}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return r, errors.Join(problems...)
}

// set returns the tool's parameters that a parameter of a file sets, after checking each.
func (r *reader) set(name string, s setting) ([]assignment, error) {
	list, err := fromPaper(name, s.value)
	if err != nil {
		return nil, s.problem(name, "%w", err)
	}
	for _, a := range list {
		if err := r.judge(a.name, setting{s.file, s.line, a.value}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// problem returns a problem with a setting.
func (s setting) problem(key, format string, args ...any) error {
	return &experiment.Problem{Origin: experiment.Origin{File: s.file, Line: s.line, Key: key}, Text: fmt.Errorf(format, args...).Error()}
}

// judge checks the name of a parameter and the form of its value.
func (r *reader) judge(name string, s setting) error {
	i := slices.IndexFunc(r.parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		var known []string
		for _, p := range r.parameters {
			known = append(known, p.Name)
		}
		return s.problem("", "%s is not a parameter of IoTDB-Benchmark%s", short(name), suggest.NamesOr(name, known, "; docs/iotdb-config.md lists them"))
	}
	p := &r.parameters[i]
	switch {
	case s.value == "" && p.Default != "":
		return s.problem(name, "is empty; it must be %s, or the line be left out", p.form.what)
	case s.value == "":
	case !p.form.right(s.value):
		return s.problem(name, "must be %s, not %s", p.form.what, short(s.value))
	case p.Fate == Refused && !equalValues(s.value, p.Default):
		return s.problem(name, "only %s can be had here: %s", p.Default, p.Why)
	}
	return nil
}

// short shortens a value for errors, to one line.
func short(value string) string {
	if len(value) > 100 {
		return "a text of more than 100 characters"
	}
	return strconv.Quote(value)
}

// mapping creates one experiment.
type mapping struct {
	*reader
	settings map[string]setting // of this experiment
	out      *experiment.Experiment
	problems []error
	fates    map[string]fate // parameters with a different treatment than in the table
}

// fate is the treatment of a parameter in one experiment.
type fate struct {
	fate Fate
	why  string
}

// experimentOf creates the experiment for checked parameters.
func (r *reader) experimentOf(settings map[string]setting) (*experiment.Experiment, error) {
	m := &mapping{reader: r, settings: settings, out: experiment.Default(), fates: make(map[string]fate)}
	m.out.Name = m.name()
	m.out.Targets = nil
	m.dataset()
	m.operations()
	m.arrival()
	if r.options.Targets {
		m.becomes(Ignored, "--target selects the systems", connecting()...)
	} else {
		m.target()
	}
	if len(m.problems) > 0 {
		return nil, errors.Join(m.problems...)
	}
	m.out.Notes = m.notes()
	return m.out, nil
}

// text returns the value of a parameter, or the tool's default.
func (m *mapping) text(name string) string {
	if s, ok := m.settings[name]; ok {
		return s.value
	}
	i := slices.IndexFunc(m.parameters, func(p Parameter) bool { return p.Name == name })
	return m.parameters[i].Default
}

// integer returns a whole number.
func (m *mapping) integer(name string) int64 {
	n, _ := strconv.ParseInt(m.text(name), 10, 64) // checked by judge
	return n
}

// count returns a whole number that fits into 32 bits.
func (m *mapping) count(name string) uint32 {
	n := m.integer(name)
	if n > math.MaxInt32 {
		m.bad(name, "%d is more than %d, as many as there can be", n, math.MaxInt32)
	}
	return uint32(n)
}

func (m *mapping) number(name string) float64 {
	x, _ := strconv.ParseFloat(m.text(name), 64) // likewise
	return x
}

func (m *mapping) truth(name string) bool { return strings.EqualFold(m.text(name), "true") }

// not returns the word true if a parameter is false, otherwise an empty string.
func (m *mapping) not(name string) string {
	if m.truth(name) {
		return ""
	}
	return "true"
}

func (m *mapping) has(name string) bool {
	_, ok := m.settings[name]
	return ok
}

// isChanged reports whether the file sets a parameter to a value other than its default.
func (m *mapping) isChanged(name string) bool {
	s, ok := m.settings[name]
	i := slices.IndexFunc(m.parameters, func(p Parameter) bool { return p.Name == name })
	return ok && !equalValues(s.value, m.parameters[i].Default)
}

// origin returns the position of a parameter, or the file if the parameter is missing.
func (m *mapping) origin(name string) experiment.Origin {
	if s, ok := m.settings[name]; ok {
		return experiment.Origin{File: s.file, Line: s.line, Key: name}
	}
	return experiment.Origin{File: m.file, Key: name}
}

// bad adds a problem with a parameter.
func (m *mapping) bad(name, format string, args ...any) {
	m.problems = append(m.problems, &experiment.Problem{Origin: m.origin(name), Text: fmt.Sprintf(format, args...)})
}

// setWorkload sets a setting of the workload to the meaning of a parameter; an empty value removes the
// setting.
func (m *mapping) setWorkload(name, setting, value string) {
	m.out.Workload.Settings.Set("iotdb."+setting, value)
	m.setOrigin(name, "workload.iotdb."+setting)
}

// setOrigin records a parameter as the origin of the values at some paths of the experiment.
func (m *mapping) setOrigin(name string, paths ...string) {
	for _, path := range paths {
		m.out.SetOrigin(path, m.origin(name))
	}
}

// becomes records a treatment of a parameter that differs from the table.
func (m *mapping) becomes(f Fate, why string, names ...string) {
	for _, name := range names {
		m.fates[name] = fate{f, why}
	}
}
