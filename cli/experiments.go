package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/experiment/preset"
)

func (c catalog) experimentsCommand(stdout io.Writer) *cobra.Command {
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
				p, ok := preset.Find(c.presets(), args[0])
				if !ok {
					return fmt.Errorf("no built-in experiment %q%s", args[0], suggest.Names(args[0], preset.Names(c.presets())))
				}
				_, err := io.WriteString(stdout, p.YAML)
				return err
			}
			out := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, p := range c.presets() {
				fmt.Fprintf(out, "%s\t%s\n", p.Name, p.Summary)
			}
			return out.Flush()
		},
	}
}

func (c catalog) presets() []preset.Preset { return preset.All(c.drivers) }

// presetCompletions returns the names with their summaries, as shells show them.
func (c catalog) presetCompletions() []string {
	var list []string
	for _, p := range c.presets() {
		list = append(list, cobra.CompletionWithDesc(p.Name, p.Summary))
	}
	return list
}

// completeExperiment offers the built-in experiments; if none matches, the shell
// offers files.
func (c catalog) completeExperiment(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.presetCompletions(), cobra.ShellCompDirectiveDefault
}

// readExperiment reads a built-in experiment or, if none has the name, a file.
func (c catalog) readExperiment(name string) (*experiment.Experiment, error) {
	presets := c.presets()
	if p, ok := preset.Find(presets, name); ok {
		return p.Experiment()
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, unreadable(name, preset.Names(presets), err)
	}
	e, err := experiment.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return e, e.ReadOwn(filepath.Dir(name))
}

// ownQueriesFlag is the flag that names files of own queries.
const ownQueriesFlag = "own-queries"

// addOwn adds the queries of files that were given as flags to an experiment.
func addOwn(e *experiment.Experiment, files []string) error {
	for _, name := range files {
		if err := e.AddOwn(name); err != nil {
			return fmt.Errorf("--%s: %w", ownQueriesFlag, err)
		}
	}
	return nil
}

// unreadable returns an error about an experiment's file.
func unreadable(name string, builtIn []string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name && filepath.Ext(name) == "" {
		return fmt.Errorf("no experiment %q: neither a file nor built in%s", name, suggest.NamesOr(name, builtIn, "; built in are "+strings.Join(builtIn, ", ")))
	}
	err = infile.Cannot("read the experiment", name, err)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; tsmark run --print writes one", err)
	}
	return err
}
