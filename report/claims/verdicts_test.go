package claims

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// quantity is a figure of a target in a run, of its loads or of a query type.
type quantity struct {
	run, target     string
	subject, figure string
}

// term is a quantity in a condition, with its sign.
type term struct {
	of   quantity
	sign float64
}

// condition says that a sum of goodnesses lies between two bounds. A goodness is the logarithm of a
// figure, with the sign that makes more of it better.
type condition struct {
	terms      []term
	least, top float64
}

// synthesis makes measurements that satisfy or violate the rules of a claim.
type synthesis struct {
	d    *document.Document
	runs map[string][]*result.Run // by experiment, at full size
	good map[quantity]float64
}

// newSynthesis returns runs of all points of the claim's experiments, without figures.
func newSynthesis(t *testing.T, d *document.Document, c *document.Claim) *synthesis {
	t.Helper()
	s := &synthesis{d: d, runs: make(map[string][]*result.Run), good: make(map[quantity]float64)}
	var targets []experiment.Target
	for _, system := range d.Systems {
		targets = append(targets, experiment.Target{Name: system.Driver, Driver: system.Driver})
	}
	for i := range c.Rules {
		for _, name := range []string{c.Rules[i].Of, againstOf(&c.Rules[i])} {
			e, ok := d.Experiment(name)
			if !ok || s.runs[name] != nil {
				continue
			}
			whole, err := d.Make(e, document.Full, targets)
			if err != nil {
				t.Fatal(err)
			}
			points, err := whole.Expand()
			if err != nil {
				t.Fatal(err)
			}
			for n, p := range points {
				r := &result.Run{ID: fmt.Sprintf("20260101-000000-%s%d", name, n), Status: result.Complete, Place: result.Place{Parameters: p.Parameters}, Dataset: result.Dataset{Metrics: 1e12}}
				for _, target := range p.Experiment.Targets {
					r.Targets = append(r.Targets, result.Target{Name: target.Name, Driver: target.Driver, Options: target.Options, ServerMemory: 1 << 20})
				}
				s.runs[name] = append(s.runs[name], r)
			}
		}
	}
	return s
}

func againstOf(r *document.Rule) string {
	if r.Changes == nil {
		return ""
	}
	return r.Changes.Against
}

// conditions returns the conditions with which a rule holds, and those with which it does not. Rules
// without figures have none.
func (s *synthesis) conditions(r rule) (hold, fail []condition) {
	figure := r.Figure
	if figure == document.Points || figure == "" && len(r.Types) == 0 {
		figure = "load" // each row has ten values
	}
	of := func(at side, subject string, sign float64) term {
		if len(r.Types) == 0 {
			subject = ""
		}
		if at.target == nil {
			panic(fmt.Sprintf("%s: %s is in no run", s.d.Name, at.name))
		}
		return term{quantity{at.run.ID, at.target.Name, subject, figure}, sign}
	}
	add := func(by document.By, terms ...term) {
		least, most := by.Ends()
		low, high := math.Log(least)+0.01, math.Log(least)+6
		if !math.IsInf(most, 1) {
			high = math.Log(most) - 0.01
		}
		hold = append(hold, condition{terms, low, high})
		fail = append(fail, condition{terms, math.Log(least) - 1, math.Log(least) - 0.1})
	}
	within := func(low float64, terms ...term) {
		hold = append(hold, condition{terms, low, math.Log(tenth) - 0.01})
		fail = append(fail, condition{terms, 0.2, 1})
	}
	change := func(goes document.Direction, by document.By, to, from term) {
		from.sign = -1
		switch goes {
		case document.Better:
			add(by, to, from)
		case document.Worse:
			to.sign, from.sign = -1, 1
			add(by, to, from)
		case document.Same:
			within(-math.Log(tenth)+0.01, to, from)
		case document.NotBetter:
			within(-1, to, from)
		}
	}
	lead := func(run *result.Run, where map[string]string, subject, better, thanSubject, than string, sign float64) []term {
		return []term{of(r.side(run, better, where), subject, sign), of(r.side(run, than, where), thanSubject, -sign)}
	}
	points, _ := r.points(r.Where)
	for _, subject := range r.subjects() {
		order := func(x, y string) {
			for _, run := range points {
				add(r.By, lead(run, r.Where, subject, x, subject, y, 1)...)
			}
		}
		for i := 1; i < len(r.Order); i++ {
			order(r.Order[i-1], r.Order[i])
		}
		for _, other := range s.d.Systems {
			if r.First != "" && r.First != other.Driver {
				order(r.First, other.Driver)
			}
		}
		for i, x := range r.Alike {
			for _, y := range r.Alike[i+1:] {
				for _, run := range points {
					within(-math.Log(tenth)+0.01, lead(run, r.Where, subject, x, subject, y, 1)...)
				}
			}
		}
		if c := r.Changes; c != nil {
			for _, to := range append(slices.Clone(c.Through), c.To) {
				pairs, _ := r.along(c.Along, c.From, to, c.Against)
				for _, ends := range pairs {
					for _, system := range c.Systems {
						change(c.Goes, r.By, of(r.side(ends[1], system, withValue(r.Where, c.Along, to)), subject, 1), of(r.side(ends[0], system, withValue(r.Where, c.Along, c.From)), subject, 1))
					}
				}
			}
		}
		if m := r.More; m != nil {
			pairs, _ := r.along(m.Along, m.From, m.To, "")
			for _, system := range either(m.Than, []string{m.System}) {
				for _, other := range either(m.ThanTypes, []string{subject}) {
					for _, ends := range pairs {
						sign := 1.0
						if m.Goes == document.Worse {
							sign = -1
						}
						add(r.By, append(lead(ends[1], withValue(r.Where, m.Along, m.To), subject, m.System, other, system, sign), lead(ends[0], withValue(r.Where, m.Along, m.From), subject, m.System, other, system, -sign)...)...)
					}
				}
			}
		}
		if k := r.Peak; k != nil {
			best, _ := r.points(withValue(r.Where, k.Along, k.At))
			for _, system := range k.Systems {
				for _, run := range points {
					if run != best[0] {
						add(document.By{}, of(r.side(best[0], system, r.Where), subject, 1), of(r.side(run, system, r.Where), subject, -1))
					}
				}
			}
		}
		if l := r.Lead; l != nil {
			for at, sign := range map[string]float64{l.Largest: 1, l.Smallest: -1} {
				if at == "" {
					continue
				}
				claimed, _ := r.points(withValue(r.Where, l.Along, at))
				for _, run := range points {
					if run != claimed[0] {
						add(document.By{}, append(lead(claimed[0], r.Where, subject, l.Better, subject, l.Than, sign), lead(run, r.Where, subject, l.Better, subject, l.Than, -sign)...)...)
					}
				}
			}
		}
		if k := r.Reach; k != nil {
			better, usual := direction(r.Figure, len(r.Types) > 0)
			for _, run := range points {
				for _, system := range k.Systems {
					one := of(r.side(run, system, r.Where), subject, better) // more of the figure, not better
					number := math.Log(k.Number() / usual)
					switch {
					case k.AtLeast > 0:
						hold = append(hold, condition{[]term{one}, number + 0.05, number + 1})
						fail = append(fail, condition{[]term{one}, number - 1, number - 0.05})
					case k.AtMost > 0:
						hold = append(hold, condition{[]term{one}, number - 1, number - 0.05})
						fail = append(fail, condition{[]term{one}, number + 0.05, number + 1})
					default:
						hold = append(hold, condition{[]term{one}, number - 0.05, number + 0.05})
						fail = append(fail, condition{[]term{one}, number + 0.2, number + 1})
					}
				}
			}
		}
		if w := r.Wins; w != nil {
			for _, run := range points {
				add(document.By{}, lead(run, r.Where, subject, w.Better, subject, w.Than, 1)...)
			}
		}
		if a := r.Aggregate; a != nil && !a.Equal {
			for _, run := range points {
				for _, system := range a.Systems {
					raw, fast := of(sideOf(run, system), subject, -1), of(sideOf(run, system), subject, 1)
					fast.of.subject = result.FromAggregate(subject, "1h")
					add(r.By, raw, fast)
				}
			}
		}
	}
	return hold, fail
}

// direction returns 1 if more of a figure is better, -1 if less is, and a usual value.
func direction(figure string, queries bool) (better, usual float64) {
	switch figure {
	case "", "load", "acked", document.Rate:
		if queries && figure != document.Rate {
			return -1, 0.01 // seconds
		}
		return 1, 1e5
	case document.Settling:
		return 1, 0.1
	}
	return -1, 1
}

// solve moves goodnesses until they satisfy all conditions, or gives up.
func (s *synthesis) solve(all []condition) {
	for _, c := range all {
		for _, t := range c.terms {
			s.good[t.of] += 0 // measured, even if no condition moves it
		}
	}
	for range 5000 {
		done := true
		for _, c := range all {
			sum, squares := 0.0, 0.0
			for _, t := range c.terms {
				sum += t.sign * s.good[t.of]
				squares += t.sign * t.sign
			}
			to := min(max(sum, c.least), c.top)
			if to == sum {
				continue
			}
			done = done && math.Abs(to-sum) < 1e-3
			for _, t := range c.terms {
				s.good[t.of] += t.sign * (to - sum) / squares
			}
		}
		if done {
			return
		}
	}
}

// noise is a number between -1 and 1 that depends on a quantity and a repeat alone. Three of six
// repeats are above 0, in an order of the quantity's own.
func noise(q quantity, repeat int) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, q)
	random := rand.New(rand.NewPCG(h.Sum64(), 0))
	signs := random.Perm(6)
	sizes := make([]float64, 6)
	for i := range sizes {
		sizes[i] = (1 + random.Float64()) / 2
	}
	if signs[repeat] < 3 {
		return -sizes[repeat]
	}
	return sizes[repeat]
}

// measure fills the runs with six repeats of the quantities, which spread by a factor of at most e to
// the given power.
func (s *synthesis) measure(spread float64) Measured {
	for _, runs := range s.runs {
		for _, r := range runs {
			r.Resources = nil
			for i := range r.Targets {
				s.fill(r, &r.Targets[i], spread)
			}
		}
	}
	return Measured{Size: document.Full, Runs: s.runs}
}

func (s *synthesis) fill(r *result.Run, t *result.Target, spread float64) {
	const window, rows = 10.0, 1_000_000_000
	t.Repeats, t.Failure = nil, ""
	var subjects []string
	for q := range s.good {
		if q.run == r.ID && q.target == t.Name && !slices.Contains(subjects, q.subject) {
			subjects = append(subjects, q.subject)
		}
	}
	slices.Sort(subjects)
	uses := result.Resources{Source: result.ServerSource(t.Name), Period: 1}
	at, cpu, written := 0.0, 0.0, 0.0
	for n := range 6 {
		repeat := result.Repeat{Number: n + 1}
		for _, subject := range subjects {
			valueOf := func(figure string, n int) float64 {
				q := quantity{r.ID, t.Name, subject, figure}
				better, usual := direction(figure, subject != "")
				if _, known := s.good[q]; !known {
					return usual
				}
				return usual * math.Exp(better*s.good[q]+spread*noise(q, n))
			}
			value := func(figure string) float64 { return valueOf(figure, n) }
			from := at
			for ; at < from+window; at++ {
				memory := 1000.0
				if at >= from+window/2 {
					memory *= value(document.MemoryGrowth)
				}
				uses.Add(at, map[result.Metric]float64{result.CPU: cpu, result.DiskWritten: written, result.RSS: memory})
				cpu += value(document.ServerCPU)
				written += 1e6 * value(document.ServerWritten)
			}
			cell := result.Cell{From: from, To: at - 1, Client: &result.Client{
				User: result.Value(value(document.ClientUser)), System: result.Value(value(document.ClientSystem)), Share: result.Value(value(document.ClientShare)),
			}}
			if subject == "" {
				l := &result.Load{Rows: rows, Metrics: 10 * rows, Workers: 1, BatchSize: 1, Cell: cell, DiskBytes: int64(1e9 * value("disk") * value(document.DiskShare)), Census: []result.CensusResult{{Table: "cpu", Expected: rows, Counted: rows}}}
				l.Settled = rows / value("load")
				l.Acked = l.Settled * (1 - min(value(document.Settling), 0.99))
				repeat.Load = l
				continue
			}
			service := value("")
			q := result.Queries{
				Type: subject, Cell: cell, Workers: 1, Executed: 3, First: 3 * n, Rows: 3, PerSecond: value(document.Rate), Each: []float64{service, service, service},
				Service: result.Latency{Summary: measure.Summary{Count: 3}}, Verdict: result.Verdict{Checked: 3, Rows: 3}, Sample: result.Sample{Wanted: 3, Captured: 3},
				Read: new(result.Read),
			}
			for i := range 6 {
				q.Read.EachBytes = append(q.Read.EachBytes, valueOf(document.ReadBytes, i))
			}
			repeat.Queries = append(repeat.Queries, q)
		}
		if len(subjects) > 0 {
			t.Repeats = append(t.Repeats, repeat)
		}
	}
	r.Resources = append(r.Resources, uses)
}

// TestEveryVerdict sees each verdict that a claim can have, by measurements that are made for it.
func TestEveryVerdict(t *testing.T) {
	slowtest.Skip(t)
	for i := range document.All() {
		d := &document.All()[i]
		for j := range d.Claims {
			c := &d.Claims[j]
			if c.Missing != "" {
				continue
			}
			t.Run(d.Name+"-"+c.ID, func(t *testing.T) {
				t.Parallel()
				seen := make(map[Verdict]bool)
				for _, v := range verdictsOf(t, d, c) {
					seen[v] = true
				}
				want := []Verdict{NotTested, Holds, DoesNotHold, Tie}
				if !slices.ContainsFunc(c.Rules, func(r document.Rule) bool {
					return r.Fails == nil && r.Input == nil && r.Columns == nil && r.Rows == 0 && (r.Aggregate == nil || !r.Aggregate.Equal)
				}) {
					want = want[:3] // no figure is near a border
				}
				if c.Rules[0].Rows > 0 {
					want = []Verdict{Holds} // the generator counts them, whatever was measured
				}
				if got := slices.SortedFunc(maps.Keys(seen), cmp.Compare[Verdict]); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
					t.Errorf("verdicts are %q, want %q", got, want)
				}
			})
		}
	}
}

// verdictsOf returns the verdicts of a claim without measurements, and with measurements that satisfy
// it, that are too noisy, and that violate one of its rules.
func verdictsOf(t *testing.T, d *document.Document, c *document.Claim) []Verdict {
	t.Helper()
	judged := func(m Measured) Verdict {
		f := judge(d, m, *c, make(map[string]*document.Extents))
		t.Logf("%s: %s, %d comparisons", f.Verdict, f.Why, len(f.Parts))
		for _, p := range f.Parts[:min(len(f.Parts), 6)] {
			t.Logf("  %s: %.3g %s %s", p.What, p.Advantage.Figure, p.Verdict, p.Why)
		}
		return f.Verdict
	}
	list := []Verdict{judged(Measured{Size: document.Full})}
	var good map[string][]*result.Run // as they are when it holds
	s := newSynthesis(t, d, c)
	var hold []condition
	for i := range c.Rules {
		one, _ := s.conditions(rule{d: d, m: Measured{Size: document.Full, Runs: s.runs}, Rule: &c.Rules[i]})
		hold = append(hold, one...)
	}
	s.solve(hold) // as far as possible: "14 of 18" does not name the 14
	m := s.measure(0.001)
	s.state(c, m, true)
	list = append(list, judged(m))
	good = cloneRuns(m.Runs)
	holding := judge(d, Measured{Size: document.Full, Runs: good}, *c, make(map[string]*document.Extents))
	checkTrial(t, d, &holding, good, good, false)
	m = s.measure(4)
	s.state(c, m, true)
	list = append(list, judged(m))

	for i := range c.Rules {
		s = newSynthesis(t, d, c)
		_, fail := s.conditions(rule{d: d, m: Measured{Size: document.Full, Runs: s.runs}, Rule: &c.Rules[i]})
		if len(fail) == 0 && i > 0 || c.Rules[i].Rows > 0 {
			continue
		}
		s.solve(fail)
		m = s.measure(0.001)
		s.state(c, m, false)
		v := judged(m)
		list = append(list, v)
		if v != DoesNotHold {
			t.Errorf("rule %d is violated, and the claim is judged %q", i+1, v)
		}
		if base, ok := holding.Deciding(Measured{Size: document.Full, Runs: good}); ok && base.Part.rule == i {
			checkTrial(t, d, &holding, good, m.Runs, true)
		}
		failing := judge(d, m, *c, make(map[string]*document.Extents))
		checkTrial(t, d, &failing, m.Runs, m.Runs, false)
		checkTrial(t, d, &failing, m.Runs, good, true)
	}
	return list
}

// cloneRuns returns copies that later measurements of the same runs do not change.
func cloneRuns(runs map[string][]*result.Run) map[string][]*result.Run {
	clones := make(map[string][]*result.Run)
	for name, list := range runs {
		for _, r := range list {
			one := *r
			one.Targets = slices.Clone(r.Targets)
			clones[name] = append(clones[name], &one)
		}
	}
	return clones
}

// checkTrial repeats the deciding comparison of a finding, which has these runs, with other runs of the
// same points, as trials measure them: each is a run of its own, without parameters. It then turns or
// not, and the finding says so.
func checkTrial(t *testing.T, d *document.Document, f *Finding, runs, others map[string][]*result.Run, reverses bool) {
	t.Helper()
	m := Measured{Size: document.Full, Runs: runs}
	base, ok := f.Deciding(m)
	if !ok {
		if f.Verdict != Holds && f.Verdict != DoesNotHold || !slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Interval != nil && p.Verdict == f.Verdict && len(p.sides) > 0 }) {
			return // no figure decides it
		}
		t.Fatalf("it %s, and no comparison is the deciding one", f.Verdict)
	}
	again := make(map[string][]*result.Run)
	for name, list := range base.Runs {
		for _, r := range list {
			i := slices.IndexFunc(others[name], func(other *result.Run) bool { return other.ID == r.ID })
			one := *others[name][i]
			one.Parameters = nil
			again[name] = append(again[name], &one)
		}
	}
	trial := Trial{Setting: "load.batch-size=5000 in place of 10000", Base: base.Part, Part: f.Repeat(d, m, base, again)}
	one := *f
	one.Trials = []Trial{trial}
	// The weaker system is tuned as the document says, or the page says that it was not.
	two := one
	two.Trials = slices.Clone(one.Trials)
	two.AddUntuned(d, m)
	untuned := two.Trials[1:]
	system, known := d.System(base.Weaker)
	if want := base.Weaker != "" && (!known || system.Tuned.IsZero()); len(untuned) > 0 != want || want && (untuned[0].Reverses() || untuned[0].Part.Why != "the document names no tuning of "+base.Weaker) {
		t.Errorf("the weaker system is %q, and of its tuning is said: %+v", base.Weaker, untuned)
	}
	if trial.Reverses() != reverses {
		t.Errorf("%s, deciding %q, again %s %s: it reverses is %v, want %v", f.Verdict, base.Part.What, trial.Part.Verdict, trial.Part.Why, trial.Reverses(), reverses)
	}
	only := reverses && (f.Verdict == Holds || f.failures() == 1)
	if want := map[bool]string{true: string(f.Verdict) + " at these settings only", false: string(f.Verdict)}[only]; one.Word() != want {
		t.Errorf("the verdict is %q, want %q", one.Word(), want)
	}
}

// state adds what rules without figures look at: loads that fail, columns that come, equal answers,
// sizes of input files.
func (s *synthesis) state(c *document.Claim, m Measured, holds bool) {
	for i := range c.Rules {
		r := rule{d: s.d, m: m, Rule: &c.Rules[i]}
		for _, run := range m.Runs[r.Of] {
			run.Dataset.FormatBytes = map[string]int64{"influx": 1000, "influx.gz": 100, "timescaledb": 670, "timescaledb.gz": 70}
			if !holds {
				run.Dataset.FormatBytes["timescaledb"] = 900
			}
		}
		switch {
		case r.Fails != nil:
			for _, run := range m.Runs[r.Of] {
				for j := range run.Targets {
					load := &result.Load{Rows: 10, Settled: 1, Census: []result.CensusResult{{Table: "cpu", Expected: 10, Counted: 10}}}
					run.Targets[j].Repeats = []result.Repeat{{Number: 1, Load: load}}
				}
			}
			there, _ := r.points(r.Where)
			for _, system := range r.Fails.Systems {
				if t := r.side(there[0], system, r.Where).target; holds {
					t.Failure, t.Repeats = "connection reset", nil
				}
			}
		case r.Columns != nil:
			for _, run := range m.Runs[r.Of] {
				for j := range run.Targets {
					target := &run.Targets[j]
					growth := &result.Growth{Steps: make([]result.GrowthStep, 3)}
					if slices.Contains(r.Columns.Take, target.Driver) != holds {
						growth.Unsupported = "column missing"
					}
					target.Repeats = []result.Repeat{{Number: 1, Load: &result.Load{Rows: 3, Growth: growth}}}
				}
			}
		case r.Aggregate != nil && r.Aggregate.Equal:
			for _, run := range m.Runs[r.Of] {
				for j := range run.Targets {
					repeat := result.Repeat{Number: 1}
					for _, name := range []string{r.Types[0], result.FromAggregate(r.Types[0], "1h")} {
						q := result.Queries{Type: name, Executed: 2, Verdict: result.Verdict{Checked: 2, Rows: 2}, Sample: result.Sample{Wanted: 2, Captured: 2}, Each: []float64{1, 1}, Service: result.Latency{Summary: measure.Summary{Count: 2}}}
						if !holds {
							q.Withheld = "query 1: 3 rows in place of 4"
						}
						repeat.Queries = append(repeat.Queries, q)
					}
					run.Targets[j].Repeats = []result.Repeat{repeat}
				}
			}
		}
	}
}
