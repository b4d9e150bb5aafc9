package stage

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
)

// kept is a store that remembers the last saved load.
type kept struct {
	record.Store
	load result.Load
}

func (k *kept) Append(_ context.Context, _ *result.Run, p *result.Piece) error {
	k.load = *p.Load
	return nil
}

// A disturbed load is repeated, at most three times; then the run ends, and a resumed run loads
// from scratch.
func TestLoadQuietly(t *testing.T) {
	phase := func(others float64) *result.Noise {
		n := result.NewNoise(10, 2)
		n.Others, n.OthersMin, n.OthersMax = result.Value(others), result.Value(others), result.Value(others)
		n.Judge(result.QuietShare)
		return &n
	}
	quiet, noisy := phase(1), phase(10)
	for name, c := range map[string]struct {
		require string
		loads   []result.Load
		tries   int
		failed  bool
	}{
		"quiet":                    {"10%", []result.Load{{Cell: result.Cell{Noise: quiet}}}, 1, false},
		"not required":             {"", []result.Load{{Cell: result.Cell{Noise: noisy}}}, 1, false},
		"quiet the second time":    {"10%", []result.Load{{Cell: result.Cell{Noise: noisy}}, {Cell: result.Cell{Noise: quiet}}}, 2, false},
		"a noisy step":             {"10%", []result.Load{{Steps: []result.Step{{Noise: noisy}}}, {}}, 2, false},
		"a noisy mixed phase":      {"10%", []result.Load{{Mixed: &result.Mixed{Writes: result.Load{Cell: result.Cell{Noise: noisy}}}}, {}}, 2, false},
		"never quiet":              {"10%", []result.Load{{Cell: result.Cell{Noise: noisy}}, {Cell: result.Cell{Noise: noisy}}, {Cell: result.Cell{Noise: noisy}}}, 3, true},
		"nobody could tell: quiet": {"10%", []result.Load{{}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := experiment.Default()
			e.RequireQuiet = c.require
			store := &kept{}
			plan := &plan.Plan{Experiment: e}
			x := &Loader{Plan: plan, Record: &record.Record{Store: store}, Watch: watch.NewWatch(plan), Subject: &subject.Subject{}}
			target := &result.Target{Name: "a"}
			tries := 0
			err := x.quietly(t.Context(), target, 1, func(int) (*result.Load, error) {
				l := c.loads[tries]
				l.Settled = 1
				tries++
				return &l, nil
			})
			if tries != c.tries || errors.Is(err, record.ErrNotQuiet) != c.failed {
				t.Fatalf("%d tries, error %v", tries, err)
			}
			if c.failed && (store.load.Settled != 0 || !strings.Contains(store.load.Withheld, "other processes used 50 % of the CPU") ||
				!strings.Contains(err.Error(), "3 times in a row, the load of target a was disturbed: other processes used 50 % of the CPU; tsmark resume goes on")) {
				t.Errorf("kept %+v; error %v", store.load, err)
			}
		})
	}
	x := &Loader{}
	failed := errors.New("it failed")
	if err := x.quietly(t.Context(), &result.Target{}, 1, func(int) (*result.Load, error) { return nil, failed }); err != failed {
		t.Error(err)
	}
}
