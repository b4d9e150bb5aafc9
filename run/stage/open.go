package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// Opener inspects the targets to load before anything is loaded, and opens each for its jobs. It
// decides whether a job may use the contents of the database.
type Opener struct {
	Plan    *plan.Plan
	Subject *subject.Subject
	Watch   *watch.Watch
	Record  *record.Record
	Servers launch.Servers
	Force   session.Force
}

// Open opens a target for a job after starting its server. It checks that the job may use the
// existing contents, and determines the required information first: the description of the target,
// and, unless it is only loaded, the expected answers.
func (x *Opener) Open(ctx context.Context, c plan.Job, planned *plan.Target, out *result.Target) (on *Opened, err error) {
	env, err := x.env(ctx, c, planned)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && c.Kind == plan.Load {
			RemoveEmpty(env.Dir)
		}
	}()
	if planned, err = x.Servers.Switch(ctx, planned, env); err != nil {
		return nil, err
	}
	on = &Opened{job: c, Planned: planned, Env: env, out: out}
	if on.DB, err = planned.Open(ctx, env); err != nil {
		return nil, err
	}
	on.mark, err = x.checkMark(ctx, c, planned, on.DB)
	if errors.Is(err, driver.ErrExisting) && x.Plan.Experiment.Adopt {
		on.mark, on.adopted = x.adoptedMark(planned), true
		err = x.checkAccept(on.mark, planned)
	}
	if err == nil && on.job.Kind == plan.Load && planned.Start != "" {
		err = x.checkUsable(ctx, planned, on.DB) // it was not running during the first inspection
	}
	if err == nil && on.job.Kind == plan.Query && !x.Plan.Steps.Load {
		err = checkConnections(ctx, on.DB, x.Plan.Experiment.Queries.Workers)
	}
	if err == nil {
		err = x.describe(ctx, on)
	}
	if err == nil && (on.job.Kind == plan.Check || on.job.Kind == plan.Query || on.job.Kind == plan.Load && (x.Subject.Mixes() || x.Subject.Lives())) {
		err = x.Subject.Learn(ctx, on.DB, planned)
		if err == nil {
			err = x.Subject.CheckLife(x.Subject.Expected.Survey.Rows)
		}
	}
	if err != nil {
		_ = on.DB.Close() // the first error is the relevant one
	}
	return on, err
}

// describe records an open target's description of itself, and starts to observe it. Of a target that the run has
// loaded, the settings of the load are kept, since a driver may change settings of the server for the load alone.
func (x *Opener) describe(ctx context.Context, on *Opened) (err error) {
	t, planned, out := on.DB, on.Planned, on.out
	loaded := out.Description
	if out.Description, err = check.Describe(ctx, t); err != nil {
		return fmt.Errorf("reading version and settings: %w", err)
	}
	if x.Plan.Steps.Load && on.job.Kind != plan.Load && loaded.Version != "" {
		out.Description.Durability, out.Description.Safety, out.Description.Settings = loaded.Durability, loaded.Safety, loaded.Settings
	}
	x.Record.Remark(x.Plan.Experiment.Expect.OtherTarget(out.Name, out.Description.Version))
	out.Adapter = planned.Driver.Caution(out.Description.Version)
	if x.Record.Observer != nil {
		x.Record.Observer.TargetOpened(out)
	}
	out.Types = planned.Caps.MappedTypes(x.Subject.Schema())
	ports, err := x.Watch.WatchServer(ctx, t, out)
	if err != nil {
		return err
	}
	if len(ports) > 0 {
		x.Record.Doc.OtherDatabases = watch.WithoutServer(ctx, x.Record.Doc.OtherDatabases, ports)
	}
	x.Watch.SetTarget(ctx, planned.Name)
	if err := x.Watch.WatchRemote(ctx, planned); err != nil {
		return err
	}
	return x.Record.KeepTarget(ctx, out)
}

// env gives a loaded target a folder within this run's, and an existing one the folder it was
// loaded in.
func (x *Opener) env(ctx context.Context, c plan.Job, planned *plan.Target) (driver.Env, error) {
	id := x.Record.Doc.ID
	if !x.Plan.Steps.Load {
		loaded, err := x.Record.Store.RunsThatLoaded(ctx, planned.Name, planned.Driver.Name)
		if err != nil {
			return driver.Env{}, err
		}
		id = x.lastHere(loaded, planned)
		if id == "" && planned.Caps.Embedded && planned.Options["path"] == "" {
			return driver.Env{}, fmt.Errorf("%w: no target %s with driver %s has been loaded into %s; load it with tsmark load, or give its path",
				plan.ErrInput, planned.Name, planned.Driver.Name, x.Record.Dir)
		}
	}
	env := driver.Env{
		Dir: filepath.Join(x.Record.Dir, id, planned.Name), Create: c.Kind == plan.Load, Waiting: record.Waiting(x.Record.Display, planned.Name),
	}
	var err error
	if env.Dir, err = x.Servers.Folder(ctx, planned, env.Dir); err != nil {
		return env, err
	}
	if c.Kind == plan.Load && planned.Caps.Embedded {
		if err := os.MkdirAll(env.Dir, 0o777); err != nil {
			return env, fmt.Errorf("%w: making the run's folder: %w", plan.ErrInput, err)
		}
	}
	return env, nil
}

// lastHere returns the first of these runs whose folder for the target is on this machine: the
// folders of a shared store may be on other machines. By default it returns the first run, or "".
func (x *Opener) lastHere(runs []string, planned *plan.Target) string {
	for _, id := range runs {
		if _, err := os.Stat(filepath.Join(x.Record.Dir, id, planned.Name)); err == nil {
			return id
		}
	}
	return cmp.Or(append(runs, "")...)
}

// RemoveEmpty removes a folder of a run, and the run's own, if they are empty.
func RemoveEmpty(dir string) {
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir)) // fails if it is not empty, which is intended
	}
}

// adopt makes the marked dataset the dataset of this run.
func (x *Opener) adopt(mark session.Mark) error {
	w, err := x.Plan.Catalog.Workload(mark.Dataset.Name)
	if err != nil {
		return plan.BadInput(err)
	}
	if now := workload.Fingerprint(w, mark.Dataset); now != mark.Fingerprint {
		return fmt.Errorf("%w: the dataset was loaded as %s, and this tsmark generates %s from the same settings; load it again with --replace",
			plan.ErrInput, mark.Fingerprint, now)
	}
	if err := Fix(x.Subject, x.Record, mark.Dataset); err != nil {
		return plan.BadInput(err)
	}
	// The record shows an experiment that would repeat this.
	adopted := *x.Plan.Experiment
	adopted.Workload, adopted.Load.Limit = mark.Dataset, mark.Dataset.Limit
	yaml, err := x.Plan.ExperimentYAML(&adopted)
	if err != nil {
		return err
	}
	x.Record.Doc.Experiment = string(yaml)
	return nil
}
