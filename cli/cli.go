// Package cli is tsmark's command line. Each folder has a group of commands, or code that they share;
// their work is done in other packages, above all in run and report.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/conformance"
	"github.com/tsmark/tsmark/cli/dataset"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/newdriver"
	"github.com/tsmark/tsmark/cli/results"
	"github.com/tsmark/tsmark/cli/run"
	"github.com/tsmark/tsmark/cli/server"
	"github.com/tsmark/tsmark/cli/team"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/run/store"
	workloads "github.com/tsmark/tsmark/workload/all"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
)

func knownCatalog() catalog.Catalog {
	programs := new(external.Programs)
	c := catalog.New(workloads.Workloads(duckdb.Library()), append(all.Drivers(), programs.Driver()))
	c.Pulse, c.Programs = pulse.Start, programs
	return c
}

// runArgs runs the command line of a and returns the exit status.
func runArgs(ctx context.Context, a *app.App) int {
	if p := a.Catalog.Programs; p != nil {
		p.Waiting = func(doing string) func() {
			fmt.Fprintln(a.Stderr, "tsmark: "+printable.Line(doing))
			return func() {}
		}
		defer p.Close()
	}
	runs := run.NewExecutor(a)
	root := newRoot(a, runs)
	root.SetArgs(a.Args[1:])
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	runs.Dismiss()
	if err == nil {
		runs.Unwatch(app.ExitDone, "")
		return app.ExitDone
	}
	code, text := app.ExitUsage, err.Error()
	var s *app.Status
	switch err = run.StatusOf(err); {
	case errors.As(err, &s):
		code, text = s.Code, s.Text
	case errors.Is(err, syscall.EPIPE) && app.OutputGone():
		code, text = app.ExitInterrupted, ""
	case ctx.Err() != nil:
		code, text = app.ExitInterrupted, "interrupted"
	}
	// Plans know all secrets; this is for errors about texts that no plan was
	// made of.
	hidden := secret.New(a.Catalog.SecretNames()...)
	hidden.Public(a.Catalog.DriverNames()...)
	hidden.Args(a.Args) // which it learns from
	if store.Database(a.Results) {
		hidden.Add(secret.InEnvironment(os.Environ())...) // PGPASSWORD
	}
	lines := strings.Split(hidden.Text(text), "\n")
	runs.Unwatch(code, printable.Line(lines[0]))
	for i, line := range lines {
		line = printable.Line(line)
		// A flag that sets two values may be wrong twice over.
		if line != "" && !slices.Contains(lines[:i], lines[i]) {
			fmt.Fprintln(a.Stderr, "tsmark: "+line)
		}
	}
	return code
}

// newRoot returns the command tsmark with all others below it.
func newRoot(a *app.App, runs *run.Executor) *cobra.Command {
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
			if err := run.CheckWeb(cmd, args); err != nil {
				return err
			}
			switch {
			case a.Results == "":
				return errors.New("--results: is empty; name a folder")
			case store.CheckName(a.Results) != nil:
				return fmt.Errorf("--results: %w", store.CheckName(a.Results))
			case infile.IsURL(a.Files):
				return errors.New("--files: is a URL; name a folder")
			case a.Files != "" && !store.Database(a.Results):
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
			return app.UnknownCommand(cmd, args[0])
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&a.Results, "results", app.DefaultResults, "`folder` of runs and embedded databases, or the URL of a PostgreSQL database that several machines share")
	root.PersistentFlags().StringVar(&a.Files, "files", "", "`folder` of operation logs, pages and embedded databases, if --results is a database (default \"tsmark-results\")")
	root.PersistentFlags().BoolVar(&a.Verbose, "verbose", false, "show everything in text reports: percentiles of each target, versions and settings, resources, the host")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(flag.Usage(a.HelpWidth))
	root.AddCommand(runs.Commands()...)
	root.AddCommand(results.Commands(a)...)
	root.AddCommand(dataset.Commands(a)...)
	root.AddCommand(a.Catalog.Commands(a.Stdout)...)
	root.AddCommand(team.AgentCommand(a), server.Command(a), newdriver.Command(a), conformance.Command(a), versionCommand(a))
	help := helpCommand()
	root.SetHelpCommand(help)
	root.InitDefaultCompletionCmd()
	groupCommands(root, help)
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
				return BashCompletion(root, a.Stdout, !plain)
			}
		}
	}
	return root
}

// groupCommands groups the commands by purpose in the help of tsmark.
func groupCommands(root, help *cobra.Command) {
	of := make(map[string]string)
	for _, group := range []struct {
		title string
		names []string
	}{
		{"Measure:", []string{"run", "resume", "rerun", "reproduce", "history", "bisect", "check"}},
		{"One step at a time:", []string{"load", "query", "verify", "drop", "generate", "expose", "queries", "inspect"}},
		{"Results:", []string{"runs", "report", "compare", "site", "analyze", "export", "import", "merge"}},
		{"Servers and clients:", []string{"server", "agent"}},
		{"What there is:", []string{"drivers", "experiments", "schema"}},
		{"Write a driver:", []string{"new-driver", "conformance"}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, name := range group.names {
			of[name] = group.title
		}
	}
	const others = "Others:"
	root.AddGroup(&cobra.Group{ID: others, Title: others})
	for _, c := range append(root.Commands(), help) {
		c.GroupID = cmp.Or(of[c.Name()], others)
	}
}

func versionCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of tsmark, as --version does",
		Example: "  tsmark version", Args: app.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(a.Stdout, cmd.Root().Version)
			return err
		},
	}
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
				return app.UnknownCommand(found, rest[0])
			}
			return found.Help()
		},
	}
}

// flagError offers the closest flags for an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	long := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" { // as Go's own flags: -use-case=iot
		long, _, _ = strings.Cut(short, "=")
		if slices.Contains(names, "--"+long) {
			return fmt.Errorf("unknown flag -%s; long flags have two dashes: --%s", long, long)
		}
		if len(long) == 1 {
			return err
		}
	}
	if instead := insteadOf(long); instead != "" {
		// With a colon: text after the name of a secret flag is taken for the secret.
		return fmt.Errorf("--%s: is a flag of TSBS; %s", long, instead)
	}
	if own := dataset.OwnSetting(long); own != "" && slices.Contains(names, "--own") {
		return fmt.Errorf("unknown flag --%s; for your own rows write --own '%s=VALUE'", long, own)
	}
	name := "--" + long
	return fmt.Errorf("unknown flag %s%s", name, suggest.NamesOr(name, names, "; "+cmd.CommandPath()+" --help lists the flags"))
}
