// Package forecast predicts how long runs take, from measured rates: those of earlier runs, and, for
// systems without one, a small table of tsmark's own measurements.
package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
)

// Estimate is a predicted duration. The zero value is nothing to do.
type Estimate struct {
	Time    time.Duration
	AtMost  bool     // Time includes budgets, which need not be spent
	Basis   []string // measured rates that it uses, in words, each once
	Unknown []string // work without a measured rate, which Time leaves out, in words
}

// Add adds the estimate of further work.
func (e *Estimate) Add(other Estimate) {
	e.Time += other.Time
	e.AtMost = e.AtMost || other.AtMost
	e.Basis = appendNew(e.Basis, other.Basis...)
	e.Unknown = appendNew(e.Unknown, other.Unknown...)
}

func appendNew(list []string, texts ...string) []string {
	for _, text := range texts {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// String returns the duration in words: about 7 min; at most 7 min with a budget; at least 7 min if
// some rates are unknown.
func (e *Estimate) String() string {
	switch {
	case len(e.Unknown) == 0 && e.AtMost:
		return "at most " + round(e.Time)
	case len(e.Unknown) == 0:
		return "about " + round(e.Time)
	case e.Time == 0:
		return "no time is known"
	case e.AtMost:
		return "at most " + round(e.Time) + " for the known work"
	}
	return "at least " + round(e.Time)
}

// Reasons returns the basis of the estimate in words.
func (e *Estimate) Reasons() string {
	var parts []string
	if len(e.Basis) > 0 {
		parts = append(parts, strings.Join(e.Basis, ", "))
	}
	if len(e.Unknown) > 0 {
		parts = append(parts, "no rate known of "+strings.Join(e.Unknown, ", "))
	}
	return strings.Join(parts, "; ")
}

// round formats a duration as one rounds it in speech: 40 s, 7 min, 2 h 30 min.
func round(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", max(1, int(math.Round(d.Seconds()))))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int(math.Round(d.Minutes())))
	case d < 10*time.Hour:
		quarters := int(math.Round(d.Hours() * 4))
		if quarters%4 == 0 {
			return fmt.Sprintf("%d h", quarters/4)
		}
		return fmt.Sprintf("%d h %d min", quarters/4, quarters%4*15)
	case d < 100*time.Hour:
		return fmt.Sprintf("%d h", int(math.Round(d.Hours())))
	}
	return fmt.Sprintf("%d days", int(math.Round(d.Hours()/24)))
}

// Sweep predicts all runs of an experiment.
func (r *Rates) Sweep(s *plan.Sweep) Estimate {
	var total Estimate
	rates := make(map[string]*span)
	for _, p := range s.Plans {
		total.Add(r.plan(p, rates))
	}
	var basis []string
	for _, p := range s.Plans {
		for i := range p.Targets {
			if of, ok := rates[p.Targets[i].Name]; ok {
				basis = appendNew(basis, of.words(p.Targets[i].Name))
			}
		}
	}
	total.Basis = append(basis, total.Basis...)
	return total
}

// span is the range of the rates that an estimate uses of one target.
type span struct {
	low, high float64 // rows/s
	source    string
}

func (s *span) add(rate float64) { s.low, s.high = min(s.low, rate), max(s.high, rate) }

func (s *span) words(name string) string {
	rates := rows(s.low)
	if rows(s.high) != rates {
		rates += " to " + rows(s.high)
	}
	return fmt.Sprintf("%s %s rows/s %s", name, rates, s.source)
}

// rows formats a rate with three digits.
func rows(rate float64) string {
	unit := math.Pow10(max(int(math.Floor(math.Log10(max(rate, 1))))-2, 0))
	return humanize.Comma(int64(math.Round(rate/unit) * unit))
}

// plan predicts one run, and adds the rates that it uses, by target.
func (r *Rates) plan(p *plan.Plan, used map[string]*span) Estimate {
	var total Estimate
	e := p.Experiment
	size, err := r.extent(p)
	if err != nil {
		return Estimate{Unknown: []string{"the dataset"}}
	}
	var loads, pauses time.Duration // of one load of each target
	for i := range p.Targets {
		t := &p.Targets[i]
		m, known := r.load(t.Driver.Name, e)
		total.Time += m.pause.once
		if p.Steps.Load {
			took, rate := m.time(size)
			switch {
			case !known:
				total.Unknown = append(total.Unknown, "loads of "+t.Name)
			case size.rows == 0:
				total.Unknown = appendNew(total.Unknown, "loads of rows from files")
			default:
				if used[t.Name] == nil {
					used[t.Name] = &span{rate, rate, m.source}
				}
				used[t.Name].add(rate)
			}
			loads += withMixedPhase(&e.Mixed, size.rows, took) + e.Life.Duration
			if known && size.rows > 0 {
				pauses += m.pause.load
			}
		}
		if p.Steps.Query && e.Queries.Time == 0 {
			total.Add(r.rounds(e, t, size, m.pause.query))
		}
	}
	repeats := p.LoadRepeats()
	if _, ifShort := e.LoadRepeats(); ifShort && loads*time.Duration(repeats) > experiment.LongestLoads { // see longLoads of package runner
		repeats = 1
	}
	total.Time += time.Duration(repeats) * (loads + pauses)
	if p.Steps.Query && e.Queries.Time > 0 {
		budget := e.Queries.Time - min(total.Time, e.Queries.Time/2) // see result.Budget
		total.Add(Estimate{Time: budget, AtMost: true, Basis: []string{fmt.Sprintf("a budget of %s, or until medians are within ±%.0f %%", experiment.DurationText(e.Queries.Time), 100*result.Precision)}})
	}
	return total
}

// withMixedPhase returns the time of a load, from its time without a mixed phase: the phase lasts as
// long as its rates say. Batches that take turns with queries are expected to take no longer.
func withMixedPhase(m *experiment.Mixed, rows float64, took time.Duration) time.Duration {
	if !m.Enabled() {
		return took
	}
	part := float64(100-m.Loaded) / 100
	rest := time.Duration(part * float64(took)) // without queries
	phase := rest
	if m.DefaultRates() {
		phase = cmp.Or(m.Duration, experiment.DefaultDuration)
	} else if s, err := pace.Parse(m.RowRate); err == nil {
		if rate, ok := s.(pace.Constant); ok && rate > 0 {
			phase = max(rest, seconds(part*rows/float64(rate)))
		}
	}
	if d := m.Duration; d > 0 && d < phase {
		phase = d + time.Duration(float64(rest)*(1-d.Seconds()/phase.Seconds()))
	}
	return took - rest + phase
}

// rounds predicts the rounds of queries of a target, with a pause after each type.
func (r *Rates) rounds(e *experiment.Experiment, t *plan.Target, size dataset, pause time.Duration) Estimate {
	var total Estimate
	box := e.TimeBoxOfRepeat(len(size.types))
	for _, queryType := range size.types {
		mean, known := r.query(t.Driver.Name, queryType.Name, e.Workload.Name, size)
		took := time.Duration(float64(e.Queries.Count) / float64(max(e.Queries.Workers, 1)) * float64(mean))
		switch {
		case known && box > 0:
			took = min(took, box)
		case box > 0:
			took = box
		case !known:
			total.Unknown = appendNew(total.Unknown, "queries of "+t.Name)
		}
		total.Time += time.Duration(e.QueryRepeats()) * (took + pause)
	}
	if box > 0 && len(size.types) > 0 {
		total.Basis = append(total.Basis, fmt.Sprintf("queries at most %v a type and target", e.Queries.TimeBox))
	}
	return total
}

// dataset is the extent of a dataset, and its queries.
type dataset struct {
	rows   float64 // 0: unknown
	values float64 // in a row, on average
	types  []workload.QueryType
}

// extent returns the size of a plan's dataset, without generating it, and its query types.
func (r *Rates) extent(p *plan.Plan) (dataset, error) {
	if known, ok := r.extents[p]; ok {
		return known, nil
	}
	spec := p.Experiment.Workload
	w, types, err := p.Dataset(spec)
	if err != nil {
		return dataset{}, err
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return dataset{}, err
	}
	found := w.Describe(spec).RowsAtMost
	if limit := cmp.Or(p.Experiment.Load.Limit, spec.Limit); limit > 0 && found > 0 {
		found = min(found, limit)
	}
	r.extents[p] = dataset{float64(found), valuesPerRow(d), types}
	return r.extents[p], nil
}

// Disk estimates the bytes that the data of a sweep takes on this machine, of servers that tsmark starts
// and of embedded databases: that of the largest run, and of all runs if each keeps its data. It counts 8
// bytes for each value and time: columns that are compressed take less, and rows with an index more.
func (r *Rates) Disk(s *plan.Sweep) (largest, all float64) {
	mostShared := 0.0
	for _, p := range s.Plans {
		size, err := r.extent(p)
		if err != nil || !p.Steps.Load {
			continue
		}
		own, shared := 0.0, 0.0 // shared servers have the data of one run
		for i := range p.Targets {
			switch t := &p.Targets[i]; {
			case t.ForSweep():
				shared += size.rows * (size.values + 1) * 8
			case t.Start != "" || t.Caps.Embedded && !t.Caps.Discards:
				own += size.rows * (size.values + 1) * 8
			}
		}
		largest, all, mostShared = max(largest, own+shared), all+own, max(mostShared, shared)
	}
	return largest, all + mostShared
}

func valuesPerRow(d workload.Dataset) float64 {
	tables, fields := d.Schema().Tables, 0
	for _, t := range tables {
		fields += len(t.Fields)
	}
	return float64(fields) / float64(max(len(tables), 1))
}
