package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// maxEvaluations limits the evaluations to find the state that one answer to a PromQL expression shows, most of
// them at one time. An answer that would need more is not examined.
const maxEvaluations = 2000

var errEvaluations = errors.New("too many evaluations")

// stateSearch finds the latest older state that matches each answer to a PromQL expression. An evaluation of
// the whole expression costs too much for each state. So the search evaluates it in full, goes back from its
// first time that differs to states in which other samples are visible at that time, evaluates it at
// that time alone until it matches there, and then again in full.
type stateSearch struct {
	journal *engine.Journal
	answers []*answer
	states  *promql.States
	numbers map[written]int // of batches, from 1; the loaded rows are batch 0
	orders  []order         // by acknowledgement, and by start
	all     []order         // see possible; nil: not needed yet
	wrong   map[int]bool    // types that are withheld already

	// Of the current answer:
	number      int
	evaluations int
	known       map[string]comparison
	batches     map[part][]int
	depends     bool // on batches of the phase, where it first differs
}

// order is an order in which batches became visible.
type order struct {
	batches []written
	place   []int // in this order, by number; the loaded rows come before all
}

// part is the times of an answer from one to another, in milliseconds.
type part struct{ from, to int64 }

// comparison is the result of comparing a part of an answer with a state.
type comparison struct {
	matches bool
	differs part // the first time, or all of the part if the state has no answer
}

func newStateSearch(j *engine.Journal) *stateSearch {
	s := &stateSearch{journal: j, numbers: map[written]int{}, wrong: map[int]bool{}}
	acknowledged := byAcknowledgement(j)
	for i, w := range acknowledged {
		s.numbers[w] = i + 1
	}
	s.orders = s.ordersOf(acknowledged, byStart(j))
	return s
}

func (s *stateSearch) ordersOf(lists ...[]written) []order {
	orders := make([]order, len(lists))
	for n, list := range lists {
		place := make([]int, len(list)+1)
		place[0] = -1
		for i, w := range list {
			place[s.numbers[w]] = i
		}
		orders[n] = order{list, place}
	}
	return orders
}

// trace examines answers after another pass over the rows, and calls examined after each.
func (s *stateSearch) trace(ctx context.Context, d workload.Dataset, answers []*answer, examined func(n int)) error {
	queries := make([]*query.Query, len(answers))
	for i, a := range answers {
		queries[i] = &a.Query
	}
	var err error
	if s.states, err = promql.NewStates(d.Schema(), queries); err != nil {
		return err
	}
	if err := s.read(ctx, d); err != nil {
		return err
	}
	s.answers = answers
	for i := range answers {
		if err := s.examine(ctx, i); err != nil {
			return err
		}
		examined(1)
	}
	return nil
}

// read reads the rows of the acknowledged batches.
func (s *stateSearch) read(ctx context.Context, d workload.Dataset) error {
	t := tracer{journal: s.journal}
	add := func(b *series.Batch, number int) {
		for i := range b.Runs {
			s.states.Add(&b.Runs[i], number)
		}
	}
	if err := t.open(d, func(b *series.Batch) { add(b, 0) }); err != nil {
		return err
	}
	for share := range s.journal.Shares {
		for number, w := range s.journal.Shares[share].Writes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.readBatches(&t.shares[share], w.Rows, func(b *series.Batch) {
				if number, acknowledged := s.numbers[written{share, number}]; acknowledged {
					add(b, number)
				}
				t.free = append(t.free, b)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// examine looks for a state that matches an answer. Other orders of concurrent batches are tried unless
// the type is withheld already.
func (s *stateSearch) examine(ctx context.Context, i int) error {
	a := s.answers[i]
	s.number, s.evaluations, s.known, s.batches, s.depends = i, 0, map[string]comparison{}, map[part][]int{}, false
	found, err := s.findIn(ctx, s.orders)
	switch {
	case found || err != nil:
	case !s.depends && !s.journal.Hidden:
		a.beyond = "where it first differs it depends only on rows that were loaded before"
		s.wrong[a.kind] = true
	case !s.wrong[a.kind]:
		if s.all == nil {
			s.all = s.ordersOf(possible(s.journal)...)
		}
		found, err = s.findIn(ctx, s.all)
		s.wrong[a.kind] = !found && err == nil
	}
	if errors.Is(err, errEvaluations) {
		a.examined = false
		return nil
	}
	return err
}

// findIn finds a state in one of several orders, by the semantics of the target or else by Prometheus's.
func (s *stateSearch) findIn(ctx context.Context, orders []order) (bool, error) {
	semantics := slices.Compact([]string{s.answers[s.number].semantics, ""})
	for _, o := range orders {
		for _, by := range semantics {
			if found, err := s.find(ctx, o, by); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

// find finds the latest state in an order, and records since when at least rows were missing.
func (s *stateSearch) find(ctx context.Context, o order, semantics string) (bool, error) {
	a := s.answers[s.number]
	first, last := s.states.Times(s.number)
	for visible := len(o.batches); ; {
		whole, err := s.compare(ctx, o, visible, semantics, part{first, last})
		if err != nil {
			return false, err
		}
		if whole.matches {
			if a.stale = true; visible < len(o.batches) {
				a.delay = max(a.At-o.batches[visible].lookUp(s.journal).Acked, 0) // another client's clock may show a later time
			}
			return true, nil
		}
		if visible == len(o.batches) {
			batches, err := s.batchesOf("", whole.differs)
			if err != nil {
				return false, err
			}
			s.depends = s.depends || slices.Max(append(batches, 0)) > 0
		}
		for at := (comparison{}); !at.matches; {
			earlier, err := s.lastBefore(o, visible, semantics, whole.differs)
			if err != nil || earlier < 0 {
				return false, err
			}
			visible = earlier
			if at, err = s.compare(ctx, o, visible, semantics, whole.differs); err != nil {
				return false, err
			}
		}
	}
}

// lastBefore returns the place of the last of the first batches of an order that a part depends on; below 0:
// it depends on none of them.
func (s *stateSearch) lastBefore(o order, visible int, semantics string, of part) (int, error) {
	batches, err := s.batchesOf(semantics, of)
	last := -1
	for _, number := range batches {
		if place := o.place[number]; place < visible {
			last = max(last, place)
		}
	}
	return last, err
}

// batchesOf returns the batches that a part of the answer depends on: see promql.States.
func (s *stateSearch) batchesOf(semantics string, of part) ([]int, error) {
	if semantics != "" {
		_, of.to = s.states.Times(s.number)
	}
	batches, known := s.batches[of]
	if known {
		return batches, nil
	}
	batches, err := s.states.Batches(s.number, of.from, of.to)
	s.batches[of] = batches
	return batches, err
}

// compare compares a part of the answer with the state of the first batches of an order.
func (s *stateSearch) compare(ctx context.Context, o order, visible int, semantics string, of part) (comparison, error) {
	batches, err := s.batchesOf(semantics, of)
	if err != nil {
		return comparison{}, err
	}
	key := fmt.Appendf(nil, "%s %d %d ", semantics, of.from, of.to)
	for _, number := range batches {
		if o.place[number] < visible {
			key = append(key, '1')
		} else {
			key = append(key, '0')
		}
	}
	if found, known := s.known[string(key)]; known {
		return found, nil
	}
	if s.evaluations++; s.evaluations > maxEvaluations {
		return comparison{}, errEvaluations
	}
	expected, err := s.states.Answer(ctx, semantics, s.number, of.from, of.to, func(batch int) bool { return o.place[batch] < visible })
	found := comparison{differs: of}
	switch {
	case ctx.Err() != nil:
		return found, ctx.Err()
	case err == nil: // otherwise the state has no answer, such as while labels are equal until later samples come
		at, differs := firstDifference(s.answers[s.number], expected, of)
		found = comparison{!differs, part{at, at}}
	}
	s.known[string(key)] = found
	return found, nil
}

// firstDifference returns the first time at which an answer differs from the expected one.
func firstDifference(a *answer, expected *query.Answer, of part) (at int64, differs bool) {
	byTime := map[int64]*[2]query.Answer{}
	var times []int64
	for i, rows := range [][][]query.Value{expected.Rows, a.Answer.Rows} {
		for _, row := range rows {
			t := of.from // of a malformed row
			if len(row) > 0 && row[0].Kind == query.Time {
				t = row[0].Int / int64(time.Millisecond)
			}
			if t < of.from || t > of.to {
				continue
			}
			if byTime[t] == nil {
				byTime[t], times = &[2]query.Answer{}, append(times, t)
			}
			byTime[t][i].Rows = append(byTime[t][i].Rows, row)
		}
	}
	slices.Sort(times)
	for _, t := range times {
		if query.Compare(&a.Query, a.columns, &byTime[t][0], &byTime[t][1]) != nil {
			return t, true
		}
	}
	return 0, false
}
