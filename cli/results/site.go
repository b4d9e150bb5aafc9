package results

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/monitor/buildinfo"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/site"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

func siteCommand(a *app.App) *cobra.Command {
	limit := humanize.IBytes(store.DefaultLimit)
	output, opts := "tsmark-site", site.Options{Tool: buildinfo.Tool(), Levels: func(name string) []driver.Profile {
		d, _ := a.Catalog.Driver(name) // one that is not known has no levels
		return d.Durabilities
	}}
	cmd := &cobra.Command{
		Use:   "site [FOLDER…]",
		Short: "Make a static site of runs: systems and versions by query types and loads",
		Long: `Makes a static site of the runs of each FOLDER: of its files NAME.tsmark, NAME.tsmark.zst
and NAME.tsmark.gz, as tsmark export writes them, or of a results folder. A FOLDER may
also be one such file, or the URL of results in PostgreSQL. Without one it is the folder
of --results.

Rows are systems and versions, columns are loads and query types. Filters choose a
workload, a size, a machine and a level of durability: only runs that have all of these in
common are compared. Each cell links to the page of its run, to its experiment and to
its verification. Figures of disturbed or unverified runs are marked.

The site needs no server: it works from a folder and from any web server. Paths of this
machine and secrets are not in it. A folder that tsmark site made is replaced once the
new one is complete; any other existing folder is refused.`,
		Example: `  tsmark site
  tsmark site exports --output public --title 'Our databases'
  tsmark site exports /srv/tsmark-results --note 'One shared machine with two cores'`,
		RunE: func(cmd *cobra.Command, folders []string) error {
			most, err := bytesOf("--max-size", limit)
			if err != nil {
				return err
			}
			out, err := outfile.ReplaceFolder(output, site.Replaceable)
			if err != nil {
				return err
			}
			defer out.Discard()
			made := site.New(out, opts)
			if len(folders) == 0 {
				err = eachStored(cmd.Context(), a.Results, made.Add)
			}
			if err != nil {
				return err
			}
			for _, name := range folders {
				if err := eachRun(cmd.Context(), name, most, made.Add); err != nil {
					return err
				}
			}
			if made.Runs() == 0 {
				return errors.New("there are no runs yet; run tsmark run first, or name another folder")
			}
			if err := made.Finish(); err != nil {
				return err
			}
			if err := out.Commit(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s: %s in %s; open %s\n", output, english.Plural(made.Runs(), "run", ""), english.Plural(made.Groups(), "table", ""), filepath.Join(output, "index.html"))
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "`folder` to make")
	cmd.Flags().StringVar(&opts.Title, "title", "Results", "`text` above the tables")
	cmd.Flags().StringVar(&opts.Note, "note", "", "`text` that readers see first, such as whose machine it was")
	cmd.Flags().StringVar(&limit, "max-size", limit, "`bytes` of a file that are read, decompressed, and memory that its content may need")
	return cmd
}

// exported matches the names of files that a folder of exported runs is read for.
var exported = regexp.MustCompile(`\.tsmark(\.zst|\.gz)?$`)

// eachRun calls do with each run of a folder of exported runs, of a results folder or
// database, or of an exported file, as it is recorded.
func eachRun(ctx context.Context, name string, limit int64, do func(*result.Run) error) error {
	if store.Database(name) {
		return eachStored(ctx, name, do)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return infile.Unreadable(name, err)
	case !info.IsDir():
		return eachExported(ctx, name, limit, do)
	}
	if _, err := os.Stat(filepath.Join(name, store.FileName)); err == nil {
		return eachStored(ctx, name, do)
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return infile.Unreadable(name, err)
	}
	files := 0
	for _, e := range entries {
		if !exported.MatchString(e.Name()) {
			continue
		}
		files++
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := eachExported(ctx, filepath.Join(name, e.Name()), limit, do); err != nil {
			return err
		}
	}
	if files == 0 {
		return fmt.Errorf("%s holds no runs: neither files NAME.tsmark, as tsmark export writes them, nor results; name another folder", name)
	}
	return nil
}

// eachExported is eachRun for a file.
func eachExported(ctx context.Context, name string, limit int64, do func(*result.Run) error) error {
	entries, err := readExports(ctx, name, limit)
	if err != nil {
		return infile.Unreadable(name, err)
	}
	for i := range entries {
		if err := markImported(&entries[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := do(entries[i].Run); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// eachStored is eachRun for results.
func eachStored(ctx context.Context, name string, do func(*result.Run) error) error {
	kept, err := store.OpenExisting(ctx, name, report.StoreFigures)
	if err != nil {
		return err
	}
	defer kept.Close() // reading only
	runs, err := kept.Runs(ctx)
	if err != nil {
		return err
	}
	for i := range runs {
		run, _, err := kept.Document(ctx, runs[i].ID)
		if err != nil {
			return err
		}
		if err := do(run); err != nil {
			return err
		}
	}
	return nil
}
