package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// completionTime is the maximum time that a shell waits for the list of runs, which may be in a
// remote database.
const completionTime = 2 * time.Second

// RunFilter describes the results that a command accepts.
type RunFilter struct {
	Most       int  // arguments; 0: any number
	Sweeps     bool // the ids of sweeps, too
	Unfinished bool // only results that resume can continue
	Files      bool // or a file
}

// CompleteRuns offers the ids of runs as arguments, newest first.
func (a *App) CompleteRuns(w RunFilter) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if w.Most > 0 && len(args) >= w.Most {
			return nil, flag.NoFiles
		}
		list := slices.DeleteFunc(a.runIDs(cmd.Context(), w), func(c cobra.Completion) bool {
			id, _, _ := strings.Cut(c, "\t")
			return slices.Contains(args, id)
		})
		directive := flag.NoFiles
		if w.Files {
			directive = cobra.ShellCompDirectiveDefault
		}
		return list, directive | cobra.ShellCompDirectiveKeepOrder
	}
}

// CompleteSide offers RUN[,RUN…][:TARGET], as tsmark compare takes it.
func (a *App) CompleteSide(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, flag.NoFiles
	}
	runs, _, named := strings.Cut(word, ":")
	if !named {
		return flag.AfterComma(word, a.runIDs(cmd.Context(), RunFilter{})), flag.NoSpace | cobra.ShellCompDirectiveKeepOrder
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	kept, err := a.ExistingResults(ctx)
	if err != nil {
		return nil, flag.NoFiles
	}
	defer kept.Close() // reading only
	first, _, _ := strings.Cut(runs, ",")
	run, err := kept.Run(ctx, first)
	if err != nil {
		return nil, flag.NoFiles
	}
	var list []cobra.Completion
	for _, t := range run.Targets {
		list = append(list, runs+":"+printable.Line(t.Name))
	}
	return list, flag.NoFiles
}

// runIDs lists runs with a description of each. If the results cannot be read, the list is empty:
// the command will report the error.
func (a *App) runIDs(ctx context.Context, w RunFilter) []cobra.Completion {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	kept, err := a.ExistingResults(ctx)
	if err != nil {
		return nil
	}
	defer kept.Close() // reading only
	runs, err := kept.Runs(ctx)
	if err != nil {
		return nil
	}
	var list []cobra.Completion
	for _, r := range runs {
		if w.Unfinished && (r.Status == result.Complete || r.Imported) {
			continue
		}
		about := fmt.Sprintf("%s of %s, %s: %s, %s", r.Command, r.Started.UTC().Format("2006-01-02 15:04"), r.Workload, strings.Join(r.TargetNames(), ", "), r.Status)
		list = append(list, cobra.CompletionWithDesc(r.ID, printable.Line(about)))
	}
	if sweeps, err := kept.Sweeps(ctx); err == nil && w.Sweeps {
		for _, s := range sweeps {
			list = append(list, cobra.CompletionWithDesc(s.ID, fmt.Sprintf("sweep of %s, %d runs", s.Started.UTC().Format("2006-01-02 15:04"), s.Points)))
		}
	}
	if len(list) > 0 && !w.Unfinished {
		list = append(list, cobra.CompletionWithDesc(store.Latest, "the newest one"))
	}
	return list
}
