package document

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/run/experiment"
)

// Rough rates, by which a budget is shared out: nobody knows a machine and its systems
// before they have run.
const (
	assumedRows  = 150_000               // a second that a system loads
	assumedQuery = 50 * time.Millisecond // that a query takes
	assumedStart = 5 * time.Second       // that starting, counting and stopping a system takes
)

// Duration is roughly how long an experiment takes in a size on so many systems.
func (d *Document) Duration(e *Experiment, size Size, systems int) (time.Duration, error) {
	if e.Only != "" {
		systems = 1
	}
	points, err := d.points(e, size)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, p := range points {
		x := p.Experiment
		repeats, _ := x.LoadRepeats()
		load := float64(rows(x)) * float64(repeats) / assumedRows
		each := assumedStart + time.Duration(load*float64(time.Second))
		for range x.Queries.Types {
			asked := time.Duration(x.Queries.Count*x.QueryRepeats()) * assumedQuery / time.Duration(max(x.Queries.Workers, 1))
			if box := x.Queries.TimeBox; box > 0 {
				asked = min(asked, box)
			}
			each += asked
		}
		sum += each * time.Duration(systems*max(len(x.Targets), 1))
	}
	return sum, nil
}

// points are those of an experiment in a size, of one system.
func (d *Document) points(e *Experiment, size Size) ([]experiment.Point, error) {
	whole, err := d.Make(e, size, []experiment.Target{{Name: "any", Kind: cmp.Or(e.Only, "any")}})
	if err != nil {
		return nil, err
	}
	points, err := whole.Expand()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", whole.Name, err)
	}
	return points, nil
}

// Rows is roughly how many rows an experiment loads in a size, all its points together,
// each load counted once.
func (d *Document) Rows(e *Experiment, size Size) (int64, error) {
	points, err := d.points(e, size)
	sum := int64(0)
	for _, p := range points {
		sum += rows(p.Experiment)
	}
	return sum, err
}

// rows is roughly how many an experiment loads.
func rows(x *experiment.Experiment) int64 {
	w := &x.Workload
	intervals := int64(w.End.Sub(w.Start) / max(w.Interval, 1))
	tables := int64(1)
	switch w.Name {
	case "devops":
		tables = 9
	case "iot":
		tables = 2
	}
	return intervals * int64(w.Scale) * tables
}

// Within returns the document with a size between small and full that takes roughly as
// long as a budget on so many systems, and that size's name.
//
// The sizes are a ladder, the same for every budget, which goes as far up as the budget
// reaches: so a larger budget never gives less of any experiment. It begins with all
// experiments as in smoke. Each becomes as in small, the shortest first. Then either a
// value that small has not returns, or all experiments have more rows and time for
// queries, or one that has all of that becomes whole: see rung.
func (d *Document) Within(budget time.Duration, systems int) (*Document, Size, error) {
	size := Size(budget.String())
	plans, err := d.plans(size, systems)
	if err != nil {
		return nil, "", err
	}
	sum := time.Duration(0)
	for _, p := range plans {
		sum += p.takes
	}
	for {
		changed, err := rung(plans, sum)
		if err != nil {
			return nil, "", err
		}
		next := sum
		for i, p := range changed {
			next += p.takes - plans[i].takes
		}
		if len(changed) == 0 || next > budget {
			break
		}
		for i, p := range changed {
			plans[i] = p
		}
		sum = next
	}
	fitted := *d
	fitted.Experiments = slices.Clone(d.Experiments)
	for _, p := range plans {
		e := &fitted.Experiments[p.at]
		e.Cuts = maps.Clone(e.Cuts)
		if e.Cuts == nil {
			e.Cuts = make(map[Size]Cut)
		}
		if e.Cuts[size], err = p.said(); err != nil {
			return nil, "", err
		}
	}
	return &fitted, size, nil
}

// growth is by how much the rows and the time for queries grow at once. It is also by how
// much a budget may be left unused, since the next rung would take too long.
const growth = 1.25

// rung returns the experiments that the next rung of the ladder changes, by their place;
// none: all are whole. The step that takes the least comes first. More rows for all wait
// for it, where it takes at most half as long as all takes by now: values come first.
func rung(plans []plan, sum time.Duration) (map[int]plan, error) {
	least, more := -1, make(map[int]plan)
	var best plan
	small := true
	for i := range plans {
		next, ok, err := plans[i].step()
		if err != nil {
			return nil, err
		}
		small = small && plans[i].stage > asSmoke
		if ok && (least < 0 || plans[i].stage == asSmoke && best.stage > asSmall ||
			(plans[i].stage == asSmoke) == (best.stage == asSmall) && next.takes-plans[i].takes < best.takes-plans[least].takes) {
			least, best = i, next
		}
		longer, ok, err := plans[i].longer()
		if err != nil {
			return nil, err
		}
		if ok {
			more[i] = longer
		}
	}
	if least >= 0 && (!small || len(more) == 0 || best.takes-plans[least].takes <= sum/2) {
		return map[int]plan{least: best}, nil
	}
	return more, nil
}

// stage is how far up the ladder an experiment is.
type stage int

const (
	asSmoke stage = iota
	asSmall       // with values that return, and more rows
	whole
)

// plan is an experiment at a place of the ladder.
type plan struct {
	of      *Document
	at      int // of its experiments
	size    Size
	systems int
	stage   stage
	steps   []restore // that are to come
	done    []restore
	times   float64 // the rows and the time for queries of small
	cut     Cut
	takes   time.Duration
	full    time.Duration // that the whole experiment takes
}

// plans are all experiments that can be run, as in smoke.
func (d *Document) plans(size Size, systems int) ([]plan, error) {
	var list []plan
	for i := range d.Experiments {
		e := &d.Experiments[i]
		if e.Missing != "" {
			continue
		}
		p := plan{of: d, at: i, size: size, systems: systems, steps: e.restores(), times: 1}
		var err error
		if p.full, err = d.Duration(e, Full, systems); err != nil {
			return nil, err
		}
		if p, err = p.with(e.Cut(Smoke)); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (p plan) experiment() *Experiment { return &p.of.Experiments[p.at] }

// with is the plan with another cut.
func (p plan) with(cut Cut) (plan, error) {
	e := *p.experiment()
	e.Cuts = map[Size]Cut{p.size: cut}
	var err error
	p.cut = cut
	p.takes, err = p.of.Duration(&e, p.size, p.systems)
	return p, err
}

// step is the plan as it is after the next step of its own; not ok: there is none until it
// has more rows, or it is whole.
func (p plan) step() (plan, bool, error) {
	var err error
	switch {
	case p.stage == whole:
		return p, false, nil
	case p.stage == asSmoke:
		p.stage = asSmall
		p, err = p.with(p.experiment().Cut(Small))
		if err == nil && len(p.cut.Run) == 0 {
			p.stage = whole // it is as printed
		}
		return p, err == nil, err
	case len(p.steps) > 0:
		p.done, p.steps = append(slices.Clone(p.done), p.steps[0]), p.steps[1:]
		p, err = p.with(p.experiment().more(p.done, p.times))
		return p, err == nil, err
	}
	if _, more, err := p.longer(); more || err != nil {
		return p, false, err
	}
	p.stage = whole
	p, err = p.with(Cut{})
	return p, err == nil, err
}

// longer is the plan with more rows or time for queries; not ok: it has as many as the
// document, or takes as long.
func (p plan) longer() (plan, bool, error) {
	if p.stage != asSmall {
		return p, false, nil
	}
	was := p.takes
	text := fmt.Sprint(p.cut.Run)
	p.times *= growth
	p, err := p.with(p.experiment().more(p.done, p.times))
	for ; err == nil && p.takes <= p.full && fmt.Sprint(p.cut.Run) == text && p.times < math.MaxInt32; p.times *= growth {
		p, err = p.with(p.experiment().more(p.done, p.times*growth))
	}
	return p, err == nil && p.takes > was && p.takes <= p.full, err
}

// said is the plan's cut, with words that say what is not as in small.
func (p plan) said() (Cut, error) {
	cut, e := p.cut, *p.experiment()
	if p.stage != asSmall || len(p.done) == 0 && p.times == 1 {
		return cut, nil
	}
	var parts []string
	for _, path := range sweptBy(e.Run) {
		var values []string
		for _, v := range valuesOf(merge(e.Run, cut.Run), path) {
			if !contains(valuesOf(merge(e.Run, e.Cut(Small).Run), path), v) {
				values = append(values, fmt.Sprint(v))
			}
		}
		if len(values) > 0 {
			parts = append(parts, path+" "+strings.Join(values, " and "))
		}
	}
	restored := e
	restored.Cuts = map[Size]Cut{Small: e.more(p.done, 1), p.size: cut}
	was, err := p.of.Rows(&restored, Small)
	if err != nil {
		return cut, err
	}
	is, err := p.of.Rows(&restored, p.size)
	if err != nil {
		return cut, err
	}
	if is > was {
		parts = append(parts, factor(float64(is)/float64(was))+" times the rows")
	}
	box := func(cut Cut) float64 {
		t, _ := time.ParseDuration(fmt.Sprint(get(merge(e.Run, cut.Run), "queries", "time-box")))
		return t.Seconds()
	}
	if was, is := box(e.Cut(Small)), box(cut); is > was {
		parts = append(parts, factor(is/was)+" times the time for queries")
	}
	if len(parts) == 0 {
		return e.Cut(Small), nil
	}
	cut.Words = "as small, with " + strings.Join(parts, ", ") + " (small: " + cut.Words + ")"
	return cut, nil
}

// factor is how many times something is, in two digits.
func factor(times float64) string {
	if times >= 10 {
		return fmt.Sprintf("%.0f", times)
	}
	return fmt.Sprintf("%.2g", times)
}

// Whole reports whether a size has all of an experiment.
func (e *Experiment) Whole(size Size) bool { return len(e.Cut(size).Run) == 0 }
