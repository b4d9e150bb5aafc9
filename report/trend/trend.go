// Package trend reports the figures of a target over the stored runs of one experiment, such as
// those of every night, and where their level changed: see package measure/steps.
//
// A figure is the one that comparisons show of a run: see package compare. With a reference, which is another
// target of the same runs, it is the ratio of the target to the reference in each run, in which a slow
// night cancels out.
package trend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/measure/steps"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// Trend is a target over runs.
type Trend struct {
	Target    string `json:"target"`
	Reference string `json:"reference,omitempty"` // target of the same runs whose figures are divided by
	Runs      []Run  `json:"runs"`                // oldest first
	// Earlier is the number of comparable runs before these, in which steps are looked for too.
	Earlier int       `json:"earlier"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
	Figures []Figure  `json:"figures"`
}

// Run is a run of the target.
type Run struct {
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	System  string    `json:"system"` // with its version
	Tool    string    `json:"tsmark"`
	Kernel  string    `json:"kernel,omitempty"`
}

// LeftOut is runs of the target that are not comparable with the newest one.
type LeftOut struct {
	Why  string   `json:"why"`
	Runs []string `json:"runs"`
}

// Figure is a figure over the runs.
type Figure struct {
	Subject string            `json:"subject"`
	Metric  compare.Metric    `json:"metric"`
	Unit    compare.Unit      `json:"unit"` // ratio: of the target to the reference
	Better  compare.Direction `json:"better"`
	Points  []Point           `json:"points"` // of Trend.Runs
	Steps   []Step            `json:"steps"`
	Known   int               `json:"known"` // runs with the figure, earlier ones included
	// Noise is the coefficient of variation from run to run since the last step, and Resolution the size of
	// a step that is found within FoundWithin runs in four of five cases; 0: too few runs.
	Noise      float64 `json:"noise"`
	Resolution float64 `json:"resolution,omitempty"`
}

// FoundWithin is the number of runs of Figure.Resolution.
const FoundWithin = 5

// Ratio is the unit of figures that are divided by those of a reference.
const Ratio compare.Unit = "ratio"

// Point is a figure in one run.
type Point struct {
	Value   float64 `json:"value,omitempty"` // 0: missing
	Low     float64 `json:"low,omitempty"`   // its interval; 0: unknown
	High    float64 `json:"high,omitempty"`
	Missing string  `json:"missing,omitempty"` // why there is no figure
}

// Step is a change of the level.
type Step struct {
	First int     `json:"first"` // index of the first run after it in Trend.Runs
	Found int     `json:"found"` // index of the run that showed it
	Ratio float64 `json:"ratio"` // level after the step by the level before it
	Low   float64 `json:"low"`   // interval of the ratio
	High  float64 `json:"high"`
	Level float64 `json:"level"`
	P     float64 `json:"p"` // corrected for all figures and a year of nightly runs
	Worse bool    `json:"worse"`
}

// Builder collects runs, from the newest to the oldest.
type Builder struct {
	target, reference string
	newest            *result.Run
	runs              []Run
	figures           []Figure // with the points of runs
	leftOut           []LeftOut
}

// NewBuilder begins with the newest run. An error says why its target cannot be followed.
func NewBuilder(newest *result.Run, target, reference string) (*Builder, error) {
	b := &Builder{target: target, reference: reference, newest: newest}
	for _, name := range []string{target, reference} {
		t := find(newest, name)
		switch {
		case name == "":
		case t == nil:
			return nil, fmt.Errorf("run %s has no target %q; tsmark runs lists them", newest.ID, name)
		case t.Uncomparable() != "":
			return nil, fmt.Errorf("target %s of run %s is not compared: %s", name, newest.ID, t.Uncomparable())
		}
	}
	return b, b.Add(newest)
}

// Len returns the number of comparable runs so far.
func (b *Builder) Len() int { return len(b.runs) }

// LeaveOut records that a run is not comparable.
func (b *Builder) LeaveOut(id, why string) {
	at := slices.IndexFunc(b.leftOut, func(l LeftOut) bool { return l.Why == why })
	if at < 0 {
		at = len(b.leftOut)
		b.leftOut = append(b.leftOut, LeftOut{Why: why})
	}
	b.leftOut[at].Runs = append(b.leftOut[at].Runs, id)
}

// Add adds a run with the target, or leaves it out.
func (b *Builder) Add(r *result.Run) error {
	if why := b.different(r); why != "" {
		b.LeaveOut(r.ID, why)
		return nil
	}
	figures, err := b.read(r)
	if err != nil {
		return err
	}
	t := find(r, b.target)
	b.runs = append(b.runs, Run{ID: r.ID, Started: r.Started, System: t.System(), Tool: r.Tool.String(), Kernel: r.Host.Kernel})
	for _, f := range figures {
		at := slices.IndexFunc(b.figures, func(known Figure) bool { return known.Subject == f.Subject && known.Metric == f.Metric })
		if at < 0 {
			at = len(b.figures)
			b.figures = append(b.figures, Figure{Subject: f.Subject, Metric: f.Metric, Unit: f.Unit, Better: f.Better})
		}
		known := &b.figures[at]
		known.skip(len(b.runs) - 1)
		known.Points = append(known.Points, f.Points...)
	}
	return nil
}

// skip marks the figure as missing in the runs before a number of runs that have no point.
func (f *Figure) skip(runs int) {
	for len(f.Points) < runs {
		f.Points = append(f.Points, Point{Missing: "not run"})
	}
}

// different returns why a run is not comparable with the newest one; empty: it is.
func (b *Builder) different(r *result.Run) string {
	for _, name := range []string{b.target, b.reference} {
		if name == "" {
			continue
		}
		t, newest := find(r, name), find(b.newest, name)
		switch {
		case t == nil:
			return "no target " + name
		case t.Driver != newest.Driver:
			return "driver of " + name + ": " + t.Driver
		case t.Uncomparable() != "":
			return t.Uncomparable()
		case t.Failure != "" && r.ID != b.newest.ID:
			return "target " + name + " failed"
		}
		for _, d := range terms.Differences(side("newest", b.newest, newest), side("other", r, t)) {
			if !mayChange(d.Condition) {
				return d.Condition + ": " + d.Values[len(d.Values)-1].Text
			}
		}
	}
	switch {
	case !r.Ended() && r.ID != b.newest.ID:
		return "incomplete"
	case result.OtherQueries(b.newest, r) != "":
		return "other queries of type " + result.OtherQueries(b.newest, r)
	}
	return ""
}

// mayChange reports whether a condition may change from night to night: a step shows such changes.
func mayChange(condition string) bool {
	return condition == "tsmark" || condition == "system settings of the host" || condition == "existing data"
}

func side(name string, r *result.Run, t *result.Target) terms.Side {
	return terms.Side{Name: name, Of: []terms.Measured{{Run: r, Target: t}}}
}

func find(r *result.Run, target string) *result.Target {
	at := slices.IndexFunc(r.Targets, func(t result.Target) bool { return t.Name == target })
	if at < 0 {
		return nil
	}
	return &r.Targets[at]
}

// metrics returns the metrics of a trend.
func metrics() []compare.Metric {
	return []compare.Metric{compare.Median, compare.P99, compare.GeoMean, compare.Load, compare.Disk, compare.MixedMedian, compare.MixedP99, compare.MixedLoad}
}

// read returns the figures of a run, with one point each.
func (b *Builder) read(r *result.Run) ([]Figure, error) {
	alone := *r // its queries do not depend on other targets
	alone.Targets = []result.Target{*find(r, b.target)}
	c := compare.SingleRun(&alone)
	if b.reference != "" {
		var err error
		at := func(target string) compare.Side { return compare.Side{Runs: []*result.Run{r}, Target: target} }
		if c, err = compare.Runs(at(b.reference), at(b.target), compare.Options{}); err != nil {
			return nil, err
		}
	}
	var list []Figure
	for i := range c.Targets[0].Figures {
		f := &c.Targets[0].Figures[i]
		if !slices.Contains(metrics(), f.Metric) {
			continue
		}
		figure := Figure{Subject: f.Subject, Metric: f.Metric, Unit: f.Unit, Better: f.Better}
		value, interval, missing := f.B.Median, f.B.Interval, f.MissingB
		if b.reference != "" {
			figure.Unit = Ratio
			value, interval, missing = f.Ratio, f.Interval, cmp.Or(f.MissingB, f.MissingA)
		}
		if missing == "" && (value.Bound == stats.Unknown || value.Figure <= 0) {
			missing = "unknown"
		}
		if missing == "" && value.Bound != stats.Exact { // a level of bounds is that of the time limit
			missing = fmt.Sprintf("%s: %s %s", cutOff, value.Bound, figure.text(value.Figure))
		}
		p := Point{Missing: missing}
		if missing == "" {
			p.Value = value.Figure
			if interval != nil && interval.Lo.Bound == stats.Exact && interval.Hi.Bound == stats.Exact {
				p.Low, p.High = interval.Lo.Figure, interval.Hi.Figure
			}
		}
		figure.Points = []Point{p}
		list = append(list, figure)
	}
	return list, nil
}

// cutOff begins the reason of a figure that is missing because only a bound of it is known.
const cutOff = "cut off"

// options are those of a trend of every night.
func options() steps.Options { return steps.Options{Looks: steps.Nightly} }

// findUntested lists the figures that too few runs have to show a step, with the number of runs.
func (t *Trend) findUntested() (list []string) {
	for i := range t.Figures {
		if f := &t.Figures[i]; f.Known < options().LeastPoints() {
			list = append(list, fmt.Sprintf("%s (%s)", f.name(), format.Plural(f.Known, "run")))
		}
	}
	return list
}

// EarlierRuns is the number of runs before the shown ones in which steps are looked for: twice as many as
// a look goes back to, so that the steps do not depend on the number of shown runs.
const EarlierRuns = 2 * steps.Window

// Trend returns the trend over the runs. It shows at most the given number of the newest ones.
func (b *Builder) Trend(newest int) *Trend {
	t := &Trend{Target: b.target, Reference: b.reference, Runs: slices.Clone(b.runs), LeftOut: b.leftOut, Earlier: max(0, len(b.runs)-newest)}
	slices.Reverse(t.Runs)
	t.Runs = t.Runs[t.Earlier:]
	var series [][]steps.Point
	for _, f := range b.figures {
		f.skip(len(b.runs))
		if !slices.ContainsFunc(f.Points, func(p Point) bool { return p.Value > 0 || strings.HasPrefix(p.Missing, cutOff) }) {
			continue
		}
		slices.Reverse(f.Points)
		one := make([]steps.Point, len(f.Points))
		for i, p := range f.Points {
			one[i] = steps.Point{Value: p.Value, Low: p.Low, High: p.High}
			f.Known += btoi(p.Value > 0)
		}
		series = append(series, one)
		f.Points = f.Points[t.Earlier:]
		f.Steps = []Step{}
		t.Figures = append(t.Figures, f)
	}
	nightly := options()
	last := make([]int, len(series)) // first run after each figure's last step
	for _, s := range steps.Find(series, nightly) {
		f := &t.Figures[s.Series]
		last[s.Series] = s.Index
		if first := s.Index - t.Earlier; first > 0 {
			f.Steps = append(f.Steps, Step{First: first, Found: s.Seen - t.Earlier, Ratio: s.Ratio, Low: s.Low, High: s.High, Level: s.Level, P: s.P,
				Worse: (s.Ratio > 1) == (f.Better == compare.Lower)})
		}
	}
	for i := range t.Figures {
		since := series[i][last[i]:]
		t.Figures[i].Noise, t.Figures[i].Resolution = steps.Noise(since), nightly.Resolution(since, len(series), FoundWithin)
	}
	return t
}

// name is the figure in words.
func (f *Figure) name() string {
	if f.Subject == compare.AllTypes || f.Subject == compare.LoadSubject || f.Subject == string(f.Metric) {
		return string(f.Metric)
	}
	return f.Subject + " " + string(f.Metric)
}

// change is a step as a share of the level before it.
func change(ratio float64) float64 { return ratio - 1 }
