// Package run has the commands that use targets: they check, load, query and verify them, or repeat
// what another command did, report it, and end with the exit status that the outcome deserves.
package run

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/team"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/run/launch"
)

// Executor is the state of the commands that execute experiments.
type Executor struct {
	app      *app.App
	pool     *launch.Pool // servers that several experiments share; nil: no shared servers
	audience *audience    // watches runs; may be nil
	team     team.Flags
	fleet    *team.Fleet // agents that execute the runs; nil: this process does
	page     string      // file of the newest report, or empty
	output   output
}

// NewExecutor returns an executor for the command line of a.
func NewExecutor(a *app.App) *Executor {
	return &Executor{app: a, output: output{format: string(write.Text)}}
}

// Commands returns the commands that use targets.
func (s *Executor) Commands() []*cobra.Command {
	return []*cobra.Command{
		s.runCommand(), s.loadCommand(), s.queryCommand(), s.verifyCommand(), s.checkCommand(), s.resumeCommand(), s.rerunCommand(), s.reproduceCommand(), s.historyCommand(), s.bisectCommand(), s.dropCommand(),
	}
}

// Dismiss lets the agents of the command go.
func (s *Executor) Dismiss() {
	if s.fleet == nil {
		return
	}
	if err := s.fleet.Close(); err != nil {
		fmt.Fprintln(s.app.Stderr, "tsmark: releasing the agents: "+printable.OneLine(err.Error()))
	}
}
