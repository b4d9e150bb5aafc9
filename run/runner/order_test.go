package runner

import (
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// By default compared targets are loaded six times, unless the first loads show that this would
// take too long.
func TestLoadsRepeat(t *testing.T) {
	all := plan.Steps{Load: true, Verify: true, Query: true}
	for name, c := range map[string]struct {
		targets, repeats int
		file             string
		steps            plan.Steps
		want             int
		long, longest    bool // with loads of 2 s, of 3 s
	}{
		"compared":      {2, 0, "", all, 6, false, true},
		"as told":       {2, 3, "", all, 3, false, false},
		"one target":    {1, 0, "", all, 1, false, false},
		"only loaded":   {2, 0, "", plan.Steps{Load: true}, 1, false, true},
		"from a stream": {1, 0, "-", all, 1, false, false},
	} {
		e := experiment.Default()
		e.Targets, e.Load.Repeats, e.Load.File = e.Targets[:c.targets], c.repeats, c.file
		p := &plan.Plan{Experiment: e, Steps: c.steps, Compares: c.steps.Query}
		if got := p.LoadRepeats(); got != c.want {
			t.Errorf("%s: %d loads, want %d", name, got, c.want)
		}
		for seconds, want := range map[float64]bool{2: c.long, 3: c.longest} {
			x := &execution{plan: p, record: &record.Record{}}
			for range c.targets {
				x.record.Doc.Targets = append(x.record.Doc.Targets, result.Target{Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Settled: seconds}}}})
			}
			if got := x.longLoads(); got != want {
				t.Errorf("%s, %v s each: too long %v, want %v", name, seconds, got, want)
			}
		}
	}
}
