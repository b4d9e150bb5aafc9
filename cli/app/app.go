// Package app holds what all commands share: where output goes, where results are, what tsmark
// knows by name, and the exit statuses.
package app

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/monitor/process"
)

// The exit statuses.
const (
	ExitDone        = 0   // done and verified
	ExitWithheld    = 1   // a figure was withheld, or a query type failed
	ExitUsage       = 2   // wrong usage or input
	ExitTarget      = 3   // a target could not be reached, or failed
	ExitInterrupted = 130 // by Ctrl-C
)

// Status is an error that ends tsmark with an exit status of its own. Its text
// may be empty if everything has been reported.
type Status struct {
	Code int
	Text string
}

func (s *Status) Error() string { return s.Text }

// App is the state that all commands share.
type App struct {
	Args           []string // the command line
	Stdout, Stderr io.Writer
	Results        string // folder, or URL of a database
	Files          string // folder of the files of runs in a database
	Verbose        bool   // text reports have all
	Catalog        catalog.Catalog
	Children       *process.Children // lists running servers; may be nil
}

// UnknownCommand offers the closest commands below cmd.
func UnknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("unknown command %q%s", name, suggest.Names(name, names))
}

// NoArguments is an Args for commands that take flags, or a command, only.
func NoArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && cmd.HasAvailableSubCommands():
		return UnknownCommand(cmd, args[0])
	case len(args) > 0:
		return fmt.Errorf("tsmark %s takes no arguments, but was given %q; flags begin with --", cmd.Name(), args[0])
	}
	return nil
}
