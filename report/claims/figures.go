package claims

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// figure is a figure that rules compare and that package compare does not have, with a
// value for each repeat.
// The resources are the ones that were watched of the target's servers.
type figure struct {
	words  string // in which it is spoken of, before "of"
	better compare.Direction
	load   func([]*result.Resources, *result.Load) result.Value    // nil: loads have none
	query  func([]*result.Resources, *result.Queries) result.Value // nil: query types have none
}

// figureOf returns a figure by the name that documents use; not ok: package compare has it.
func figureOf(name string) (f figure, ok bool) {
	usage := func(of func(*result.Usage) result.Value) func([]*result.Resources, *result.Cell) result.Value {
		return func(sources []*result.Resources, c *result.Cell) result.Value {
			u, known := estimate.SumUsage(sources, []*result.Cell{c})
			if !known {
				return result.Absent()
			}
			return of(&u)
		}
	}
	client := func(of func(*result.Client) result.Value) func([]*result.Resources, *result.Cell) result.Value {
		return func(_ []*result.Resources, c *result.Cell) result.Value {
			if c.Client == nil {
				return result.Absent()
			}
			return of(c.Client)
		}
	}
	// Resource use of queries is divided by their number, since a faster target runs more
	// of them in a time box.
	both := func(words string, each bool, of func([]*result.Resources, *result.Cell) result.Value) figure {
		return figure{words: words, better: compare.Lower,
			load: func(sources []*result.Resources, l *result.Load) result.Value { return of(sources, &l.Cell) },
			query: func(sources []*result.Resources, q *result.Queries) result.Value {
				if each {
					return of(sources, &q.Cell) / result.Value(max(q.Executed, 1))
				}
				return of(sources, &q.Cell)
			}}
	}
	switch name {
	case document.Points:
		return figure{words: "values loaded a second", better: compare.Higher, load: func(_ []*result.Resources, l *result.Load) result.Value {
			return result.Value(estimate.SettledRate(l) * float64(l.Metrics) / float64(max(l.Rows, 1)))
		}}, true
	case document.Settling:
		return figure{words: "part of the load's time after its last acknowledgement", better: compare.Higher, load: func(_ []*result.Resources, l *result.Load) result.Value {
			if l.Acked <= 0 || l.Settled <= 0 {
				return result.Absent()
			}
			return result.Value((l.Settled - l.Acked) / l.Settled)
		}}, true
	case document.DiskShare:
		return figure{words: "size on disk by that of its input file", better: compare.Lower}, true
	case document.MemoryGrowth:
		growth := func(sources []*result.Resources, c *result.Cell) result.Value {
			return estimate.GaugeGrowth(sources, c, result.RSS)
		}
		return both("memory at the end by that at the start", false, growth), true
	case document.Rate:
		return figure{words: "queries a second of all workers together", better: compare.Higher,
			query: func(_ []*result.Resources, q *result.Queries) result.Value { return result.Value(q.PerSecond) }}, true
	case document.ReadBytes: // of a few queries, whose values are in one repeat as well as in another
		return figure{words: "bytes read", better: compare.Lower}, true
	case document.ServerCPU:
		return both("CPU time of the server", true, usage(func(u *result.Usage) result.Value { return u.CPU })), true
	case document.ServerMemory:
		return both("most memory of the server", false, usage(func(u *result.Usage) result.Value { return u.RSSMax })), true
	case document.ServerWritten:
		return both("bytes that the server wrote to disk", true, usage(func(u *result.Usage) result.Value { return u.DiskWritten })), true
	case document.ClientUser:
		return both("user time of the client", true, client(func(c *result.Client) result.Value { return c.User })), true
	case document.ClientSystem:
		return both("system time of the client", true, client(func(c *result.Client) result.Value { return c.System })), true
	case document.ClientCPU:
		return both("CPU time of the client", true, client(func(c *result.Client) result.Value { return c.CPU })), true
	case document.ClientShare:
		return both("CPU share of the client", false, client(func(c *result.Client) result.Value { return c.Share })), true
	}
	return figure{}, false
}

// values returns a figure of each repeat of a target, or why there are no values. Figures
// of query types cover the queries that all verified targets of the run answered, if
// the figure is one of single queries.
func (r rule) values(s side, subject string) (list []float64, better compare.Direction, missing string) {
	run, t := s.run, s.target
	if len(r.Types) == 0 {
		return r.loadValues(run, t)
	}
	if !r.verbatim && !estimate.Verified(t, subject) {
		return nil, "", subject + " is not verified, or n/a"
	}
	f, own := figureOf(r.Figure)
	if r.Figure == document.ReadBytes {
		if list = estimate.BytesRead(t, subject); len(list) == 0 || slices.Contains(list, 0) {
			return nil, "", fmt.Sprintf("the bytes that a query reads are unknown: %s does not report them, or its cache still holds rows", t.Driver)
		}
		return slices.Clone(list), f.better, ""
	}
	if !own {
		list = estimate.CommonSample(run, t, subject).PerRound(r.average())
		if len(list) == 0 {
			return nil, "", subject + " is n/a"
		}
		return list, compare.Lower, ""
	}
	sources, _ := estimate.Sources(run, t)
	for _, repeat := range t.MeasuredRepeats() {
		q := repeat.Type(subject)
		if q == nil {
			continue
		}
		v := f.query(sources, q)
		switch {
		case v == 0 && (r.Figure == document.ClientUser || r.Figure == document.ClientSystem):
			return nil, "", fmt.Sprintf("a round of %.2g s had none of it, since the kernel counts it in ticks of some milliseconds; a longer time box (queries.time-box) shows it", q.Wall)
		case !v.IsKnown() || v <= 0:
			return nil, "", "it was measured for too short a time, or not at all"
		}
		list = append(list, float64(v))
	}
	return list, f.better, ""
}

// average returns the function that averages the service times of a round.
func (r rule) average() func([]float64) float64 {
	if r.metric() == compare.Median {
		return stats.Median
	}
	return stats.Mean
}

func (r rule) loadValues(run *result.Run, t *result.Target) (list []float64, better compare.Direction, missing string) {
	f, own := figureOf(r.Figure)
	sources, _ := estimate.Sources(run, t)
	better = compare.Higher
	of := map[compare.Metric]func(*result.Load) float64{compare.Load: estimate.SettledRate, compare.Acked: estimate.AckedRate, compare.Disk: estimate.Disk}[r.metric()]
	if r.metric() == compare.Disk {
		better = compare.Lower
	}
	switch {
	case r.Figure == document.DiskShare:
		input := r.inputOf(run, t.Driver)
		if input == 0 {
			return nil, f.better, "the size of the input was not recorded"
		}
		better = f.better
		of = func(l *result.Load) float64 { return estimate.Disk(l) / float64(input) }
	case own:
		better = f.better
		of = func(l *result.Load) float64 {
			if v := f.load(sources, l); v.IsKnown() {
				return float64(v)
			}
			return 0
		}
	}
	list = estimate.Loads(t, of)
	if len(list) == 0 && (r.metric() == compare.Disk || r.Figure == document.DiskShare) && t.Load != nil && t.Load.DiskPending != "" {
		return nil, better, "the size on disk is incomplete: " + t.Load.DiskPending
	}
	if len(list) == 0 && r.metric() == compare.Disk && len(estimate.Loads(t, estimate.SettledRate)) > 0 {
		return nil, better, "the size on disk is unknown: " + t.Driver + " does not report it"
	}
	if len(list) == 0 {
		return nil, better, "no load was verified, or it was too short to be measured"
	}
	return list, better, ""
}

// inputOf returns the size of a run's dataset as the input file of a system, which may have been
// computed for another run of the same dataset; 0: unknown.
func (r rule) inputOf(run *result.Run, driver string) int64 {
	size := inputBytes(r.d, run, driver, "")
	for _, runs := range r.m.Runs {
		for _, other := range runs {
			if size == 0 && run.Dataset.Fingerprint != "" && other.Dataset.Fingerprint == run.Dataset.Fingerprint {
				size = inputBytes(r.d, other, driver, "")
			}
		}
	}
	return size
}

// comparePart compares a figure of two sides, as many times better as x is. It decides
// nothing yet.
func comparePart(what string, x, y []float64, better compare.Direction) Part {
	c := stats.Compare(y, x)
	if c.Interval == nil || c.Interval.Level < stats.Confidence {
		return untestedPart(what, tooFewRepeats)
	}
	p := Part{What: what, Advantage: c.Ratio, Interval: c.Interval}
	if better == compare.Lower {
		p = p.invert()
	}
	return p
}

const tooFewRepeats = "too few repeats for an interval"

// leads returns the factors by which a figure of one target is better than one of another target, or
// another one of the same, repeat by repeat.
func (r rule) leads(run *result.Run, where map[string]string, subject, better, thanSubject, than string) ([]float64, reason) {
	x, y := r.side(run, better, where), r.side(run, than, where)
	for _, s := range []side{x, y} {
		if why := r.untestable(s); why != (reason{}) {
			return nil, why
		}
	}
	if why := r.incomparable(x, y); why != (reason{}) {
		return nil, why
	}
	ofX, direction, missing := r.values(x, subject)
	if missing != "" {
		return nil, reason{words: missing}
	}
	ofY, _, missing := r.values(y, thanSubject)
	if missing != "" {
		return nil, reason{words: missing}
	}
	var list []float64
	for i := range min(len(ofX), len(ofY)) {
		if ofX[i] <= 0 || ofY[i] <= 0 {
			return nil, reason{words: "queries were cut off"}
		}
		lead := ofX[i] / ofY[i]
		if direction == compare.Lower {
			lead = 1 / lead
		}
		list = append(list, lead)
	}
	return list, reason{}
}
