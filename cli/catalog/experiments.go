package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
)

func (c Catalog) experimentsCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "experiments [NAME]",
		Short: "List the built-in experiments, or print one",
		Long: `Lists the built-in experiments, which tsmark run takes by name; flags change them as
they change a file. With a name it prints that experiment, as a start for a file of
your own.`,
		Example: `  tsmark experiments
  tsmark experiments scale > mine.yaml
  tsmark run sqlite-durability`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark experiments takes one name, but was given %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c.presetCompletions(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				p, ok := preset.Find(c.Presets(), args[0])
				if !ok {
					return fmt.Errorf("no built-in experiment %q%s", args[0], suggest.Names(args[0], preset.Names(c.Presets())))
				}
				_, err := io.WriteString(stdout, experiment.SchemaComment+p.YAML)
				return err
			}
			out := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, p := range c.Presets() {
				fmt.Fprintf(out, "%s\t%s\n", p.Name, p.Summary)
			}
			return out.Flush()
		},
	}
}

func (c Catalog) schemaCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of experiments, for editors",
		Long: `Prints the JSON schema of the files that tsmark run takes. Editors with
yaml-language-server then check and complete keys in a file beside it that begins as
those of tsmark experiments NAME and tsmark run --print do.`,
		Example: "  tsmark schema > " + experiment.SchemaFile,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("tsmark %s takes no arguments, but was given %q", cmd.Name(), args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			var drivers []string
			for i := range c.Drivers {
				drivers = append(drivers, c.Drivers[i].Name)
			}
			text, err := experiment.Schema(map[string][]string{"targets[].driver": drivers, "workload.name": c.WorkloadNames()})
			if err == nil {
				_, err = stdout.Write(text)
			}
			return err
		},
	}
}

// Presets returns the built-in experiments.
func (c Catalog) Presets() []preset.Preset { return preset.All(c.Drivers) }

// presetCompletions returns the names with their summaries, as shells show them.
func (c Catalog) presetCompletions() []string {
	var list []string
	for _, p := range c.Presets() {
		list = append(list, cobra.CompletionWithDesc(p.Name, p.Summary))
	}
	return list
}

// CompleteExperiment offers the built-in experiments; if none matches, the shell
// offers files.
func (c Catalog) CompleteExperiment(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.presetCompletions(), cobra.ShellCompDirectiveDefault
}

// ReadExperiment reads a built-in experiment or, if none has the name, a file.
func (c Catalog) ReadExperiment(name string) (*experiment.Experiment, error) {
	presets := c.Presets()
	if p, ok := preset.Find(presets, name); ok {
		return p.Experiment()
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, unreadable(name, preset.Names(presets), c.DriverNames(), err)
	}
	e, err := experiment.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if err := e.ReadOwn(filepath.Dir(name)); err != nil {
		return nil, err
	}
	return e, compatible.Read(c.Driver, e, filepath.Dir(name))
}

// unreadable returns an error about an experiment's file.
func unreadable(name string, builtIn, drivers []string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name && filepath.Ext(name) == "" {
		return fmt.Errorf("no experiment %q: neither a file nor built in%s", name, suggest.NamesOr(name, slices.Concat(builtIn, drivers), "; built in are "+strings.Join(builtIn, ", ")))
	}
	err = infile.Cannot("read the experiment", name, err)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; tsmark run --print writes one", err)
	}
	return err
}

// IsBuiltIn reports whether the arguments of tsmark run mean an experiment of tsmark's own.
func (c Catalog) IsBuiltIn(args []string) bool {
	if len(args) == 0 {
		return true
	}
	_, ok := preset.Find(c.Presets(), args[0])
	return ok
}

// RemoveMissing removes the targets that this build of tsmark cannot open from a built-in experiment,
// and returns notes about them, which it also adds to the experiment's
// notes. If no others are left, they stay, and the plan refuses them.
func (c Catalog) RemoveMissing(e *experiment.Experiment) (notes []string) {
	missing := func(t experiment.Target) string {
		d, err := c.Driver(t.Driver)
		if err != nil {
			return "" // the plan's to refuse
		}
		return d.Missing
	}
	if !slices.ContainsFunc(e.Targets, func(t experiment.Target) bool { return missing(t) == "" }) {
		return nil
	}
	e.Targets = slices.DeleteFunc(e.Targets, func(t experiment.Target) bool {
		why := missing(t)
		if why == "" {
			return false
		}
		notes = append(notes, fmt.Sprintf("%s is left out: %s", t.Name, why))
		return true
	})
	e.Notes = append(e.Notes, notes...)
	return notes
}
