package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/report/write"
)

// output is how a run is reported.
type output struct {
	format string // of write.Formats
	file   string // empty: standard output
	quiet  bool   // no progress, and only the answer as text
	brief  bool   // only the answer as text, if the run is complete with all figures
}

// outputFlags adds the flags for the report of a run.
func (s *Executor) outputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.output.format, "format", s.output.format, "of the report: "+strings.Join(write.Formats(), ", ")+"; without it the name of --output decides")
	f.StringVar(&s.output.file, "output", "", "`file` of the report (default standard output)")
	f.BoolVar(&s.output.quiet, "quiet", false, "show no progress, and only the answer of the report")
	flag.Complete(cmd, "format", write.Formats())
}

// check completes the output as given, before anything runs.
func (o *output) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("format") {
		o.format = write.FormatOf(o.file, o.format)
	}
	if _, err := write.ParseFormat(o.format); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	if o.file == "-" {
		o.file = ""
	}
	if o.file == "" && write.Format(o.format) == write.PNG {
		return errors.New("--format png needs --output: a picture cannot be shown on a terminal")
	}
	return nil
}
