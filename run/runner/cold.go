package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
)

// queryCold runs one query of each type, each of a target that has just been
// opened, after what the machine kept of its files was dropped. In each repeat
// it is another query.
func (x *queryStage) queryCold(ctx context.Context, on *turn) error {
	task := x.record.display.Start("query "+on.out.Name+" cold"+ofRepeats(on.job.repeat, x.plan.experiment.QueryRepeats()), "queries", int64(len(x.subject.queries)))
	for i := range x.subject.queries {
		q := &x.subject.queries[i]
		if finished(on.out, on.job.repeat, q.queryType.Name) {
			continue
		}
		var disturbed string
		var err error
		for try := 1; try == 1 || err == nil && disturbed != ""; try++ {
			if try > quietTries {
				err = tooNoisy("target "+on.out.Name, disturbed)
				break
			}
			disturbed, err = x.queryTypeCold(ctx, on, q, try)
		}
		if err != nil {
			fail(ctx, task, err)
			return fmt.Errorf("%s: %w", q.queryType.Name, err)
		}
		task.Add(1)
	}
	task.Finish("")
	return nil
}

// queryTypeCold runs one query. Disturbed says why it does not count and is to be
// run again; empty: it counts.
func (x *queryStage) queryTypeCold(ctx context.Context, on *turn, q *typeQueries, try int) (disturbed string, err error) {
	queries := x.subject.rendered(on.planned, q, on.job.repeat, on.db)
	defer queries.close()
	queries.most = 1
	first, _ := q.blocks.of(on.job.repeat)
	place := 0 // in its block
	if q.blocks.repeated {
		place = (on.job.repeat - 1) % queries.Len()
	}
	one, err := queries.Render(ctx, place)
	if err != nil {
		return "", err
	}
	capture := x.capture(q, on.job.repeat)
	measured, err := x.queryOneCold(ctx, on, q, one, try, engine.QueryConfig{First: first + place, Capture: capture})
	if err != nil {
		return "", err
	}
	if why := x.watch.disturbed(measured.Noise); why != "" {
		return why, nil
	}
	measured.Distinct = queries.Len()
	return "", x.keep(ctx, on, q, measured, capture.Answers())
}

// queryOneCold runs one query of a target made cold.
func (x *queryStage) queryOneCold(ctx context.Context, on *turn, q *typeQueries, one engine.List, try int, cfg engine.QueryConfig) (*result.Queries, error) {
	what, cold, err := x.chill(ctx, on.planned, on.env)
	if err != nil {
		return nil, err
	}
	t, err := openAgain(ctx, on.planned, on.env)
	if err != nil {
		return nil, err
	}
	defer t.Close() // reading only
	x.watch.attend(ctx, on.planned.name)
	cfg.Log, err = x.record.operations.section(oplog.Cell{
		Kind: oplog.Query, Target: on.planned.name, Type: q.queryType.Name, Repeat: on.job.repeat, Workers: 1, Queries: 1, First: cfg.First, Setting: strings.TrimSpace("cold " + settingOfTry(try)),
	})
	if err != nil {
		return nil, err
	}
	cfg.Workers, cfg.Timeout = 1, x.plan.experiment.Queries.Timeout
	var measured *result.Queries
	where, err := x.watch.measure(ctx, on.planned.caps.Embedded, func() (err error) {
		measured, err = engine.Query(ctx, cfg, t, one, func(int) {})
		return err
	})
	if err != nil {
		return nil, err
	}
	measured.Cell, measured.Cache, measured.Cold = where, what, cold
	return measured, nil
}

// folderOf is where a target's files are; empty: not known, as on another host.
func folderOf(planned *plannedTarget, env driver.Env, own *ownServer) string {
	switch path := planned.options["path"]; {
	case own != nil:
		return own.files
	case !planned.caps.Embedded:
		return ""
	case path != "":
		return filepath.Dir(path)
	}
	return env.Dir
}

// chill makes a closed target cold: its server is restarted, and its files are
// dropped from the page cache. It says what was done, and whether all is known
// to be cold.
func (x *queryStage) chill(ctx context.Context, planned *plannedTarget, env driver.Env) (what string, cold bool, err error) {
	var done, undone []string
	own := x.servers.serverOf(planned)
	switch {
	case planned.caps.Embedded:
		done = append(done, "opened again")
	case own != nil:
		if err := own.stop(ctx); err != nil {
			return "", false, fmt.Errorf("stopping the server of target %s: %w", planned.name, err)
		}
		done = append(done, "its server stopped and started")
	case planned.restart == "":
		undone = append(undone, "its server was not restarted: name a command in the target's restart")
	default:
		err := os.MkdirAll(env.Dir, 0o777)
		if err == nil {
			err = x.watch.limits.InStep(ctx, "the command", func(ctx context.Context) error {
				return process.Run(ctx, planned.restart, filepath.Join(env.Dir, "restart.log"))
			})
		}
		if err != nil {
			return "", false, fmt.Errorf("restarting target %s with %q: %w", planned.name, planned.restart, err)
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
		return "", false, fmt.Errorf("dropping the page cache: %w", err)
	}
	if own != nil {
		// Reading its files while it starts is the server's own affair.
		if err := own.wake(ctx); err != nil {
			return "", false, err
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
	return what, len(undone) == 0 && (folder == "" || dropped.Cold()), nil
}

// patience is how long a server that was restarted may take to answer.
const patience = time.Minute

// openAgain opens a target, whose server may be on its way up.
func openAgain(ctx context.Context, planned *plannedTarget, env driver.Env) (driver.DB, error) {
	for deadline := time.Now().Add(patience); ; {
		t, err := planned.driver.Open(ctx, env, planned.options)
		if err == nil || planned.restart == "" || !errors.Is(err, driver.ErrUnreachable) || time.Now().After(deadline) {
			return t, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return driver.DB{}, ctx.Err()
		}
	}
}
