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

// stopWithinBefore is the default for runs that do not record how long agents may continue after
// their coordinator has died: the value for --agents-lost 5s.
const stopWithinBefore = 10 * time.Second

// waitForOrphans waits until agents of killed runs have certainly stopped, because their remaining
// writes would reach tables that are loaded again. An agent whose process has requested to join has
// stopped; another agent stops once it notices that its coordinator is gone. A run that ended by
// itself, even by Ctrl-C, has waited for its agents.
//
// The waiting time starts now: the caller only knows that the process is gone, because it holds its
// lock.
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
		processes = slices.DeleteFunc(processes, func(p string) bool { return p != "" && r.Agents != nil && r.Agents.HasRequested(p) })
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

// stopWithinOf returns how long agents of a run may continue after its process has died.
func stopWithinOf(run *result.Run) time.Duration {
	return cmp.Or(time.Duration(run.AgentsStopWithin*float64(time.Second)), stopWithinBefore)
}
