package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/capability"
	"github.com/tsmark/tsmark/run/experiment"
)

func (a *app) driversCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "drivers [DRIVER]",
		Aliases: []string{"targets"}, // its name until it was said what a target is: a driver with options
		Short:   "List the databases that can be measured, or the options and limits of one",
		Long: `Lists the drivers, one a database system, and how many query types of each
workload each of them supports. With a DRIVER it prints how that one stores
fields of each type, its options with their defaults, its profiles, its levels
of durability and its steps after a load, and which query types it does not
support, and why. It connects to nothing.`,
		Example: `  tsmark drivers
  tsmark drivers sqlite
  tsmark drivers --json`,
		ValidArgsFunction: cobra.FixedCompletions(a.catalog.driverNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark drivers takes one driver at most, but was given %q", args)
			}
			able, err := a.capabilities(args)
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				out := json.NewEncoder(a.stdout)
				out.SetIndent("", "  ")
				return out.Encode(able)
			case len(args) == 1:
				return describeDriver(a.stdout, able[0])
			}
			return listDrivers(a.stdout, able)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all that is known, as JSON")
	return cmd
}

// capabilities is what the named drivers can do; of none, all.
func (a *app) capabilities(names []string) ([]*capability.Kind, error) {
	if len(names) == 0 {
		names = a.catalog.driverNames()
	}
	var able []*capability.Kind
	for _, name := range names {
		kind, err := a.catalog.driver(name)
		if err != nil {
			return nil, err
		}
		k, err := capability.Of(&kind, a.catalog.workloads, experiment.Default().Workload)
		if err != nil {
			return nil, err
		}
		able = append(able, k)
	}
	return able, nil
}

// listDrivers prints a line a driver.
func listDrivers(w io.Writer, kinds []*capability.Kind) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(out, "DRIVER\tRUNS")
	for _, u := range kinds[0].UseCases {
		fmt.Fprint(out, "\t", u.Name)
	}
	fmt.Fprintln(out, "\tDURABILITY\tPROFILES\tWHAT IT IS")
	for _, k := range kinds {
		fmt.Fprint(out, k.Name, "\t", whereItRuns(k))
		for _, u := range k.UseCases {
			fmt.Fprintf(out, "\t%d/%d", u.Answered, u.Types)
		}
		fmt.Fprintf(out, "\t%s\t%s\t%s\n", profileNames(k.Durabilities), profileNames(k.Profiles), k.Help)
	}
	return out.Flush()
}

func whereItRuns(k *capability.Kind) string {
	if k.Embedded {
		return "in tsmark"
	}
	return "server"
}

func profileNames(profiles []capability.Profile) string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

// describeDriver prints all of one driver.
func describeDriver(w io.Writer, k *capability.Kind) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "%s: %s\n\n", k.Name, k.Help)
	runs := "a server of its own"
	if k.Embedded {
		runs = "in tsmark's own process"
	}
	writers := "any number"
	if k.MaxWriters > 0 {
		writers = fmt.Sprint(k.MaxWriters)
	}
	twice := "are there twice"
	if k.Dedupes {
		twice = "are there once"
	}
	fmt.Fprintf(out, "runs\t%s\ntimes\tto %v\nwriters at once\t%s\nrows sent twice\t%s, with the default options\n", runs, k.TimePrecision, writers, twice)
	for i, u := range k.UseCases {
		head := ""
		if i == 0 {
			head = "answers"
		}
		fmt.Fprintf(out, "%s\t%d of the %d query types of %s\n", head, u.Answered, u.Types, u.Name)
	}
	section := func(title string, rows int) {
		if rows > 0 {
			fmt.Fprintf(out, "\n%s\n", title)
		}
	}
	section("Types of fields, with the default options", len(k.Types))
	for _, t := range k.Types {
		fmt.Fprintf(out, "  %s\t%s\n", t.Type, driver.Stored{As: t.As, Mapped: t.Mapped})
	}
	section("Options, as in "+k.Name+",NAME=VALUE", len(k.Options))
	for _, o := range k.Options {
		value := o.Default
		if value == "" {
			value = "none"
		}
		if o.Secret {
			value += "; secret"
		}
		fmt.Fprintf(out, "  %s\t%s (default: %s)\n", o.Name, o.Help, value)
	}
	for _, p := range []struct {
		title string
		of    []capability.Profile
	}{{"Profiles, as in " + k.Name + ",profile=NAME", k.Profiles}, {"Levels of durability, as in " + k.Name + ",durability=NAME", k.Durabilities}} {
		section(p.title, len(p.of))
		for _, p := range p.of {
			fmt.Fprintf(out, "  %s\t%s%s\n", p.Name, p.Help, optionList(p.Options))
		}
	}
	section("Steps after a load, as in --after-load NAME", len(k.Steps))
	for _, s := range k.Steps {
		fmt.Fprintf(out, "  %s\t%s\n", s.Name, s.Help)
	}
	section("Query types that it does not support", len(k.Unsupported))
	for _, u := range k.Unsupported {
		fmt.Fprintf(out, "  %s\t%s\n", u.Type, u.Reason)
	}
	return out.Flush()
}

// optionList shows what a profile sets.
func optionList(options map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		list = append(list, name+"="+options[name])
	}
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}
