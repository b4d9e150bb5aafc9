package result_test

import (
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A share is missing if no agent finished it. An agent that took over started later and does not
// count for the spread of starts.
func TestParts(t *testing.T) {
	c := result.Cell{Parts: []result.Part{
		{Agent: "a", Share: 0, Skew: 0.001, Wall: 10}, {Agent: "b", Share: 1, Skew: -0.002, Wall: 9, Lost: "died", TakenOver: "a"}, {Agent: "a", Share: 1, Skew: 11, Wall: 8},
		{Agent: "c", Share: 2, Skew: 0.004, Wall: 3, Lost: "cut off"},
	}}
	if missing := c.Missing(); len(missing) != 1 || missing[0].Agent != "c" {
		t.Errorf("missing: %+v", missing)
	}
	if spread := c.StartSpread(); spread < 0.00599 || spread > 0.00601 {
		t.Errorf("they began %v s apart", spread)
	}
	if c.SpreadTooWide() {
		t.Error("6 ms of 8 s are too wide")
	}
	c.Parts[2].Wall = 0.5
	if !c.SpreadTooWide() {
		t.Error("6 ms of 0.5 s are not too wide")
	}
	if c.Bound() != "" {
		t.Errorf("bound by %s", c.Bound())
	}
	c.Parts[0].ClientBound, c.Parts[3].ClientBound = "busy", "busy too"
	if c.Bound() != "agent a: busy (and 1 more)" {
		t.Errorf("bound by %s", c.Bound())
	}
}

// Clocks that drift keep their uncertainty; one that was set is as uncertain as it moved.
func TestClocks(t *testing.T) {
	run := result.Run{Agents: []result.Agent{
		{Name: "a", Begin: &result.Clock{At: 0, Offset: 1, Uncertainty: 0.001}, End: &result.Clock{At: 1000, Offset: 1.05, Uncertainty: 0.002}},
		{Name: "b", Begin: &result.Clock{At: 0, Offset: -1, Uncertainty: 0.003}},
		{Name: "c"},
	}}
	if a := &run.Agents[0]; a.Set() || a.Drift() < 0.0469 || a.Drift() > 0.0471 {
		t.Errorf("a drifted by %v s and was set: %v", a.Drift(), a.Set())
	}
	if u := run.ClockUncertainty(); u < 0.00499 || u > 0.00501 {
		t.Errorf("uncertain by %v s", u)
	}
	run.Agents[0].End.Offset = 1.5
	if u := run.ClockUncertainty(); !run.Agents[0].Set() || u < 0.501 || u > 0.503 {
		t.Errorf("set, uncertain by %v s", u)
	}
	if run.Agent("c").Clock() != nil || run.Agent("d") != nil {
		t.Error("c has a clock, or d exists")
	}
}

// A resumed run needs as many agents as it started with, including lost ones, but not counting
// their replacements.
func TestClients(t *testing.T) {
	run := result.Run{}
	if n := run.Clients(); n != 0 {
		t.Errorf("no agents are %d", n)
	}
	run.Agents = []result.Agent{{Name: "a"}, {Name: "b", Lost: "died"}, {Name: "c"}}
	if n := run.Clients(); n != 3 {
		t.Errorf("before the first phase: %d", n)
	}
	load := &result.Load{Cell: result.Cell{Parts: []result.Part{{Agent: "a"}, {Agent: "b", Share: 1, Lost: "died"}}}}
	run.Targets = []result.Target{{Repeats: []result.Repeat{{Load: load, Queries: []result.Queries{{Cell: result.Cell{Parts: []result.Part{{Agent: "a"}}}}}}}}}
	if n := run.Clients(); n != 2 {
		t.Errorf("with parts: %d", n)
	}
}

// The client's CPU time is that of all agents, and unknown if that of one of them is.
func TestClientTimes(t *testing.T) {
	used := func(user, system result.Value) *result.Client { return &result.Client{User: user, System: system} }
	for name, c := range map[string]struct {
		cell result.Cell
		want [2]result.Value
	}{
		"one client":       {result.Cell{Client: used(3, 1)}, [2]result.Value{3, 1}},
		"two agents":       {result.Cell{Parts: []result.Part{{Client: used(3, 1)}, {Client: used(0.5, 0.25)}}}, [2]result.Value{3.5, 1.25}},
		"one agent unread": {result.Cell{Parts: []result.Part{{Client: used(3, 1)}, {}}}, [2]result.Value{result.Absent(), result.Absent()}},
		"nobody":           {result.Cell{}, [2]result.Value{result.Absent(), result.Absent()}},
	} {
		user, system := c.cell.ClientTimes()
		for i, got := range []result.Value{user, system} {
			if got != c.want[i] && (got.IsKnown() || c.want[i].IsKnown()) {
				t.Errorf("%s: %v user, %v system, want %v", name, user, system, c.want)
			}
		}
	}
}
