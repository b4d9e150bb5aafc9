// Package preset holds the experiments that tsmark comes with.
package preset

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
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

// All lists the built-in experiments, First before the others by name. One of them
// has each of the drivers with a server.
func All(drivers []driver.Driver) []Preset {
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
		whole := strings.Replace(string(text), "  # servers\n", servers(drivers), 1)
		first, _, _ := strings.Cut(whole, "\n")
		list = append(list, Preset{strings.TrimSuffix(name, ".yaml"), strings.TrimPrefix(first, "# "), whole})
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

// servers are targets, as YAML, that tsmark's scripts start.
func servers(drivers []driver.Driver) string {
	var text strings.Builder
	for _, d := range drivers {
		if d.TestServer == nil || d.UserServer != nil {
			continue
		}
		fmt.Fprintf(&text, "  - driver: %s\n", d.Name)
		var options []string
		for _, name := range slices.Sorted(maps.Keys(d.TestServer)) {
			value := strings.Replace(d.TestServer[name], "@servers/", "@"+experiment.Servers+"/", 1)
			options = append(options, fmt.Sprintf("%s: %q", name, value))
		}
		for i, name := range d.Ports() {
			if i > 0 {
				options = append(options, fmt.Sprintf(`%s: "{port+%d}"`, name, i))
			}
		}
		if len(options) > 0 {
			fmt.Fprintf(&text, "    options: {%s}\n", strings.Join(options, ", "))
		}
		fmt.Fprintf(&text, "    start: \"%s/%s exec {dir} {port}\"\n", experiment.Servers, d.Name)
	}
	return text.String()
}

// Names lists the names of presets.
func Names(list []Preset) []string {
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

// Find returns the preset of a name.
func Find(list []Preset, name string) (Preset, bool) {
	i := slices.IndexFunc(list, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return list[i], true
}

// Experiment reads the preset.
func (p *Preset) Experiment() (*experiment.Experiment, error) {
	e, err := experiment.Parse("experiment "+p.Name, []byte(p.YAML))
	if err != nil {
		return nil, fmt.Errorf("reading a built-in experiment: %w", err)
	}
	return e, nil
}
