package cli

import (
	"io"
	"os"
	"time"

	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/run/record"
)

// defaultPeriod is the interval of plain progress lines.
const defaultPeriod = 10 * time.Second

// display shows a run's progress on standard error.
type display struct{ *progress.Display }

// Start implements record.Display.
func (d display) Start(label, unit string, total int64) record.Task {
	return d.Display.Start(label, unit, total)
}

// Overall implements record.Display.
func (d display) Overall(o record.Overall) { d.Display.Overall(progress.Overall(o)) }

// newDisplay draws bars where standard error is a terminal, and writes plain
// lines elsewhere.
func (a *app) newDisplay(period time.Duration) display {
	f, ok := a.stderr.(*os.File)
	return display{progress.New(a.stderr, ok && progress.IsTerminal(f), period)}
}

// terminal returns the terminal on which the user can answer a request on standard error, or nil
// if the command is not interactive.
func (a *app) terminal() io.Reader {
	if f, ok := a.stderr.(*os.File); ok && progress.IsTerminal(f) && progress.IsTerminal(os.Stdin) {
		return os.Stdin
	}
	return nil
}

// silent is a task without display: the output itself goes to the terminal.
type silent struct{}

func (silent) Add(int64)     {}
func (silent) Finish(string) {}
func (silent) Fail(string)   {}
