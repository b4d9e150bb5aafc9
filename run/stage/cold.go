package stage

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/watch"
)

// queryCold runs one query of each type. Before each, the target's files are dropped from the page
// cache and the target is opened again. Each repeat runs another query.
func (x *Querier) queryCold(ctx context.Context, on *Opened) error {
	task := x.Record.Display.Start("query "+on.out.Name+" cold"+repeatSuffix(on.job.Repeat, x.Plan.Experiment.QueryRepeats()), "queries", int64(len(x.Subject.Queries)))
	for i := range x.Subject.Queries {
		q := &x.Subject.Queries[i]
		if Finished(on.out, on.job.Repeat, q.Type.Name) {
			continue
		}
		var disturbed string
		var err error
		for try := 1; try == 1 || err == nil && disturbed != ""; try++ {
			if try > watch.QuietTries {
				err = watch.TooNoisyError("target "+on.out.Name, disturbed)
				break
			}
			disturbed, err = x.queryTypeCold(ctx, on, q, try)
		}
		if err != nil {
			record.Fail(ctx, task, err)
			return fmt.Errorf("%s: %w", q.Type.Name, err)
		}
		task.Add(1)
	}
	task.Finish("")
	return nil
}

// queryTypeCold runs one query. Disturbed says why the query does not count and is to run again;
// empty: it counts.
func (x *Querier) queryTypeCold(ctx context.Context, on *Opened, q *plan.TypeQueries, try int) (disturbed string, err error) {
	queries := x.Subject.OpenSource(on.Planned, q, on.job.Repeat, on.DB)
	defer queries.Close()
	queries.Most = 1
	first, _ := q.Blocks.Range(on.job.Repeat)
	place := 0 // index in its block
	if q.Blocks.Repeated {
		place = (on.job.Repeat - 1) % queries.Len()
	}
	one, err := queries.Render(ctx, place)
	if err != nil {
		return "", err
	}
	capture := x.capture(q, on.job.Repeat)
	measured, err := x.queryOneCold(ctx, on, q, one, try, engine.QueryConfig{First: first + place, Capture: capture})
	if err != nil {
		return "", err
	}
	if why := x.Watch.Disturbance(measured.Noise); why != "" {
		return why, nil
	}
	measured.Distinct = queries.Len()
	return "", x.keep(ctx, on, q, measured, capture.Answers())
}

// queryOneCold runs one query on a cold target.
func (x *Querier) queryOneCold(ctx context.Context, on *Opened, q *plan.TypeQueries, one engine.List, try int, cfg engine.QueryConfig) (*result.Queries, error) {
	what, cold, started, err := x.chill(ctx, on.Planned, on.Env)
	if err != nil {
		return nil, err
	}
	wait := time.Duration(0) // tsmark's own server answers already
	if on.Planned.Restart != "" {
		wait = patience
	}
	t, err := launch.OpenWithin(ctx, on.Planned, on.Env, wait)
	if err != nil {
		return nil, err
	}
	defer t.Close() // only used for reading
	up := time.Since(started).Seconds()
	x.Watch.SetTarget(ctx, on.Planned.Name)
	cfg.Log, err = x.Record.Log.Section(oplog.Cell{
		Kind: oplog.Query, Target: on.Planned.Name, Type: q.Type.Name, Repeat: on.job.Repeat, Workers: 1, Queries: 1, First: cfg.First, Setting: strings.TrimSpace("cold " + trySetting(try)),
	})
	if err != nil {
		return nil, err
	}
	cfg.Workers, cfg.Timeout = 1, x.Plan.Experiment.Queries.Timeout
	measurement := x.Watch.Begin(ctx, on.Planned.Caps.Embedded)
	measured, err := engine.Query(ctx, cfg, t, one, func(int) {})
	where := measurement.End(ctx)
	if err != nil {
		return nil, err
	}
	measured.Cell, measured.Cache, measured.Cold = where, what, cold
	if !started.IsZero() && measured.Executed == 1 && measured.AtLeast == 0 {
		measured.Starts = []float64{up + measured.Service.Max}
	}
	return measured, nil
}

// folderOf returns the folder of a target's files; empty: unknown, for example on another host.
func folderOf(planned *plan.Target, env driver.Env, own *launch.Server) string {
	switch path := planned.Options["path"]; {
	case own != nil:
		return own.Files
	case !planned.Caps.Embedded:
		return ""
	case path != "":
		return filepath.Dir(path)
	}
	return env.Dir
}

// chill makes a closed target cold: it restarts the server and drops the files from the page cache.
// It describes these steps, reports whether everything is known to be cold, and when the server was
// started; zero: tsmark did not start it.
func (x *Querier) chill(ctx context.Context, planned *plan.Target, env driver.Env) (what string, cold bool, started time.Time, err error) {
	var done, undone []string
	own := x.Servers.ServerOf(planned)
	switch {
	case planned.Caps.Embedded:
		done = append(done, "opened again")
	case own != nil:
		if err := own.Stop(ctx); err != nil {
			return "", false, started, fmt.Errorf("stopping the server of target %s: %w", planned.Name, err)
		}
		done = append(done, "its server stopped and started")
	case planned.Restart == "":
		undone = append(undone, "its server was not restarted: name a command in the target's restart")
	default:
		if err := launch.Restart(ctx, planned, env, x.Watch.Limits); err != nil {
			return "", false, started, err
		}
		done = append(done, "its server restarted")
	}
	var folders []string
	folder := folderOf(planned, env, own)
	if folder != "" {
		folders = append(folders, folder)
	}
	dropped, err := process.DropCaches(ctx, folders...)
	if err != nil {
		return "", false, started, fmt.Errorf("dropping the page cache: %w", err)
	}
	if own != nil {
		// The server may read its files while it starts.
		started = time.Now()
		if err := own.Wake(ctx); err != nil {
			return "", false, started, err
		}
	}
	if dropped.Done != "" {
		done = append(done, dropped.Done)
	}
	if dropped.Undone != "" {
		undone = append(undone, dropped.Undone)
	}
	what = strings.Join(done, ", ")
	if len(undone) > 0 {
		what = strings.Join(append(done, "but: "+strings.Join(undone, "; ")), ", ")
	}
	return what, len(undone) == 0 && (folder == "" || dropped.Cold()), started, nil
}

// patience is the time limit for a restarted server to answer.
const patience = time.Minute
