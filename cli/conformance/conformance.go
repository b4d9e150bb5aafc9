// Package conformance has the command that tests a driver with the conformance suite.
package conformance

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/conformance/certify"
	"github.com/tsmark/tsmark/conformance/suite"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/outfile"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// The formats of the report.
const (
	formatText = "text"
	formatJSON = "json"
)

// command is the state of the command.
type command struct {
	app      *app.App
	settings *setting.Flags
	only     []string
	list     bool
	long     bool
	format   string
	badge    string
}

// Command returns the command.
func Command(a *app.App) *cobra.Command {
	c := &command{app: a, settings: setting.New(a.Catalog), format: formatText}
	cmd := &cobra.Command{
		Use:   "conformance TARGET",
		Short: "Test a driver: whether its figures could be trusted",
		Long: `Runs the conformance suite, which every driver must pass before its figures mean anything:
it loads datasets, compares contents and answers with the expected ones, lies in the
database's name and expects tsmark to notice, and provokes errors. It is for authors of
drivers. A check of something that the system does not support is n/a, with the reason.

The suite loads into the place that the target's options name, and drops its tables afterwards.
It refuses a place that holds data. The exit status is 0 if all checks pass, and 1 if one fails.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]….`,
		Example: `  tsmark conformance sqlite
  tsmark conformance postgres,host=db1,user=me,database=empty --long
  tsmark conformance sqlite --check meaning --check 'random queries/seed 3'
  tsmark conformance sqlite --badge conformance.svg`,
		ValidArgsFunction: a.Catalog.CompleteTarget,
		RunE:              c.run,
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Targets", func(cmd *cobra.Command) { c.settings.TargetFlag(cmd, "none") })
	flags.Add("Checks", func(cmd *cobra.Command) {
		cmd.Flags().StringArrayVar(&c.only, "check", nil, "`name` of a check or of a group of checks to run, instead of all; may be repeated")
		cmd.Flags().BoolVar(&c.list, "list", false, "list the groups of checks, and run none")
		cmd.Flags().BoolVar(&c.long, "long", false, "also run checks that others nearly cover, which takes several times as long")
	})
	flags.Add("Output", func(cmd *cobra.Command) {
		cmd.Flags().StringVar(&c.format, "format", c.format, formatText+" or "+formatJSON)
		flag.Complete(cmd, "format", []string{formatText, formatJSON})
		cmd.Flags().StringVar(&c.badge, "badge", "", "`file.svg` for a badge with the number of checks and the versions; file.json beside it is an endpoint for shields.io")
	})
	flags.Add("Timeouts", c.settings.TimeoutFlags)
	flags.Show()
	return cmd
}

func (c *command) run(cmd *cobra.Command, args []string) error {
	targets := len(args) + len(c.settings.Targets)
	switch {
	case c.format != formatText && c.format != formatJSON:
		return fmt.Errorf("--format: must be %s or %s, not %q", formatText, formatJSON, c.format)
	case c.badge != "" && !strings.HasSuffix(c.badge, ".svg"):
		return fmt.Errorf("--badge: the file's name must end in .svg, and %q does not", c.badge)
	case c.badge != "" && len(c.only) > 0:
		return errors.New("--badge: a badge is about all checks; omit --check")
	case c.list && targets == 0:
		return c.writeList(&plan.Target{})
	case targets != 1:
		return errors.New("tsmark conformance needs one target, as in tsmark conformance sqlite")
	}
	e := experiment.Default()
	e.Name = cmd.Name()
	if err := c.settings.Apply(cmd, e, args); err != nil {
		return err
	}
	p, err := plan.NewPlan(e, c.app.Catalog.PlanCatalog(), plan.Steps{Load: true})
	if err != nil {
		return err
	}
	target := &p.Targets[0]
	if c.list {
		return c.writeList(target)
	}
	if target.Start != "" {
		return fmt.Errorf("target %s: start its server first, and name its address: tsmark server start %s prints it", target.Name, target.Driver.Name)
	}
	if err := certify.CheckNames(c.only, target, c.long); err != nil {
		return err
	}
	display := c.app.NewDisplay(app.DefaultPeriod)
	config := certify.Config{Target: *target, Long: c.long, Only: c.only, Patience: certify.DefaultPatience, Begin: beginPart(display)}
	report, err := certify.Run(cmd.Context(), config)
	display.Close()
	if err != nil {
		shown := p.Secrets.Error(fmt.Errorf("target %s: %w", target.Name, err))
		if errors.Is(err, driver.ErrUnreachable) {
			return &app.Status{Code: app.ExitTarget, Text: shown.Error()}
		}
		return shown
	}
	p.Secrets.Hide(report)
	again := format.ShellWords([]string{"tsmark", "conformance", p.Secrets.Text(slices.Concat(args, c.settings.Targets)[0])})
	if c.long {
		again += " --long"
	}
	if err := c.write(report, again); err != nil {
		return err
	}
	if !report.OK() {
		return &app.Status{Code: app.ExitWithheld} // the report says why
	}
	return nil
}

// beginPart shows a line for each part of the suite.
func beginPart(display app.Display) func(part string) func(*certify.Check) {
	return func(part string) func(*certify.Check) {
		task := display.Start(part, "checks", 0)
		ran, failed, unsupported := 0, 0, 0
		return func(check *certify.Check) {
			switch {
			case check != nil:
				task.Add(1)
				ran++
				switch check.Status {
				case certify.Failed:
					failed++
				case certify.NotApplicable:
					unsupported++
				}
			case ran == 0:
				task.Fail("") // the error or the next line says why
			case failed > 0:
				task.Fail(fmt.Sprintf("%d of %d checks", failed, ran-unsupported))
			case ran == unsupported:
				task.Finish("n/a")
			default:
				task.Finish(fmt.Sprintf("%d passed", ran-unsupported))
			}
		}
	}
}

// write writes the report and the badge.
func (c *command) write(report *certify.Report, again string) error {
	if c.badge != "" {
		endpoint, err := report.BadgeJSON()
		if err == nil {
			err = outfile.WriteBytes(strings.TrimSuffix(c.badge, ".svg")+".json", endpoint)
		}
		if err == nil {
			err = outfile.WriteBytes(c.badge, report.BadgeSVG())
		}
		if err != nil {
			return err
		}
	}
	if c.format == formatJSON {
		return report.WriteJSON(c.app.Stdout)
	}
	return report.WriteText(c.app.Stdout, again)
}

// writeList lists the parts of the suite for a target.
func (c *command) writeList(t *plan.Target) error {
	short := certify.Parts(t, false)
	table := tabwriter.NewWriter(c.app.Stdout, 0, 0, 2, ' ', 0)
	for _, p := range certify.Parts(t, true) {
		about := p.About
		if !slices.ContainsFunc(short, func(s suite.Part) bool { return s.Name == p.Name }) {
			about += " (with --long)"
		}
		if _, err := io.WriteString(table, p.Name+"\t"+about+"\n"); err != nil {
			return err
		}
	}
	return table.Flush()
}
