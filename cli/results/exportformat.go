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

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/exchange"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// The formats of tsmark export.
const (
	formatTsmark      = "tsmark"
	formatParquet     = "parquet"
	formatOpenMetrics = "openmetrics"
	formatOtava       = "otava"
	formatNyrkio      = "nyrkio"
)

func exportFormats() []string {
	return []string{formatTsmark, formatParquet, formatOpenMetrics, formatOtava, formatNyrkio}
}

// exportAs writes runs in a format of other programs.
func exportAs(ctx context.Context, a *app.App, kept *store.Store, format string, references []string, file string) error {
	switch format {
	case formatParquet:
		return exportParquet(ctx, a, kept, references, file)
	case formatOpenMetrics:
		runs, err := finishedRuns(ctx, kept, references)
		if err != nil {
			return err
		}
		return writeExport(a, file, runs[0].ID+".openmetrics", func(w io.Writer) error { return exchange.OpenMetrics(w, runs, report.StoreFigures) })
	case formatOtava, formatNyrkio:
		t, err := readTrend(ctx, kept, references, math.MaxInt32)
		if err != nil {
			return err
		}
		for _, l := range t.LeftOut {
			fmt.Fprintf(a.Stderr, "tsmark: left out, %s: %s\n", l.Why, strings.Join(l.Runs, ", "))
		}
		newest := t.Runs[len(t.Runs)-1].ID
		if format == formatNyrkio {
			return writeExport(a, file, newest+".json", func(w io.Writer) error { return exchange.Nyrkio(w, t) })
		}
		if file == "" {
			file = newest + ".csv"
		}
		err = writeExport(a, file, "", func(w io.Writer) error {
			missing, err := exchange.Otava(w, t)
			if len(missing) > 0 {
				fmt.Fprintf(a.Stderr, "tsmark: left out, since some runs lack them, which Otava refuses: %s\n", strings.Join(missing, ", "))
			}
			return err
		})
		if err != nil || file == "-" {
			return err
		}
		return writeExport(a, strings.TrimSuffix(file, filepath.Ext(file))+".yaml", "", func(w io.Writer) error { return exchange.OtavaConfig(w, t, file) })
	}
	return fmt.Errorf("--format: there is no export format %q%s", format, suggest.Names(format, exportFormats()))
}

// finishedRuns reads the runs of references, each once.
func finishedRuns(ctx context.Context, kept *store.Store, references []string) ([]*result.Run, error) {
	var runs []*result.Run
	seen := make(map[string]bool)
	for _, reference := range references {
		found, err := kept.Find(ctx, reference)
		if err != nil {
			return nil, err
		}
		for _, id := range found.Runs {
			if seen[id] {
				continue
			}
			seen[id] = true
			run, err := kept.Run(ctx, id)
			if err != nil {
				return nil, err
			}
			if run.Status == result.Running {
				return nil, fmt.Errorf("run %s has not finished; its figures are known at its end", id)
			}
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("%s has no runs yet", strings.Join(references, ", "))
	}
	return runs, nil
}

// exportParquet writes the figures and the operations of runs into a folder.
func exportParquet(ctx context.Context, a *app.App, kept *store.Store, references []string, folder string) error {
	if folder == "-" {
		return errors.New("--format parquet writes a folder with two files, and none to standard output: name it with --output")
	}
	runs, err := finishedRuns(ctx, kept, references)
	if err != nil {
		return err
	}
	logs, err := exports(ctx, a, kept, references)
	if err != nil {
		return err
	}
	if folder == "" {
		folder = runs[0].ID + "-parquet"
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("making the folder of the export: %w", err)
	}
	if err := writeExport(a, filepath.Join(folder, "figures.parquet"), "", report.New(runs...).WriteParquet); err != nil {
		_ = os.Remove(folder) // unless something is in it
		return err
	}
	return writeExport(a, filepath.Join(folder, "operations.parquet"), "", func(w io.Writer) error { return exchange.Operations(w, logs) })
}

// writeExport writes a file, by default of the given name, or to standard output, and says where it is.
func writeExport(a *app.App, file, byDefault string, do func(io.Writer) error) error {
	if file == "-" {
		return do(a.Stdout)
	}
	if file == "" {
		file = byDefault
	}
	out, err := outfile.Create(file)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := do(out); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, file)
	return err
}
