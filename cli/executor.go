package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/run/launch"
)

// executor is the state of the commands that execute experiments.
type executor struct {
	app      *app
	standing *launch.Pool // servers that several experiments share; nil: no shared servers
	audience *audience    // watches runs; may be nil
	team     teamFlags
	fleet    *fleet // agents that execute the runs; nil: this process does
	page     string // file of the newest report, or empty
}

// newExecutor returns an executor for the command line of a.
func newExecutor(a *app) *executor { return &executor{app: a} }

// commands returns the commands that use targets.
func (s *executor) commands() []*cobra.Command {
	return []*cobra.Command{
		s.runCommand(), s.loadCommand(), s.queryCommand(), s.verifyCommand(), s.checkCommand(), s.resumeCommand(), s.rerunCommand(), s.reproduceCommand(),
	}
}

// dismiss lets the agents of the command go.
func (s *executor) dismiss() {
	if s.fleet == nil {
		return
	}
	if err := s.fleet.Close(); err != nil {
		fmt.Fprintln(s.app.stderr, "tsmark: releasing the agents: "+printable.OneLine(err.Error()))
	}
}
