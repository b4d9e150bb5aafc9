package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/run/experiment"
)

// Rough rates, by which a budget is shared out: nobody knows a machine and its systems
// before they have run.
const (
	assumedRows  = 150_000               // a second that a system loads
	assumedQuery = 50 * time.Millisecond // that a query takes
	assumedStart = 5 * time.Second       // that starting, counting and stopping a system takes
	leastStretch = 1.2                   // by less nothing is made longer
)

// Duration is roughly how long an experiment takes in a size on so many systems.
func (d *Document) Duration(e *Experiment, size Size, systems int) (time.Duration, error) {
	if e.Only != "" {
		systems = 1
	}
	targets := []experiment.Target{{Name: "any", Kind: cmp.Or(e.Only, "any")}}
	whole, err := d.Make(e, size, targets)
	if err != nil {
		return 0, err
	}
	points, err := whole.Expand()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", whole.Name, err)
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
// long as a budget on so many systems, and that size's name. Experiments whose full size
// fits are whole; the others are as in small with more rows and longer time boxes. Of a
// budget too small for small the longest experiments are as in smoke.
func (d *Document) Within(budget time.Duration, systems int) (*Document, Size, error) {
	size := Size(budget.String())
	fitted := *d
	fitted.Experiments = slices.Clone(d.Experiments)
	type plan struct {
		e                  *Experiment
		smoke, small, full time.Duration
		chosen             Size
	}
	var plans []plan
	var sum time.Duration
	for i := range fitted.Experiments {
		p := plan{e: &fitted.Experiments[i], chosen: Small}
		if p.e.Missing != "" {
			continue
		}
		var err error
		for _, s := range []struct {
			size Size
			to   *time.Duration
		}{{Smoke, &p.smoke}, {Small, &p.small}, {Full, &p.full}} {
			if *s.to, err = d.Duration(p.e, s.size, systems); err != nil {
				return nil, "", err
			}
		}
		plans, sum = append(plans, p), sum+p.small
	}
	slices.SortStableFunc(plans, func(a, b plan) int { return cmp.Compare(b.small, a.small) })
	for i := range plans {
		if p := &plans[i]; sum > budget {
			p.chosen, sum = Smoke, sum-p.small+p.smoke
		}
	}
	slices.SortStableFunc(plans, func(a, b plan) int { return cmp.Compare(a.full, b.full) })
	rest := time.Duration(0)
	for i := range plans {
		p := &plans[i]
		switch more := p.full - p.small; {
		case p.chosen == Smoke:
		case sum+more <= budget:
			p.chosen, sum = Full, sum+more
		default:
			rest += p.small
		}
	}
	times := 1.0
	if rest > 0 {
		times += float64(max(budget-sum, 0)) / float64(rest)
	}
	for i := range plans {
		p := &plans[i]
		cuts := make(map[Size]Cut, len(p.e.Cuts)+1)
		for s, c := range p.e.Cuts {
			cuts[s] = c
		}
		switch p.chosen {
		case Small:
			stretch := math.Min(times, float64(p.full)/float64(max(p.small, 1)))
			cuts[size] = p.e.stretched(stretch)
		default:
			cuts[size] = p.e.Cut(p.chosen)
		}
		p.e.Cuts = cuts
	}
	return &fitted, size, nil
}

// Whole reports whether a size has all of an experiment.
func (e *Experiment) Whole(size Size) bool { return len(e.Cut(size).Run) == 0 }

// stretched is the cut of small with so many times the rows and the time for queries. The
// spans of data that are themselves a parameter stay as they are.
func (e *Experiment) stretched(times float64) Cut {
	cut := e.Cut(Small)
	if times < leastStretch {
		return cut
	}
	start, _ := get(e.Run, "workload", "timestamp-start").(string)
	from, err := time.Parse(time.RFC3339, start)
	if err != nil {
		return cut
	}
	longer := func(v any) any {
		text, _ := v.(string)
		end, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return v
		}
		return from.Add(time.Duration(float64(end.Sub(from)) * times).Round(time.Second)).Format(time.RFC3339)
	}
	queries := get(e.Run, "queries", "types")
	_, asks := queries.([]any)
	asks = asks && len(queries.([]any)) > 0
	var run yaml.MapSlice
	for _, item := range cut.Run {
		inner, isMap := asMap(item.Value)
		switch {
		case item.Key == "workload" && isMap && !asks:
			item.Value = replaced(inner, "timestamp-end", longer)
		case item.Key == "queries" && isMap && asks:
			item.Value = replaced(inner, "time-box", func(v any) any {
				text, _ := v.(string)
				box, err := time.ParseDuration(text)
				if err != nil {
					return v
				}
				return time.Duration(float64(box) * times).Round(time.Second).String()
			})
		case item.Key == "include" && !asks:
			list, _ := item.Value.([]any)
			var entries []any
			for _, entry := range list {
				if m, ok := asMap(entry); ok {
					entry = replaced(m, "workload.timestamp-end", longer)
				}
				entries = append(entries, entry)
			}
			item.Value = entries
		}
		run = append(run, item)
	}
	cut.Run = run
	what := "rows"
	if asks {
		what = "time for queries"
	}
	cut.Words = fmt.Sprintf("as small, with %.2g times the %s (small: %s)", times, what, cut.Words)
	return cut
}

// get is what stands at a path of keys; nil: nothing.
func get(m yaml.MapSlice, path ...string) any {
	for i, key := range path {
		at := slices.IndexFunc(m, func(item yaml.MapItem) bool { return item.Key == key })
		if at < 0 {
			return nil
		}
		if i == len(path)-1 {
			return m[at].Value
		}
		m, _ = asMap(m[at].Value)
	}
	return nil
}

// replaced is a mapping with another value of a key, where it has that.
func replaced(m yaml.MapSlice, key string, with func(any) any) yaml.MapSlice {
	made := slices.Clone(m)
	for i := range made {
		if made[i].Key == key {
			made[i].Value = with(made[i].Value)
		}
	}
	return made
}
