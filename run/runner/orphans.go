package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
)

// stopWithinBefore is how long agents of runs that do not say it may go on after their
// coordinator has died: that of --agents-lost 5s, the default.
const stopWithinBefore = 10 * time.Second

// waitForOrphans waits until agents of runs whose process was killed certainly do nothing any
// longer: what they still write would come into tables that are loaded again. An
// agent whose process has asked for work has stopped; who has not is given the time
// after which it notices that it is alone. A run that ended by itself, if only by
// Ctrl-C, has seen its agents stop.
//
// The time begins now: the caller knows only that the process is gone, as it has its lock.
func (r *Runner) waitForOrphans(ctx context.Context, runs ...*result.Run) error {
	var processes []string
	var longest time.Duration
	for _, run := range runs {
		if run.Status != result.Running {
			continue
		}
		for i := range run.Agents {
			processes = append(processes, run.Agents[i].Process)
			longest = max(longest, stopWithinOf(run))
		}
	}
	left := func() bool {
		processes = slices.DeleteFunc(processes, func(p string) bool { return p != "" && r.Agents != nil && r.Agents.Asked(p) })
		return len(processes) > 0
	}
	if !left() {
		return nil
	}
	task := r.Display.Start(fmt.Sprintf("waiting %v for agents that may still load", longest.Round(time.Second)), "", 0)
	end := time.NewTimer(longest)
	defer end.Stop()
	look := time.NewTicker(min(longest/10, 200*time.Millisecond))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			record.Fail(ctx, task, context.Cause(ctx))
			return context.Cause(ctx)
		case <-end.C:
			task.Finish("")
			return nil
		case <-look.C:
			if !left() {
				task.Finish("all have stopped")
				return nil
			}
		}
	}
}

// stopWithinOf is how long agents of a run may go on after its process has died.
func stopWithinOf(run *result.Run) time.Duration {
	return cmp.Or(time.Duration(run.AgentsStopWithin*float64(time.Second)), stopWithinBefore)
}
