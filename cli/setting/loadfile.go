package setting

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/owndata"
)

// FileFlags adds the flags for rows that come from a file. They follow
// datasetFlags, which describe the contents of the file.
func (s *Flags) FileFlags(cmd *cobra.Command) {
	f, l := cmd.Flags(), &s.flags.Load
	f.StringVar(&l.File, "file", "", "load this `file`, also .gz, .zst, .xz, .bz2 or .zip: as the dataset of the flags that generated it, in influx or timescaledb format (- is standard input), or as rows of your own, in any format of tsmark inspect")
	f.Var(flag.Count(&l.SkipBadLines, 0), "skip-bad-lines", "malformed rows that may be skipped in the file of a generated dataset")
	s.means("file", "load.file")
	s.means("skip-bad-lines", "load.skip-bad-lines")
}

// loadOwnFile makes the workload own from the rows of --file, unless flags name their
// generator.
func (s *Flags) loadOwnFile(cmd *cobra.Command, e *experiment.Experiment) error {
	f := cmd.Flags()
	if !f.Changed("file") {
		return nil
	}
	generated := f.Changed("use-case") && e.Workload.Name != owndata.Name
	var generating cobra.Command
	SpecFlags(s.catalog, &generating, new(workload.Spec))
	generating.Flags().VisitAll(func(flag *pflag.Flag) {
		generated = generated || f.Changed(flag.Name) && flag.Name != "use-case" && flag.Name != owndata.Name
	})
	const files = owndata.Name + ".files"
	switch {
	case generated:
		return nil
	case e.Load.File == "-":
		return errors.New("--file: rows of your own are read more than once, which standard input cannot be; save them to a file, or give the flags that generated them (--use-case, --scale …)")
	case e.Load.SkipBadLines > 0:
		return errors.New("--skip-bad-lines: is for the file of a generated dataset; give the flags that generated it (--use-case, --scale …), or correct the lines")
	case e.Workload.Settings[files] != "":
		return errors.New("--file: and --own files both name files; leave one of them out")
	}
	settings := e.Workload.Settings
	e.Workload = experiment.Default().Workload
	e.Workload.Name, e.Workload.Settings = owndata.Name, settings
	e.Workload.Settings.Set(files, owndata.QuoteFile(e.Load.File))
	e.FromFlag("workload."+files, "--file")
	e.Load.File = ""
	return nil
}
