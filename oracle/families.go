package oracle

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// families answers many queries at once.
type families struct {
	schema *series.Schema
	groups *groupings
	by     map[familyKey]*family
	// Equal queries under several ids, such as every lastpoint, are answered
	// once.
	evaluators map[string]*evaluator
	ticks      []*evaluator // of shapes of ticks, each alone
}

func newFamilies(s *series.Schema, groups *groupings) *families {
	return &families{schema: s, groups: groups, by: map[familyKey]*family{}, evaluators: map[string]*evaluator{}}
}

// take returns the evaluator that will have the answer to the query.
func (f *families) take(q *query.Query) (*evaluator, error) {
	key := meaning(q)
	if e := f.evaluators[key]; e != nil {
		return e, nil
	}
	e, err := newEvaluator(q, f.schema, f.groups, false)
	if err != nil {
		return nil, err
	}
	f.evaluators[key] = e
	if e.ticks != nil {
		f.ticks = append(f.ticks, e)
		return e, nil
	}
	of := familyOf(e)
	if f.by[of] == nil {
		f.by[of] = newFamily(of, e)
	}
	f.by[of].members = append(f.by[of].members, e)
	return e, nil
}

// start returns the functions that must be called with all rows, the most expensive first.
func (f *families) start() ([]func([]span), error) {
	all := slices.SortedFunc(maps.Values(f.by), func(a, b *family) int { return -cmp.Compare(len(a.members), len(b.members)) })
	var functions []func([]span)
	for _, one := range all {
		if err := one.start(f.groups); err != nil {
			return nil, err
		}
		functions = append(functions, one.addAll)
	}
	for _, e := range f.ticks {
		functions = append(functions, e.addAll)
	}
	return functions, nil
}

// finish makes the answers, and returns the evaluators that must be given all
// rows again, each alone. The error is for a query with several correct answers.
func (f *families) finish() (alone []*evaluator, err error) {
	jobs := f.jobs()
	inParallel(len(jobs), func(i int) { jobs[i].do() })
	for _, j := range jobs {
		alone = append(alone, j.alone...)
	}
	inParallel(len(f.ticks), func(i int) { f.ticks[i].result() })
	for _, e := range f.ticks {
		if e.err != nil {
			return nil, e.err
		}
	}
	return alone, nil
}

// job is members of a family whose answers one processor makes, since they may
// share rows.
type job struct {
	family  *family
	members []*evaluator
	alone   []*evaluator // members that cells did not suffice for
}

func (f *families) jobs() (jobs []*job) {
	for _, one := range f.by {
		alike := map[string]*job{}
		for _, e := range one.members {
			key := sharing(e)
			of := alike[key]
			if of == nil {
				of = &job{family: one}
				jobs = append(jobs, of)
			}
			if key != "" {
				alike[key] = of
			}
			of.members = append(of.members, e)
		}
	}
	return jobs
}

func (j *job) do() {
	made := newBucketRows()
	for _, e := range j.members {
		if j.family.assemble(e, made) {
			e.result()
		} else {
			j.alone = append(j.alone, e)
		}
	}
}
