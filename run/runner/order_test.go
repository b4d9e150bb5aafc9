package runner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// Targets take turns in every round; loads and checks come first, and
// what was answered is compared at the end.
func TestOrder(t *testing.T) {
	e := experiment.Default()
	e.Load.Repeats, e.Queries.Repeats = 2, 2
	p := Plan{experiment: e, targets: make([]plannedTarget, 2), steps: Steps{Load: true, Verify: true, Query: true}}
	for steps, want := range map[Steps][]string{
		{Load: true, Verify: true, Query: true}: {
			"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2", "check 0, 1", "check 1, 1", "query 0, 1", "query 1, 1", "query 0, 2", "query 1, 2", "compare 0, 1", "compare 1, 1"},
		{Load: true}:                {"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2"},
		{Verify: true, Query: true}: {"check 0, 1", "check 1, 1", "query 0, 1", "query 1, 1", "query 0, 2", "query 1, 2", "compare 0, 1", "compare 1, 1"},
		{Verify: true}:              {"check 0, 1", "check 1, 1"},
	} {
		p.steps = steps
		var got []string
		for _, c := range p.order() {
			got = append(got, fmt.Sprintf("%s %d, %d", []string{"load", "check", "query", "compare"}[c.job], c.target, c.repeat))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", steps, diff)
		}
	}
}

// Where nobody said how often, targets that are compared are loaded six times,
// unless the first loads say that this would take too long.
func TestLoadsRepeat(t *testing.T) {
	all := Steps{Load: true, Verify: true, Query: true}
	for name, c := range map[string]struct {
		targets, repeats int
		file             string
		steps            Steps
		want             int
		long, longest    bool // with loads of 2 s, of 3 s
	}{
		"compared":      {2, 0, "", all, 6, false, true},
		"as told":       {2, 3, "", all, 3, false, false},
		"one target":    {1, 0, "", all, 1, false, false},
		"only loaded":   {2, 0, "", Steps{Load: true}, 1, false, true},
		"from a stream": {1, 0, "-", all, 1, false, false},
	} {
		e := experiment.Default()
		e.Targets, e.Load.Repeats, e.Load.File = e.Targets[:c.targets], c.repeats, c.file
		p := &Plan{experiment: e, steps: c.steps, compares: c.steps.Query}
		if got := p.loads(); got != c.want {
			t.Errorf("%s: %d loads, want %d", name, got, c.want)
		}
		for seconds, want := range map[float64]bool{2: c.long, 3: c.longest} {
			x := &execution{stage: &stage{subject: &subject{plan: p}}}
			for range c.targets {
				x.run.Targets = append(x.run.Targets, result.Target{Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Settled: seconds}}}})
			}
			if got := x.longLoads(); got != want {
				t.Errorf("%s, %v s each: too long %v, want %v", name, seconds, got, want)
			}
		}
	}
}

// Of targets that share a place each is in a part of its own. Parts come one after
// the other, and within one the targets take turns.
func TestOrderOfParts(t *testing.T) {
	e := experiment.Default()
	e.Queries.Repeats = 2
	var p Plan
	p.experiment, p.secrets = e, secret.New()
	for i, place := range []string{"x", "", "x", "y", "x", "y"} {
		p.targets = append(p.targets, plannedTarget{name: fmt.Sprint(i), shares: place})
	}
	for steps, want := range map[Steps]string{
		{Load: true, Verify: true}:              "load 0, load 1, load 3, check 0, check 1, check 3, load 2, load 5, check 2, check 5, load 4, check 4",
		{Load: true, Verify: true, Query: true}: "load 0, load 1, load 3, check 0, check 1, check 3, query 0, query 1, query 3, query 0, query 1, query 3, compare 0, compare 1, compare 3, load 2, load 5, check 2, check 5, query 2, query 5, query 2, query 5, compare 2, compare 5, load 4, check 4, query 4, query 4, compare 4",
		{Verify: true}:                          "check 0, check 1, check 2, check 3, check 4, check 5", // nothing is overwritten
	} {
		p.steps = steps
		var got []string
		for _, c := range p.order() {
			got = append(got, fmt.Sprintf("%s %d", []string{"load", "check", "query", "compare"}[c.job], c.target))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", steps, diff)
		}
	}
	p.steps = Steps{Load: true}
	want := &result.Turn{Part: 2, Parts: 3, Place: "x", Shares: []string{"0", "4"}}
	if diff := cmp.Diff(want, p.turnOf(2)); diff != "" {
		t.Errorf("a target that shares (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&result.Turn{Part: 1, Parts: 3}, p.turnOf(1)); diff != "" {
		t.Errorf("one that does not (-want +got):\n%s", diff)
	}
	p.targets = p.targets[:2]
	if p.turnOf(0) != nil {
		t.Error("a turn where nothing is shared")
	}
}
