package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/powerloss"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
)

// Victim is the process of a target that crashes hit: its server, or the process of an embedded database. Its methods
// are used by one goroutine at a time.
type Victim struct {
	// Target is the target as it is opened and queried. An embedded database is opened by the driver in a process of its
	// own, whose requests have other plans.
	Target   *plan.Target
	env      driver.Env
	schema   *series.Schema
	server   *Server            // that tsmark started; nil: a user's, or an embedded database
	programs *external.Programs // has the process of an embedded database; nil: a server
	running  *process.Process   // that process
	opened   *driver.DB         // by Start, for the next Open
	limits   limit.Limits       // of calls to it
	restart  chan error         // receives the result of the restart command, once it has ended; nil: it does not run
	begun    time.Time          // the start of that command
	disk     *powerloss.Disk    // of its files; nil: noDisk says why
	noDisk   error
}

// Victim returns the victim of a target that has tables of the schema. ForCrashes and Switch have been called, and
// an embedded database has been closed. The limits are of calls to it.
func (s Servers) Victim(planned *plan.Target, env driver.Env, schema *series.Schema, limits limit.Limits) (*Victim, error) {
	target := *planned
	v := &Victim{Target: &target, env: env, schema: schema, limits: limits, server: s.ServerOf(planned), disk: s.disks.byTarget[planned.Name], noDisk: s.disks.none}
	v.env.Create = false // a file that a crash has destroyed must not be made again
	switch {
	case v.server != nil:
	case planned.Caps.Embedded:
		v.programs = new(external.Programs)
		if path := pathOf(planned); path != "" {
			v.noDisk = errors.New("its file is where the option path says, which is not a disk of tsmark's; leave path out")
		}
		if err := v.separate(); err != nil {
			v.Close()
			return nil, fmt.Errorf("starting %s in a process of its own: %w", planned.Driver.Name, err)
		}
	case planned.Restart != "":
		v.noDisk = errors.New("tsmark did not start its server, whose files are on another disk")
	default:
		return nil, fmt.Errorf("%w: target %s %s", plan.ErrInput, planned.Name, planned.CrashProblem())
	}
	if v.disk == nil && v.noDisk == nil {
		v.noDisk = errors.New("the run has no disk whose power fails")
	}
	return v, nil
}

// separate has the embedded database opened by a program: this one, as the program of an external driver.
func (v *Victim) separate() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := plan.ShellQuote(self) + " serve-driver " + v.Target.Driver.Name
	d, err := v.programs.Driver().Program(map[string]string{external.OptionCommand: command})
	if err != nil {
		return err
	}
	separate := v.Target.Driver // with its Caps, by which limits distinguish embedded databases
	separate.Open, separate.Render = d.Open, d.Render
	v.Target.Driver = limit.Driver(separate, v.limits)
	return nil
}

// Child says how an embedded database runs beside tsmark; empty: the target is a server.
func (v *Victim) Child() string {
	if v.programs == nil {
		return ""
	}
	return "through a child process of its own"
}

// ByCommand reports whether a restart command kills the target, at a time that tsmark does not know.
func (v *Victim) ByCommand() bool { return v.server == nil && v.programs == nil }

// Disk says where the files of the target are, in words for reports; empty: not on a disk whose power can fail.
func (v *Victim) Disk() string {
	if v.disk == nil {
		return ""
	}
	return "its data was on a disk made for the crashes: ext4 on a loop device with a volatile cache, in the results folder"
}

// Can returns why the target cannot be crashed in a way: result.CrashKill, CrashPause or CrashPower; nil: it can.
func (v *Victim) Can(kind string) error {
	switch {
	case kind == result.CrashPower && v.disk == nil:
		return v.noDisk
	case kind == result.CrashPause && v.ByCommand():
		return errors.New("tsmark did not start its server, and its restart command does not pause it")
	}
	return nil
}

// process returns the process; nil: a user's server, or none has been started.
func (v *Victim) process() *process.Process {
	if v.server != nil {
		return v.server.running
	}
	return v.running
}

// Start starts the process unless it runs, and returns once it answers, with the time at which the start began.
func (v *Victim) Start(ctx context.Context) (begun time.Time, err error) {
	begun = time.Now()
	if v.server != nil {
		return begun, v.server.Wake(ctx)
	}
	if v.restart != nil {
		begun, err = v.begun, <-v.restart
		if v.restart = nil; err != nil {
			return begun, err
		}
	}
	db, err := v.open(ctx)
	if err != nil {
		return begun, err
	}
	if v.programs != nil {
		if v.running, err = process.Attach(ctx, db.ProcessID); err != nil {
			return begun, errors.Join(err, db.Close())
		}
	}
	v.opened = &db
	return begun, nil
}

// reopening is how long an embedded database may not answer after its process was started: tsmark may notice only then
// that the process before it was killed.
const reopening = time.Second

// open opens the target, for writers too. It waits for a user's server, which may still be starting.
func (v *Victim) open(ctx context.Context) (driver.DB, error) {
	patience := serverPatience
	if v.programs != nil {
		patience = reopening
	}
	db, err := OpenWithin(ctx, v.Target, v.env, patience)
	if err == nil {
		if err = rejoin(ctx, db, v.schema); err != nil {
			_ = db.Close() // the other error is the relevant one
		}
	}
	return db, err
}

// OpenWithin opens a target whose server may still be starting: it tries again until the patience ends.
func OpenWithin(ctx context.Context, planned *plan.Target, env driver.Env, patience time.Duration) (driver.DB, error) {
	for deadline := time.Now().Add(patience); ; {
		db, err := planned.Driver.Open(ctx, env, planned.Options)
		if err == nil || !errors.Is(err, driver.ErrUnreachable) || time.Now().After(deadline) {
			return db, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return driver.DB{}, ctx.Err()
		}
	}
}

// Restart runs the restart command of a target, and returns when it has ended. Its output is in the target's folder.
func Restart(ctx context.Context, planned *plan.Target, env driver.Env, limits limit.Limits) error {
	err := os.MkdirAll(env.Dir, 0o777)
	if err == nil {
		err = limits.InStep(ctx, "the command", func(ctx context.Context) error {
			return process.Run(ctx, planned.Restart, filepath.Join(env.Dir, "restart.log"))
		})
	}
	if err != nil {
		return fmt.Errorf("restarting target %s with %q: %w", planned.Name, planned.Restart, err)
	}
	return nil
}

// rejoin prepares an opened database for writers of a schema that was created before.
func rejoin(ctx context.Context, db driver.DB, schema *series.Schema) error {
	switch {
	case db.Join != nil:
		return db.Join(ctx, schema)
	case db.Grow != nil:
		return db.Grow(schema)
	}
	return fmt.Errorf("%w: rows cannot be written after it was opened again", query.ErrUnsupported)
}

// Open opens the database after Start. The caller closes it before the next Start, after a crash too.
func (v *Victim) Open(ctx context.Context) (driver.DB, error) {
	if db := v.opened; db != nil {
		v.opened = nil
		return *db, nil
	}
	return v.open(ctx)
}

// Settle writes everything to the disk that was written so far, so that a power failure loses only later writes.
func (v *Victim) Settle(context.Context) error {
	if v.disk == nil {
		return nil
	}
	return v.disk.Sync()
}

// Kill kills the process, its group and its descendants, and returns when they have ended. For a user's server it begins
// the command that kills and starts it. Start waits for the end of that, so that its time includes all of the restart.
func (v *Victim) Kill(ctx context.Context) error {
	if p := v.process(); p != nil {
		return p.Kill()
	}
	ended := make(chan error, 1)
	v.restart, v.begun = ended, time.Now()
	go func() { ended <- Restart(ctx, v.Target, v.env, v.limits) }()
	return nil
}

// Pause stops the processes: they keep memory and connections, and do nothing until Resume.
func (v *Victim) Pause(ctx context.Context) error { return v.process().Pause(ctx) }

// Resume lets paused processes go on.
func (v *Victim) Resume(ctx context.Context) error { return v.process().Continue(ctx) }

// FailPower drops all writes that were not synced, and kills the process. The disk is whole again afterwards.
func (v *Victim) FailPower(ctx context.Context) error {
	return FailPower(ctx, v.disk, v.process())
}

// FailPower cuts the power of a disk, kills the process that uses it, and mounts the disk again.
func FailPower(ctx context.Context, disk *powerloss.Disk, p *process.Process) error {
	if err := errors.Join(disk.Fail(), p.Kill()); err != nil {
		return err
	}
	return disk.Recover(ctx)
}

// Close ends the process of an embedded database, and waits for a restart command. Leave stops servers.
func (v *Victim) Close() {
	if v.restart != nil {
		<-v.restart // of a round that has failed
	}
	if v.opened != nil {
		_ = v.opened.Close() // it may have crashed
	}
	if v.programs != nil {
		v.programs.Close()
	}
}
