package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/store"
)

func exportCommand(a *app.App) *cobra.Command {
	file, format := "", formatTsmark
	cmd := &cobra.Command{
		Use:   "export [RUN…]",
		Short: "Write runs to a file, for another results folder or for other programs",
		Long: `Writes runs and their operation logs to one file that tsmark import reads. It is an
SQLite file with the tables and views of a results folder, compressed if its name ends
in .zst or .gz. Databases and secrets are not in it.

A RUN is an id as tsmark runs lists them, the beginning or the end of one, or
latest, which is the default. A sweep stands for all its runs.

Other formats are for other programs, and tsmark import does not read them:
  parquet      a folder with figures.parquet (the columns of tsmark report --format csv)
               and operations.parquet (every batch and query)
  openmetrics  figures with the time of the run's end, as promtool tsdb
               create-blocks-from openmetrics takes them
  otava        for Apache Otava: CSV, and beside it the YAML of its configuration, with all
               runs of RUN:TARGET's experiment, as tsmark compare --history selects them
  nyrkio       the same runs, as JSON for Nyrkiö`,
		Example: `  tsmark export
  tsmark export 3f2a 91c0 --output both.tsmark
  tsmark export 3f2a -o - | ssh elsewhere tsmark import -
  tsmark export --format parquet
  tsmark export --format otava latest:questdb -o nightly.csv`,
		ValidArgsFunction: a.CompleteRuns(app.RunFilter{Sweeps: true}),
		RunE: func(cmd *cobra.Command, references []string) error {
			kept, err := a.ExistingResults(cmd.Context())
			if err != nil {
				return err
			}
			defer kept.Close() // reading only
			if len(references) == 0 {
				references = []string{store.Latest}
			}
			if format != formatTsmark {
				return exportAs(cmd.Context(), a, kept, format, references, file)
			}
			runs, err := exports(cmd.Context(), a, kept, references)
			if err != nil {
				return err
			}
			switch {
			case file == "" && len(runs) > 1:
				return errors.New("several runs need a name for their file: give one with --output")
			case file == "":
				file = runs[0].Run.ID + store.ExportSuffix
			}
			return writeExport(a, file, "", func(w io.Writer) error { return store.WriteExports(cmd.Context(), w, report.StoreFigures, runs) })
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "`file` to write, - for standard output (default RUN.tsmark, or with the suffix of the format)")
	cmd.Flags().StringVar(&format, "format", format, strings.Join(exportFormats(), ", "))
	flag.Complete(cmd, "format", exportFormats())
	return cmd
}

// exports reads runs, each once, with their operation logs.
func exports(ctx context.Context, a *app.App, kept *store.Store, references []string) ([]store.Export, error) {
	var runs []store.Export
	seen := make(map[string]bool)
	var ids []string
	for _, reference := range references {
		found, err := kept.Find(ctx, reference)
		if err != nil {
			return nil, err
		}
		if len(found.Runs) == 0 {
			return nil, fmt.Errorf("sweep %s has no runs yet", found.Sweep)
		}
		ids = append(ids, found.Runs...)
	}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		run, document, err := kept.Document(ctx, id)
		if err != nil {
			return nil, err
		}
		logs, tooLarge, err := store.ReadLogs(filepath.Join(a.Folder(), run.ID))
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run.ID, err)
		}
		for _, name := range tooLarge {
			fmt.Fprintf(a.Stderr, "tsmark: %s is too large for an export and stays here\n", name)
		}
		runs = append(runs, store.Export{Run: run, Document: document, Logs: logs})
	}
	return runs, nil
}

func importCommand(a *app.App) *cobra.Command {
	limit := humanize.IBytes(store.DefaultLimit)
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Add runs that tsmark export wrote to the results folder",
		Long: `Adds the runs of files that tsmark export wrote to the results folder, with their ids.
An identical run that is already there is skipped; a different run with the same id is
refused. - is standard input.

tsmark recomputes the figures of each run from the operation log in the file, and refuses
a run whose figures differ. For a run without a log, reports say that its figures were not
checked.

An imported run was configured by somebody else. It is listed as imported, tsmark
resume does not continue it, and tsmark rerun shows its commands and waits for
confirmation.

A file may be compressed by zstd or gzip. At most --max-size of each file is read.`,
		Example: `  tsmark import 20260131-154500-3f2a.tsmark
  tsmark import *.tsmark --results /srv/tsmark-results`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("tsmark import takes files that tsmark export wrote; name one")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"tsmark", "zst", "gz"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, names []string) error {
			var runs []store.Export
			most, err := bytesOf("--max-size", limit)
			if err != nil {
				return err
			}
			for _, name := range names { // before anything is written
				read, err := readExports(cmd.Context(), name, most)
				if err != nil {
					return infile.Cannot("import", name, err)
				}
				for i := range read {
					if err := markImported(&read[i]); err != nil {
						return fmt.Errorf("cannot import %s: %w", name, err)
					}
				}
				runs = append(runs, read...)
			}
			kept, err := a.OpenResults(cmd.Context())
			if err != nil {
				return err
			}
			defer kept.Close() // each run is on disk when it was added
			present := make([]bool, len(runs))
			for i := range runs {
				if present[i], err = isPresent(cmd.Context(), kept, &runs[i]); err != nil {
					return err
				}
			}
			for i := range runs {
				if err := add(cmd.Context(), a, kept, &runs[i], present[i]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&limit, "max-size", limit, "`bytes` of a file that are read, decompressed, and memory that its content may need")
	return cmd
}

// bytesOf parses a flag's size in bytes.
func bytesOf(flag, text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return 0, fmt.Errorf("%s: %q is not a size; write one like 1GiB", flag, text)
	}
	return int64(n), nil
}

func readExports(ctx context.Context, name string, limit int64) ([]store.Export, error) {
	var in io.ReadCloser = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() // reading only
		in = f
	}
	return store.ReadExports(ctx, in, limit)
}

// markImported marks a run of a file as imported, whatever the file says, and compares its
// figures with those of its operation logs. Another figure is an error.
func markImported(e *store.Export) (err error) {
	period := time.Duration(-1)
	if of, err := experiment.Parse("experiment of run "+e.Run.ID, []byte(e.Run.Experiment)); err == nil {
		period = of.Load.ReportingPeriod
	}
	var logs [][]byte
	for _, l := range e.Logs {
		logs = append(logs, l.Data)
	}
	e.Run.Imported = time.Now().UTC()
	if e.Run.Unchecked, err = analysis.Check(e.Run, logs, period); err != nil {
		return fmt.Errorf("run %s: %w", e.Run.ID, err)
	}
	return nil
}

// isPresent reports whether the results have the run already. Another one of the
// same id is an error.
func isPresent(ctx context.Context, kept *store.Store, e *store.Export) (bool, error) {
	known, err := kept.Run(ctx, e.Run.ID)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && known.ID != e.Run.ID:
		return false, nil
	case err != nil:
		return false, err
	}
	same, err := store.SameRun(known, e.Run)
	if err == nil && !same {
		err = fmt.Errorf("the results already have a different run %s; import it into another folder with --results", known.ID)
	}
	return true, err
}

// add adds a run and its operation logs, unless they are there, and renders the run's page.
func add(ctx context.Context, a *app.App, kept *store.Store, e *store.Export, present bool) error {
	for _, l := range e.Logs {
		name := filepath.Join(a.Folder(), e.Run.ID, filepath.FromSlash(l.Name))
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("making the run's folder: %w", err)
		}
		if err := outfile.WriteBytes(name, l.Data); err != nil {
			return err
		}
	}
	if present {
		_, err := fmt.Fprintf(a.Stdout, "run %s is here already\n", e.Run.ID)
		return err
	}
	// Of two files with one run the second finds it added.
	if present, err := isPresent(ctx, kept, e); err != nil || present {
		return err
	}
	if err := kept.Add(ctx, e.Run); err != nil {
		return err
	}
	run, err := e.Run.Pool()
	if err != nil {
		return err
	}
	if _, err := a.WritePage(run.ID, func(out io.Writer) error { return report.New(run).Write(out, write.HTML, write.Options{}) }); err != nil {
		return err
	}
	unchecked := ""
	if e.Run.Unchecked != "" {
		unchecked = "; figures not checked: " + e.Run.Unchecked
	}
	_, err = fmt.Fprintf(a.Stdout, "imported run %s%s\n", e.Run.ID, unchecked)
	return err
}
