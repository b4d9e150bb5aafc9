package dataset

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/twin"
	"github.com/tsmark/tsmark/workload/twin/fit"
)

// twinFlags are the flags of tsmark inspect for the twin of files.
type twinFlags struct {
	file      string
	keepNames bool
}

func (t *twinFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.file, "twin", "", "write an experiment with a twin of the data to this `file`, and compare their statistics")
	cmd.Flags().BoolVar(&t.keepNames, "keep-names", false, "keep the names of tables, tags and fields in the twin; values of tags are replaced in any case")
}

// mostTwinRows bounds the rows of a twin that are measured.
const mostTwinRows = 10_000_000

// write writes the experiment, and returns the statistics of the data and of the twin.
func (t *twinFlags) write(ctx context.Context, a *app.App, own workload.Workload, spec workload.Spec) ([]fit.Line, error) {
	d, err := own.Dataset(spec)
	if err != nil {
		return nil, inspectProblem(err)
	}
	original, err := measure(ctx, a, "measuring the data", d)
	if err != nil {
		return nil, err
	}
	made, err := original.Spec(t.keepNames)
	if err != nil {
		return nil, err
	}
	text := twinExperiment(made)
	if len(text) > experiment.MaxFile {
		return nil, fmt.Errorf("the twin takes %d bytes, and an experiment may have %d; give fewer files, or name fewer columns with --fields", len(text), experiment.MaxFile)
	}
	if d, err = twin.Workload().Dataset(made); err != nil {
		return nil, err
	}
	copied, err := measure(ctx, a, "measuring the twin", workload.LimitRows(d, mostTwinRows))
	if err != nil {
		return nil, err
	}
	return fit.Compare(original, copied), outfile.WriteBytes(t.file, []byte(text))
}

// measure measures a dataset, and shows its progress.
func measure(ctx context.Context, a *app.App, what string, d workload.Dataset) (*fit.Statistics, error) {
	shown := a.NewDisplay(app.DefaultPeriod)
	defer shown.Close()
	task := shown.Start(what, "rows", 0)
	defer task.Fail("") // the figures are on standard output
	return fit.Measure(ctx, d, func(rows int) { task.Add(int64(rows)) })
}

// twinExperiment returns the experiment with the dataset of a twin as YAML.
func twinExperiment(s workload.Spec) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# A twin: rows with the statistics of data that this file does not contain.
#   tsmark run FILE --target sqlite --scale 10   # ten times as many series
name: twin
workload:
  name: %s
  seed: %d
  scale: %d # times the series of the original
  timestamp-start: %s
  timestamp-end: %s
  log-interval: %s # the model's intervals are multiples of it
  twin:
    model: |
`, s.Name, s.Seed, s.Scale, s.Start.Format(time.RFC3339Nano), s.End.Format(time.RFC3339Nano), experiment.DurationText(s.Interval))
	for line := range strings.Lines(s.Settings[twin.ModelKey]) {
		text.WriteString("      " + line)
	}
	text.WriteString("queries:\n  types: [core]\n")
	return text.String()
}
