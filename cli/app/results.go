package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/term"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/progress"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/run/store"
)

// DefaultResults is the default folder of runs, and of the files of runs that a
// database keeps.
const DefaultResults = "tsmark-results"

// OpenResults opens the results to add runs to them.
func (a *App) OpenResults(ctx context.Context) (*store.Store, error) {
	store.RemoveLeftovers(a.Folder())
	return store.Open(ctx, a.Results, report.StoreFigures)
}

// ExistingResults opens results that are there.
func (a *App) ExistingResults(ctx context.Context) (*store.Store, error) {
	return store.OpenExisting(ctx, a.Results, report.StoreFigures)
}

// Folder is the folder for the files of runs: operation logs, pages, embedded
// databases. They stay on the machine that made them, even if the runs are in a
// database.
func (a *App) Folder() string {
	if store.Database(a.Results) {
		return cmp.Or(a.Files, DefaultResults)
	}
	return a.Results
}

// FileHint says where a missing file may be.
func (a *App) FileHint() string {
	if store.Database(a.Results) {
		return "; the files of a run are on the machine that executed it"
	}
	return ""
}

// PageName is the run's page in its folder.
const PageName = "report.html"

// TextOptions fit the terminal: its width, and colours unless NO_COLOR is set.
// Elsewhere COLUMNS may say the width.
func (a *App) TextOptions() write.Options {
	options := write.Options{Verbose: a.Verbose}
	options.Width, _ = strconv.Atoi(os.Getenv("COLUMNS")) // any other value is ignored
	if f, ok := a.Stdout.(*os.File); ok && progress.IsTerminal(f) {
		options.Color = os.Getenv("NO_COLOR") == ""
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			options.Width = width
		}
	}
	return options
}

// HelpWidth is the width of help texts: the terminal's, within reason.
func (a *App) HelpWidth() int { return min(max(cmp.Or(a.TextOptions().Width, 100), 60), 120) }

// WriteReport writes a report to a file, which appears once it is whole.
func WriteReport(name string, write func(io.Writer) error) error {
	out, err := outfile.Create(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := write(out); err != nil {
		return err
	}
	return out.Commit()
}

// WriteText writes a text to a file, or to standard output.
func (a *App) WriteText(name, text string) error {
	if name == "" || name == "-" {
		_, err := io.WriteString(a.Stdout, text)
		return err
	}
	return WriteReport(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WritePage writes the page of a run or sweep into its folder.
func (a *App) WritePage(id string, write func(io.Writer) error) (page string, err error) {
	page = filepath.Join(a.Folder(), id, PageName)
	if err := os.MkdirAll(filepath.Dir(page), 0o777); err != nil {
		return "", fmt.Errorf("making the folder of %s: %w", id, err)
	}
	return page, WriteReport(page, write)
}
