package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// rowsOfParts is the maximum number of rows held to examine answers in one pass over the dataset.
// An answer from more rows is checked against the limits of its groups.
const rowsOfParts = 1_000_000

// smallParts is the maximum number of missing rows of a group for trying every combination.
const smallParts = 12

// fit says how rows that were not yet visible explain an answer.
type fit int

// The fits, best first.
const (
	matches fit = iota // a state has exactly this answer
	within             // no state was found, but the answer is within the limits of possible states
	beyond             // no state has it
)

// examineParts examines answers that match no state of whole batches, for a target that shows the
// rows of a batch separately. The first rows, as many as given, were visible, because they were
// loaded and had settled before the phase; any of the other rows may have been missing. It checks
// exactly whether some part of the rows has the maximum, the minimum or the count, and, if at most
// smallParts rows of the group may be missing, the sum or the mean. If more may be missing, it
// tries the states without the last rows of the group; an answer that matches none of them must
// lie within the limits of all parts. An answer from more than rowsOfParts rows is checked against
// the limits of its groups. Answers of other shapes and digests are not examined.
func examineParts(ctx context.Context, d workload.Dataset, visible int64, answers []*answer) error {
	var doubtful []*answer
	var counts []query.Query
	for _, a := range answers {
		if !a.stale && a.Answer != nil && aggregateOf(a.Query) != "" {
			doubtful, counts = append(doubtful, a), append(counts, withAggregate(a.Query, query.Count))
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	counted, err := oracle.Pass(ctx, d, counts, nil, func(int) {})
	if err != nil {
		return fmt.Errorf("counting the rows behind answers: %w", err)
	}
	var pass, large []*answer
	held := 0.0
	for i, a := range doubtful {
		n := rowsOf(&counts[i], counted.Full[i].Answer)
		if n > rowsOfParts {
			large = append(large, a)
			continue
		}
		if held+n > rowsOfParts {
			if err := examineOnce(ctx, d, visible, pass); err != nil {
				return err
			}
			pass, held = nil, 0
		}
		pass, held = append(pass, a), held+n
	}
	if err := examineOnce(ctx, d, visible, pass); err != nil {
		return err
	}
	return examineLimits(ctx, d, large)
}

// examineLimits checks answers against the limits of their groups: a maximum, a minimum and a mean
// of any part of the rows lie between the smallest and the largest value, and a count does not
// exceed the count of all rows. It does not check sums.
func examineLimits(ctx context.Context, d workload.Dataset, answers []*answer) error {
	answers = slices.DeleteFunc(answers, func(a *answer) bool { return aggregateOf(a.Query) == query.Sum })
	if len(answers) == 0 {
		return nil
	}
	var ends []query.Query // two of each
	for _, a := range answers {
		low, high := query.Min, query.Max
		if aggregateOf(a.Query) == query.Count {
			low, high = query.Count, query.Count
		}
		ends = append(ends, withAggregate(a.Query, low), withAggregate(a.Query, high))
	}
	expected, err := oracle.Pass(ctx, d, ends, nil, func(int) {})
	if err != nil {
		return fmt.Errorf("looking for the limits of answers: %w", err)
	}
	for i, a := range answers {
		if low, high := expected.Full[2*i].Answer, expected.Full[2*i+1].Answer; low != nil && high != nil {
			a.parts, a.beyond = examine(a, endsOf(&a.Query, low, high))
		}
	}
	return nil
}

// endsOf returns the limits of each column in each group of a query's answer.
func endsOf(q *query.Query, low, high *query.Answer) map[string][]parts {
	groups := map[string][]parts{}
	fill := func(rows *query.Answer, set func(*ends, float64)) {
		for _, row := range rows.Rows {
			group := fmt.Sprint(row[:q.Keys()])
			for c, v := range row[q.Keys():] {
				if len(groups[group]) == c {
					groups[group] = append(groups[group], parts{ends: &ends{}})
				}
				number, _ := v.Number()
				set(groups[group][c].ends, number)
			}
		}
	}
	fill(low, func(e *ends, v float64) { e.low = v })
	fill(high, func(e *ends, v float64) { e.high = v })
	return groups
}

// examineOnce examines answers in one pass over all rows and one over the rows visible before the
// phase.
func examineOnce(ctx context.Context, d workload.Dataset, visible int64, answers []*answer) error {
	queries := make([]query.Query, len(answers))
	for i, a := range answers {
		queries[i] = rowsBehind(a.Query)
	}
	var rows [2][]*query.Answer
	for i, of := range []workload.Dataset{d, workload.LimitRows(d, visible)} {
		var err error
		if rows[i], err = oracle.RowsOfEach(ctx, of, queries); err != nil {
			return fmt.Errorf("looking for subsets of the rows that match answers: %w", err)
		}
	}
	for i, a := range answers {
		a.parts, a.beyond = examine(a, partsOf(&a.Query, rows[0][i], rows[1][i]))
	}
	return nil
}

// parts are the values of a column in a group, visible and possibly missing ones, ordered by time.
type parts struct {
	visible []float64
	missing []timed
	ends    *ends // limits instead of values if there are too many values
}

// ends are the smallest and the largest value, or count, of a column in a group.
type ends struct{ low, high float64 }

type timed struct {
	at    int64
	value float64
}

// partsOf returns the parts of each column in each group of a query's answer, from the underlying
// rows: all rows, and the rows loaded before.
func partsOf(q *query.Query, all, before *query.Answer) map[string][]parts {
	type cell struct {
		group  string
		column int
		timed
	}
	cells := func(rows *query.Answer, do func(cell)) {
		for _, row := range rows.Rows {
			key := row[1 : len(row)-q.Values()]
			if b, ok := q.Shape.(query.Buckets); ok {
				key = append([]query.Value{{Kind: query.Time, Int: query.BucketOf(row[0].Int, b.Width)}}, key...)
			}
			group := fmt.Sprint(key)
			for c, v := range row[len(row)-q.Values():] {
				if number, ok := v.Number(); ok {
					do(cell{group, c, timed{row[0].Int, number}})
				}
			}
		}
	}
	groups := map[string][]parts{}
	of := func(c cell) *parts {
		if groups[c.group] == nil {
			groups[c.group] = make([]parts, q.Values())
		}
		return &groups[c.group][c.column]
	}
	visible := map[cell]int{}
	cells(before, func(c cell) {
		visible[c]++
		p := of(c)
		p.visible = append(p.visible, c.value)
	})
	cells(all, func(c cell) {
		if visible[c] > 0 {
			visible[c]--
			return
		}
		p := of(c)
		p.missing = append(p.missing, c.timed)
	})
	for _, columns := range groups {
		for _, p := range columns {
			slices.SortStableFunc(p.missing, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
		}
	}
	return groups
}

// examine reports how parts of the rows explain an answer, and the part that remains unexplained.
func examine(a *answer, groups map[string][]parts) (fit, string) {
	keys, aggregate, worst := a.Query.Keys(), aggregateOf(a.Query), matches
	seen := map[string]bool{}
	for _, row := range a.Answer.Rows {
		if len(row) != len(a.columns) {
			return beyond, fmt.Sprintf("a row has %d columns in place of %d", len(row), len(a.columns))
		}
		group := fmt.Sprint(row[:keys])
		if groups[group] == nil || seen[group] {
			return beyond, fmt.Sprintf("there is no group %s, or it has two rows", group)
		}
		seen[group] = true
		for c, p := range groups[group] {
			v := row[keys+c]
			f := beyond
			if number, ok := v.Number(); ok {
				f = p.explain(aggregate, number)
			} else if v.Kind == query.Null && len(p.visible) == 0 {
				f = matches
			}
			if f == beyond {
				return beyond, fmt.Sprintf("%s of %s is %s, of %s", a.columns[keys+c].Name, group, v, &p)
			}
			worst = max(worst, f)
		}
	}
	if b, ok := a.Query.Shape.(query.Buckets); ok && b.Limit > 0 {
		return worst, "" // with fewer rows the first buckets may be different ones
	}
	for group, columns := range groups {
		if !seen[group] && slices.ContainsFunc(columns, func(p parts) bool { return len(p.visible) > 0 }) {
			return beyond, fmt.Sprintf("there is no group %s, which has rows that were loaded before", group)
		}
	}
	return worst, ""
}

// explain reports whether an aggregate of the visible values and some missing ones can be v.
func (p *parts) explain(aggregate query.Aggregate, v float64) fit {
	if p.ends != nil {
		return p.ends.explain(aggregate, v)
	}
	switch aggregate {
	case query.Count:
		if v == math.Trunc(v) && v >= float64(len(p.visible)) && v <= float64(len(p.visible)+len(p.missing)) {
			return matches
		}
		return beyond
	case query.Max, query.Min:
		sign := 1.0
		if aggregate == query.Min {
			sign = -1
		}
		top := math.Inf(-1)
		for _, x := range p.visible {
			top = max(top, sign*x)
		}
		if len(p.visible) > 0 && nearlyEqual(sign*v, top, math.Abs(top)) || slices.ContainsFunc(p.missing, func(x timed) bool { return sign*x.value >= top && nearlyEqual(v, x.value, math.Abs(v)) }) {
			return matches
		}
		return beyond
	}
	return p.explainSum(aggregate == query.Avg, v)
}

// explain reports whether an aggregate of some of the values may be v.
func (e *ends) explain(aggregate query.Aggregate, v float64) fit {
	low := e.low
	if aggregate == query.Count {
		low = 0
	}
	if slack := 1e-9 * max(math.Abs(low), math.Abs(e.high)); v < low-slack || v > e.high+slack { // means are rounded
		return beyond
	}
	return within
}

// String describes the number or the limits of the values.
func (p *parts) String() string {
	if p.ends != nil {
		return fmt.Sprintf("values within %v and %v", p.ends.low, p.ends.high)
	}
	return fmt.Sprintf("%d values that were there and %d that were written meanwhile", len(p.visible), len(p.missing))
}

// nearlyEqual reports whether values are equal within rounding.
func nearlyEqual(a, b, scale float64) bool { return a == b || math.Abs(a-b) <= 1e-9*scale }

// explainSum is explain for sums and means.
func (p *parts) explainSum(mean bool, v float64) fit {
	sum, scale := 0.0, 0.0
	for _, x := range p.visible {
		sum, scale = sum+x, scale+math.Abs(x)
	}
	for _, x := range p.missing {
		scale += math.Abs(x.value)
	}
	is := func(sum float64, n int) bool {
		if mean {
			return n > 0 && nearlyEqual(v, sum/float64(n), scale/float64(n))
		}
		return n > 0 && nearlyEqual(v, sum, scale)
	}
	for state, n := sum, len(p.visible); ; n++ {
		if is(state, n) {
			return matches
		}
		added := n - len(p.visible)
		if added == len(p.missing) {
			break
		}
		state += p.missing[added].value
	}
	if len(p.missing) <= smallParts {
		for chosen := range 1 << len(p.missing) {
			state, n := sum, len(p.visible)
			for i, x := range p.missing {
				if chosen>>i&1 == 1 {
					state, n = state+x.value, n+1
				}
			}
			if is(state, n) {
				return matches
			}
		}
		return beyond
	}
	low, high := p.limits(mean, sum)
	if slack := 1e-9 * scale; v < low-slack || v > high+slack {
		return beyond
	}
	return within
}

// limits returns the smallest and the largest sum or mean of the visible values, with the sum
// given, and some of the missing ones.
func (p *parts) limits(mean bool, sum float64) (low, high float64) {
	values := make([]float64, len(p.missing))
	for i, x := range p.missing {
		values[i] = x.value
	}
	slices.Sort(values)
	extreme := func(sign float64) float64 {
		state, n := sum, len(p.visible)
		for i := range values {
			x := values[i]
			if sign > 0 {
				x = values[len(values)-1-i]
			}
			gains := sign*x > 0
			if mean {
				gains = n == 0 || sign*x > sign*state/float64(n)
			}
			if !gains && n > 0 {
				break
			}
			state, n = state+x, n+1
		}
		if mean {
			return state / float64(n)
		}
		return state
	}
	return extreme(-1), extreme(1)
}

// rowsBehind returns the query for the rows of an aggregate.
func rowsBehind(q query.Query) query.Query {
	var fields []string
	tag := ""
	switch s := q.Shape.(type) {
	case query.Buckets:
		fields, tag = s.Fields, s.GroupBy
	case query.Totals:
		fields, tag = s.Fields, s.GroupBy
	}
	if tag != "" {
		q.Present = append(slices.Clone(q.Present), tag)
	}
	q.Shape = query.Rows{Fields: fields, Tag: tag}
	return q
}

// rowsOf returns the maximum number of rows in the groups of a query, from their counts.
func rowsOf(q *query.Query, counts *query.Answer) float64 {
	if counts == nil {
		return math.Inf(1)
	}
	rows := 0.0
	for _, row := range counts.Rows {
		most := 0.0
		for _, v := range row[q.Keys():] {
			n, _ := v.Number()
			most = max(most, n)
		}
		rows += most
	}
	return rows
}

// withAggregate returns a query with the same groups, another aggregate and no limit.
func withAggregate(q query.Query, by query.Aggregate) query.Query {
	switch s := q.Shape.(type) {
	case query.Buckets:
		s.Aggregate, s.Limit = by, 0
		q.Shape = s
	case query.Totals:
		s.Aggregate = by
		q.Shape = s
	}
	return q
}

// aggregateOf returns the aggregate of a query's shape; empty: none.
func aggregateOf(q query.Query) query.Aggregate {
	switch s := q.Shape.(type) {
	case query.Buckets:
		return s.Aggregate
	case query.Totals:
		return s.Aggregate
	}
	return ""
}
