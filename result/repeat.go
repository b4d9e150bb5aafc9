package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
)

// Repeat is one execution of a target's measurements: a load, the queries of query types, or both.
type Repeat struct {
	Number  int       `json:"number"`            // from 1
	Load    *Load     `json:"load,omitempty"`    // the load of the repeat; nil: it had none
	Queries []Queries `json:"queries,omitempty"` // one per type, in the order run
}

// RepeatOf returns the target's repeat with the number. It adds the repeat if necessary.
func (t *Target) RepeatOf(number int) *Repeat {
	for i := range t.Repeats {
		if t.Repeats[i].Number == number {
			return &t.Repeats[i]
		}
	}
	t.Repeats = append(t.Repeats, Repeat{Number: number})
	slices.SortFunc(t.Repeats, func(a, b Repeat) int { return cmp.Compare(a.Number, b.Number) })
	return t.RepeatOf(number)
}

// MeasuredRepeats returns the repeats. If the target has pooled figures only, it returns these as
// one repeat.
func (t *Target) MeasuredRepeats() []Repeat {
	if len(t.Repeats) == 0 && (t.Load != nil || len(t.Queries) > 0) {
		return []Repeat{{Number: 1, Load: t.Load, Queries: t.Queries}}
	}
	return t.Repeats
}

// Type returns the repeat's record of a query type; nil: none yet.
func (r *Repeat) Type(name string) *Queries {
	for i := range r.Queries {
		if r.Queries[i].Type == name {
			return &r.Queries[i]
		}
	}
	return nil
}

// Pool returns the run with the pooled figures of each target: see Target.Pool. The record itself
// does not change.
func (r *Run) Pool() (*Run, error) {
	run := *r
	run.Targets = slices.Clone(r.Targets)
	for i := range run.Targets {
		var err error
		if run.Targets[i], err = r.Targets[i].Pool(); err != nil {
			return nil, fmt.Errorf("target %s: %w", r.Targets[i].Name, err)
		}
	}
	return &run, nil
}

// Pool returns the target with Load and Queries derived from the repeats. Load is the load with the
// median settled rate (the slower one of the middle two): it provides the figures that need a
// single load, such as its batches; package estimate derives rates. PoolLives summarizes lives. For a query type, all queries
// of all repeats count together, and each query's time is the median over the repeats that ran it;
// most queries run in a single repeat. Open loops are pooled too, unless they searched for the
// highest rate: then the repeat that found the median rate represents all. Positions on the time
// line exist per repeat only; the pooled Cell is the first repeat's. A type withheld in one repeat
// is withheld in all, and a wrong answer withholds the loads: see Load.Reason.
func (t *Target) Pool() (Target, error) {
	pooled := *t
	pooled.Repeats = withholdBeside(t.Repeats, t.wrongAnswer())
	err := pooled.pool()
	return pooled, err
}

func (t *Target) pool() error {
	var loads []*Load
	var names []string
	types := make(map[string][]*Queries)
	for i := range t.Repeats {
		r := &t.Repeats[i]
		if r.Load != nil {
			loads = append(loads, r.Load)
		}
		for j := range r.Queries {
			q := &r.Queries[j]
			if types[q.Type] == nil {
				names = append(names, q.Type)
			}
			types[q.Type] = append(types[q.Type], q)
		}
	}
	t.Load, t.Queries = poolLoads(loads), nil
	for _, name := range names {
		q, err := poolQueries(types[name])
		if err != nil {
			return fmt.Errorf("putting the repeats of %s together: %w", name, err)
		}
		t.Queries = append(t.Queries, q)
	}
	return nil
}

func poolLoads(loads []*Load) *Load {
	for _, l := range loads {
		if !l.HasFigures() || l.Mixed.Problem() != "" || l.Life.Problem() != "" {
			return l
		}
	}
	if len(loads) == 0 {
		return nil
	}
	ordered := slices.Clone(loads)
	slices.SortStableFunc(ordered, func(a, b *Load) int { return cmp.Compare(b.Settled, a.Settled) })
	pooled := ordered[(len(ordered)-1)/2]
	if pooled.Life != nil {
		var lives []*Life
		for _, l := range loads {
			lives = append(lives, l.Life)
		}
		of := *pooled
		of.Life, pooled = PoolLives(slices.DeleteFunc(lives, func(l *Life) bool { return l == nil })), &of
	}
	return pooled
}

func poolQueries(repeats []*Queries) (Queries, error) {
	pooled := *repeats[0]
	if len(repeats) == 1 {
		return pooled, nil
	}
	if found := typicalSearch(repeats); found != nil {
		pooled = *found
		pooled.Text, pooled.Plan = repeats[0].Text, repeats[0].Plan
		for _, q := range repeats {
			pooled.Withheld, pooled.Failed = cmp.Or(pooled.Withheld, q.Withheld), cmp.Or(pooled.Failed, q.Failed)
		}
		pooled.Verdict, pooled.Sample = PoolVerdicts(repeats)
		return pooled, nil
	}
	service, accumulated := make([]Latency, len(repeats)), make([][]float64, len(repeats))
	pooled.Executed, pooled.BurnIn, pooled.AtLeast, pooled.Wall, pooled.Rows, pooled.Bytes, pooled.TimeBox, pooled.Values = 0, 0, 0, 0, 0, 0, 0, 0
	pooled.WarmUp, pooled.Paused, pooled.PausedTime, pooled.ClientTime, pooled.DriverTime, pooled.Starts = WarmUp{}, 0, 0, 0, 0, nil
	for i, q := range repeats {
		service[i], accumulated[i] = q.Service, q.Accumulated
		pooled.Withheld, pooled.Failed = cmp.Or(pooled.Withheld, q.Withheld), cmp.Or(pooled.Failed, q.Failed)
		pooled.ClientBound = cmp.Or(pooled.ClientBound, q.ClientBound)
		pooled.Cold = pooled.Cold && q.Cold
		pooled.Starts = append(pooled.Starts, q.Starts...)
		pooled.Executed += q.Executed
		pooled.WarmUp.Add(q.WarmUp)
		pooled.BurnIn += q.BurnIn
		pooled.AtLeast += q.AtLeast
		pooled.Paused += q.Paused
		pooled.PausedTime += q.PausedTime
		pooled.ClientTime += q.ClientTime
		pooled.DriverTime += q.DriverTime
		pooled.Wall += q.Wall
		pooled.Rows += q.Rows
		pooled.Bytes += q.Bytes
		pooled.TimeBox += q.TimeBox
		pooled.Values += q.Values
	}
	pooled.Verdict, pooled.Sample = PoolVerdicts(repeats)
	poolEach(&pooled, repeats)
	pooled.PerSecond = 0
	if pooled.Wall > 0 {
		done := pooled.Executed
		if pooled.Open != nil { // its wall-clock time excludes the paused queries
			done += pooled.Paused
		}
		pooled.PerSecond = float64(done) / pooled.Wall
	}
	pooled.Accumulated = poolAccumulated(accumulated)
	var err error
	if pooled.Service, err = poolLatencies(service); err != nil {
		return pooled, err
	}
	pooled.Open, err = poolOpen(repeats)
	return pooled, err
}

// Outcomes returns the outcome of each repeat of a type. The repeats share one sample of answers,
// so a repeat without compared answers counts like the others.
func Outcomes(repeats []*Queries) []Outcome {
	verdict, _ := PoolVerdicts(repeats)
	list := make([]Outcome, len(repeats))
	for i, q := range repeats {
		of := *q
		if verdict.Difference == "" {
			of.Verdict = verdict
		}
		list[i] = of.Outcome()
	}
	return list
}

// PoolVerdicts adds up the comparisons of a type's repeats, which share one sample.
func PoolVerdicts(repeats []*Queries) (v Verdict, s Sample) {
	for _, q := range repeats {
		if v.Difference == "" {
			v.Difference = q.Verdict.Difference
		}
		v.Checked += q.Verdict.Checked
		v.Empty += q.Verdict.Empty
		v.Rows += q.Verdict.Rows
		v.Documented += q.Verdict.Documented
		v.Reason = cmp.Or(v.Reason, q.Verdict.Reason)
		s.Wanted, s.Early = q.Sample.Wanted, max(s.Early, q.Sample.Early)
		s.Captured += q.Sample.Captured
		s.Agreed += q.Sample.Agreed
		s.Uncounted += q.Sample.Uncounted
		s.Repeated = s.Repeated || q.Sample.Repeated
		s.Short = s.Short || q.Sample.Short
		if q.Sample.Repeated {
			s.Different = max(s.Different, q.Sample.Different)
		} else {
			s.Different += q.Sample.Different
		}
	}
	return v, s
}

// poolEach sets the time of each query to the median of its repeats, and counts the different
// queries of all repeats.
func poolEach(pooled *Queries, repeats []*Queries) {
	// Different queries by the end of their block: a round with a budget may run only the end of one.
	first, end, distinct := math.MaxInt, 0, make(map[int]int)
	for _, q := range repeats {
		block := q.First + q.Distinct
		distinct[block] = max(distinct[block], q.Distinct)
		if len(q.Each) > 0 {
			first, end = min(first, q.First), max(end, q.First+len(q.Each))
		}
	}
	pooled.Distinct = 0
	for _, n := range distinct {
		pooled.Distinct += n
	}
	if end == 0 {
		pooled.Each = nil
		return
	}
	pooled.First, pooled.Each = first, make([]float64, end-first)
	var times []float64
	for i := range pooled.Each {
		times = times[:0]
		for _, q := range repeats {
			if at := first + i - q.First; at >= 0 && at < len(q.Each) && q.Each[at] != 0 {
				times = append(times, q.Each[at])
			}
		}
		if len(times) == 1 {
			pooled.Each[i] = times[0]
		} else {
			pooled.Each[i] = stats.Median(times)
		}
	}
}

// poolAccumulated adds up each worker's times over all repeats; nil: a repeat has none.
func poolAccumulated(repeats [][]float64) []float64 {
	var pooled []float64
	for _, one := range repeats {
		if len(one) == 0 {
			return nil
		}
		for len(pooled) < len(one) {
			pooled = append(pooled, 0)
		}
		for worker, seconds := range one {
			pooled[worker] += seconds
		}
	}
	return pooled
}
