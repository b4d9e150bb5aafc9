package runner

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/experiment"
)

// Targets take turns in every round; loads and checks come first.
func TestOrder(t *testing.T) {
	e := experiment.Default()
	e.Load.Repeats, e.Queries.Repeats = 2, 2
	p := Plan{experiment: e, targets: make([]plannedTarget, 2), steps: Steps{Load: true, Verify: true, Ask: true}}
	for steps, want := range map[Steps][]string{
		{Load: true, Verify: true, Ask: true}: {
			"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2", "check 0, 1", "check 1, 1", "ask 0, 1", "ask 1, 1", "ask 0, 2", "ask 1, 2"},
		{Load: true}:              {"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2"},
		{Verify: true, Ask: true}: {"check 0, 1", "check 1, 1", "ask 0, 1", "ask 1, 1", "ask 0, 2", "ask 1, 2"},
		{Verify: true}:            {"check 0, 1", "check 1, 1"},
	} {
		p.steps = steps
		var got []string
		for _, c := range p.order() {
			got = append(got, fmt.Sprintf("%s %d, %d", []string{"load", "check", "ask"}[c.job], c.target, c.repeat))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", steps, diff)
		}
	}
}
