package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/runner"
	"github.com/tsmark/tsmark/workload"
)

func (a *app) generateCommand() *cobra.Command {
	spec := experiment.Default().Workload
	var formatName, file string
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write a dataset to a file, byte for byte as TSBS does",
		Example: `  tsmark generate --scale 100 --format influx --file cpu.lp
  tsmark generate --scale 4000 --format timescaledb --file cpu.csv.zst
  tsmark generate --seed 0 --timestamp-end 2016-01-01T01:00:00Z | head`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			format, err := encode.Find(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			w, err := a.catalog.workload(spec.Name)
			if err != nil {
				return fmt.Errorf("--use-case: %w", err)
			}
			if err := w.Check(spec); err != nil {
				return err
			}
			if err := fits(cmd.Context(), w, spec); err != nil {
				return err
			}
			a.drawSeed(&spec)
			return a.generate(cmd, w, spec, format, file)
		},
	}
	a.specFlags(cmd, &spec)
	var names []string
	for _, f := range encode.Formats() {
		names = append(names, f.Name)
	}
	cmd.Flags().StringVar(&formatName, "format", "influx", strings.Join(names, ", "))
	cmd.Flags().StringVar(&file, "file", "", "output; compressed where the name ends in .gz or .zst (default standard output)")
	complete(cmd, "format", names)
	return cmd
}

func (a *app) generate(cmd *cobra.Command, w workload.Workload, spec workload.Spec, format encode.Format, file string) error {
	dataset, err := w.Dataset(spec)
	if err != nil {
		return err
	}
	encoder, err := format.New(dataset.Schema())
	if err != nil {
		return fmt.Errorf("--format %s cannot hold %s: %w", format.Name, spec.Name, err)
	}
	out, err := outfile.Create(file)
	if err != nil {
		return err
	}
	defer out.Discard()
	display := a.newDisplay(defaultPeriod)
	defer display.Close()
	var task runner.Task = silent{}
	if file != "" && file != "-" {
		task = display.Start("generate "+file, "rows", spec.RowsAtMost(len(dataset.Schema().Tables)))
	}
	err = generate.Write(cmd.Context(), out, dataset.Open(), encoder, func(rows int) { task.Add(int64(rows)) })
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
	task.Done("")
	return nil
}
