// Package history reports targets that have an order, such as the versions of a system, each compared
// with the one before it: see package run/history.
//
// The ratio of a target to the first one is the product of the ratios of all neighbours in between.
// Neighbours were measured in turns, so that changes of the machine cancel in their ratio; the
// figures of two different runs are never divided. The runs are independent, so that the distances
// of the interval's ends add up as their squares, on logarithms.
//
// A step is a difference between neighbours that two runs have shown, each with servers and loads of
// its own: what distinguishes two processes or two loads by chance, such as the layout of their
// memory, does not appear again. Its interval covers what differs from run to run: see spread.
package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/history"
)

// LeastStep is the least ratio, either way, of a step: smaller differences are not reported as steps.
const LeastStep = 1.03

// mostRuns is the number of runs after which two neighbours are compared no more.
const mostRuns = 3

// History is what the runs of a history show.
type History struct {
	Versions []Version
	Pairs    []*history.Pair
	Lines    []Line
	compared map[[2]int]*compare.Target // by the versions of a pair
}

// Version is one of the targets.
type Version struct {
	Name    string `json:"name"`
	System  string `json:"version,omitempty"` // as the system reported it; empty: unknown
	Failure string `json:"failure,omitempty"` // why it could not be measured; empty: it was
	// Unranked is why no figure of the version counts, for example wrong answers in one query type of one run:
	// see terms.ReasonUnranked. It is empty if they count.
	Unranked string `json:"unranked,omitempty"`
}

// Line is a figure of all versions.
type Line struct {
	Subject string            // a query type, compare.AllTypes or compare.LoadSubject
	Metric  compare.Metric    //
	Unit    compare.Unit      //
	Better  compare.Direction //
	Points  []Point           // of each version
}

// Point is the figure of a version.
type Point struct {
	// Missing is why the version has no figure, and Wrong whether its answers or contents were wrong.
	// Empty: it has one.
	Missing string
	Wrong   bool
	// Measured is the figure as one run measured it: the one with the version before, or, for the
	// first version, the one with the next.
	Measured stats.Estimate
	// Ratio is that to the first version with the figure; stats.Unknown: a comparison in between is
	// missing. Interval is nil if some comparison has none.
	Ratio    stats.Value
	Interval *stats.Interval
	// From is the index of the version before that has the figure, and Change the comparison with it;
	// nil: it is the first, or they were not compared.
	From   int
	Change *Change
	below  float64 // squared distance of the interval's lower end on logarithms
	above  float64 // likewise, of the upper end
}

// Change is the comparison of a version with the one before.
type Change struct {
	*compare.Figure                   // over all runs; its verdict and Adjusted are those of the pair alone
	Runs            []*result.Run     // oldest first
	P               float64           // corrected for all figures of all comparisons; 1: not tested
	each            []*compare.Figure // of each run
	spread          spread            // of the ratios of runs; zero: not known well enough
}

// IsStep reports whether the change is a step.
func (c *Change) IsStep() bool {
	return len(c.Runs) > 1 && c.P < stats.Alpha && c.agrees() && c.spread.freedom > 0 && !c.Interval.Holds(stats.Value{Figure: 1})
}

// outcome says in words whether the change is a step.
func (c *Change) outcome() string {
	switch {
	case c.IsStep():
		return "step"
	case !c.Testable():
		return "not tested"
	}
	return "no step shown"
}

// agrees reports whether all runs together, and each of them, show a difference that is large enough.
func (c *Change) agrees() bool {
	return c.differs() && c.Interval != nil && !slices.ContainsFunc(c.each, func(f *compare.Figure) bool {
		return f.Interval == nil || f.Interval.Holds(stats.Value{Figure: 1}) || (f.Ratio.Figure > 1) != (c.Ratio.Figure > 1)
	})
}

// undecided reports whether one more run may show that the change is a step.
func (c *Change) undecided() bool {
	return len(c.Runs) == 1 && c.differs() ||
		len(c.Runs) > 1 && len(c.Runs) < mostRuns && c.agrees() && (c.spread.freedom == 0 || c.Interval.Holds(stats.Value{Figure: 1}))
}

// differs reports whether all runs together show a difference that is large enough.
func (c *Change) differs() bool {
	return c.Significant() && math.Abs(math.Log(c.Ratio.Figure)) >= math.Log(LeastStep)
}

// Worse reports whether a ratio means a worse figure.
func (l *Line) Worse(ratio stats.Value) bool {
	return (ratio.Figure > 1) == (l.Better == compare.Lower)
}

// Label names the figure.
func (l *Line) Label() string {
	label := rank.Label(&compare.Figure{Subject: l.Subject, Metric: l.Metric})
	switch l.Metric {
	case compare.GeoMean:
		return "all query types"
	case compare.MixedMedian:
		return label + " (while rows were written)"
	case compare.MixedLoad:
		return label + " (while queries ran)"
	}
	return label
}

// lineKey identifies a line.
type lineKey struct {
	subject string
	metric  compare.Metric
}

// lineMetrics returns the metrics that have lines, in their order.
func lineMetrics() []compare.Metric {
	return []compare.Metric{compare.GeoMean, compare.Median, compare.MixedMedian, compare.MixedLoad, compare.Load, compare.Disk}
}

// New computes the history of targets, by their names in order, from their pairs.
func New(names []string, pairs []*history.Pair) (*History, error) {
	h := &History{Pairs: pairs, compared: make(map[[2]int]*compare.Target)}
	for _, name := range names {
		h.Versions = append(h.Versions, Version{Name: name})
	}
	changes := make(map[lineKey]map[[2]int]*Change)
	for _, p := range pairs {
		for i, version := range []int{p.A, p.B} {
			v := &h.Versions[version]
			if worked := p.Failure(version) == "" && p.Failure(p.A+p.B-version) == ""; worked {
				v.System = cmp.Or(v.System, p.Runs[0].Targets[i].Description.Version)
			}
			for _, r := range p.Runs {
				v.Unranked = cmp.Or(v.Unranked, terms.ReasonUnranked(&r.Targets[i]))
			}
		}
		if err := h.addPair(p, changes); err != nil {
			return nil, err
		}
	}
	h.findFailures()
	for i := range h.Lines {
		h.link(&h.Lines[i], changes[lineKey{h.Lines[i].Subject, h.Lines[i].Metric}])
	}
	h.widen()
	for i := range h.Lines {
		h.Lines[i].chain()
	}
	h.correct()
	return h, nil
}

// correct corrects the p-values of all changes for their number. A change whose test ended without a verdict counts
// too: which figures are corrected for must not depend on what their tests showed.
func (h *History) correct() {
	var all []*Change
	var p []float64
	for i := range h.Lines {
		for j := range h.Lines[i].Points {
			c := h.Lines[i].Points[j].Change
			if c == nil {
				continue
			}
			if c.P = 1; c.Testable() {
				all, p = append(all, c), append(p, c.Figure.P)
			}
		}
	}
	for i, corrected := range stats.Holm(p) {
		all[i].P = corrected
	}
}

// findFailures marks the versions that failed in every comparison.
func (h *History) findFailures() {
	for i := range h.Versions {
		for _, p := range h.Pairs {
			if p.A != i && p.B != i {
				continue
			}
			failure := p.Failure(i)
			if failure == "" && p.Failure(p.A+p.B-i) == "" {
				h.Versions[i].Failure = ""
				break
			}
			h.Versions[i].Failure = cmp.Or(h.Versions[i].Failure, failure)
		}
	}
}

// addPair adds the comparison of a pair to the changes, and further lines to the history.
func (h *History) addPair(p *history.Pair, changes map[lineKey]map[[2]int]*Change) error {
	runs := slices.DeleteFunc(slices.Clone(p.Runs), func(r *result.Run) bool { return r.FailedTarget() != "" })
	if len(runs) == 0 {
		return nil
	}
	a, b := h.Versions[p.A].Name, h.Versions[p.B].Name
	figures := func(of ...*result.Run) (*compare.Target, error) {
		c, err := compare.Runs(compare.Side{Runs: of, Target: a}, compare.Side{Runs: of, Target: b}, compare.Options{ByType: true})
		if err != nil {
			return nil, fmt.Errorf("comparing %s with %s: %w", b, a, err)
		}
		return &c.Targets[0], nil
	}
	pooled, err := figures(runs...)
	if err != nil {
		return err
	}
	h.compared[[2]int{p.A, p.B}] = pooled
	for i := range pooled.Figures {
		f := pooled.Figures[i] // a copy: widen changes its interval, which no longer goes with the verdict of the pair
		if !slices.Contains(lineMetrics(), f.Metric) {
			continue
		}
		key := lineKey{f.Subject, f.Metric}
		if changes[key] == nil {
			changes[key] = make(map[[2]int]*Change)
			h.Lines = append(h.Lines, Line{Subject: f.Subject, Metric: f.Metric, Unit: f.Unit, Better: f.Better})
		}
		changes[key][[2]int{p.A, p.B}] = &Change{Figure: &f, Runs: runs}
	}
	slices.SortStableFunc(h.Lines, func(a, b Line) int {
		return slices.Index(lineMetrics(), a.Metric) - slices.Index(lineMetrics(), b.Metric)
	})
	for _, r := range runs {
		single, err := figures(r)
		if err != nil {
			return err
		}
		for i := range single.Figures {
			f := &single.Figures[i]
			if c := changes[lineKey{f.Subject, f.Metric}][[2]int{p.A, p.B}]; c != nil {
				c.each = append(c.each, f)
			}
		}
	}
	return nil
}

// link finds the points of a line, and the change of each from the one before.
func (h *History) link(l *Line, changes map[[2]int]*Change) {
	before := -1
	for i := range h.Versions {
		p, wrong := Point{From: -1}, h.wrong(i, l)
		p.Measured, p.Missing = h.findMeasured(i, wrong, changes)
		switch {
		case p.Missing != "":
			p.Missing = cmp.Or(h.Versions[i].Failure, p.Missing)
			p.Wrong = h.Versions[i].Failure == "" && wrong
		case before < 0:
			before = i
		default:
			p.From, p.Change = before, changes[[2]int{before, i}]
			before = i
		}
		if c := p.Change; c != nil && c.MissingA+c.MissingB != "" {
			p.Change = nil
		}
		l.Points = append(l.Points, p)
	}
}

// chain computes the ratios of a line to its first version.
func (l *Line) chain() {
	for i := range l.Points {
		switch p := &l.Points[i]; {
		case p.Missing != "":
			p.Ratio = stats.Value{Bound: stats.Unknown}
		case p.From < 0:
			p.Ratio, p.Interval = stats.Value{Figure: 1}, &stats.Interval{Lo: stats.Value{Figure: 1}, Hi: stats.Value{Figure: 1}, Level: 1}
		default:
			p.follow(&l.Points[p.From])
		}
	}
}

// findMeasured returns the figure of a version from a run, or why it has none: a wrong answer in any run removes the
// version from every line, so that its neighbours are compared with each other. The cause of the error may have made
// its other figures fast.
func (h *History) findMeasured(version int, wrong bool, changes map[[2]int]*Change) (e stats.Estimate, missing string) {
	const notRun = "not run"
	missing = notRun
	for _, p := range h.Pairs { // ordered by the later version
		c := changes[[2]int{p.A, p.B}]
		if c == nil || p.A != version && p.B != version {
			continue
		}
		own, why := c.A, c.MissingA
		if p.B == version {
			own, why = c.B, c.MissingB
		}
		if own.N > 0 && why == "" && !wrong && h.Versions[version].Unranked == "" {
			return own, ""
		}
		if missing == notRun && why != "" {
			missing = why
		}
	}
	switch unranked := h.Versions[version].Unranked; {
	case missing != notRun:
	case wrong:
		missing = "withheld: wrong answers"
	case unranked != "":
		missing = "not ranked: " + unranked
	}
	return stats.Estimate{Median: stats.Value{Bound: stats.Unknown}}, missing
}

// wrong reports whether a version's figure is missing because answers or contents were wrong.
func (h *History) wrong(version int, l *Line) bool {
	for _, p := range h.Pairs {
		if p.A != version && p.B != version {
			continue
		}
		for _, r := range p.Runs {
			if slices.ContainsFunc(r.Targets[btoi(p.B == version)].MeasuredRepeats(), l.withheld) {
				return true
			}
		}
	}
	return false
}

// withheld reports whether answers or contents in a repeat withhold the line's figure.
func (l *Line) withheld(r result.Repeat) bool {
	query := slices.ContainsFunc(r.Queries, func(q result.Queries) bool {
		return q.Withheld != "" && (l.Metric == compare.GeoMean || q.Type == l.Subject)
	})
	load := r.Load != nil && !r.Load.HasFigures() && r.Load.UnsupportedReason() == ""
	switch l.Metric {
	case compare.Median:
		return query
	case compare.GeoMean:
		return query || load
	case compare.MixedMedian:
		load = load || r.Load != nil && r.Load.Mixed != nil && slices.ContainsFunc(r.Load.Mixed.Types, func(q result.MixedType) bool {
			return q.Type == l.Subject && q.Withheld != ""
		})
	}
	return load
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// follow computes the ratio of a point from that of the one before.
func (p *Point) follow(before *Point) {
	p.Ratio = stats.Value{Bound: stats.Unknown}
	c := p.Change
	if c == nil || before.Ratio.Bound != stats.Exact {
		return
	}
	ratio := c.Ratio
	if ratio.Bound == stats.Unknown { // medians and pairs of rounds disagree
		ratio = c.B.Median.Ratio(c.A.Median)
	}
	if ratio.Bound != stats.Exact {
		return
	}
	p.Ratio = stats.Value{Figure: before.Ratio.Figure * ratio.Figure}
	in := c.Interval
	if before.Interval == nil || in == nil || in.Lo.Bound != stats.Exact || in.Hi.Bound != stats.Exact || c.Method != compare.AcrossRepeats {
		return
	}
	square := func(end float64) float64 { d := math.Log(end / ratio.Figure); return d * d }
	p.below, p.above = before.below+square(in.Lo.Figure), before.above+square(in.Hi.Figure)
	p.Interval = &stats.Interval{
		Lo:    stats.Value{Figure: p.Ratio.Figure * math.Exp(-math.Sqrt(p.below))},
		Hi:    stats.Value{Figure: p.Ratio.Figure * math.Exp(math.Sqrt(p.above))},
		Level: min(before.Interval.Level, in.Level),
	}
}

// RunCount returns the number of runs.
func (h *History) RunCount() (n int) {
	for _, p := range h.Pairs {
		n += len(p.Runs)
	}
	return n
}

// Wanted is a comparison that is missing: of two versions by a number of runs.
type Wanted struct {
	A, B, Runs int
	Why        string
}

// FindWanted returns the comparisons that the history lacks: those around versions without a figure, and
// the second ones of neighbours that seem to differ.
func (h *History) FindWanted() (list []Wanted) {
	add := func(w Wanted) {
		if !slices.ContainsFunc(list, func(o Wanted) bool { return o.A == w.A && o.B == w.B }) {
			list = append(list, w)
		}
	}
	for i := range h.Lines {
		l := &h.Lines[i]
		for j := range l.Points {
			p := &l.Points[j]
			if p.From < 0 {
				continue
			}
			known := slices.ContainsFunc(h.Pairs, func(pair *history.Pair) bool { return pair.A == p.From && pair.B == j })
			switch {
			case !known:
				add(Wanted{p.From, j, 1, fmt.Sprintf("no figure of %s in between", l.Label())})
			case p.Change != nil && p.Change.undecided():
				add(Wanted{p.From, j, len(p.Change.Runs) + 1, fmt.Sprintf("%s may differ", l.Label())})
			}
		}
	}
	return list
}

// Step is a step of a figure.
type Step struct {
	Line    *Line
	Version int // the first with the step
	*Point
}

// Steps returns all steps, the newest first; those of a version in the order of the lines, query types
// by size.
func (h *History) Steps() (list []Step) {
	for i := range h.Lines {
		for j := range h.Lines[i].Points {
			if p := &h.Lines[i].Points[j]; p.Change != nil && p.Change.IsStep() {
				list = append(list, Step{&h.Lines[i], j, p})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Step) int {
		if a.Version != b.Version {
			return b.Version - a.Version
		}
		if a.Line.Metric != b.Line.Metric {
			return slices.Index(lineMetrics(), a.Line.Metric) - slices.Index(lineMetrics(), b.Line.Metric)
		}
		return cmp.Compare(math.Abs(math.Log(b.Change.Ratio.Figure)), math.Abs(math.Log(a.Change.Ratio.Figure)))
	})
	return list
}
