package plan

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Aggregate is the continuous aggregate of a plan, and the query types that are also answered from
// it.
type Aggregate struct {
	query.Materialized
	types []string
}

// sampledQueries is the number of queries of a type that determine whether an aggregate answers them, and
// the fields they use.
const sampledQueries = 100

// materialize determines the aggregate that the experiment requests, and the query types that it
// answers.
func (p *Plan) materialize(w workload.Workload, schema *series.Schema) error {
	e, m := p.Experiment, &p.Experiment.Materialize
	if !m.Enabled() {
		return nil
	}
	if !p.Steps.Load {
		return e.Problem("materialize", "is for commands that load: they build the aggregate from the loaded rows; omit it, or use tsmark run")
	}
	a := &Aggregate{Materialized: query.Materialized{Table: m.Table, Bucket: m.Bucket, Aggregates: m.Chosen(), Fields: m.Fields}}
	var samples map[string][]query.Query
	names := m.Types
	if len(e.Queries.Types) > 0 {
		types, err := p.chosenTypes(w)
		if err != nil {
			return err
		}
		known := make([]string, len(types))
		for i, t := range types {
			known[i] = t.Name
		}
		for i, name := range m.Types {
			if !slices.Contains(known, name) {
				return e.Problem(fmt.Sprintf("materialize.types[%d]", i), "%q is not in queries.types; add it there", name)
			}
		}
		if len(names) == 0 {
			names = known
		}
		if samples, err = p.sampleQueries(w, names); err != nil {
			return err
		}
	}
	a.complete(names, samples)
	if err := p.checkAggregate(a, schema); err != nil {
		return err
	}
	var first error
	for i, name := range names {
		err := a.answersAll(samples[name])
		if err != nil && len(m.Types) > 0 {
			return e.Problem(fmt.Sprintf("materialize.types[%d]", i), "%s: %s", name, err)
		}
		if err == nil {
			a.types = append(a.types, name)
		} else if first == nil {
			first = fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(a.types) == 0 && first != nil {
		return e.Problem("materialize", "answers none of the query types (%s); choose other types or buckets", first)
	}
	p.Aggregate = a
	return nil
}

// sampleQueries returns queries of each type, with windows on bucket boundaries.
func (p *Plan) sampleQueries(w workload.Workload, types []string) (map[string][]query.Query, error) {
	samples := make(map[string][]query.Query)
	spec := p.Experiment.Workload
	spec.QuerySettings = p.Experiment.Queries.Settings
	for _, name := range types {
		queries, err := p.Experiment.Queries.Windows.Draw(w, spec, name, min(p.Experiment.Queries.Count, sampledQueries), true)
		if err != nil {
			return nil, p.Experiment.SpecProblem(err)
		}
		samples[name] = slices.Collect(queries)
	}
	return samples, nil
}

// complete fills in the parts of an aggregate that the experiment leaves to its query types: the
// types that any aggregate with this bucket width could answer.
func (a *Aggregate) complete(types []string, samples map[string][]query.Query) {
	fields, aggregates := len(a.Fields) == 0, len(a.Aggregates) == 0
	for _, name := range types {
		for _, q := range samples[name] {
			s, ok := q.Shape.(query.Buckets)
			if !ok {
				continue
			}
			if a.Table == "" {
				a.Table = q.Table
			}
			any := query.Materialized{Table: a.Table, Bucket: a.Bucket, Aggregates: query.Aggregates(), Fields: s.Fields}
			if any.Answers(&q) != nil {
				continue
			}
			if aggregates && !slices.Contains(a.Aggregates, s.Aggregate) {
				a.Aggregates = append(a.Aggregates, s.Aggregate)
			}
			for _, f := range s.Fields {
				if fields && !slices.Contains(a.Fields, f) {
					a.Fields = append(a.Fields, f)
				}
			}
		}
	}
}

// answersAll returns why the aggregate cannot answer all the queries of a type.
func (a *Aggregate) answersAll(queries []query.Query) error {
	for i := range queries {
		if err := a.Answers(&queries[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkAggregate returns an error if the dataset lacks parts of an aggregate.
func (p *Plan) checkAggregate(a *Aggregate, schema *series.Schema) error {
	e := p.Experiment
	if a.Table == "" || len(a.Fields) == 0 || len(a.Aggregates) == 0 {
		return e.Problem("materialize", "answers none of the query types: none of them aggregates fields over buckets that are multiples of %s; choose other types or buckets",
			experiment.DurationText(a.Bucket))
	}
	t := schema.Table(a.Table)
	if t == nil {
		var tables []string
		for _, t := range schema.Tables {
			tables = append(tables, t.Name)
		}
		return e.Problem("materialize.table", "there is no table %q%s", a.Table, suggest.Names(a.Table, tables))
	}
	for i, name := range a.Fields {
		path := fmt.Sprintf("materialize.fields[%d]", i)
		switch at := t.FieldIndex(name); {
		case at < 0:
			var fields []string
			for _, f := range t.Fields {
				fields = append(fields, f.Name)
			}
			return e.Problem(path, "table %s has no field %q%s", t.Name, name, suggest.Names(name, fields))
		case !t.Fields[at].Type.Numeric():
			return e.Problem(path, "the values of %s are not numbers; omit it", name)
		}
	}
	return nil
}

// isAggregated reports whether a query type is also answered from the aggregate.
func (p *Plan) isAggregated(queryType string) bool {
	return p.Aggregate != nil && slices.Contains(p.Aggregate.types, queryType)
}

// withAggregate returns query types, each followed by its variant that is answered from the
// aggregate.
func (p *Plan) withAggregate(types []workload.QueryType) []workload.QueryType {
	var list []workload.QueryType
	for _, t := range types {
		list = append(list, t)
		if p.isAggregated(t.Name) {
			t.Name = result.FromAggregate(t.Name, p.Aggregate.Width())
			t.Help += ", from the aggregate " + p.Aggregate.Name()
			list = append(list, t)
		}
	}
	return list
}
