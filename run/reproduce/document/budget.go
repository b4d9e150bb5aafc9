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
	assumedStart = 5 * time.Second       // that starting and stopping a system takes
	assumedLoad  = time.Second           // that settling, counting and dropping takes, each time
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
		each := assumedStart + time.Duration(repeats)*assumedLoad + time.Duration(load*float64(time.Second))
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
	whole, err := d.Make(e, size, []experiment.Target{{Name: "any", Driver: cmp.Or(e.Only, "any")}})
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
	size := Size(experiment.DurationText(budget))
	up, err := d.ladder(size, systems)
	for err == nil {
		var higher bool
		if higher, err = up.climb(budget); !higher {
			break
		}
	}
	if err != nil {
		return nil, "", err
	}
	fitted := *d
	fitted.Experiments = slices.Clone(d.Experiments)
	for _, p := range up.plans {
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

// growth is by how much the rows and the time for queries grow at once.
const growth = 1.25

// ladder are the experiments of a document at the same height.
type ladder struct {
	plans []plan
	takes time.Duration // all together
}

// climb goes up one rung, unless that takes longer than the budget, or all are whole: then
// it reports false. The step of one experiment that takes the least comes first; more rows
// for all come before it where it takes longer than everything by now: else a value that
// takes hours would keep a budget from being used.
func (l *ladder) climb(budget time.Duration) (bool, error) {
	least, small := -1, true
	var step *plan
	var grow []*plan
	for i := range l.plans {
		p := &l.plans[i]
		if err := p.look(); err != nil {
			return false, err
		}
		if p.stage == asSmoke && small {
			small, least = false, -1 // first all are as in small
		}
		if p.longer != nil {
			grow = append(grow, p)
		}
		if p.step != nil && (small || p.stage == asSmoke) && (least < 0 || p.step.takes-p.takes < step.takes-l.plans[least].takes) {
			least, step = i, p.step
		}
	}
	switch {
	case least >= 0 && (!small || len(grow) == 0 || step.takes-l.plans[least].takes <= l.takes):
		sum := l.takes - l.plans[least].takes + step.takes
		if sum > budget {
			return false, nil
		}
		l.plans[least], l.takes = *step, sum
	case len(grow) > 0:
		sum := l.takes
		for _, p := range grow {
			sum += p.longer.takes - p.takes
		}
		if sum > budget {
			return false, nil
		}
		for _, p := range grow {
			*p = *p.longer
		}
		l.takes = sum
	default:
		return false, nil
	}
	return true, nil
}

// stage is how far up the ladder an experiment is.
type stage int

const (
	asSmoke stage = iota
	asSmall       // with values that return, and more rows
	whole
)

// plan is an experiment at a height of the ladder.
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
	// What look found: the plan after its next step, nil: none until it is longer, or it is
	// whole; and with more rows or time, nil: it has as many as the document.
	looked       bool
	step, longer *plan
}

// ladder is the document with all experiments that can be run as in smoke.
func (d *Document) ladder(size Size, systems int) (*ladder, error) {
	var l ladder
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
		first, err := p.with(e.Cut(Smoke))
		if err != nil {
			return nil, err
		}
		l.plans, l.takes = append(l.plans, *first), l.takes+first.takes
	}
	return &l, nil
}

func (p *plan) experiment() *Experiment { return &p.of.Experiments[p.at] }

// with is the plan with another cut.
func (p plan) with(cut Cut) (*plan, error) {
	e := *p.experiment()
	e.Cuts = map[Size]Cut{p.size: cut}
	var err error
	p.cut, p.looked, p.step, p.longer = cut, false, nil, nil
	p.takes, err = p.of.Duration(&e, p.size, p.systems)
	return &p, err
}

// look finds what comes next.
func (p *plan) look() error {
	if p.looked {
		return nil
	}
	p.looked = true
	var err error
	next := *p
	switch {
	case p.stage == asSmoke:
		next.stage = asSmall
		cut := p.experiment().Cut(Small)
		if len(cut.Run) == 0 {
			next.stage = whole // as printed
		}
		p.step, err = next.with(cut)
		return err
	case p.stage == whole:
		return nil
	}
	if p.longer, err = p.grown(); err != nil {
		return err
	}
	switch {
	case len(p.steps) > 0:
		next.done, next.steps = append(slices.Clone(p.done), p.steps[0]), p.steps[1:]
		p.step, err = next.with(p.experiment().more(next.done, next.times))
	case p.longer == nil:
		next.stage = whole
		p.step, err = next.with(Cut{})
	}
	return err
}

// grown is the plan with more rows or time for queries; nil: it has as many as the
// document, or takes as long.
func (p *plan) grown() (*plan, error) {
	for times := p.times * growth; times < math.MaxInt32; times *= growth {
		cut := p.experiment().more(p.done, times)
		if fmt.Sprint(cut.Run) == fmt.Sprint(p.experiment().more(p.done, math.MaxInt32).Run) {
			times = math.MaxInt32
		} else if fmt.Sprint(cut.Run) == fmt.Sprint(p.experiment().more(p.done, p.times).Run) {
			continue // too little to change a whole number
		}
		next := *p
		next.times = times
		longer, err := next.with(cut)
		if err != nil || longer.takes <= p.takes || longer.takes > p.full {
			return nil, err
		}
		return longer, nil
	}
	return nil, nil
}

// said is the plan's cut, with words that say what is not as in small.
func (p *plan) said() (Cut, error) {
	cut, e := p.cut, *p.experiment()
	if p.stage != asSmall || len(p.done) == 0 && p.times == 1 {
		return cut, nil
	}
	var parts []string
	for _, path := range sweptBy(e.Run) {
		var values []string
		here, small := merge(e.Run, cut.Run), merge(e.Run, e.Cut(Small).Run)
		for _, v := range valuesOf(here, path) {
			if !contains(valuesOf(small, path), v) {
				values = append(values, fmt.Sprint(v))
			}
		}
		for _, v := range includedOf(here, path) { // beside a matrix
			if !contains(includedOf(small, path), v) && !slices.Contains(values, fmt.Sprint(v)) {
				values = append(values, fmt.Sprint(v))
			}
		}
		if len(values) > 0 {
			parts = append(parts, path+"="+strings.Join(values, ","))
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
