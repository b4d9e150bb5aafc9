package runner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/shared"
)

// started records the labels of started tasks.
type started struct {
	record.NoDisplay
	labels []string
}

func (s *started) Start(label, _ string, _ int64) record.Task {
	s.labels = append(s.labels, label)
	return s.NoDisplay
}

// askers are agents; some of their processes have requested to join.
type askers struct {
	shared.Agents
	list []string
}

func (a askers) HasRequested(process string) bool { return slices.Contains(a.list, process) }

// There is no wait for agents that have stopped, for agents of a run that ended by itself, or
// without agents. The waiting time is the run's, or the default.
func TestOrphans(t *testing.T) {
	of := func(status result.Status, stopWithin float64, processes ...string) *result.Run {
		run := &result.Run{Status: status, AgentsStopWithin: stopWithin}
		for _, p := range processes {
			run.Agents = append(run.Agents, result.Agent{Process: p})
		}
		return run
	}
	for name, c := range map[string]struct {
		runs   []*result.Run
		agents shared.Agents
		label  string
	}{
		"no agents":          {runs: []*result.Run{of(result.Running, 0)}},
		"clean end":          {runs: []*result.Run{of(result.Incomplete, 25, "a", "b"), of(result.Complete, 25, "a")}},
		"all have requested": {runs: []*result.Run{of(result.Running, 25, "a", "b")}, agents: askers{list: []string{"b", "a", "spare"}}},
		"one is left":        {runs: []*result.Run{of(result.Running, 25, "a", "b")}, agents: askers{list: []string{"spare", "a"}}, label: "waiting 25s for agents that may still load"},
		"without agents":     {runs: []*result.Run{of(result.Running, 8, "a"), of(result.Running, 25, "a")}, label: "waiting 25s for agents that may still load"},
		"recorded before":    {runs: []*result.Run{of(result.Running, 0, "")}, agents: askers{list: []string{""}}, label: "waiting 10s for agents that may still load"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		var shown started
		err := (&Runner{Display: &shown, Agents: c.agents}).waitForOrphans(ctx, c.runs...)
		cancel()
		if waits := errors.Is(err, context.DeadlineExceeded); waits != (c.label != "") || !waits && err != nil || waits && !slices.Equal(shown.labels, []string{c.label}) || !waits && len(shown.labels) > 0 {
			t.Errorf("%s: %v, shown %q; want %q", name, err, shown.labels, c.label)
		}
	}
	// It ends by itself if no agent requests to join.
	if err := (&Runner{Display: record.NoDisplay{}}).waitForOrphans(t.Context(), of(result.Running, 0.05, "a")); err != nil {
		t.Error(err)
	}
}
