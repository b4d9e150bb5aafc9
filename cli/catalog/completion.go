package catalog

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/run/experiment"
)

// CompleteTarget offers [NAME=]DRIVER[,OPTION=VALUE]…: drivers, then a driver's options,
// then the values of an option that has a choice of them.
func (c Catalog) CompleteTarget(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	first, rest, hasOptions := strings.Cut(word, ",")
	name, kind, named := strings.Cut(first, "=")
	if !named {
		name, kind = "", name
	} else {
		name += "="
	}
	if !hasOptions {
		var list []cobra.Completion
		for _, d := range c.Drivers {
			list = append(list, cobra.CompletionWithDesc(name+d.Name, d.Help))
		}
		return list, flag.NoSpace
	}
	d, err := c.Driver(kind)
	if err != nil {
		return nil, flag.NoFiles
	}
	list, directive := flag.CompleteSettings(targetOptions(&d), rest)
	for i := range list {
		list[i] = first + "," + list[i]
	}
	return list, directive
}

// targetOptions returns everything that may follow a driver: its options, and the names of sets
// of them. See experiment.ParseTarget.
func targetOptions(d *driver.Driver) []option.Option {
	options := slices.Clone(d.Options)
	for _, set := range []struct {
		name, help string
		of         []driver.Profile
	}{
		{"profile", "set of options by which users run the system", d.Profiles},
		{"durability", "when an acknowledged row is on disk", d.Durabilities},
	} {
		var names []string
		for _, p := range set.of {
			names = append(names, p.Name)
		}
		if len(names) > 0 {
			options = append(options, option.Option{Name: set.name, Help: set.help, Type: option.Choice(names...)})
		}
	}
	return options
}

// CompleteQueryTypes offers query types, joined by commas, and the words for many of
// them; behind such a word, types to leave out.
func (c Catalog) CompleteQueryTypes(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	without := slices.ContainsFunc(experiment.TypeWords(), func(many string) bool { return strings.HasPrefix(word, many+",") })
	known := make(map[string]bool)
	for _, w := range c.Workloads {
		for _, t := range w.QueryTypes() {
			if known[t.Name] {
				continue // of several workloads
			}
			known[t.Name] = true
			name := t.Name
			if without {
				name = experiment.Without + name
			}
			list = append(list, cobra.CompletionWithDesc(name, t.Help))
		}
	}
	if !strings.Contains(word, ",") {
		list = append(list, cobra.CompletionWithDesc(experiment.CoreTypes, "one type of each kind"), cobra.CompletionWithDesc(experiment.AllTypes, "all types of the workload"),
			cobra.CompletionWithDesc(experiment.ComplianceTypes, "types that cover the workload's query language"))
	}
	return flag.AfterComma(word, list), flag.NoSpace
}

// CompleteSteps offers the steps after a load of all drivers, joined by commas.
func (c Catalog) CompleteSteps(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var list []cobra.Completion
	known := make(map[string]bool)
	for _, d := range c.Drivers {
		defaults, err := d.Resolve(nil)
		if err != nil {
			continue
		}
		for _, step := range d.Caps(defaults).Steps {
			if !known[step.Name] {
				known[step.Name] = true
				list = append(list, cobra.CompletionWithDesc(step.Name, step.Help))
			}
		}
	}
	return flag.AfterComma(word, list), flag.NoSpace
}
