package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/monitor/process"
)

// Main runs the process's own command line and returns the exit status. Ctrl-C,
// SIGTERM, and SIGHUP unless it is ignored, as under nohup, end it in
// order; a second one ends it at once, with the servers that it started.
func Main() int { return run(knownCatalog()) }

func run(known catalog) int {
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
		os.Exit(exitInterrupted)
	}()
	return (&app{args: os.Args, stdout: os.Stdout, stderr: os.Stderr, catalog: known, children: started}).runArgs(ctx)
}

// Command is the whole command line with its help, to be described and not to be run: its
// manual pages and the completion scripts of shells are made of it.
func Command() *cobra.Command {
	a := &app{stdout: io.Discard, stderr: io.Discard, catalog: knownCatalog()}
	return a.newRoot(newExecutor(a))
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
