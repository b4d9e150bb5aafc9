package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/internal/infile"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/run/analysis"
	"github.com/tsmark/tsmark/run/store"
)

func analyzeCommand(a *app.App) *cobra.Command {
	asJSON, period := false, 10*time.Second
	cmd := &cobra.Command{
		Use:   "analyze [RUN | FILE.oplog]",
		Short: "Recompute the figures of a run from its operation log",
		Long: `Reads the operation log of a run, or another such file, and recomputes the figures of
each load and of each query type in each repeat. A truncated log is read up to its last
complete record.

RUN is an id as tsmark runs lists them, the beginning or the end of one, or
latest, which is the default.`,
		Example: `  tsmark analyze
  tsmark analyze 3f2a --json
  tsmark analyze both.oplog`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("tsmark analyze takes one run or file, but was given %d; tsmark merge makes one of several files", len(args))
			}
			return nil
		},
		ValidArgsFunction: a.CompleteRuns(app.RunFilter{Most: 1, Files: true}),
		RunE: func(cmd *cobra.Command, args []string) error {
			reference := store.Latest
			if len(args) == 1 {
				reference = args[0]
			}
			names := []string{reference}
			if !strings.HasSuffix(reference, logSuffix) {
				var err error
				if names, err = logsOf(a, cmd, reference); err != nil {
					return err
				}
			}
			for _, name := range names {
				if err := analyze(a, name, period, asJSON); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all figures as JSON")
	cmd.Flags().Var((*flag.Duration)(&period), "reporting-period", "between two records of the rate of a load")
	return cmd
}

// logSuffix ends the names of operation logs.
const logSuffix = ".oplog"

// logsOf finds the logs of a run; one that was resumed has several.
func logsOf(a *app.App, cmd *cobra.Command, reference string) ([]string, error) {
	kept, err := a.ExistingResults(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer kept.Close() // reading only
	run, err := kept.Run(cmd.Context(), reference)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(a.Folder(), run.ID, "*"+logSuffix))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("run %s has no operation log in %s%s", run.ID, filepath.Join(a.Folder(), run.ID), a.FileHint())
	}
	return names, err
}

func analyze(a *app.App, name string, period time.Duration, asJSON bool) error {
	log, file, err := openLog(name)
	if err != nil {
		return err
	}
	defer file.Close() // reading only
	found, err := analysis.Log(log, period)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if asJSON {
		out := json.NewEncoder(a.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(found)
	}
	return report.WriteAnalysis(a.Stdout, found, a.TextOptions())
}

func openLog(name string) (*oplog.Reader, *os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, infile.Cannot("read the operation log", name, err)
	}
	log, err := oplog.NewReader(file)
	if err != nil {
		file.Close()
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			return nil, nil, infile.Cannot("read the operation log", name, err)
		}
		return nil, nil, fmt.Errorf("%s: %w; give one that a run left beside its page (operations.oplog), or copy it again", name, err)
	}
	return log, file, nil
}

func mergeCommand(a *app.App) *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "merge --output FILE FILE.oplog…",
		Short: "Merge operation logs",
		Long: `Merges the operation logs of a run and its resumptions, or of runs that belong
together, such as runs on several machines that query one server. The clocks of the
machines align the times. Measurements of the same target, type and repeat become one.`,
		Example: `  tsmark merge --output both.oplog first.oplog second.oplog
  tsmark analyze both.oplog`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("tsmark merge needs the operation logs to merge, as in tsmark merge --output both.oplog a.oplog b.oplog")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{strings.TrimPrefix(logSuffix, ".")}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return errors.New("--output is missing: name the file to write, as in --output both.oplog")
			}
			var logs []*oplog.Reader
			for _, name := range args {
				log, file, err := openLog(name)
				if err != nil {
					return err
				}
				defer file.Close() // reading only
				logs = append(logs, log)
			}
			out, err := outfile.Create(output)
			if err != nil {
				return err
			}
			defer out.Discard()
			merged, err := oplog.Merge(out, logs...)
			if err != nil {
				return fmt.Errorf("merging operation logs: %w", err)
			}
			for i, why := range merged.Truncated {
				fmt.Fprintf(a.Stderr, "tsmark: %s is truncated; its complete records were merged: %v\n", args[i], why)
			}
			return out.Commit()
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "`file` to write")
	return cmd
}
