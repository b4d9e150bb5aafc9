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

// retype gives queries the type that they are recorded as.
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

// TypeQueries is the queries of one type. They are drawn anew when they are
// needed, and never held all at once: a million of them take more memory than all
// the rest of a run.
type TypeQueries struct {
	Type      workload.QueryType
	OwnText   *ownqueries.Query     // texts that stand for the queries; nil: they have a meaning
	Aggregate *query.Materialized   // that the queries are answered from; nil: rows
	All       iter.Seq[query.Query] // that can be measured, in their order, the same each time
	Early     []query.Query         // whose answers are checked before anything is measured
	Seed      int64                 // that drew them; 0: the dataset's
	Set       result.QuerySet
	Blocks    blocks
	// spare are queries to warm up with. They are none of those that are measured,
	// unless the type has no others.
	Spare []query.Query

	Expected [Views]expectations // by how a target holds the dataset
}

// maxEvaluated bounds the different queries of types whose answers can only be
// counted by making them: they are then run in turn. Most such types of TSBS
// have four different queries or one.
const maxEvaluated = 100

// Queries that are drawn beside those that are measured, behind them in the same
// sequence: so many are compared before, and the others warm connections up.
const (
	EarlyQueries = 2
	SpareQueries = 64
)

// Draw draws the first n queries of each type. A type that cannot be run of the
// dataset is a problem with the dataset's specification. The seed chooses what
// is checked before anything is measured.
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

// divide draws the queries of a type, and does as typeQueries.divide. A type that has so
// few different queries that each repeat runs the same is drawn by the dataset's seed:
// none of them can be new to a server that has answered the type before, and of two runs
// that drew more of one query and fewer of another the figures would differ.
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

// definition is QuerySet.Definition of a type.
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

// divide takes the first n queries and those behind them: it records them,
// divides them among repeats, and has those checked early that are at the places
// chosen, which ascend. It returns what is behind them, as divider.divide does.
func (q *TypeQueries) divide(queries iter.Seq[query.Query], n, repeats int, chosen []int) (behind []query.Query, err error) {
	all, divided := query.NewFingerprint(), newDivider(n, repeats)
	place := 0
	var one query.Query // one for all: what is given on moves to the heap
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

// drawType draws the first n queries of a type, and more behind them.
func (p *Plan) drawType(w workload.Workload, name string, spec workload.Spec, n, more int) (iter.Seq[query.Query], error) {
	spec.QuerySettings = p.Experiment.Queries.Settings
	rows, aggregate := result.RawType(name)
	align := p.Experiment.Queries.AlignWindows || p.isAggregated(rows)
	queries, err := p.Experiment.Queries.Windows.Draw(w, spec, rows, n+more, align)
	if err != nil {
		return nil, p.SpecProblem(err)
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

// cycle is a sequence in which of the first n queries only maxEvaluated are
// different.
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

// Capture keeps the answers of the sample of a type in a repeat that the seed chooses, and
// maybe counts the rows of the others.
func (p *Plan) Capture(q *TypeQueries, seed string, repeat int, counts bool) *engine.Capture {
	text := q.Type.Name + " " + strconv.Itoa(repeat)
	return &engine.Capture{Sample: engine.NewSample(seed, text, p.Experiment.Queries.Verify), Counts: counts}
}

// View is what a target makes of rows that have the same series and time.
type View int

const (
	EveryRow   View = iota // it keeps all of them
	LatestRows             // it keeps the one that came last
	Views
)

// expectations are what is known of the answers to the queries of a type.
type expectations struct {
	Full    []oracle.Expectation // of the verified ones, once the dataset has been passed over
	Counted []int64              // rows of each answer, where queries are measured
}
