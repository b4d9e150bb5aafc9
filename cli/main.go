package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/run"
	"github.com/tsmark/tsmark/monitor/process"
)

// Main runs the process's own command line and returns the exit status. Ctrl-C,
// SIGTERM, SIGHUP unless it is ignored, as under nohup, and an output that nobody reads
// any longer end it in order; a second signal ends it at once, with the servers that it started.
func Main() int { return mainWith(knownCatalog()) }

func mainWith(known catalog.Catalog) int {
	endings := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		endings = append(endings, syscall.SIGHUP)
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings...)
	defer signal.Stop(signals)
	started := new(process.Children)
	go func() {
		<-signals
		end()
		await(signals)
		started.Kill()
		fmt.Fprintln(os.Stderr, "\ntsmark: stopped immediately; tsmark resume continues the unfinished work")
		os.Exit(app.ExitInterrupted)
	}()
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE) // also of connections to servers
	defer signal.Stop(pipes)
	go func() {
		for range pipes {
			if app.OutputGone() {
				end()
			}
		}
	}()
	args := append([]string{"tsmark"}, os.Args[1:]...) // reports print them, and a path says nothing about the run
	return runArgs(ctx, &app.App{Args: args, Stdout: os.Stdout, Stderr: os.Stderr, Catalog: known, Children: started})
}

// Command is the whole command line with its help, to be described and not to be run: its
// manual pages and the completion scripts of shells are made of it.
func Command() *cobra.Command {
	a := &app.App{Stdout: io.Discard, Stderr: io.Discard, Catalog: knownCatalog()}
	return newRoot(a, run.NewExecutor(a))
}

// sameSignal is the time within which a second signal counts as the first one: timeout
// and sudo also forward to a process the signals of its group.
const sameSignal = 200 * time.Millisecond

// await waits for a further signal.
func await(signals <-chan os.Signal) {
	for first := time.Now(); time.Since(first) < sameSignal; {
		<-signals
	}
}

// BashCompletion writes the script by which bash completes the command line, with a
// description of each word if descriptions are wanted.
//
// It is cobra's, except for commas: bash's printf %q puts a backslash before them, cobra's
// script then takes only completions with the typed prefix, and nobody types
// --target questdb\,host.
func BashCompletion(root *cobra.Command, w io.Writer, descriptions bool) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return fmt.Errorf("writing the completion of bash: %w", err)
	}
	text := script.String()
	for line, variable := range map[string]string{
		`comp=$(printf "%q" "${compline%%$tab*}")`:             "comp",
		`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]}")`:        "COMPREPLY[0]",
		`COMPREPLY[0]=$(printf "%q" "${COMPREPLY[0]%%$tab*}")`: "COMPREPLY[0]",
	} {
		if !strings.Contains(text, line+"\n") {
			panic("cobra's script of bash has changed: it has no " + line)
		}
		text = strings.ReplaceAll(text, line+"\n", line+"\n        "+variable+"=${"+variable+"//\\\\,/,}\n")
	}
	_, err := io.WriteString(w, text)
	return err
}

// completeCommand offers commands, and those below the ones that are named.
func completeCommand(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, flag.NoFiles
	}
	var list []cobra.Completion
	for _, c := range found.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return list, flag.NoFiles
}
