package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/measure/steps"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/history"
)

// Answers is, beside the metrics of comparisons, the figure of a bisection that looks for wrong answers.
const Answers compare.Metric = "answers"

// Figures lists the figures by which a bisection tells versions apart.
func Figures() []compare.Metric {
	return []compare.Metric{compare.Median, compare.GeoMean, compare.Load, compare.Disk, Answers}
}

// Judge judges pairs of versions by one figure.
type Judge struct {
	Metric compare.Metric
	Type   string // query type of a median; empty: all
	Names  []string
	Alpha  float64 // error rate of a decision
}

// Evidence returns what the runs of a pair show, and one that goes on, if it is not nil.
func (j *Judge) Evidence(p *history.Pair, running *result.Run) history.Evidence {
	a, b := j.Names[p.A], j.Names[p.B]
	if j.Metric == Answers {
		return j.answers(p)
	}
	for _, r := range p.Runs {
		if missing := j.missing(r, a, b); missing != "" {
			return history.Evidence{Missing: missing}
		}
	}
	sequential := steps.NewSequential(LeastStep, j.Alpha)
	e := history.Evidence{}
	for _, r := range append(slices.Clone(p.Runs), running) {
		if r == nil {
			continue
		}
		logs := j.ratios(r, a, b)
		for _, ratio := range logs {
			sequential.Add(ratio)
		}
		if len(logs) > 0 {
			e.Each = append(e.Each, math.Exp(stats.Mean(logs)))
		}
	}
	if sequential.Rounds() == 0 {
		return history.Evidence{Missing: "no round has the figure of both"}
	}
	e.Ratio, e.Low, e.High = sequential.Ratio()
	unit := "round"
	if j.Metric == compare.Load || j.Metric == compare.Disk {
		unit = "load"
	}
	e.Text = fmt.Sprintf("%s%s after %s in %s", format.Ratio(e.Ratio), brackets(intervalOf(e)), format.Plural(sequential.Rounds(), unit), format.Plural(len(e.Each), "run"))
	return e
}

// SeemsToDiffer reports whether the medians of a query type differ by a step in the runs of a pair and
// the one that goes on, be it by chance.
func SeemsToDiffer(names []string, p *history.Pair, running *result.Run, queryType string) bool {
	e := (&Judge{Metric: compare.Median, Type: queryType, Names: names, Alpha: stats.Alpha}).Evidence(p, running)
	return e.Missing == "" && math.Abs(math.Log(e.Ratio)) >= math.Log(LeastStep)
}

// intervalOf returns the interval of a ratio; nil: it has no upper end.
func intervalOf(e history.Evidence) *stats.Interval {
	if math.IsInf(e.High, 1) {
		return nil
	}
	return &stats.Interval{Lo: stats.Value{Figure: e.Low}, Hi: stats.Value{Figure: e.High}, Level: stats.Confidence}
}

// missing returns why a run has no figure of one of two targets.
func (j *Judge) missing(r *result.Run, a, b string) string {
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{r}, Target: a}, compare.Side{Runs: []*result.Run{r}, Target: b}, compare.Options{})
	if err != nil {
		return err.Error()
	}
	for _, f := range c.Targets[0].Figures {
		if f.Metric != j.Metric || j.Type != "" && f.Subject != j.Type {
			continue
		}
		if f.MissingB != "" {
			return b + ": " + f.MissingB
		}
		if f.MissingA != "" {
			return a + ": " + f.MissingA
		}
		return ""
	}
	return "the run has no such figure"
}

// ratios returns the logarithms of the ratios of two targets in the rounds, or loads, of a run.
func (j *Judge) ratios(r *result.Run, a, b string) (logs []float64) {
	first, second := rank.FindTarget(r, a), rank.FindTarget(r, b)
	if first == nil || second == nil {
		return nil
	}
	most := 0
	var types []int // number of types of each round
	for _, of := range first.MeasuredRepeats() {
		i := slices.IndexFunc(second.MeasuredRepeats(), func(other result.Repeat) bool { return other.Number == of.Number })
		if i < 0 {
			continue
		}
		other := second.MeasuredRepeats()[i]
		sum, n := 0.0, 0
		if j.Metric == compare.Load || j.Metric == compare.Disk {
			value := estimate.SettledRate
			if j.Metric == compare.Disk {
				value = estimate.Disk
			}
			if of.Load != nil && other.Load != nil && value(of.Load) > 0 && value(other.Load) > 0 {
				sum, n = math.Log(value(other.Load)/value(of.Load)), 1
			}
		}
		for k := range of.Queries {
			q := &of.Queries[k]
			beside := other.Type(q.Type)
			if j.Metric != compare.Median && j.Metric != compare.GeoMean || j.Type != "" && q.Type != j.Type || beside == nil {
				continue
			}
			if ratio, ok := logRatio(q, beside); ok {
				sum, n = sum+ratio, n+1
			}
		}
		if n > 0 {
			logs, types, most = append(logs, sum/float64(n)), append(types, n), max(most, n)
		}
	}
	var whole []float64 // a mean over fewer types is another figure
	for i, ratio := range logs {
		if types[i] == most {
			whole = append(whole, ratio)
		}
	}
	return whole
}

// logRatio returns the logarithm of the ratio of the medians of the queries that both sides of a round
// have.
func logRatio(a, b *result.Queries) (ratio float64, ok bool) {
	var first, second []float64
	for i, seconds := range a.Each {
		at := a.First + i - b.First
		if seconds != 0 && at >= 0 && at < len(b.Each) && b.Each[at] != 0 {
			first, second = append(first, seconds), append(second, b.Each[at])
		}
	}
	x, y := stats.Median(first), stats.Median(second)
	if x <= 0 || y <= 0 { // no queries in common, or cut off
		return 0, false
	}
	return math.Log(y / x), true
}

// answers returns which of two versions has wrong answers that the other does not have: such versions
// differ by a factor of two.
func (j *Judge) answers(p *history.Pair) history.Evidence {
	if len(p.Runs) == 0 {
		return history.Evidence{Ratio: 1, High: math.Inf(1)}
	}
	r := p.Runs[len(p.Runs)-1]
	a, b := j.wrong(&r.Targets[0]), j.wrong(&r.Targets[1])
	only := func(list, others []string) bool {
		return slices.ContainsFunc(list, func(name string) bool { return !slices.Contains(others, name) })
	}
	e := history.Evidence{Ratio: 1, Text: "all answers verified"}
	if len(b) > 0 {
		e.Text = "wrong: " + strings.Join(b, ", ")
	}
	switch {
	case only(b, a):
		e.Ratio = 2
	case only(a, b):
		e.Ratio = 0.5
	}
	e.Low, e.High = e.Ratio, e.Ratio
	return e
}

// wrong lists what a target has wrong: its contents, and query types.
func (j *Judge) wrong(t *result.Target) (list []string) {
	for i := range t.Queries {
		if q := &t.Queries[i]; q.Withheld != "" && (j.Type == "" || q.Type == j.Type) {
			list = append(list, q.Type)
		}
	}
	if l := t.Load; l != nil && len(list) == 0 && !l.HasFigures() && l.UnsupportedReason() == "" && l.Withheld != "" {
		list = append(list, "contents")
	}
	return list
}

// Answer is the last line of a bisection.
func (j *Judge) Answer(f history.Found) string {
	l := &Line{Subject: cmp.Or(j.Type, compare.LoadSubject), Metric: j.Metric, Unit: compare.Seconds, Better: compare.Lower}
	switch j.Metric {
	case compare.Load:
		l.Unit, l.Better = compare.RowsPerSecond, compare.Higher
	case compare.Disk:
		l.Unit = compare.Bytes
	}
	before, first := j.Names[f.Before], j.Names[f.First]
	label := l.Label()
	if j.Metric == Answers {
		label = format.Join(" of ", "answers", j.Type)
	}
	switch {
	case f.Same && f.Undecided:
		return fmt.Sprintf("%s: not decided whether %s and %s differ: %s", label, before, first, f.Evidence.Text)
	case f.Same:
		return fmt.Sprintf("%s: no difference shown between %s and %s: %s", label, before, first, f.Evidence.Text)
	case f.Undecided:
		return fmt.Sprintf("Not decided: the step of %s is after %s, and not after %s", label, before, first)
	case len(f.Skipped) > 0:
		var names []string
		for _, i := range f.Skipped {
			names = append(names, j.Names[i])
		}
		first = fmt.Sprintf("%s or one of %s, which could not be tested", first, strings.Join(names, ", "))
	}
	if j.Metric == Answers {
		if f.Evidence.Ratio < 1 {
			return fmt.Sprintf("%s correct since %s: %s", label, first, f.Evidence.Text)
		}
		return fmt.Sprintf("%s wrong since %s: %s", label, first, f.Evidence.Text)
	}
	return l.ChangeText(stats.Value{Figure: f.Evidence.Ratio}, intervalOf(f.Evidence), " since "+first)
}
