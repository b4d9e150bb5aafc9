package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// askCold asks one query of each type, each of a target that has just been
// opened, after what the machine kept of its files was dropped. In each repeat
// it is another query.
func (x *execution) askCold(ctx context.Context, c cell, planned *plannedTarget, env target.Env, out *result.Target) error {
	task := x.Display.Start("ask "+out.Name+" cold"+ofRepeats(c.repeat, x.plan.experiment.QueryRepeats()), "queries", 0)
	for i := range x.questions {
		q := &x.questions[i]
		if x.asked(out, c.repeat, q.kind.Name) {
			continue
		}
		if err := x.askTypeCold(ctx, c, planned, env, out, q); err != nil {
			task.Fail(reason(ctx, err))
			return fmt.Errorf("%s: %w", q.kind.Name, err)
		}
		task.Add(1)
	}
	task.Done("")
	return nil
}

func (x *execution) askTypeCold(ctx context.Context, c cell, planned *plannedTarget, env target.Env, out *result.Target, q *questions) error {
	asked, err := x.rendered(planned, q)
	if err != nil {
		return err
	}
	what, cold, err := x.chill(ctx, planned, folderOf(planned, env))
	if err != nil {
		return err
	}
	t, err := openAgain(ctx, planned, env)
	if err != nil {
		return err
	}
	defer t.Close() // reading only
	section, err := x.section(oplog.Cell{
		Kind: oplog.Query, Target: out.Name, Type: q.kind.Name, Repeat: c.repeat, Workers: 1, Questions: len(asked), Setting: "cold",
	})
	if err != nil {
		return err
	}
	one := asked[(c.repeat-1)%len(asked):][:1]
	var measured *result.Queries
	where, err := x.cell(ctx, planned.kind.Caps.Embedded, func() (err error) {
		measured, err = engine.Query(ctx, engine.QueryConfig{Workers: 1, Timeout: x.plan.experiment.Queries.Timeout, Log: section}, t, one, func(int) {})
		return err
	})
	if err != nil {
		return err
	}
	// The place of the question among all of the type, as in a warm repeat.
	each := make([]float64, (c.repeat-1)%len(asked)+1)
	copy(each[len(each)-1:], measured.Each)
	measured.Each, measured.Distinct = each, len(asked)
	measured.Cell, measured.Cache, measured.Cold = where, what, cold
	return x.keep(ctx, c, q, out, measured)
}

// folderOf is where a target's files are; empty: not known, as on another host.
func folderOf(planned *plannedTarget, env target.Env) string {
	switch path := planned.options["path"]; {
	case planned.start != "":
		return filesOf(env.Dir)
	case !planned.kind.Caps.Embedded:
		return ""
	case path != "":
		return filepath.Dir(path)
	}
	return env.Dir
}

// chill makes a closed target cold: its server is restarted, and its files are
// dropped from the page cache. It says what was done, and whether all is known
// to be cold.
func (x *execution) chill(ctx context.Context, planned *plannedTarget, folder string) (what string, cold bool, err error) {
	var done, undone []string
	own := x.servers[planned.name]
	switch {
	case planned.kind.Caps.Embedded:
		done = append(done, "opened anew")
	case own != nil:
		if err := own.stop(ctx); err != nil {
			return "", false, fmt.Errorf("stopping the server of target %s: %w", planned.name, err)
		}
		done = append(done, "its server stopped and started")
	case planned.restart == "":
		undone = append(undone, "its server was not restarted: name a command in the target's restart")
	default:
		if text, err := exec.CommandContext(ctx, "sh", "-c", planned.restart).CombinedOutput(); err != nil {
			return "", false, fmt.Errorf("restarting target %s with %q: %w: %s", planned.name, planned.restart, err, strings.TrimSpace(string(text)))
		}
		done = append(done, "its server restarted")
	}
	var folders []string
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
func openAgain(ctx context.Context, planned *plannedTarget, env target.Env) (target.Target, error) {
	for deadline := time.Now().Add(patience); ; {
		t, err := planned.kind.Open(ctx, env, planned.options)
		if err == nil || planned.restart == "" || !errors.Is(err, target.ErrUnreachable) || time.Now().After(deadline) {
			return t, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
