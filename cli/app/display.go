package app

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/run/record"
)

// DefaultPeriod is the interval of plain progress lines.
const DefaultPeriod = 10 * time.Second

// Display shows a run's progress on standard error.
type Display struct{ *progress.Display }

// Start implements record.Display.
func (d Display) Start(label, unit string, total int64) record.Task {
	return d.Display.Start(label, unit, total)
}

// Overall implements record.Display.
func (d Display) Overall(o record.Overall) { d.Display.Overall(progress.Overall(o)) }

// Waiting writes a line about a long wait to standard error.
func (a *App) Waiting(doing string) (end func()) {
	fmt.Fprintf(a.Stderr, "%s …\n", printable.Line(doing))
	return func() {}
}

// NewDisplay draws bars where standard error is a terminal, and writes plain
// lines elsewhere.
func (a *App) NewDisplay(period time.Duration) Display {
	f, ok := a.Stderr.(*os.File)
	return Display{progress.New(a.Stderr, ok && progress.IsTerminal(f), period)}
}

// Terminal returns the terminal on which the user can answer a request on standard error, or nil
// if the command is not interactive.
func (a *App) Terminal() io.Reader {
	if f, ok := a.Stderr.(*os.File); ok && progress.IsTerminal(f) && progress.IsTerminal(os.Stdin) {
		return os.Stdin
	}
	return nil
}
