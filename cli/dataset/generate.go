// Package dataset has the commands that need no database: they write datasets and queries, and
// inspect data of users.
package dataset

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/workload"
)

// Commands returns the commands that need no database.
func Commands(a *app.App) []*cobra.Command {
	return []*cobra.Command{generateCommand(a), exposeCommand(a), queriesCommand(a), inspectCommand(a)}
}

func generateCommand(a *app.App) *cobra.Command {
	settings := setting.New(a.Catalog)
	var formatName, file string
	digest := false
	cmd := &cobra.Command{
		Use:   "generate [EXPERIMENT]",
		Short: "Write a dataset to a file, byte for byte as TSBS does, or in formats of other tools",
		Long: `Writes a dataset to a file, byte for byte as TSBS does, or in formats of other tools:

  parquet, arrow  a folder with a file per table
  openmetrics     text for promtool tsdb create-blocks-from openmetrics; the samples are in
                  the order of the dataset, and staleness markers are left out
  otlp            lines of JSON for the receiver otlpjsonfile of OpenTelemetry's Collector;
                  each line is also the body of a request to /v1/metrics
  remote-write    bodies of requests of remote write 1.0, compressed by Snappy, each after
                  its length as a varint

With an experiment it writes the experiment's dataset; flags override its settings.`,
		Example: `  tsmark generate --scale 100 --format influx --file cpu.lp
  tsmark generate --scale 4000 --format timescaledb --file cpu.csv.zst
  tsmark generate --use-case devops --format parquet --file devops
  tsmark generate sensors-twin.yaml --scale 100 --format parquet --file sensors
  tsmark generate --seed 0 --timestamp-end 2016-01-01T01:00:00Z | head`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.Catalog.CompleteExperiment,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := experiment.Default()
			if len(args) > 0 {
				var err error
				if e, err = a.Catalog.ReadExperiment(args[0]); err != nil {
					return err
				}
			}
			format, err := generate.Find(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			if format.Folder && standardOutput(file) {
				return fmt.Errorf("--format %s writes a folder: name it with --file", format.Name)
			}
			if err := settings.ApplyDataset(cmd, e); err != nil {
				return err
			}
			w, spec, err := checkedSpec(cmd.Context(), a, e)
			if err != nil {
				return err
			}
			if err := writeDataset(a, cmd, w, spec, format, file); err != nil || !digest {
				return e.SpecProblem(err)
			}
			return writeDigest(a, cmd, w, spec)
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Output", func(cmd *cobra.Command) {
		var names []string
		for _, f := range generate.Formats() {
			names = append(names, f.Name)
		}
		cmd.Flags().StringVar(&formatName, "format", "influx", strings.Join(names, ", "))
		cmd.Flags().BoolVar(&digest, "digest", false, setting.DigestHelp+"; it is written to standard error")
		cmd.Flags().StringVar(&file, "file", "", "output; compressed where the name ends in .gz or .zst (default standard output); parquet and arrow write a new folder with one file per table")
		flag.Complete(cmd, "format", names)
	})
	flags.Add("Dataset", func(cmd *cobra.Command) {
		settings.DatasetFlags(cmd)
		settings.SetFlag(cmd)
	})
	flags.Show()
	return cmd
}

// checkedSpec returns the workload that flags name, and the specification of its dataset, which is possible and
// fits into memory.
func checkedSpec(ctx context.Context, a *app.App, e *experiment.Experiment) (workload.Workload, workload.Spec, error) {
	spec := e.Workload
	w, err := a.Catalog.Workload(spec.Name)
	if err != nil {
		return nil, spec, fmt.Errorf("--use-case: %w", err)
	}
	if spec, err = setting.SurveySpec(ctx, a, w, spec); err != nil {
		return nil, spec, e.SpecProblem(err)
	}
	if err := w.Check(spec); err != nil {
		return nil, spec, e.SpecProblem(err)
	}
	if err := setting.CheckDatasetMemory(ctx, w, spec); err != nil {
		return nil, spec, err
	}
	setting.DrawSeed(a, &spec)
	return w, spec, nil
}

func writeDataset(a *app.App, cmd *cobra.Command, w workload.Workload, spec workload.Spec, format generate.Format, file string) error {
	dataset, err := w.Dataset(spec)
	if err != nil {
		return err
	}
	out, err := format.Create(file, dataset.Schema())
	if err != nil {
		return err
	}
	defer out.Discard()
	display := a.NewDisplay(app.DefaultPeriod)
	defer display.Close()
	var task record.Task = silent{}
	if !standardOutput(file) {
		task = display.Start("generate "+file, "rows", w.Describe(spec).RowsAtMost)
	}
	err = out.Write(cmd.Context(), dataset.Open(), func(rows int) { task.Add(int64(rows)) })
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		task.Fail("not written")
		if cmd.Context().Err() != nil {
			return cmd.Context().Err()
		}
		return err
	}
	task.Finish("")
	return nil
}

// writeDigest writes the content digest of a dataset to standard error.
func writeDigest(a *app.App, cmd *cobra.Command, w workload.Workload, spec workload.Spec) error {
	dataset, err := w.Dataset(spec)
	if err != nil {
		return err
	}
	digest, err := generate.DigestOf(cmd.Context(), dataset, func(int) {})
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "digest", digest)
	return nil
}

// standardOutput reports whether --file means standard output.
func standardOutput(file string) bool { return file == "" || file == "-" }

// silent is a task without display: the output itself goes to the terminal.
type silent struct{}

func (silent) Add(int64)     {}
func (silent) Finish(string) {}
func (silent) Fail(string)   {}
