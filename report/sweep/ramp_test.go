package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// A knee is named only where the figures show one.
func TestKnee(t *testing.T) {
	workers := func(p99 float64, rates ...float64) (list []step) {
		for i, v := range []string{"1", "2", "4", "8"}[:len(rates)] {
			s := step{value: v, median: p99 / 2, p99: p99 * float64(i+1)}
			for n := range 6 {
				s.rates = append(s.rates, rates[i]*(1+0.002*float64(n)))
			}
			list = append(list, s)
		}
		return list
	}
	rate := func(saturated ...bool) (list []step) {
		for i, s := range saturated {
			list = append(list, step{value: []string{"100/s", "200/s", "400/s"}[i], rates: []float64{100}, p99: 0.001, saturated: s})
		}
		return list
	}
	once := workers(0.001, 100, 200, 205, 203)
	for i := range once {
		once[i].rates = once[i].rates[:1]
	}
	few := workers(0, 100, 200, 205, 203)
	for name, test := range map[string]struct {
		path  string
		steps []step
		says  string
	}{
		"levels off":           {result.RampWorkers, workers(0.001, 100, 200, 205, 203), "knee at queries.workers=2: 201 queries/s, p99 2.00"},
		"does not scale":       {result.RampWorkers, workers(0.001, 200, 200, 205, 203), "knee at queries.workers=1: "},
		"rises":                {result.RampWorkers, workers(0.001, 100, 200, 400, 800), "no knee: the rate was not shown to level off up to queries.workers=8"},
		"one round":            {result.RampWorkers, once, "no knee: too few rounds"},
		"too few queries":      {result.RampWorkers, few, "no knee: too few queries for p99"},
		"two steps":            {result.RampWorkers, workers(0.001, 100, 100), "no knee: it takes three steps"},
		"saturated":            {result.RampQueries, rate(false, false, true), "knee at queries.rate=200/s: 100 queries/s, p99 1.00"},
		"saturated rows":       {result.RampRows, rate(false, true, true), "knee at mixed.row-rate=100/s: 100 rows/s, p99 1.00"},
		"kept":                 {result.RampQueries, rate(false, false, false), "no knee: the target kept every rate, up to 400/s"},
		"saturated at first":   {result.RampQueries, rate(true, true, true), "no knee: saturated at the lowest rate, 100/s"},
		"saturated in between": {result.RampQueries, rate(false, true, false), "no knee: saturated at 200/s, and not at 400/s"},
	} {
		r := ramp{path: test.path, steps: test.steps}
		if text, found := r.knee(); !strings.HasPrefix(text, test.says) || found != strings.HasPrefix(test.says, "knee") {
			t.Errorf("%s: %q, want %q…", name, text, test.says)
		}
	}
}

// Ramps with the same text have one line together.
func TestKneeLines(t *testing.T) {
	var ramps []ramp
	add := func(target, queryType string, saturated ...bool) {
		r := ramp{target: target, queryType: queryType, path: result.RampRows}
		for i, s := range saturated {
			r.steps = append(r.steps, step{value: []string{"100/s", "200/s", "400/s"}[i], rates: []float64{100}, p99: 0.001, saturated: s})
		}
		ramps = append(ramps, r)
	}
	for _, target := range []string{"a", "b"} {
		for _, queryType := range []string{"q1", "q2", "q3", "q4"} {
			add(target, queryType, false, false, false)
		}
	}
	add("c", "q1", false, false, false)
	add("c", "q2", true, true, true)
	var got []string
	for _, l := range rampAnswers(ramps) {
		got = append(got, l.Text)
	}
	want := []string{
		"a and b, 4 query types; c, q1: no knee: the target kept every rate, up to 400/s",
		"c, q2: no knee: saturated at the lowest rate, 100/s",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if table := rampTable(ramps); len(table.Notes) > 0 || len(table.Rows) != 30 {
		t.Errorf("the table has %d rows and repeats the lines: %v", len(table.Rows), table.Notes)
	}
}
