package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// fileFlags adds the flags for rows that come from a file. They follow
// datasetFlags, which say what the file holds.
func (s *settings) fileFlags(cmd *cobra.Command) {
	f, l := cmd.Flags(), &s.flags.Load
	f.StringVar(&l.File, "file", "", "load this `file` of TSBS's influx or timescaledb format, also .gz or .zst; - is standard input")
	f.Var(count(&l.SkipBadLines, 0), "skip-bad-lines", "malformed rows of --file that may be skipped")
	s.means("file", "load.file")
	s.means("skip-bad-lines", "load.skip-bad-lines")
}

// unknownFile makes the workload unknown where a file was given and none of
// the flags that say what generated it.
func (s *settings) unknownFile(cmd *cobra.Command, e *experiment.Experiment) {
	if !cmd.Flags().Changed("file") {
		return
	}
	specified := false
	var generating cobra.Command
	s.app.specFlags(&generating, new(workload.Spec))
	generating.Flags().VisitAll(func(f *pflag.Flag) { specified = specified || cmd.Flags().Changed(f.Name) })
	if !specified {
		e.Workload = workload.Spec{Name: experiment.UnknownWorkload}
	}
}
