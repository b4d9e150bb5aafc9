// Package cli is tsmark's command line: one file per command, which turns
// flags into the arguments of the other packages.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/run/store"
	workloads "github.com/tsmark/tsmark/workload/all"
)

// The exit statuses.
const (
	exitDone        = 0   // done and verified
	exitWithheld    = 1   // a figure was withheld, or a query type failed
	exitUsage       = 2   // wrong usage or input
	exitTarget      = 3   // a target could not be reached, or failed
	exitInterrupted = 130 // by Ctrl-C
)

// status is an error that ends tsmark with an exit status of its own. Its text
// may be empty if everything has been reported.
type status struct {
	code int
	text string
}

func (s *status) Error() string { return s.text }

// app is the state that all commands share.
type app struct {
	args           []string // the command line
	stdout, stderr io.Writer
	results        string // folder, or URL of a database
	files          string // folder of the files of runs in a database
	verbose        bool   // text reports have all
	catalog        catalog
	children       *process.Children // lists running servers; may be nil
}

func knownCatalog() catalog {
	c := newCatalog(workloads.Workloads(), all.Drivers())
	c.pulse = pulse.Start
	return c
}

// main runs the app's command line and returns the exit status.
func (a *app) runArgs(ctx context.Context) int {
	runs := newExecutor(a)
	root := a.newRoot(runs)
	root.SetArgs(a.args[1:])
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	runs.dismiss()
	if err == nil {
		runs.unwatch(exitDone, "")
		return exitDone
	}
	code, text := exitUsage, err.Error()
	var s *status
	switch err = unreached(err); {
	case errors.As(err, &s):
		code, text = s.code, s.text
	case ctx.Err() != nil:
		code, text = exitInterrupted, "interrupted"
	}
	// Plans know all secrets; this is for errors about texts that no plan was
	// made of.
	hidden := secret.New(a.catalog.secretNames()...)
	hidden.Public(a.catalog.driverNames()...)
	hidden.Args(a.args) // which it learns from
	if store.Database(a.results) {
		hidden.Add(secret.InEnvironment(os.Environ())...) // PGPASSWORD
	}
	lines := strings.Split(hidden.Text(text), "\n")
	runs.unwatch(code, printable.Line(lines[0]))
	for i, line := range lines {
		line = printable.Line(line)
		// A flag that sets two values may be wrong twice over.
		if line != "" && !slices.Contains(lines[:i], lines[i]) {
			fmt.Fprintln(a.stderr, "tsmark: "+line)
		}
	}
	return code
}

func (a *app) newRoot(runs *executor) *cobra.Command {
	root := &cobra.Command{
		Use:   "tsmark",
		Short: "A benchmark for time series databases that checks every answer",
		Long: `tsmark generates TSBS's data byte for byte, loads it into a database, runs TSBS's
queries, checks the answers against the generator, and reports load rates and
latencies that somebody else can reproduce.`,
		Example: `  tsmark run                                    # DuckDB and SQLite on TSBS's cpu-only, a minute
  tsmark run --target fast=duckdb --target slow=duckdb,threads=1
  tsmark generate --scale 4000 --format influx --file cpu.lp.zst
  tsmark report                                 # the last run again`,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := besideWeb(cmd, args); err != nil {
				return err
			}
			switch {
			case a.results == "":
				return errors.New("--results: is empty; name a folder")
			case store.CheckName(a.results) != nil:
				return fmt.Errorf("--results: %w", store.CheckName(a.results))
			case infile.IsURL(a.files):
				return errors.New("--files: is a URL; name a folder")
			case a.files != "" && !store.Database(a.results):
				return errors.New("--files is for results in a database; in a results folder the files lie beside its runs")
			}
			return nil
		},
		Version:       "tsmark " + buildinfo.Tool().String(),
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&a.results, "results", defaultResults, "`folder` of runs and embedded databases, or the URL of a PostgreSQL database that several machines share")
	root.PersistentFlags().StringVar(&a.files, "files", "", "`folder` of operation logs, pages and embedded databases, if --results is a database (default \"tsmark-results\")")
	root.PersistentFlags().BoolVar(&a.verbose, "verbose", false, "show everything in text reports: percentiles of each target, versions and settings, resources, the host")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(runs.commands()...)
	root.AddCommand(a.resultCommands()...)
	root.AddCommand(a.datasetCommands()...)
	root.AddCommand(a.catalog.commands(a.stdout)...)
	root.AddCommand(a.agentCommand(), a.serverCommand())
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = cobra.ArbitraryArgs
		completion.RunE = root.RunE
		completion.Example = "  source <(tsmark completion bash)"
		if bash, _, err := completion.Find([]string{"bash"}); err == nil {
			bash.RunE = func(cmd *cobra.Command, _ []string) error {
				plain, err := cmd.Flags().GetBool("no-descriptions")
				if err != nil {
					return err
				}
				return BashCompletion(root, a.stdout, !plain)
			}
		}
	}
	return root
}

// helpCommand is cobra's, which does not report unknown commands.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command",
		Example: "  tsmark help run", ValidArgsFunction: completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			return found.Help()
		},
	}
}

// unknownCommand offers the closest commands below cmd.
func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", name, suggest.Names(name, names))
}

// flagError offers the closest flags for an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	if instead := insteadOf(unknown.GetSpecifiedName()); instead != "" {
		// With a colon: text after the name of a secret flag is taken for the secret.
		return fmt.Errorf("--%s: is a flag of TSBS; %s", unknown.GetSpecifiedName(), instead)
	}
	name := "--" + unknown.GetSpecifiedName()
	return fmt.Errorf("unknown flag %s%s", name, suggest.NamesOr(name, names, "; "+cmd.CommandPath()+" --help lists the flags"))
}

// noArguments is an Args for commands that take flags, or a command, only.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && cmd.HasAvailableSubCommands():
		return unknownCommand(cmd, args[0])
	case len(args) > 0:
		return fmt.Errorf("tsmark %s takes no arguments, but was given %q; flags begin with --", cmd.Name(), args[0])
	}
	return nil
}
