package plan

import (
	"iter"
	"slices"
	"strconv"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// retype sets the type under which queries are recorded.
func retype(queries iter.Seq[query.Query], queryType string) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		for q := range queries {
			q.Type = queryType
			if !yield(q) {
				return
			}
		}
	}
}

// TypeQueries is the queries of one type. They are generated again whenever they are needed, and
// never held all at once: a million of them need more memory than the rest of a run.
type TypeQueries struct {
	Type      workload.QueryType
	OwnText   *ownqueries.Query     // texts in place of queries; nil: the queries have a known meaning
	Aggregate *query.Materialized   // that answers the queries; nil: rows do
	All       iter.Seq[query.Query] // measurable queries in order, the same each time
	Early     []query.Query         // queries with answers checked before the measurement
	Seed      int64                 // seed of the generator; 0: the dataset's
	Set       result.QuerySet
	Blocks    blocks
	// Spare are queries for warm-up. They are not measured, unless the type has no others.
	Spare []query.Query

	Expected [Views]expectations // by the way a target holds the dataset
}

// maxEvaluated limits the different queries of types whose answers can only be counted by computing
// them: these queries are then run in rotation. Most such types of TSBS have four different queries
// or one.
const maxEvaluated = 100

// Queries after the measured ones in the same sequence: some are compared before the measurement,
// and the others warm up connections.
const (
	EarlyQueries = 2
	SpareQueries = 64
)

// Draw generates the first n queries of each type. A type that cannot run on the dataset is a
// problem with the dataset's specification. The seed selects the queries to check before the
// measurement.
func (p *Plan) Draw(w workload.Workload, types []workload.QueryType, spec workload.Spec, n int, seed string) ([]TypeQueries, error) {
	types = p.withAggregate(types)
	drawn := make([]TypeQueries, len(types))
	for i, t := range types {
		more := 0
		if n > 0 && p.Steps.Query {
			more = EarlyQueries + SpareQueries
		}
		q := TypeQueries{Type: t, OwnText: p.ownText(t.Name)}
		if _, aggregate := result.RawType(t.Name); aggregate {
			q.Aggregate = &p.Aggregate.Materialized
		}
		var chosen []int
		if !p.Steps.Query {
			chosen = choose(seed, t.Name, n, p.Experiment.Queries.Verify)
		}
		behind, err := p.divide(&q, w, spec, n, more, chosen)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			if q.Set.Definition, err = p.definition(w, t.Name, spec); err != nil {
				return nil, err
			}
		}
		if p.Steps.Query {
			chosen = choose(seed, t.Name, len(behind), EarlyQueries)
			for at, other := range behind {
				if slices.Contains(chosen, at) {
					q.Early = append(q.Early, other)
				} else {
					q.Spare = append(q.Spare, other)
				}
			}
			if len(q.Spare) == 0 {
				q.Spare = q.Early
			}
		}
		drawn[i] = q
	}
	return drawn, nil
}

// divide generates the queries of a type, and calls TypeQueries.divide. If a type has so few
// different queries that all repeats run the same, the dataset's seed generates them: they cannot
// be new to a server that has answered the type before, and the figures of two runs with different
// mixes of these queries would differ.
func (p *Plan) divide(q *TypeQueries, w workload.Workload, spec workload.Spec, n, more int, chosen []int) (behind []query.Query, err error) {
	for {
		queries, err := p.drawType(w, q.Type.Name, spec, n, more)
		if err != nil {
			return nil, err
		}
		if q.All, err = p.drawType(w, q.Type.Name, spec, n, 0); err != nil {
			return nil, err
		}
		behind, err := q.divide(queries, n, p.Experiment.QueryRepeats(), chosen)
		if q.Seed = spec.QuerySeed; err != nil || !q.Blocks.Repeated || q.Seed == 0 {
			return behind, err
		}
		spec.QuerySeed, q.Early = 0, nil
	}
}

// definition returns QuerySet.Definition of a type.
func (p *Plan) definition(w workload.Workload, name string, spec workload.Spec) (string, error) {
	spec.QuerySeed = 0
	queries, err := p.drawType(w, name, spec, result.DefinitionCount, 0)
	if err != nil {
		return "", err
	}
	f := query.NewFingerprint()
	for q := range queries {
		if err := f.Add(&q); err != nil {
			return "", err
		}
	}
	return f.String(), nil
}

// divide takes the first n queries and those after them: it records them, divides them among
// repeats, and selects those at the given ascending indexes for early checks. It returns the
// queries after them, as divider.divide does.
func (q *TypeQueries) divide(queries iter.Seq[query.Query], n, repeats int, chosen []int) (behind []query.Query, err error) {
	all, divided := query.NewFingerprint(), newDivider(n, repeats)
	place := 0
	var one query.Query // one variable for all queries, because it escapes to the heap
	for one = range queries {
		if place >= n {
			behind = append(behind, one)
			continue
		}
		if err := all.Add(&one); err != nil {
			return nil, err
		}
		divided.add(&one)
		if len(chosen) > 0 && chosen[0] == place {
			q.Early, chosen = append(q.Early, one), chosen[1:]
		}
		place++
	}
	q.Set = result.QuerySet{Type: q.Type.Name, Count: place, Fingerprint: all.String()}
	q.Blocks, behind = divided.divide(behind)
	return behind, nil
}

// drawType generates the first n queries of a type, and more after them.
func (p *Plan) drawType(w workload.Workload, name string, spec workload.Spec, n, more int) (iter.Seq[query.Query], error) {
	spec.QuerySettings = p.Experiment.Queries.Settings
	rows, aggregate := result.RawType(name)
	align := p.Experiment.Queries.AlignWindows || p.isAggregated(rows)
	queries, err := p.Experiment.Queries.Windows.Draw(w, spec, rows, n+more, align)
	if err != nil {
		return nil, p.Experiment.SpecProblem(err)
	}
	if aggregate {
		queries = retype(queries, name)
	}
	for q := range queries {
		if _, text := q.WrittenText(); !text && !oracle.Countable(&q) {
			return cycle(queries, n), nil
		}
		break
	}
	return queries, nil
}

// cycle is a sequence with only maxEvaluated different queries among the first n.
func cycle(queries iter.Seq[query.Query], n int) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		var evaluated []query.Query
		place := 0
		for q := range queries {
			switch {
			case place >= n:
			case place < maxEvaluated:
				evaluated = append(evaluated, q)
			default:
				q = evaluated[place%maxEvaluated]
			}
			if !yield(q) {
				return
			}
			place++
		}
	}
}

// Capture keeps the answers of a type's sample in a repeat, as selected by the seed, and optionally
// counts the rows of the others.
func (p *Plan) Capture(q *TypeQueries, seed string, repeat int, counts bool) *engine.Capture {
	text := q.Type.Name + " " + strconv.Itoa(repeat)
	return &engine.Capture{Sample: engine.NewSample(seed, text, p.Experiment.Queries.Verify), Counts: counts}
}

// View is the way a target stores rows that have the same series and time.
type View int

const (
	EveryRow   View = iota // all of them are kept
	LatestRows             // only the latest is kept
	Views
)

// expectations are the known properties of the answers to a type's queries.
type expectations struct {
	Full    []oracle.Expectation // for verified answers, after a pass over the dataset
	Counted map[string][]int64   // rows of each answer, by the semantics of targets, if queries are measured
}
