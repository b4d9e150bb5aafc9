package stage

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/run/crash"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/session"
)

// Crasher crashes a loaded target again and again.
type Crasher struct {
	Plan    *plan.Plan
	Subject *subject.Subject
	Record  *record.Record
	Servers launch.Servers
}

// Crash crashes a target, whose database is closed, and keeps the result.
func (x *Crasher) Crash(ctx context.Context, on *Opened) error {
	e := x.Plan.Experiment
	victim, err := x.Servers.Victim(on.Planned, on.Env, x.Subject.Schema(), e.Timeouts.Limits())
	if err != nil {
		return err
	}
	defer victim.Close()
	config := crash.Config{
		Victim: victim, Kinds: e.Crash.Chosen(), Count: e.Crash.Count, Seed: e.Crash.Seed,
		Rows: x.Subject.Further, RoundRows: x.Plan.CrashRows(on.Planned), Stored: on.mark.RowsAcked,
		Load: x.Plan.LoadConfig(on.Planned), Verify: x.Plan.VerifyConfig(on.Planned),
		Render: victim.Target.Driver.Renderer(victim.Target.Options), Digits: on.Planned.Caps.Digits, Safety: on.out.Description.Safety,
		Patience: crash.DefaultPatience, Pause: crash.DefaultPause, ByCommand: victim.ByCommand(),
		Begin: func(ctx context.Context, db driver.DB) error {
			// From now on no other command takes it for a complete dataset.
			on.mark.RowsExpected += int64(e.Crash.Count) * x.Plan.CrashRows(on.Planned)
			on.mark.Complete = false
			return session.New(db).SetMark(ctx, on.mark)
		},
		Announce: func(round int, kind string) func(string, bool) {
			task := x.Record.Display.Start(fmt.Sprintf("%s of %s, %d of %d", kind, on.out.Name, round, e.Crash.Count), "", 0)
			return func(how string, failed bool) {
				if failed {
					task.Fail(how)
				} else {
					task.Finish(how)
				}
			}
		},
	}
	// All targets of crashes have the same workers where the order of rows depends on them: see Subject.checkDealing.
	config.Load.Owner, config.Load.InOrder, config.Load.Log, config.Load.Period = x.Subject.Owner, on.Planned.Caps.InOrder, nil, 0
	config.Load.Retry = retry.Policy{} // nothing is sent again before the crash was examined
	found, err := crash.Run(ctx, config)
	if err != nil {
		return err
	}
	found.Child, found.Disk, found.ByCommand = victim.Child(), victim.Disk(), victim.ByCommand()
	on.out.Crash = found
	return x.Record.KeepTarget(ctx, on.out)
}
