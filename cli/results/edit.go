package results

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

func renameCommand(a *app.App) *cobra.Command {
	return editCommand(a, "rename RUN NAME", "Give a run another name", "  tsmark runs rename latest before-upgrade",
		func(r *result.Run, text string) { r.Name = text })
}

func noteCommand(a *app.App) *cobra.Command {
	return editCommand(a, "note RUN TEXT", "Add a note to a run, which its report shows", "  tsmark runs note latest 'kernel 6.8, turbo off'",
		func(r *result.Run, text string) { r.Comments = append(r.Comments, text) })
}

// editCommand is a command that changes texts about a run.
func editCommand(a *app.App, use, short, example string, edit func(r *result.Run, text string)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Long: short + ". RUN is an id as tsmark runs lists them,\nthe beginning or the end of one, or latest. The figures stay as they are.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || args[1] == "" {
				return fmt.Errorf("want %s; quote a text with spaces", cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: a.CompleteRuns(app.RunFilter{}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			kept, err := a.ExistingResults(ctx)
			if err != nil {
				return err
			}
			defer kept.Close() // each change is on disk when it was saved
			run, _, err := kept.Document(ctx, args[0])
			if err != nil {
				return err
			}
			unlock, err := kept.Lock(ctx, run.ID)
			if err != nil {
				return err
			}
			defer unlock()
			if run, _, err = kept.Document(ctx, run.ID); err != nil { // another process may have saved it before the lock
				return err
			}
			edit(run, args[1])
			return kept.Save(ctx, run)
		},
	}
}

func removeCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "rm RUN…", Short: "Remove runs or sweeps, with their pages and embedded databases",
		Long: `Removes runs or sweeps from the results, and the folders that tsmark made for them:
pages, operation logs and embedded databases. Data on servers stays there: tsmark drop
removes it. RUN is an id as tsmark runs lists them, the beginning or the end of one, or
latest.`,
		Example: "  tsmark runs rm 3f2a 91c0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the runs to remove; tsmark runs lists them")
			}
			return nil
		},
		ValidArgsFunction: a.CompleteRuns(app.RunFilter{Sweeps: true}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			kept, err := a.ExistingResults(ctx)
			if err != nil {
				return err
			}
			defer kept.Close()    // each change is on disk when it was saved
			var all []store.Found // before the first is removed: latest would then be another one
			for _, reference := range args {
				found, err := kept.Find(ctx, reference)
				if err != nil {
					return err
				}
				if !slices.ContainsFunc(all, func(f store.Found) bool { return f.Sweep == found.Sweep && slices.Equal(f.Runs, found.Runs) }) {
					all = append(all, found)
				}
			}
			for _, found := range all {
				if err := remove(ctx, a, kept, found); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// remove removes a run or sweep that no process is working on.
func remove(ctx context.Context, a *app.App, kept *store.Store, found store.Found) error {
	ids := found.Runs
	if found.Sweep != "" {
		ids = append(ids, found.Sweep)
	}
	for _, id := range ids {
		unlock, err := kept.Lock(ctx, id)
		if err != nil {
			return err
		}
		defer unlock()
	}
	for _, id := range ids {
		discard := kept.Discard
		if id == found.Sweep {
			discard = kept.DiscardSweep
		}
		if err := discard(ctx, id); err != nil {
			return err
		}
		folder := filepath.Join(a.Folder(), id)
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			folder = "no folder here"
		} else if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("run %s is removed, but not its folder: %w", id, err)
		}
		fmt.Fprintf(a.Stdout, "removed %s (%s)\n", id, folder)
	}
	return nil
}
