package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// The formats of the findings of tsmark check.
const (
	checkText = "text"
	checkJSON = "json"
)

func (s *Executor) checkCommand() *cobra.Command {
	settings, formatName := setting.New(s.app.Catalog), checkText
	cmd := &cobra.Command{
		Use:   "check TARGET…",
		Short: "Check a server as a run would use it, before the run",
		Long: `Checks each target within seconds as a run would use it: whether every port answers and
which option sets it; versions, and whether the driver was tested with them; the user's
rights; free space, clocks, encryption, network latency, and settings of the server that
distort the figures. To check the rights it writes a few rows under tsmark's own names and
drops them again, but only if a load would be allowed there.

tsmark touches only objects that it created. The exit status is 1 if a run would fail, and
0 otherwise, even with warnings.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]….`,
		Example: `  tsmark check postgres,host=db1,user=me,database=bench
  tsmark check questdb,host=db2 influxdb,host=db3 --format json`,
		ValidArgsFunction: s.app.Catalog.CompleteTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !cmd.Flags().Changed("target") {
				return errors.New("tsmark check needs a target, as in tsmark check postgres,host=db1,user=me")
			}
			if formatName != checkText && formatName != checkJSON {
				return fmt.Errorf("--format: must be %s or %s, not %q", checkText, checkJSON, formatName)
			}
			e := experiment.Default()
			e.Name = cmd.Name()
			if err := settings.Apply(cmd, e, args); err != nil {
				return err
			}
			plan, err := plan.NewPlan(e, s.app.Catalog.PlanCatalog(), plan.Steps{Load: true})
			if err != nil {
				return err
			}
			config := check.Default()
			config.Waiting = s.app.Waiting
			reports, err := plan.Examine(cmd.Context(), config, os.TempDir())
			if err != nil {
				return err
			}
			if err := writeChecks(s.app.Stdout, formatName, reports); err != nil {
				return err
			}
			if err := wouldFail(reports); err != nil || formatName == checkJSON {
				return err
			}
			fmt.Fprintf(s.app.Stdout, "\nready; now type: %s\n", runOf(plan.Secrets.Args(settings.Targets), reports))
			return nil
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Targets", func(cmd *cobra.Command) { settings.TargetFlag(cmd, "none") })
	flags.Add("Output", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&formatName, "format", formatName, checkText+" or "+checkJSON)
		flag.Complete(cmd, "format", []string{checkText, checkJSON})
	})
	flags.Add("Timeouts", settings.TimeoutFlags)
	flags.Show()
	return cmd
}

// runOf returns the command that runs the checked targets.
func runOf(targets []string, reports []*check.Report) string {
	command := []string{"tsmark", "run"}
	for _, t := range targets {
		command = append(command, "--target", t)
	}
	if slices.ContainsFunc(reports, func(r *check.Report) bool { return r.Replaces }) {
		command = append(command, "--replace")
	}
	return printable.Line(format.ShellWords(command))
}

// wouldFail turns reports into the exit status.
func wouldFail(reports []*check.Report) error {
	var lines []string
	for _, r := range reports {
		for _, f := range r.Findings {
			if f.Status == check.Failed {
				lines = append(lines, fmt.Sprintf("a run on target %s would fail: %s", r.Target, f.Check))
				break
			}
		}
	}
	if lines == nil {
		return nil
	}
	return &app.Status{Code: app.ExitWithheld, Text: strings.Join(lines, "\n")}
}

// writeChecks writes reports in a format.
func writeChecks(w io.Writer, formatName string, reports []*check.Report) error {
	if formatName == checkJSON {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(w)
		}
		title := r.Target
		if r.Target != r.Driver {
			title += " (" + r.Driver + ")"
		}
		if r.Location != "" {
			title += ": " + r.Location
		}
		fmt.Fprintln(w, printable.Line(title))
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, f := range r.Findings {
			fmt.Fprintf(table, "  %s\t%s\t%s\n", f.Status, printable.Line(f.Check), printable.Line(f.Result))
			if f.Fix != "" {
				fmt.Fprintf(table, "  \t\tto fix it: %s\n", printable.Line(f.Fix))
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
