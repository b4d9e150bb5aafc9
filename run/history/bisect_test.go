package history

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/result"
)

// Ends whose evidence does not decide are not said to be the same.
func TestFindUndecided(t *testing.T) {
	b := &Bisection{
		Series: &Series{pairs: []*Pair{{A: 0, B: 1, Runs: []*result.Run{{Targets: make([]result.Target, 2)}}}}}, Names: []string{"a", "b"}, Least: 1.03, MostRuns: 1,
		Judge: func(*Pair) Evidence { return Evidence{Ratio: 0.1, High: math.Inf(1), Text: "0.1 after 3 loads"} }, Say: func(string) {},
	}
	if found, err := b.Find(t.Context()); err != nil || !found.Same || !found.Undecided {
		t.Errorf("found %+v, %v", found, err)
	}
}

// One run does not show a step, however narrow its interval is, nor do runs that point both ways.
func TestFindTwoRuns(t *testing.T) {
	for _, c := range []struct {
		each      []float64
		undecided bool
	}{{[]float64{1.2, 1.1}, false}, {[]float64{1.2, 0.99}, true}, {[]float64{1.2}, true}} {
		p := &Pair{A: 0, B: 1}
		for range c.each {
			p.Runs = append(p.Runs, &result.Run{Targets: make([]result.Target, 2)})
		}
		b := &Bisection{
			Series: &Series{pairs: []*Pair{p}}, Names: []string{"a", "b"}, Least: 1.03, MostRuns: len(c.each),
			Judge: func(*Pair) Evidence { return Evidence{Ratio: 1.1, Low: 1.09, High: 1.11, Each: c.each} }, Say: func(string) {},
		}
		found, err := b.Find(t.Context())
		if err != nil || found.Same != c.undecided || found.Undecided != c.undecided {
			t.Errorf("%v: found %+v, %v", c.each, found, err)
		}
		if !b.Decided(b.Judge(p)) {
			t.Errorf("%v: the run goes on", c.each)
		}
	}
	// A single run that seems to show one is followed by another.
	b := &Bisection{MostRuns: 3, Least: 1.03}
	if e := (Evidence{Ratio: 1.1, Low: 1.09, High: 1.11, Each: []float64{1.1}}); b.side(e) != unknown {
		t.Error("one run decides")
	}
}

// A step is found wherever it is, around targets that fail, and none where the ends do not differ.
func TestFind(t *testing.T) {
	const n = 9
	for _, c := range []struct {
		name    string
		step    int // first target with the step; n: none
		ratio   float64
		fails   []int
		first   int
		skipped []int
	}{
		{"slower", 4, 1.3, nil, 4, nil},
		{"faster", 4, 0.7, nil, 4, nil},
		{"the second", 1, 1.3, nil, 1, nil},
		{"the last", 8, 1.3, nil, 8, nil},
		{"none", n, 1.3, nil, 8, nil},
		{"one fails", 5, 1.3, []int{4}, 5, []int{4}},
		{"one elsewhere fails", 7, 1.3, []int{4}, 7, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprint("v", i)
			}
			var said []string
			b := &Bisection{
				Series: &Series{}, Names: names, Least: 1.03, MostRuns: 1,
				Judge: func(p *Pair) Evidence {
					ratio := 1.0
					if p.A < c.step && p.B >= c.step {
						ratio = c.ratio
					}
					return Evidence{Ratio: ratio, Low: ratio * 0.99, High: ratio * 1.01, Text: "evidence"}
				},
				Prepare: func(_ context.Context, target int) (string, error) {
					if slices.Contains(c.fails, target) {
						return "does not build", nil
					}
					return "", nil
				},
				Say: func(text string) { said = append(said, text) },
			}
			for i := range n {
				for j := range n { // all are compared already
					b.pairs = append(b.pairs, &Pair{A: i, B: j, Runs: []*result.Run{{Targets: make([]result.Target, 2)}}})
				}
			}
			found, err := b.Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "none" && found.Evidence.Text == "" {
				t.Error("no evidence")
			}
			if found.First != c.first || found.Same != (c.step == n) || !slices.Equal(found.Skipped, c.skipped) || found.Undecided {
				t.Errorf("found %+v\n%s", found, strings.Join(said, "\n"))
			}
			if len(said) > 6 {
				t.Errorf("%d decisions:\n%s", len(said), strings.Join(said, "\n"))
			}
		})
	}
}
