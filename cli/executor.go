package cli

import (
	"fmt"

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

// dismiss lets the agents of the command go.
func (s *executor) dismiss() {
	if s.fleet == nil {
		return
	}
	if err := s.fleet.Close(); err != nil {
		fmt.Fprintln(s.app.stderr, "tsmark: releasing the agents: "+printable.OneLine(err.Error()))
	}
}
