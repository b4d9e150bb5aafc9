package runner

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/workload"
)

// nowhere is a store that stores nothing.
type nowhere struct{ record.Store }

func (nowhere) Save(context.Context, *result.Run) error { return nil }

// budgeted is an execution whose rounds are simulated: each query type has a latency in each round,
// and takes a time.
type budgeted struct {
	*execution
	latency func(target int, queryType string, round int) float64
	seconds map[string]float64 // of a round, by type
	ran     []plan.Job         // queries
}

func newBudgeted(budget float64, seconds map[string]float64, places ...string) *budgeted {
	e := experiment.Default()
	e.Queries.Time, e.Queries.TimeBox = time.Duration(budget*float64(time.Second)), 0
	p := &plan.Plan{Experiment: e, Steps: plan.Steps{Load: true, Verify: true, Query: true}, Secrets: secret.New()}
	doc := result.Run{OrderSeed: "seed", Budget: &result.Budget{Seconds: budget, Fixed: e.QueryRepeats()}}
	for i, place := range places {
		p.Targets = append(p.Targets, plan.Target{Name: fmt.Sprint(i), Place: place})
		doc.Targets = append(doc.Targets, result.Target{Name: fmt.Sprint(i)})
	}
	x := &execution{
		plan: p, runner: &Runner{Reach: estimate.Reach}, placed: make(map[int]int), subject: &subject.Subject{Plan: p},
		record: &record.Record{Doc: doc, Store: nowhere{}, Display: record.NoDisplay{}},
	}
	for _, name := range slices.Sorted(maps.Keys(seconds)) {
		x.subject.Queries = append(x.subject.Queries, plan.TypeQueries{Type: workload.QueryType{Name: name}})
	}
	return &budgeted{execution: x, seconds: seconds}
}

// execute runs the jobs as execution.execute does, until a number of query jobs were run on
// targets; 0: all.
func (b *budgeted) execute(t *testing.T, most int) {
	t.Helper()
	order := b.plan.Order(b.record.Doc.OrderSeed)
	for i := 0; i < len(order) && (most == 0 || len(b.ran) < most); i++ {
		further, err := b.furtherRounds(t.Context(), order, i)
		if err != nil {
			t.Fatal(err)
		}
		order = slices.Insert(order, i, further...)
		c := order[i]
		if c.Kind != plan.Query || b.skips(c) {
			continue
		}
		b.ran = append(b.ran, c)
		for name, seconds := range b.seconds {
			if b.record.Doc.Budget.Runs(c.Repeat, name) {
				b.record.Doc.Targets[c.Target].RepeatOf(c.Repeat).Put(&result.Queries{
					Type: name, Executed: 1, Each: []float64{b.latency(c.Target, name, c.Repeat)}, First: c.Repeat, Cell: result.Cell{To: seconds},
				})
				b.record.Doc.Budget.Spent += seconds
			}
		}
	}
}

// rounds returns the rounds of a type on a target.
func (b *budgeted) rounds(target int, queryType string) (numbers []int) {
	for _, r := range b.record.Doc.Targets[target].Repeats {
		if r.Type(queryType) != nil {
			numbers = append(numbers, r.Number)
		}
	}
	return numbers
}

// upTo lists the rounds from 1.
func upTo(last int) (numbers []int) {
	for n := range last {
		numbers = append(numbers, n+1)
	}
	return numbers
}

// scatter returns medians that vary by about the factor, however many rounds there are.
func scatter(round int, factor float64) float64 {
	return math.Pow(factor, float64(round*5%7)/3-1)
}

// Types whose medians are known after the first rounds get no more. The others get the rest of the
// time, on all targets alike.
func TestBudget(t *testing.T) {
	latency := func(target int, queryType string, round int) float64 {
		switch {
		case queryType == "steady":
			return 1
		case queryType == "cut off":
			return -60
		case queryType == "varied" && target == 1: // on one target only
			return scatter(round, 1.25)
		case queryType == "wild":
			return scatter(round, 4)
		}
		return scatter(round, 1.02)
	}
	types := map[string]float64{"steady": 1, "varied": 1, "wild": 1, "cut off": 1}
	for _, c := range []struct {
		name         string
		budget       float64
		loads        float64 // seconds
		varied, wild int     // rounds
	}{
		{"six rounds are the minimum", 10, 0, 6, 6},
		{"nothing is left", 48, 0, 6, 6},
		{"one round of the two is left", 53, 0, 7, 7},
		{"four rounds", 48 + 4*4, 0, 10, 10},
		{"four rounds beside loads", 48 + 4*4 + 30, 30, 10, 10},
		{"loads take half of the budget at most", 2 * (48 + 4*4), 500, 10, 10},
		{"one type is precise before the other", 48 + 24*4 + 10*2, 0, 30, 40},
		{"more than the most rounds take", 10_000, 0, 30, 48},
	} {
		b := newBudgeted(c.budget, types, "", "")
		b.latency, b.record.Doc.Budget.Loads = latency, c.loads
		b.execute(t, 0)
		for target := range 2 {
			for name, want := range map[string]int{"steady": 6, "cut off": 6, "varied": c.varied, "wild": c.wild} {
				if got := b.rounds(target, name); !slices.Equal(got, upTo(want)) {
					t.Errorf("%s: target %d ran %s in rounds %v, want %d", c.name, target, name, got, want)
				}
			}
		}
		if spent := b.record.Doc.Budget.Spent; spent > max(c.budget, 48) || !b.record.Doc.Budget.Ended {
			t.Errorf("%s: spent %v, ended: %v", c.name, spent, b.record.Doc.Budget.Ended)
		}
	}
}

// If one round of all wide types does not fit, the fast ones get the time.
func TestBudgetOfSlowTypes(t *testing.T) {
	b := newBudgeted(100, map[string]float64{"fast": 1, "slow": 14}, "")
	b.latency = func(_ int, _ string, round int) float64 { return scatter(round, 4) }
	b.execute(t, 0)
	if fast, slow := b.rounds(0, "fast"), b.rounds(0, "slow"); len(slow) != 6 || len(fast) != 16 {
		t.Errorf("fast in %d rounds, slow in %d, of 100 s", len(fast), len(slow))
	}
}

// Targets that share a place are measured one after another, in the same rounds.
func TestBudgetOfGroups(t *testing.T) {
	b := newBudgeted(60, map[string]float64{"steady": 1, "wild": 1}, "x", "x")
	b.latency = func(_ int, queryType string, round int) float64 {
		if queryType == "steady" {
			return 1
		}
		return scatter(round, 4)
	}
	b.execute(t, 0)
	for target := range 2 {
		if steady, wild := b.rounds(target, "steady"), b.rounds(target, "wild"); len(steady) != 6 || len(wild) != 24 {
			t.Errorf("target %d: %d rounds of steady, %d of wild", target, len(steady), len(wild))
		}
	}
	for i, c := range b.ran { // half of the budget, then the other half
		if want := i / 24; c.Target != want {
			t.Errorf("job %d is of target %d", i, c.Target)
		}
	}
}

// A run that was interrupted anywhere goes on as if it had not been.
func TestBudgetIsResumed(t *testing.T) {
	types := map[string]float64{"steady": 1, "wild": 1}
	latency := func(_ int, queryType string, round int) float64 {
		if queryType == "steady" {
			return 1
		}
		return scatter(round, 4)
	}
	whole := newBudgeted(60, types, "", "")
	whole.latency = latency
	whole.execute(t, 0)
	for most := 1; most < 2*len(whole.ran); most++ {
		most, killed := (most+1)/2, most%2 == 0
		b := newBudgeted(60, types, "", "")
		b.latency = latency
		b.execute(t, most)
		b.placed = make(map[int]int) // another process
		if killed {
			b.record.Doc.Budget.Spent = 0
		}
		b.execute(t, 0)
		for target := range 2 {
			for name := range types {
				if got, want := b.rounds(target, name), whole.rounds(target, name); !slices.Equal(got, want) {
					t.Fatalf("interrupted after %d jobs, killed: %v: target %d ran %s in %v, want %v", most, killed, target, name, got, want)
				}
			}
		}
		if len(b.ran) != len(whole.ran) || !killed && b.record.Doc.Budget.Spent != whole.record.Doc.Budget.Spent {
			t.Fatalf("interrupted after %d jobs: %d jobs in %v s, want %d", most, len(b.ran), b.record.Doc.Budget.Spent, len(whole.ran))
		}
	}
}

// A failed target has no part in the decision, and gets no rounds.
func TestBudgetWithoutFailedTarget(t *testing.T) {
	b := newBudgeted(1000, map[string]float64{"q": 1}, "", "")
	b.latency = func(target int, _ string, round int) float64 { return scatter(round, []float64{1.01, 4}[target]) }
	b.record.Doc.Targets[1].Failure = "gone"
	b.execute(t, 0)
	if a, failed := b.rounds(0, "q"), b.rounds(1, "q"); len(a) != 6 || len(failed) != 0 {
		t.Errorf("%v and %v", a, failed)
	}
}

// How often the interval of a median holds the true one if a budget ended the rounds: ending them
// where the interval is narrow has a price. docs/measuring.md has these shares.
func TestBudgetCoverage(t *testing.T) {
	slowtest.Skip(t)
	const trials = 400
	for _, variation := range []float64{0.03, 0.05, 0.1, 0.2, 0.4} {
		held, rounds, random := 0, 0, rand.New(rand.NewPCG(1, math.Float64bits(variation)))
		for range trials {
			b := newBudgeted(1000, map[string]float64{"q": 1}, "")
			b.latency = func(int, string, int) float64 { return math.Exp(variation * random.NormFloat64()) }
			b.execute(t, 0)
			e := stats.Summarize(estimate.OwnSample(&b.record.Doc.Targets[0], "q").Medians())
			rounds += e.N
			if e.Interval.Lo.Figure <= 1 && 1 <= e.Interval.Hi.Figure {
				held++
			}
		}
		share := float64(held) / trials
		t.Logf("rounds that vary by %.0f %%: %.1f rounds, %.1f %% of intervals hold the median", 100*variation, float64(rounds)/trials, 100*share)
		if share < 0.9 {
			t.Errorf("rounds that vary by %.0f %%: %.1f %% of intervals hold the median", 100*variation, 100*share)
		}
	}
}
