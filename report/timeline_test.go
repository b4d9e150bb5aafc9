package report_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/result"
)

// A counter is drawn as its rise a second, over gaps too; two readings at
// almost the same time say nothing.
func TestCourses(t *testing.T) {
	r := &result.Resources{Period: 1}
	r.Add(0, map[result.Metric]float64{result.CPU: 0, result.RSS: 7})
	r.Add(1, map[result.Metric]float64{result.CPU: 2, result.RSS: 9})
	r.Add(2, nil)
	r.Add(3, map[result.Metric]float64{result.CPU: 8, result.RSS: 8})
	r.Add(3.001, map[result.Metric]float64{result.CPU: 9})
	if c := runchart.ReadCourse(r, result.CPU, chart.Style{}); len(c.Values) != 2 || c.Values[0] != 2 || c.Values[1] != 3 || c.At[1] != 3 {
		t.Errorf("CPU %+v", c)
	}
	if c := runchart.ReadCourse(r, result.RSS, chart.Style{}); len(c.Values) != 3 || c.Values[1] != 9 {
		t.Errorf("RSS %+v", c)
	}
	if c := runchart.ReadCourse(r, result.NetSent, chart.Style{}); len(c.Values) != 0 {
		t.Errorf("never read: %+v", c)
	}
}

// A measurement that is too short for its readings has no figures rather than wrong ones.
func TestUsageOfShortMeasurements(t *testing.T) {
	r := &result.Resources{Period: 1}
	for at := range 30 {
		r.Add(float64(at), map[result.Metric]float64{result.CPU: float64(at)})
	}
	long, short, outside := &result.Cell{From: 2, To: 8}, &result.Cell{From: 9, To: 9.5}, &result.Cell{From: 25, To: 35}
	if u, known := estimate.SumUsage([]*result.Resources{r}, []*result.Cell{long, long}); !known || math.Abs(float64(u.CPU)-12) > 1e-9 || u.RSSMax.IsKnown() {
		t.Errorf("twice six seconds: %+v", u)
	}
	for _, cells := range [][]*result.Cell{nil, {long, short}, {outside}} {
		if u, known := estimate.SumUsage([]*result.Resources{r}, cells); known {
			t.Errorf("%d cells: %+v", len(cells), u)
		}
	}
	r = &result.Resources{Period: 1}
	for _, at := range []float64{9.5, 10, 10.5} {
		r.Add(at, map[result.Metric]float64{result.CPU: at})
	}
	for _, c := range []struct {
		from, to float64
		known    bool
	}{{9.5, 10, true}, {9.509, 10.009, true}, {9.512, 10, false}, {9.5, 9.99, false}, {9.505, 9.745, false}} {
		u, known := estimate.SumUsage([]*result.Resources{r}, []*result.Cell{{From: c.from, To: c.to}})
		if known != c.known || known && math.Abs(float64(u.CPU)-0.5) > 1e-9 {
			t.Errorf("from %g to %g: %v, %+v; read at its ends: %v", c.from, c.to, known, u, c.known)
		}
	}
}

func TestWinners(t *testing.T) {
	run := observedRun(t)
	g := rank.Groups([]*result.Run{run})[0]
	view := tables.Winners(&g)
	if view == nil || len(view.Rows) != 1 {
		t.Fatalf("%+v", view)
	}
	if r := view.Rows[0].Cells; r[1].Text != "duck faster" || r[2].Text != "quest"+rank.BoundMark+" ÷ duck"+rank.NoisyMark || !strings.HasPrefix(r[3].Text, "1.") {
		t.Errorf("lastpoint: %+v", r)
	}
	run.Targets[0].Repeats, run.Targets[1].Repeats = run.Targets[0].Repeats[:1], run.Targets[1].Repeats[:1]
	g = rank.Groups([]*result.Run{run})[0]
	if view := tables.Winners(&g); view != nil {
		t.Errorf("of one repeat: %+v", view.Rows)
	}
}
