// Package document contains the documents that tsmark reproduces: the measurements of each, as
// ordinary experiments in sizes for different machines, and the claims of each, as sentences with
// rules that decide them by measurements.
package document

import (
	"cmp"
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

// Document is a paper, a thesis or a report with measurements of time series databases.
type Document struct {
	Name    string `yaml:"name"`   // as users write it: author or place, and year
	Number  string `yaml:"number"` // number of its printed figures: see package printed
	File    string `yaml:"file"`   // name of the text with the figures
	Title   string `yaml:"title"`
	Authors string `yaml:"authors"`
	Memory  int64  `yaml:"memory"` // of its server, bytes; 0: no claim depends on it
	// Systems are the measured systems, in the document's order.
	Systems     []System     `yaml:"systems"`
	Experiments []Experiment `yaml:"experiments"`
	Claims      []Claim      `yaml:"claims"`
}

// System is a database, with its names in a document and in tsmark.
type System struct {
	Driver  string   `yaml:"driver"`
	Version string   `yaml:"version"` // measured version, in the document's words
	Printed []string `yaml:"printed"` // its names in printed figures
	// Options are driver options that reproduce the document's configuration. Options of an
	// experiment override them, and options of the user override both.
	Options map[string]string `yaml:"options"`
	// Cut are options, overriding these, for experiments cut for a smaller machine.
	Cut map[string]string `yaml:"cut"`
	// Env are environment variables of the script that starts its server, for settings without a
	// driver option. They do not apply to a user-provided server.
	Env map[string]string `yaml:"env"`
	// Started are options, overriding these, for a server started by tsmark; they tell the driver
	// the settings of Env.
	Started map[string]string `yaml:"started"`
	// StartFor is experiment.ForSweep if starting its server takes long compared with the
	// measurements; all experiments then share a server. Empty: each point of an experiment starts
	// one.
	StartFor string `yaml:"start-for"`
	// Tuned are settings that the system's makers, or its driver, document as tuning.
	Tuned Tuning `yaml:"tuned"`
	// Unlike describes settings of the document that neither an option nor a variable can
	// reproduce, and other settings of tsmark's own script, in sentences for readers; empty: none.
	Unlike string `yaml:"unlike"`
	// Input is the format of its input file, as in experiments' input-formats; empty: no table
	// contains its size.
	Input string `yaml:"input"`
}

// Tuning is a documented tuning of a system, in which a sensitivity trial repeats a comparison that the
// system lost.
type Tuning struct {
	Words   string            `yaml:"words"`   // for readers: the settings and who documents them
	Profile string            `yaml:"profile"` // of the driver; empty: none
	Options map[string]string `yaml:"options"`
}

// IsZero reports whether no tuning is known.
func (t *Tuning) IsZero() bool { return t.Words == "" }

// Variables returns Env as NAME=VALUE, sorted by name.
func (s *System) Variables() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		list = append(list, name+"="+s.Env[name])
	}
	return list
}

// Size is the scale at which a document's data and queries are run.
type Size string

// The sizes.
const (
	Smoke Size = "smoke" // a minute or two: only tests whether it runs
	Small Size = "small" // at most 25 minutes per document on two cores
	Full  Size = "full"  // as printed
)

// Sizes lists them, smallest first.
func Sizes() []Size { return []Size{Smoke, Small, Full} }

// Experiment is an experiment of a document.
type Experiment struct {
	ID      string   `yaml:"id"`      // as in the documents' list of experiments: E1
	Name    string   `yaml:"name"`    // as users write it
	Title   string   `yaml:"title"`   // one-line description
	Printed []string `yaml:"printed"` // its figures: Figure.Experiment of package printed
	// Axes maps the names of parameters in its printed figures to the paths of tsmark's parameters.
	// "query" needs no path. Values translate printed names: path, printed text, the document's
	// value.
	Axes   map[string]string            `yaml:"axes"`
	Values map[string]map[string]string `yaml:"values"`
	// Query is the query type of its printed figures without one; empty: each figure names its own.
	Query string `yaml:"query"`
	// Only is the driver of the only system in the experiment, under its driver's name, if its
	// options are varied; empty: Systems take part.
	Only string `yaml:"only"`
	// Systems are the drivers of the systems that take part; empty: all of the document.
	Systems []string `yaml:"systems"`
	// Options are options of systems for this experiment.
	Options []Setting `yaml:"options"`
	// After are steps after each load, by driver, for the systems that take part.
	After map[string][]string `yaml:"after"`
	// Curves requests charts of the servers' resource usage over time, all in one.
	Curves bool `yaml:"curves"`
	// Missing is why tsmark cannot run it; empty: it can.
	Missing string `yaml:"missing"`
	// Run is the experiment at full size, as a tsmark file without its name and targets.
	Run yaml.MapSlice `yaml:"run"`
	// Cuts are the changes for smaller sizes.
	Cuts map[Size]Cut `yaml:"cuts"`
}

// Cut is a reduction of an experiment.
type Cut struct {
	// LeftOut is why a size does not run the experiment at all; empty: it does.
	LeftOut string `yaml:"left-out"`
	// Systems are the drivers of the only systems that a size measures; empty: those of the experiment.
	Systems []string      `yaml:"systems"`
	Words   string        `yaml:"words"` // the dimensions that were cut, and the ones that were kept
	Run     yaml.MapSlice `yaml:"run"`   // merged into the experiment's Run, key by key; lists are replaced
	// For maps the document's values of a parameter to the values that represent them here, such as
	// workers for cores: path, the document's value, our value.
	For map[string]map[string]string `yaml:"for"`
	// Lost are values of the document missing in this size: path and values.
	Lost map[string][]string `yaml:"lost"`
}

// Claim is a statement of a document about systems, and how measurements decide it.
type Claim struct {
	ID      string `yaml:"id"`      // within the document: C1
	Says    string `yaml:"says"`    // one sentence
	Printed string `yaml:"printed"` // the numbers that support it
	Derived bool   `yaml:"derived"` // derived from the numbers, not stated in the text
	// Against describes numbers of the document that contradict it; empty: none.
	Against string `yaml:"against"`
	// Aside describes differences between our comparison and the document's; empty: none.
	Aside string `yaml:"aside"`
	// Untested is the part of the sentence that no rule decides, and why: the verdict covers the
	// rest.
	Untested string `yaml:"untested"`
	// Missing is why no measurement of tsmark can decide it; empty: Rules decide it.
	Missing string `yaml:"missing"`
	Needs   Needs  `yaml:"needs"`
	Rules   []Rule `yaml:"rules"` // rules that must all hold
}

//go:embed *.yaml
var files embed.FS

// All returns all documents in the order of their numbers. The callers share them and must not
// modify them.
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
		named := slices.Clone(e.Systems)
		if e.Only != "" {
			named = append(named, e.Only)
		}
		for _, cut := range e.Cuts {
			named = append(named, cut.Systems...)
		}
		for _, driver := range named {
			if _, ok := d.System(driver); !ok {
				return nil, fmt.Errorf("%s, %s: %q takes part, and the document has no such system", d.Name, e.Name, driver)
			}
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

// System returns the document's system with the printed name, or the driver.
func (d *Document) System(name string) (*System, bool) {
	i := slices.IndexFunc(d.Systems, func(s System) bool { return s.Driver == name || slices.Contains(s.Printed, name) })
	if i < 0 {
		return nil, false
	}
	return &d.Systems[i], true
}

// RunName is the name of an experiment's runs, used to find them.
func (d *Document) RunName(e *Experiment, size Size) string {
	return fmt.Sprintf("%s-%s-%s", d.Name, e.Name, size)
}

// Verbatim returns the experiment with TSBS's own texts in place of equal queries; not ok: it has
// no TSBS queries.
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

// Cut returns the cut for a size; the zero value: none.
func (e *Experiment) Cut(size Size) Cut { return e.Cuts[size] }

// LeftOut returns why an experiment is not run in a size; empty: it is.
func (e *Experiment) LeftOut(size Size) string { return cmp.Or(e.Missing, e.Cut(size).LeftOut) }

// Make returns the experiment in a size as a tsmark file, with targets, which are inserted as text.
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
	if err := d.prepare(parsed, e, size, d.Takes(e, size, targets)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	parsed.Notes = append(parsed.Notes, fmt.Sprintf("%s of %s: %s (%s)", e.ID, d.Title, e.Title, d.Authors))
	if words := e.Cut(size).Words; words != "" {
		parsed.Notes = append(parsed.Notes, "size "+string(size)+": "+words)
	}
	return parsed, nil
}

// Has reports whether an experiment measures a system in a size.
func (e *Experiment) Has(size Size, driver string) bool {
	for _, systems := range [][]string{e.Systems, e.Cut(size).Systems} {
		if len(systems) > 0 && !slices.Contains(systems, driver) {
			return false
		}
	}
	return e.Only == "" || e.Only == driver
}

// Takes returns the targets that take part in an experiment in a size: those of its systems, and those of
// other systems than the document's. A target of Only is named after its driver, because the experiment's
// parameters refer to it by that name.
func (d *Document) Takes(e *Experiment, size Size, targets []experiment.Target) []experiment.Target {
	if e.Only == "" {
		return slices.DeleteFunc(slices.Clone(targets), func(t experiment.Target) bool {
			_, known := d.System(t.Driver)
			return known && !e.Has(size, t.Driver)
		})
	}
	i := slices.IndexFunc(targets, func(t experiment.Target) bool { return t.Driver == e.Only })
	if i < 0 {
		return nil
	}
	one := targets[i]
	one.Name = e.Only
	return []experiment.Target{one}
}

// IsWhole reports whether a size keeps all parts of the document's experiment.
func (e *Experiment) IsWhole(size Size) bool { return len(e.Cut(size).Run) == 0 }

// get returns the value at a path of keys; nil: not set.
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

// merge returns a with the values of b: maps are merged key by key, other values replaced.
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

// asMap returns a value of a YAML file as a mapping, if it is one.
func asMap(v any) (yaml.MapSlice, bool) {
	m, ok := v.(yaml.MapSlice)
	return m, ok
}
