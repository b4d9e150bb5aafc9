package promql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// States answers queries as of states of the data in which some batches were missing. It keeps the samples
// that the queries need, 20 bytes each, and so evaluates any state, and any part of an answer, without
// another pass over the dataset.
type States struct {
	set   *Set
	reads [][]*samples // the series that each query reads; nil: not known yet
}

// NewStates takes the queries: see New.
func NewStates(s *series.Schema, queries []*query.Query) (*States, error) {
	set, err := New(s, queries)
	if err != nil {
		return nil, err
	}
	set.checked = 0
	return &States{set, make([][]*samples, len(queries))}, nil
}

// Add takes the samples of a run that a batch brought. Batches have numbers from 0.
func (s *States) Add(run *series.Run, batch int) { s.set.store.add(run, int32(batch)) }

// Times returns the first and the last time of the answer to the i-th query, in milliseconds.
func (s *States) Times(i int) (first, last int64) {
	p := &s.set.queries[i]
	return p.first, p.last
}

// Batches returns the numbers of the batches with samples that the answer to the i-th query may depend on
// at its times from one to another, ascending. In VictoriaMetrics it may depend on all later samples as well,
// whose interval decides how old a sample may be. It is called after all of Add.
func (s *States) Batches(i int, from, to int64) ([]int, error) {
	p := &s.set.queries[i]
	expr, err := parse(p.text)
	if err != nil {
		return nil, err
	}
	part := store{}
	part.need(expr, span{from, to}, p.evaluationStep())
	found := map[int32]bool{}
	for _, of := range s.seriesOf(i) {
		for _, n := range part.needs {
			if !matchesAll(n.matchers, of.labels) {
				continue
			}
			for at, t := range of.times {
				if t >= n.span.first && t <= n.span.last {
					found[of.batches[at]] = true
				}
			}
		}
	}
	list := make([]int, 0, len(found))
	for number := range found {
		list = append(list, int(number))
	}
	slices.Sort(list)
	return list, nil
}

// Answer returns the answer to the i-th query at its times from one to another, by the semantics that a
// system documents (see driver.Driver), or by Prometheus's where these are not computed, from the samples of
// the visible batches. An error is ctx's end, or says that Prometheus refuses the expression for these
// samples.
func (s *States) Answer(ctx context.Context, semantics string, i int, from, to int64, visible func(batch int) bool) (*query.Answer, error) {
	p := s.set.queries[i]
	p.from, p.to = from, to
	state := *s.set
	state.store = newStore()
	for _, of := range s.seriesOf(i) {
		part := of.limit(visible)
		part.sort()
		name := of.labels.Get(metricName)
		state.store.byName[name] = append(state.store.byName[name], part)
	}
	for _, by := range state.systems() {
		if by.semantics != semantics {
			continue
		}
		if answer, err := by.answer(ctx, &p); !errors.Is(err, errNoAlternative) {
			return answer, err
		}
	}
	answer, err := state.answer(ctx, &p)
	if err != nil {
		return nil, fmt.Errorf("query %s %d: %s: %w", p.query.Type, p.query.ID, p.text, err)
	}
	return answer, nil
}

// seriesOf returns the series that a query reads.
func (s *States) seriesOf(i int) []*samples {
	if s.reads[i] == nil {
		s.reads[i] = []*samples{}
		for _, list := range s.set.store.byName {
			for _, of := range list {
				if slices.ContainsFunc(s.set.queries[i].needs, func(n need) bool { return matchesAll(n.matchers, of.labels) }) {
					s.reads[i] = append(s.reads[i], of)
				}
			}
		}
	}
	return s.reads[i]
}

// limit returns the samples of the visible batches.
func (s *samples) limit(visible func(batch int) bool) *samples {
	part := &samples{labels: s.labels}
	last, seen := int32(-1), false
	for i, batch := range s.batches {
		if batch != last {
			last, seen = batch, visible(int(batch))
		}
		if !seen {
			continue
		}
		part.times = append(part.times, s.times[i])
		if s.histograms != nil {
			part.histograms = append(part.histograms, s.histograms[i])
		} else {
			part.values = append(part.values, s.values[i])
		}
	}
	return part
}
