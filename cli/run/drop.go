package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/cli/flag"
	"github.com/tsmark/tsmark/cli/setting"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/session"
)

func (s *Executor) dropCommand() *cobra.Command {
	settings := setting.New(s.app.Catalog)
	cmd := &cobra.Command{
		Use: "drop TARGET…", Short: "Drop from a server what tsmark loaded into it",
		Long: `Drops the objects that tsmark created in each target, and its mark. Other objects stay,
whatever they are called. tsmark runs rm removes the embedded databases of runs.

A TARGET is [NAME=]DRIVER[,OPTION=VALUE]….`,
		Example:           "  tsmark drop postgres,host=db1,user=me,database=bench",
		ValidArgsFunction: s.app.Catalog.CompleteTarget,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !cmd.Flags().Changed("target") {
				return errors.New("tsmark drop needs a target, as in tsmark drop postgres,host=db1,user=me")
			}
			e := experiment.Default()
			e.Name = cmd.Name()
			if err := settings.Apply(cmd, e, args); err != nil {
				return err
			}
			p, err := plan.NewPlan(e, s.app.Catalog.PlanCatalog(), plan.Steps{Load: true})
			if err != nil {
				return err
			}
			for i := range p.Targets {
				if err := s.drop(cmd.Context(), &p.Targets[i], p.Waiting(&p.Targets[i], s.app.Waiting)); err != nil {
					return p.Secrets.Error(fmt.Errorf("target %s: %w", p.Targets[i].Name, err))
				}
			}
			return nil
		},
	}
	flags := flag.NewGroups(cmd)
	flags.Add("Targets", func(cmd *cobra.Command) { settings.TargetFlag(cmd, "none") })
	flags.Add("Timeouts", settings.TimeoutFlags)
	flags.Show()
	return cmd
}

// drop drops what tsmark created in a target, and names it.
func (s *Executor) drop(ctx context.Context, t *plan.Target, waiting driver.Waiting) error {
	if t.Caps.Embedded && t.Options["path"] == "" {
		return errors.New("without a path it is a database in the folder of a run, which tsmark runs rm removes")
	}
	db, err := t.Open(ctx, driver.Env{Dir: os.TempDir(), Waiting: waiting})
	if err != nil {
		return err
	}
	defer db.Close() // Clear has returned its errors
	open := session.New(db)
	own, err := open.OwnObjects(ctx)
	if err != nil {
		return err
	}
	if err := open.Clear(ctx); err != nil {
		return err
	}
	dropped := "nothing there was created by tsmark"
	if len(own) > 0 {
		dropped = "dropped " + strings.Join(session.Names(own), ", ")
	}
	_, err = fmt.Fprintf(s.app.Stdout, "%s: %s\n", t.Name, dropped)
	return err
}
