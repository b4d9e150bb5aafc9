// Package document holds the documents that tsmark reproduces: what each of them
// measured, as ordinary experiments in sizes that fit machines of different kinds, and
// what each of them claims, as sentences with a rule by which measurements decide.
package document

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/run/experiment"
)

// Document is a paper, a thesis or a report that has measured time series databases.
type Document struct {
	Name    string `yaml:"name"`   // as users write it: author or place, and year
	Number  string `yaml:"number"` // of its printed figures: see package printed
	File    string `yaml:"file"`   // name of the text that the figures were read from
	Title   string `yaml:"title"`
	Authors string `yaml:"authors"`
	// Systems are those that it measured, in its order.
	Systems     []System     `yaml:"systems"`
	Experiments []Experiment `yaml:"experiments"`
	Claims      []Claim      `yaml:"claims"`
}

// System is a database as a document calls it, and as tsmark does.
type System struct {
	Driver  string   `yaml:"driver"`
	Version string   `yaml:"version"` // that the document measured, in its words
	Printed []string `yaml:"printed"` // its names in printed figures
	// Options are those of its driver by which it is used as the document did; what an
	// experiment sets goes before, and what a user gives before that.
	Options map[string]string `yaml:"options"`
	// Cut are options, above these, of experiments that are cut for a smaller machine.
	Cut map[string]string `yaml:"cut"`
	// Env are environment variables of the script that starts its server, for settings that
	// no option of a driver reaches. A server that the user gives has its own.
	Env map[string]string `yaml:"env"`
	// Started are options, above these, of a server that tsmark starts, which tell the driver
	// of what Env sets.
	Started map[string]string `yaml:"started"`
	// StartFor is experiment.ForSweep where starting its server takes long beside what is
	// measured; empty: each point of an experiment starts one. All experiments have it in turn.
	StartFor string `yaml:"start-for"`
	// Unlike is what of the document's settings no option and no variable reaches, and what
	// tsmark's own script sets otherwise: sentences for readers; empty: nothing.
	Unlike string `yaml:"unlike"`
	// Input is the format of its input file, as experiments' input-formats has it; empty:
	// its size is in no table.
	Input string `yaml:"input"`
}

// Variables returns Env as NAME=VALUE, by name.
func (s *System) Variables() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		list = append(list, name+"="+s.Env[name])
	}
	return list
}

// Size is how much of a document's data and queries is run.
type Size string

// The sizes.
const (
	Smoke Size = "smoke" // a minute or two: whether it runs, not what it says
	Small Size = "small" // at most 20 minutes a document on two cores, with what its claims need
	Full  Size = "full"  // as printed
)

// Sizes lists them, the smallest first.
func Sizes() []Size { return []Size{Smoke, Small, Full} }

// Experiment is one that a document describes.
type Experiment struct {
	ID      string   `yaml:"id"`      // as the documents' list of experiments has it: E1
	Name    string   `yaml:"name"`    // as users write it
	Title   string   `yaml:"title"`   // what it is, in a line
	Printed []string `yaml:"printed"` // its figures: Figure.Experiment of package printed
	// Axes say which of tsmark's parameters those of its printed figures are: name, path.
	// "query" needs none. Values translate what is printed, where that is a name: path,
	// printed text, the document's value.
	Axes   map[string]string            `yaml:"axes"`
	Values map[string]map[string]string `yaml:"values"`
	// Query is the query type of those of its printed figures that name none; empty: each
	// names its own.
	Query string `yaml:"query"`
	// Only is the driver of the one system that takes part, under its driver's name, where
	// its options are varied; empty: all do.
	Only string `yaml:"only"`
	// Options are those of systems that hold in this experiment.
	Options []Setting `yaml:"options"`
	// After are steps after each load, by driver: those of systems that take part.
	After map[string][]string `yaml:"after"`
	// Curves asks for charts of what the servers used over time, all in one.
	Curves bool `yaml:"curves"`
	// Missing is why tsmark cannot run it; empty: it can.
	Missing string `yaml:"missing"`
	// Run is the experiment at full size, as a file of tsmark's but for its name and
	// targets.
	Run yaml.MapSlice `yaml:"run"`
	// Cuts are what the smaller sizes change of it.
	Cuts map[Size]Cut `yaml:"cuts"`
}

// Cut is how an experiment is made smaller.
type Cut struct {
	Words string        `yaml:"words"` // which dimension was cut, and which was kept
	Run   yaml.MapSlice `yaml:"run"`   // merged into the experiment's Run, key by key; lists are replaced
	// For says which value of a parameter stands for the document's, as a document's
	// workers stand for cores: path, the document's value, ours.
	For map[string]map[string]string `yaml:"for"`
	// Lost are values that the document has and this size has not: path and values.
	Lost map[string][]string `yaml:"lost"`
}

// Claim is a statement of a document about systems, and how measurements decide it.
type Claim struct {
	ID      string `yaml:"id"`      // within the document: C1
	Says    string `yaml:"says"`    // one sentence
	Printed string `yaml:"printed"` // the numbers behind it
	Derived bool   `yaml:"derived"` // the numbers say so, the text does not
	// Against says which numbers of the document contradict it; empty: none.
	Against string `yaml:"against"`
	// Aside is what of the comparison is not as in the document; empty: nothing.
	Aside string `yaml:"aside"`
	// Untested is what of the sentence no rule decides, and why: the verdict is of the rest.
	Untested string `yaml:"untested"`
	// Missing is why no measurement of tsmark's decides it; empty: Rules do.
	Missing string `yaml:"missing"`
	Rules   []Rule `yaml:"rules"` // all of which must hold
}

//go:embed *.yaml
var files embed.FS

// All returns all documents in the order of their numbers. They are shared by all
// callers, who change nothing in them.
var All = sync.OnceValue(func() []Document {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var list []Document
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		d, err := Parse(text)
		if err != nil {
			panic(name + ": " + err.Error()) // likewise, and tested
		}
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b Document) int { return strings.Compare(a.Number, b.Number) })
	return list
})

// Parse reads a document's description. Errors name the line.
func Parse(text []byte) (*Document, error) {
	var d Document
	if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict(), yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("reading the description of a document: %w", err)
	}
	for _, e := range d.Experiments {
		if _, ok := d.System(e.Only); e.Only != "" && !ok {
			return nil, fmt.Errorf("%s, %s: only %q takes part, which is no system of the document", d.Name, e.Name, e.Only)
		}
	}
	for _, c := range d.Claims {
		if err := c.check(&d); err != nil {
			return nil, fmt.Errorf("%s-%s: %w", d.Name, c.ID, err)
		}
	}
	return &d, nil
}

// Find returns the document of a name.
func Find(name string) (*Document, bool) {
	list := All()
	i := slices.IndexFunc(list, func(d Document) bool { return d.Name == name })
	if i < 0 {
		return nil, false
	}
	return &list[i], true
}

// Experiment returns the experiment of a name or ID.
func (d *Document) Experiment(name string) (*Experiment, bool) {
	i := slices.IndexFunc(d.Experiments, func(e Experiment) bool { return e.Name == name || strings.EqualFold(e.ID, name) })
	if i < 0 {
		return nil, false
	}
	return &d.Experiments[i], true
}

// System returns the document's system that a printed name, or a driver's name, means.
func (d *Document) System(name string) (*System, bool) {
	i := slices.IndexFunc(d.Systems, func(s System) bool { return s.Driver == name || slices.Contains(s.Printed, name) })
	if i < 0 {
		return nil, false
	}
	return &d.Systems[i], true
}

// RunName is the name that runs of an experiment have, by which they are found again.
func (d *Document) RunName(e *Experiment, size Size) string {
	return fmt.Sprintf("%s-%s-%s", d.Name, e.Name, size)
}

// Verbatim returns the experiment with TSBS's own texts in place of equal queries; not ok:
// it has no queries of TSBS's.
func (e *Experiment) Verbatim() (Experiment, bool) {
	types, _ := get(e.Run, "queries", "types").([]any)
	workload, _ := get(e.Run, "workload", "name").(string)
	if e.Missing != "" || len(types) == 0 || workload == "iotdb" || get(e.Run, "materialize") != nil {
		return Experiment{}, false
	}
	own := *e
	own.Name += "-tsbs"
	own.Run = merge(e.Run, yaml.MapSlice{{Key: "queries", Value: yaml.MapSlice{{Key: "query-texts", Value: experiment.TextsTSBS}}}})
	return own, true
}

// Cut returns how a size cuts the experiment; the zero value: not at all.
func (e *Experiment) Cut(size Size) Cut { return e.Cuts[size] }

// Make returns the experiment in a size as a file of tsmark's, with targets, which
// stand in it as text.
func (d *Document) Make(e *Experiment, size Size, targets []experiment.Target) (*experiment.Experiment, error) {
	name := d.RunName(e, size)
	whole := merge(yaml.MapSlice{{Key: "name", Value: name}}, e.Run)
	whole = merge(whole, e.Cut(size).Run)
	text, err := yaml.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	parsed, err := experiment.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if err := d.prepare(parsed, e, size, e.Takes(targets)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	parsed.Notes = append(parsed.Notes, fmt.Sprintf("%s of %s: %s (%s)", e.ID, d.Title, e.Title, d.Authors))
	if words := e.Cut(size).Words; words != "" {
		parsed.Notes = append(parsed.Notes, "size "+string(size)+": "+words)
	}
	return parsed, nil
}

// Takes returns the targets that take part in an experiment. Where that is only one, it
// has the name of its driver, by which the experiment's parameters name it.
func (e *Experiment) Takes(targets []experiment.Target) []experiment.Target {
	if e.Only == "" {
		return targets
	}
	i := slices.IndexFunc(targets, func(t experiment.Target) bool { return t.Driver == e.Only })
	if i < 0 {
		return nil
	}
	one := targets[i]
	one.Name = e.Only
	return []experiment.Target{one}
}

// Whole reports whether an experiment has all of the document's in a size.
func (e *Experiment) Whole(size Size) bool { return len(e.Cut(size).Run) == 0 }

// get is the value at a path of keys; nil: there is none.
func get(m yaml.MapSlice, path ...string) any {
	for i, key := range path {
		at := slices.IndexFunc(m, func(item yaml.MapItem) bool { return item.Key == key })
		if at < 0 {
			return nil
		}
		if i == len(path)-1 {
			return m[at].Value
		}
		m, _ = asMap(m[at].Value)
	}
	return nil
}

// merge returns a with what b sets: maps key by key, anything else as b has it.
func merge(a, b yaml.MapSlice) yaml.MapSlice {
	merged := slices.Clone(a)
	for _, item := range b {
		i := slices.IndexFunc(merged, func(known yaml.MapItem) bool { return known.Key == item.Key })
		if i < 0 {
			merged = append(merged, item)
			continue
		}
		was, wasMap := asMap(merged[i].Value)
		is, isMap := asMap(item.Value)
		if wasMap && isMap {
			merged[i].Value = merge(was, is)
		} else {
			merged[i].Value = item.Value
		}
	}
	return merged
}

// asMap returns a value of a YAML file as the mapping that it may be.
func asMap(v any) (yaml.MapSlice, bool) {
	m, ok := v.(yaml.MapSlice)
	return m, ok
}
