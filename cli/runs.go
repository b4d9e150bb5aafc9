package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/store"
)

func (a *app) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the results folder, newest first",
		Example: `  tsmark runs
  tsmark runs --results /srv/tsmark-results`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, err := store.OpenExisting(cmd.Context(), a.results)
			if err != nil {
				return err
			}
			defer kept.Close() // reading only
			runs, err := kept.Runs(cmd.Context())
			if err != nil {
				return err
			}
			out := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(out, "RUN\tCOMMAND\tSTARTED (UTC)\tWORKLOAD\tTARGETS\tTYPES\tWITHHELD\tSTATUS")
			for _, r := range runs {
				state := string(r.Status)
				if r.Reason != "" {
					state += ": " + oneLine(r.Reason)
				}
				fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", r.ID, r.Command,
					r.Started.UTC().Format("2006-01-02 15:04:05"), r.Workload, strings.Join(r.Targets, ", "), r.Types, r.Withheld, state)
			}
			return out.Flush()
		},
	}
}

func (a *app) reportCommand() *cobra.Command {
	formatName, file, experiment := string(report.Text), "", false
	cmd := &cobra.Command{
		Use:   "report [RUN…]",
		Short: "Render runs as text, Markdown, CSV, JSON or an HTML page",
		Long: `Renders stored runs, side by side where there are several. A RUN is an id as
tsmark runs lists them, the beginning or the end of one, or latest, which is the
default.

--experiment prints what a run was told to do, as a file that tsmark run takes:
here later, or on another machine. Secrets are not in it. It says *** for them,
and they are read from the environment: the password of a target pg from
TSMARK_PG_PASSWORD.`,
		Example: `  tsmark report
  tsmark report 3f2a --experiment > experiment.yaml
  tsmark report latest --format markdown
  tsmark report 3f2a 91c0 --format html --output comparison.html`,
		RunE: func(cmd *cobra.Command, references []string) error {
			format, err := report.ParseFormat(formatName)
			if err != nil {
				return fmt.Errorf("--format: %w", err)
			}
			kept, err := store.OpenExisting(cmd.Context(), a.results)
			if err != nil {
				return err
			}
			defer kept.Close() // reading only
			if len(references) == 0 {
				references = []string{store.Latest}
			}
			var runs []*result.Run
			for _, reference := range references {
				run, err := kept.Run(cmd.Context(), reference)
				if err != nil {
					return err
				}
				runs = append(runs, run)
			}
			if experiment {
				if len(runs) > 1 || cmd.Flags().Changed("format") {
					return errors.New("--experiment is of one run, and has no --format")
				}
				return a.writeText(file, runs[0].Experiment)
			}
			if file != "" && file != "-" {
				return writeReport(file, format, runs)
			}
			return report.Write(a.stdout, format, runs, a.textOptions())
		},
	}
	cmd.Flags().StringVar(&formatName, "format", formatName, strings.Join(report.Formats(), ", "))
	cmd.Flags().StringVar(&file, "output", "", "`file` to write (default standard output)")
	cmd.Flags().BoolVar(&experiment, "experiment", false, "print the experiment of the run as YAML")
	complete(cmd, "format", report.Formats())
	return cmd
}

// writeText writes a text to a file, or to standard output.
func (a *app) writeText(name, text string) error {
	if name == "" || name == "-" {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	out, err := outfile.Create(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	return out.Commit()
}
