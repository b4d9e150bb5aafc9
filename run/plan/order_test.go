package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// jobsOf renders the jobs of a plan.
func jobsOf(p *Plan, seed string) []string {
	var list []string
	for _, c := range p.Order(seed) {
		list = append(list, fmt.Sprintf("%s %d, %d", []string{"load", "check", "query", "compare"}[c.Kind], c.Target, c.Repeat))
	}
	return list
}

// Loads and checks come first, and recorded answers are compared at the end. Each target has each
// of its repeats once, in order.
func TestOrder(t *testing.T) {
	e := experiment.Default()
	e.Load.Repeats, e.Queries.Repeats = 2, 2
	p := Plan{Experiment: e, Targets: make([]Target, 2), Steps: Steps{Load: true, Verify: true, Query: true}}
	for steps, want := range map[Steps][]string{
		{Load: true, Verify: true, Query: true}: {
			"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2", "check 0, 1", "check 1, 1", "query 0, 1", "query 1, 1", "query 0, 2", "query 1, 2", "compare 0, 1", "compare 1, 1"},
		{Load: true}:                {"load 0, 1", "load 1, 1", "load 0, 2", "load 1, 2"},
		{Verify: true, Query: true}: {"check 0, 1", "check 1, 1", "query 0, 1", "query 1, 1", "query 0, 2", "query 1, 2", "compare 0, 1", "compare 1, 1"},
		{Verify: true}:              {"check 0, 1", "check 1, 1"},
	} {
		p.Steps = steps
		orders := make(map[string]bool)
		for seed := range 100 {
			got := jobsOf(&p, fmt.Sprint(seed))
			orders[strings.Join(got, "; ")] = true
			if diff := gocmp.Diff(got, jobsOf(&p, fmt.Sprint(seed))); diff != "" {
				t.Fatalf("%+v: one seed, two orders:\n%s", steps, diff)
			}
			byJob := func(s string) string { job, _, _ := strings.Cut(s, " "); return job }
			if diff := gocmp.Diff(lines(want, byJob), lines(got, byJob)); diff != "" {
				t.Fatalf("%+v, jobs (-want +got):\n%s", steps, diff)
			}
			for target := range 2 {
				own := func(s string) string {
					if strings.Contains(s, fmt.Sprintf(" %d,", target)) {
						return s
					}
					return ""
				}
				if diff := gocmp.Diff(lines(want, own), lines(got, own)); diff != "" {
					t.Fatalf("%+v, target %d (-want +got):\n%s", steps, target, diff)
				}
			}
		}
		// Four jobs of two targets have 4!/(2! 2!) orders.
		if all := map[Steps]int{{Load: true, Verify: true, Query: true}: 36, {Load: true}: 6, {Verify: true, Query: true}: 6, {Verify: true}: 1}[steps]; len(orders) < all*8/10 || len(orders) > all {
			t.Errorf("%+v: %d orders of %d", steps, len(orders), all)
		}
	}
}

// lines splits a list of render into lines, without empty ones.
func lines(list []string, render func(string) string) (rendered []string) {
	for _, s := range list {
		if s = render(s); s != "" {
			rendered = append(rendered, s)
		}
	}
	return rendered
}

// For any pattern of disturbed jobs of two equal targets, the share of runs that show a difference
// stays near the level of the test. A fixed order fails this with the first pattern, a shuffle
// within rounds and mirrored pairs of rounds with others.
func TestDisturbedJobsShowNoDifference(t *testing.T) {
	slowtest.Skip(t)
	const runs = 1500
	disturbed := map[string]func(n int) float64{
		"every second job":     func(n int) float64 { return 0.3 * float64(n%2) },
		"every third job":      func(n int) float64 { return 0.3 * float64(n%3/2) },
		"two jobs of four":     func(n int) float64 { return 0.3 * float64((n+1)%4/2) },
		"the second half":      func(n int) float64 { return 0.3 * float64(n/6) },
		"drift":                func(n int) float64 { return 0.03 * float64(n) },
		"the first job of all": func(n int) float64 { return 0.5 * float64(1/(n+1)) },
	}
	for _, of := range []struct {
		job    JobKind
		rounds int
	}{{Load, 6}, {Query, 6}, {Query, 12}} {
		job, rounds := of.job, of.rounds
		e := experiment.Default()
		e.Targets = e.Targets[:2]
		p := &Plan{Experiment: e, Targets: make([]Target, 2), Steps: Steps{Load: job == Load, Query: job == Query}, Compares: true}
		for name, slower := range disturbed {
			shown, random := 0, rand.New(rand.NewPCG(1, uint64(job)))
			for run := range runs {
				figures, n := make([][]float64, 2), 0
				jobs := p.Order(fmt.Sprint(name, run))
				if rounds == 12 { // that a budget added
					at := slices.IndexFunc(jobs, func(c Job) bool { return c.Kind == Compare })
					jobs = slices.Insert(jobs, at, p.FurtherRounds(fmt.Sprint(name, run), []int{0, 1}, 7, 12)...)
				}
				for _, c := range jobs {
					if c.Kind == job {
						figures[c.Target] = append(figures[c.Target], math.Exp(slower(n)+0.01*random.NormFloat64()))
						n++
					}
				}
				if len(figures[0]) != rounds || len(figures[1]) != rounds {
					t.Fatalf("%d and %d turns, want %d", len(figures[0]), len(figures[1]), rounds)
				}
				if stats.Compare(figures[0], figures[1]).P < stats.Alpha {
					shown++
				}
			}
			t.Logf("job %d, %d rounds, %s: %.1f %%", job, rounds, name, 100*float64(shown)/runs)
			if shown > runs*75/1000 { // 5 %, plus three standard errors
				t.Errorf("job %d, slower in %s: %.1f %% of runs show a difference between equal targets", job, name, 100*float64(shown)/runs)
			}
		}
	}
}

// Targets that share a place are in separate parts. Parts run one after the other; within a part
// the targets are interleaved.
func TestOrderOfParts(t *testing.T) {
	e := experiment.Default()
	e.Queries.Repeats = 2
	var p Plan
	p.Experiment, p.Secrets = e, secret.New()
	for i, place := range []string{"x", "", "x", "y", "x", "y"} {
		p.Targets = append(p.Targets, Target{Name: fmt.Sprint(i), Place: place})
	}
	// Parts, and untimed jobs, keep their order; the others are sorted here.
	for steps, want := range map[Steps]string{
		{Load: true, Verify: true}:              "load 0, load 1, load 3, check 0, check 1, check 3, load 2, load 5, check 2, check 5, load 4, check 4",
		{Load: true, Verify: true, Query: true}: "load 0, load 1, load 3, check 0, check 1, check 3, query 0, query 1, query 3, query 0, query 1, query 3, compare 0, compare 1, compare 3, load 2, load 5, check 2, check 5, query 2, query 5, query 2, query 5, compare 2, compare 5, load 4, check 4, query 4, query 4, compare 4",
		{Verify: true}:                          "check 0, check 1, check 2, check 3, check 4, check 5", // no data is overwritten
	} {
		p.Steps = steps
		got := p.Order("")
		for begin := 0; begin < len(got); {
			end := begin
			for end < len(got) && got[end].Kind == got[begin].Kind && (got[begin].Kind == Load || got[begin].Kind == Query) {
				end++
			}
			slices.SortStableFunc(got[begin:end], func(a, b Job) int { return cmp.Or(cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.Target, b.Target)) })
			begin = max(end, begin+1)
		}
		var named []string
		for _, c := range got {
			named = append(named, fmt.Sprintf("%s %d", []string{"load", "check", "query", "compare"}[c.Kind], c.Target))
		}
		if diff := gocmp.Diff(want, strings.Join(named, ", ")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", steps, diff)
		}
	}
	p.Steps = Steps{Load: true}
	want := &result.TargetGroup{Number: 2, Count: 3, Place: "x", Shares: []string{"0", "4"}}
	if diff := gocmp.Diff(want, p.GroupOf(2)); diff != "" {
		t.Errorf("a target that shares (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(&result.TargetGroup{Number: 1, Count: 3}, p.GroupOf(1)); diff != "" {
		t.Errorf("one that does not (-want +got):\n%s", diff)
	}
	p.Targets = p.Targets[:2]
	if p.GroupOf(0) != nil {
		t.Error("a turn where nothing is shared")
	}
}
