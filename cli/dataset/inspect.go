package dataset

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/file/input"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/twin/fit"
)

// inspectFlags are the flags of tsmark inspect, with the settings of the workload own that
// they set.
var inspectFlags = [...]struct{ flag, setting, help string }{
	{"format", "format", "csv, influx, ndjson, parquet, arrow, timescaledb, openmetrics, victoriametrics or annotated-csv (default: detected from the first file)"},
	{"table", "table", "`name` of the table (default: from the first file's name)"},
	{"time-column", "time", "`column` of the time, or two as in date,clock (default: detected from the values)"},
	{"time-format", "time-format", "how times are written: rfc3339, s, ms, us, ns, or a `layout` such as '01/02/2006 15:04', '%m/%d/%Y %H:%M' or 'MM/dd/yyyy HH:mm' (default: detected from the values)"},
	{"time-zone", "time-zone", "`zone` of times without an offset, such as Europe/Athens (default: UTC)"},
	{"tags", "tags", "`columns` that are tags, separated by commas, or none (default: texts with few values)"},
	{"fields", "fields", "`columns` that are fields, with types, as in fare:float,tip:float (default: the other columns)"},
	{"columns", "columns", "`names` of the columns of CSV that has no header"},
	{"delimiter", "delimiter", "of CSV: one `character`, or tab (default: as the first line looks)"},
	{"decimal", "decimal", "of CSV: `character` for decimals in numbers, . or , (default: detected from the values)"},
	{"null", "null", "`text` of a missing value, beside no text"},
	{"encoding", "encoding", "`name` of the encoding of texts: utf-16, latin1, windows-1252 … (default: UTF-8, or UTF-16 by the first bytes)"},
}

// OwnSetting returns the setting of the workload own that a flag of tsmark inspect sets; empty: none.
func OwnSetting(name string) string {
	for _, f := range inspectFlags {
		if f.flag == name {
			return f.setting
		}
	}
	return ""
}

func inspectCommand(a *app.App) *cobra.Command {
	values := make([]string, len(inspectFlags))
	var copied twinFlags
	generated := experiment.Default()
	cmd := &cobra.Command{
		Use:   "inspect FILE… [--twin FILE] | inspect --workload NAME",
		Short: "Look at your own data, and print the experiment that loads it, or count a workload's rows",
		Long: `Reads files of CSV, JSON, line protocol, Parquet, Arrow, OpenMetrics, and exports of
Prometheus, VictoriaMetrics and InfluxDB, also .gz, .zst, .xz, .bz2 or .zip, and prints an experiment that loads them: which column is the time and how it is
written, which are tags and fields, and their types. Comments above it describe the
rows: series, missing values, rows out of order or repeated.

A FILE may also be a folder or a pattern. Several files are one table, unless they
have less than half of their columns in common.

With --twin it writes an experiment with a twin of the data: generated rows that have
its statistics, and none of its values. It prints both statistics, and marks the figures
that differ. The experiment's --scale multiplies series.

With --workload it generates a dataset, and prints the numbers of its series and rows:
of the workload metrics by class of values, and otherwise by table.`,
		Example: `  tsmark inspect trips.parquet > trips.yaml
  tsmark run trips.yaml --target sqlite
  tsmark inspect 'trips/*.csv.gz' --time-column pickup --tags vendor,payment
  tsmark inspect trades.csv --columns time,price,amount
  tsmark inspect sensors.csv --twin sensors-twin.yaml
  tsmark run sensors-twin.yaml --scale 100 --target sqlite
  tsmark inspect --workload metrics --scale 20`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch named := cmd.Flags().Changed("use-case"); {
			case len(args) == 0 && !named:
				return errors.New("tsmark inspect takes files; name one, as in tsmark inspect trips.csv, or a workload with --workload")
			case len(args) > 0 && named:
				return errors.New("tsmark inspect takes files or --workload, not both; leave one out")
			case copied.file == "" && copied.keepNames:
				return errors.New("--keep-names is for --twin, which names the file of the twin; add it, or leave --keep-names out")
			case copied.file != "" && named:
				return errors.New("--twin is for files; leave --workload out")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inspectWorkload(cmd, a, generated)
			}
			spec := experiment.Default().Workload
			var files []string
			for _, name := range args {
				files = append(files, owndata.QuoteFile(name))
			}
			spec.Settings.Set("own.files", strings.Join(files, ", "))
			for i, f := range inspectFlags {
				if values[i] != "" {
					spec.Settings.Set("own."+f.setting, values[i])
				}
			}
			own, err := a.Catalog.Workload(owndata.Name)
			if err != nil {
				return err
			}
			shown := a.NewDisplay(app.DefaultPeriod)
			task := shown.Start("inspecting", "rows", 0)
			found, err := owndata.Inspect(cmd.Context(), own, spec, func(rows int) { task.Add(int64(rows)) })
			task.Fail("") // the findings are on standard output
			shown.Close()
			if err != nil {
				return inspectProblem(err)
			}
			var lines []fit.Line
			if copied.file != "" {
				if lines, err = copied.write(cmd.Context(), a, own, found.Spec); err != nil {
					return err
				}
			}
			for _, note := range found.Notes {
				fmt.Fprintln(a.Stderr, "tsmark: "+printable.OneLine(note))
			}
			if lines != nil {
				return fit.Write(a.Stdout, lines)
			}
			return writeInspection(a.Stdout, found)
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Files", func(cmd *cobra.Command) {
		for i, f := range inspectFlags {
			cmd.Flags().StringVar(&values[i], f.flag, "", f.help)
		}
		flag.Complete(cmd, "format", input.Formats())
	})
	flags.Add("Twin", copied.add)
	flags.Add("Dataset of --workload", func(cmd *cobra.Command) { setting.SpecFlags(a.Catalog, cmd, &generated.Workload) })
	flags.Show()
	return cmd
}

// inspectWorkload prints the numbers of series and rows of a generated dataset.
func inspectWorkload(cmd *cobra.Command, a *app.App, e *experiment.Experiment) error {
	w, spec, err := checkedSpec(cmd.Context(), a, e)
	if err != nil {
		return err
	}
	dataset, err := w.Dataset(spec)
	if err != nil {
		return e.SpecProblem(err)
	}
	about := w.Describe(spec)
	shown := a.NewDisplay(app.DefaultPeriod)
	task := shown.Start("counting", "rows", about.RowsAtMost)
	counts, err := generate.CountRows(cmd.Context(), dataset, func(rows int) { task.Add(int64(rows)) })
	task.Fail("") // the numbers are on standard output
	shown.Close()
	if err != nil {
		return err
	}
	for _, fact := range about.Facts {
		fmt.Fprintln(a.Stdout, "# "+fact)
	}
	return generate.WriteCounts(a.Stdout, counts)
}

// inspectProblem names the flag of tsmark inspect that an error is about.
func inspectProblem(err error) error {
	var bad *workload.SpecError
	if !errors.As(err, &bad) {
		return err
	}
	setting := strings.TrimPrefix(bad.Setting, "own.")
	for _, f := range inspectFlags {
		if f.setting == setting {
			return fmt.Errorf("--%s: %s", f.flag, bad.Problem)
		}
	}
	return errors.New(bad.Problem)
}

// writeInspection writes an experiment, with facts about the rows as comments.
func writeInspection(out io.Writer, found *owndata.Inspection) error {
	var text strings.Builder
	for _, fact := range found.Facts {
		text.WriteString("# " + printable.OneLine(fact) + "\n")
	}
	text.WriteString("name: own\nworkload:\n  name: own\n  own:\n")
	order := []string{"files", "format", "table", "columns", "delimiter", "decimal", "null", "encoding", "time", "time-format", "time-zone", "tags", "fields", "content"}
	for _, setting := range order {
		value := found.Spec.Settings["own."+setting]
		items := strings.Split(value, ", ")
		switch {
		case value == "":
		case setting == "fields" && len(items) > 1 && !strings.Contains(value, "("):
			text.WriteString("    fields:\n")
			for _, item := range items {
				fmt.Fprintf(&text, "      - %s\n", strconv.Quote(item))
			}
		default:
			fmt.Fprintf(&text, "    %s: %s\n", setting, strconv.Quote(value))
		}
	}
	text.WriteString("queries:\n  types: [] # load and count alone; [core]: also generated query types\n")
	_, err := io.WriteString(out, text.String())
	return err
}
