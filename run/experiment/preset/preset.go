// Package preset holds the experiments that tsmark comes with.
package preset

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/run/experiment"
)

//go:embed *.yaml
var files embed.FS

// First is the experiment that is listed before the others: what tsmark run
// does by itself.
const First = "default"

// Preset is a built-in experiment.
type Preset struct {
	Name    string
	Summary string // one line, without a full stop
	YAML    string // whose first line is the summary, as a comment
}

// All lists the built-in experiments, First before the others by name.
func All() []Preset {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var list []Preset
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		first, _, _ := strings.Cut(string(text), "\n")
		list = append(list, Preset{strings.TrimSuffix(name, ".yaml"), strings.TrimPrefix(first, "# "), string(text)})
	}
	slices.SortStableFunc(list, func(a, b Preset) int {
		switch First {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return list
}

// Names lists the names of All.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Find returns the built-in experiment of a name.
func Find(name string) (Preset, bool) {
	all := All()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Experiment reads the preset.
func (p *Preset) Experiment() (*experiment.Experiment, error) {
	e, err := experiment.Parse("experiment "+p.Name, []byte(p.YAML))
	if err != nil {
		return nil, fmt.Errorf("reading a built-in experiment: %w", err)
	}
	return e, nil
}
