package oracle

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// units answers the shapes of means and active buckets: it folds the rows of each
// combination of values of the Group tags and the Unit, and where buckets are
// looked at of each of these, into sums, from which the answer follows at the
// end.
type units struct {
	query  *query.Query
	active *query.Activity // nil: means
	group  int             // how many Group tags there are
	by     *grouping       // by the Group tags and then the Unit
	fields []int           // that are folded
	tags   [][]float64     // MeanTags, per series
	over   []float64       // per series, what a unit's mean is divided by; nil: nothing
	having int             // of fields, or -1
	units  []*unit         // by number; nil: without a row
}

type unit struct {
	over  float64
	sums  []meanSum  // means: of fields, then of tags
	spans []unitSpan // active buckets: by order of appearance
}

// sum accumulates the numbers of a mean.
type sum struct {
	total float64
	n     int64
}

func (s *sum) add(v float64) { s.total, s.n = s.total+v, s.n+1 }

func (s *sum) mean() float64 { return s.total / float64(s.n) }

// meanSum is the sum of a mean in an answer.
type meanSum struct {
	sum
	negative  float64 // see cell
	inherited float64 // the sum of the numbers' tolerances
}

func (s *meanSum) add(v float64) {
	if s.sum.add(v); v < 0 {
		s.negative -= v
	}
}

// tolerance is that of the mean.
func (s *meanSum) tolerance() float64 {
	return (sumTolerance(s.n, s.total, s.negative) + s.inherited) / float64(s.n)
}

// unitSpan is the rows of a unit in a bucket.
type unitSpan struct {
	bucket int64
	sum    sum
}

const day = 24 * time.Hour

func newUnits(e *evaluator, groups *groupings) (u *units, err error) {
	u = &units{query: e.query, active: e.query.Activity(), having: -1}
	var group []string
	var of string // the unit
	switch s := e.query.Shape.(type) {
	case query.Means:
		group, u.fields = s.Group, fieldsOf(e.table, s.Fields)
		if s.Having != nil {
			u.having = slices.Index(s.Fields, s.Having.Field)
		}
		for _, key := range s.MeanTags {
			values, failed := groups.numeric(e.table, key)
			u.tags, err = append(u.tags, values), errors.Join(err, failed)
		}
	case query.UnitMeans:
		group, of, u.fields = s.Group, s.Unit, fieldsOf(e.table, s.Fields)
		if s.Over != "" {
			u.over, err = groups.numeric(e.table, s.Over)
		}
	case query.ActiveShare:
		group = s.Group
	case query.Starts:
		group = s.Group
	}
	if u.active != nil {
		of, u.fields, e.width = u.active.Unit, fieldsOf(e.table, []string{u.active.Field}), int64(u.active.Width)
	}
	if err != nil {
		return nil, err
	}
	u.group, e.keys = len(group), slices.Clone(group)
	if of != "" {
		e.keys = append(e.keys, of)
	}
	if u.by, err = groups.groupBy(e.table, e.keys...); err != nil {
		return nil, err
	}
	u.units = make([]*unit, len(u.by.values))
	return u, nil
}

// add takes a row that matches.
func (u *units) add(run *series.Run, row int) {
	s := run.Series[row]
	of := u.lookUp(s)
	if of == nil {
		return
	}
	if u.active != nil {
		if v, ok := number64(run, u.fields[0], row); ok {
			of.span(query.BucketOf(run.Times[row], u.active.Width)).add(u.measure(v))
		}
		return
	}
	for i, f := range u.fields {
		if v, ok := number64(run, f, row); ok {
			of.sums[i].add(v)
		}
	}
	for i, values := range u.tags {
		if v := values[s]; !math.IsNaN(v) {
			of.sums[len(u.fields)+i].add(v)
		}
	}
}

// lookUp returns the unit that a series belongs to; nil if the series lacks a tag.
func (u *units) lookUp(series uint32) *unit {
	number := u.by.of[series]
	if number < 0 {
		return nil
	}
	of := u.units[number]
	if of == nil {
		of = &unit{sums: make([]meanSum, len(u.fields)+len(u.tags))}
		if u.over != nil {
			of.over = u.over[series]
		}
		u.units[number] = of
	}
	return of
}

// measure returns the contribution of a row to its bucket's mean.
func (u *units) measure(v float64) float64 {
	switch {
	case !u.active.Zeros:
		return v
	case v == 0:
		return 1
	}
	return 0
}

// number64 returns the value of a field as a number, false for NULL.
func number64(run *series.Run, field, row int) (float64, bool) {
	c := &run.Columns[field]
	switch {
	case run.Lacks(field, row):
		return 0, false
	case run.Table.Fields[field].Type.UsesInts():
		return float64(c.Ints[row]), true
	}
	return c.Floats[row], true
}

// span returns the sum of a bucket. Late rows are late by little, so that it
// is found near the end.
func (u *unit) span(bucket int64) *sum {
	for i := len(u.spans) - 1; i >= 0; i-- {
		if u.spans[i].bucket == bucket {
			return &u.spans[i].sum
		}
	}
	u.spans = append(u.spans, unitSpan{bucket: bucket})
	return &u.spans[len(u.spans)-1].sum
}

// rows returns the answer in order.
func (u *units) rows() [][]query.Value {
	rows := u.unorderedRows()
	slices.SortFunc(rows, query.CompareRows)
	return rows
}

func (u *units) unorderedRows() [][]query.Value {
	switch s := u.query.Shape.(type) {
	case query.Means:
		return u.means(s.Having)
	case query.UnitMeans:
		return u.unitMeans()
	case query.ActiveUnits:
		return u.perUnit(func(active int, _ map[int64]bool) ([]query.Value, bool) { return nil, active > s.More })
	case query.ActiveHours:
		return u.perUnit(func(active int, days map[int64]bool) ([]query.Value, bool) {
			hours := float64(active) * s.Width.Hours() / float64(len(days))
			return []query.Value{{Kind: query.Float, Float: hours}}, active > 0
		})
	case query.Sessions:
		return u.sessions()
	case query.ActiveShare:
		return u.shares()
	}
	return u.starts()
}

func (u *units) means(having *query.Condition) [][]query.Value {
	var rows [][]query.Value
	for number, of := range u.units {
		if of == nil || u.having >= 0 && (of.sums[u.having].n == 0 || !having.Holds(of.sums[u.having].mean())) {
			continue
		}
		row := slices.Clone(u.by.values[number])
		for i := range of.sums {
			row = append(row, meanValue(&of.sums[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

func (u *units) unitMeans() [][]query.Value {
	groups := newTally(u.group, len(u.fields))
	for number, of := range u.units {
		if of == nil {
			continue
		}
		group := groups.lookUp(u.by.values[number])
		for i := range of.sums {
			if of.sums[i].n == 0 {
				continue
			}
			over := 1.0
			if u.over != nil {
				over = of.over
			}
			group[i].add(of.sums[i].mean() / over)
			group[i].inherited += of.sums[i].tolerance() / math.Abs(over)
		}
	}
	return groups.rows(meanValue)
}

func meanValue(s *meanSum) query.Value {
	if s.n == 0 {
		return query.Value{}
	}
	v := query.Value{Kind: query.Float, Float: s.mean()}
	v.Allow(s.tolerance())
	return v
}

// tally sums up by the first values of a key.
type tally struct {
	width, sums int
	order       []string
	keys        map[string][]query.Value
	sumsOf      map[string][]meanSum
}

func newTally(width, sums int) *tally {
	return &tally{width: width, sums: sums, keys: map[string][]query.Value{}, sumsOf: map[string][]meanSum{}}
}

// lookUp returns the sums of a key: the first values of the argument.
func (t *tally) lookUp(key []query.Value) []meanSum {
	key = key[:t.width]
	text := ""
	for _, v := range key {
		text += v.String() + "\x00"
	}
	if t.sumsOf[text] == nil {
		t.order = append(t.order, text)
		t.keys[text] = key
		t.sumsOf[text] = make([]meanSum, t.sums)
	}
	return t.sumsOf[text]
}

// rows returns one row per key: its values and the value computed from its sums.
func (t *tally) rows(value func(*meanSum) query.Value) [][]query.Value {
	rows := make([][]query.Value, 0, len(t.order))
	for _, text := range t.order {
		row := slices.Clone(t.keys[text])
		sums := t.sumsOf[text]
		for i := range sums {
			row = append(row, value(&sums[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// inOrder returns a unit's buckets in order of time.
func (u *unit) inOrder() []unitSpan {
	slices.SortFunc(u.spans, func(a, b unitSpan) int { return cmp.Compare(a.bucket, b.bucket) })
	return u.spans
}

func (u *units) isActive(s *unitSpan) bool { return u.active.Holds(s.sum.mean()) }

// perUnit returns one row per unit for which value returns true: its name and the values computed
// from the number of its active buckets and the days with one.
func (u *units) perUnit(value func(active int, days map[int64]bool) (values []query.Value, stays bool)) [][]query.Value {
	var rows [][]query.Value
	for number, of := range u.units {
		if of == nil {
			continue
		}
		active, days := 0, map[int64]bool{}
		for i := range of.spans {
			if u.isActive(&of.spans[i]) {
				active++
				days[query.BucketOf(of.spans[i].bucket, day)] = true
			}
		}
		if values, stays := value(active, days); stays {
			rows = append(rows, append([]query.Value{u.by.values[number][u.group]}, values...))
		}
	}
	return rows
}

// sessions answers Sessions.
func (u *units) sessions() [][]query.Value {
	var rows [][]query.Value
	for number, of := range u.units {
		if of == nil {
			continue
		}
		byDay := map[int64]*meanSum{}
		begun, driving, start := false, false, int64(0)
		for i, span := range of.inOrder() {
			now := u.isActive(&span)
			switch {
			case i > 0 && now && !driving:
				begun, start = true, span.bucket
			case begun && !now:
				begun = false
				d := query.BucketOf(start, day)
				if byDay[d] == nil {
					byDay[d] = &meanSum{}
				}
				byDay[d].add(time.Duration(span.bucket - start).Seconds())
			}
			driving = now
		}
		for d, s := range byDay {
			rows = append(rows, []query.Value{{Kind: query.Time, Int: d}, u.by.values[number][u.group], meanValue(s)})
		}
	}
	return rows
}

// shares answers ActiveShare.
func (u *units) shares() [][]query.Value {
	return u.countedBuckets(u.active.Holds).rows(func(s *meanSum) query.Value { return u.share(s.n) })
}

// share is what a number of active buckets is of a day.
func (u *units) share(buckets int64) query.Value {
	return query.Value{Kind: query.Float, Float: float64(buckets) / float64(day/u.active.Width)}
}

// countedBuckets counts the buckets whose mean counts, by day and group.
func (u *units) countedBuckets(counts func(mean float64) bool) *tally {
	groups := newTally(1+u.group, 1)
	for number, of := range u.units {
		if of == nil {
			continue
		}
		for i := range of.spans {
			if span := &of.spans[i]; counts(span.sum.mean()) {
				begins := query.Value{Kind: query.Time, Int: query.BucketOf(span.bucket, day)}
				groups.lookUp(append([]query.Value{begins}, u.by.values[number]...))[0].add(1)
			}
		}
	}
	return groups
}

// choices returns the groups of an ActiveShare query, nil without borderline buckets. Each row stands for another
// number of borderline buckets that count; the first one is that of shares.
func (u *units) choices() []query.Choice {
	if _, shares := u.query.Shape.(query.ActiveShare); !shares {
		return nil
	}
	borderline := u.countedBuckets(u.active.Borderline)
	if len(borderline.order) == 0 {
		return nil
	}
	exact := u.countedBuckets(u.active.Holds)
	certain := u.countedBuckets(func(v float64) bool { return u.active.Holds(v) && !u.active.Borderline(v) })
	all := u.countedBuckets(func(v float64) bool { return u.active.Holds(v) || u.active.Borderline(v) })
	choices := make([]query.Choice, 0, len(all.order))
	for _, group := range all.order {
		key := all.keys[group]
		first, least := exact.lookUp(key)[0].n, certain.lookUp(key)[0].n
		c := query.Choice{Optional: least == 0}
		for n := max(least, 1); n <= all.sumsOf[group][0].n; n++ {
			row := append(slices.Clone(key), u.share(n))
			if c.Rows = append(c.Rows, row); n == first {
				c.Rows[0], c.Rows[len(c.Rows)-1] = row, c.Rows[0]
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// starts answers Starts.
func (u *units) starts() [][]query.Value {
	groups := newTally(u.group, 1)
	for number, of := range u.units {
		if of == nil {
			continue
		}
		before := true // the first bucket does not count as a start
		for _, span := range of.inOrder() {
			now := u.isActive(&span)
			if now && !before {
				groups.lookUp(u.by.values[number])[0].add(1)
			}
			before = now
		}
	}
	return groups.rows(func(s *meanSum) query.Value { return query.Value{Kind: query.Int, Int: s.n} })
}
