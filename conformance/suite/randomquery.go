package suite

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// query draws a query with a single correct answer: newest rows have no ties, and
// thresholds do not apply to sums that depend on the order of addition.
func (d *dice) query(id int) query.Query {
	table := pick(d, d.data.schema.Tables)
	q := query.Query{Type: "random", ID: id, Table: table.Name}
	if d.often(50) {
		q.Start = d.time()
	}
	if d.often(50) {
		q.End = d.time()
	}
	if d.often(40) {
		q.In = d.tagFilter(table)
	}
	if d.often(30) {
		above := d.fields(table, numbers)
		if d.often(60) {
			above = above[:1]
		}
		f := query.ValueFilter{Field: above[0], And: above[1:], Value: pick(d, []float64{0, -0.5, 24.5, -100, 1 << 53, 1 << 63, -1 << 63, 1e-300})}
		if !d.recorded() { // recordings have no other operator
			all := []query.Comparison{query.Greater, query.Less, query.Equal} // as workloads draw
			if f.Compare = all[id%len(all)]; f.Compare != query.Greater {     // not near 0: QuestDB takes doubles for equal that differ by 1e-10
				constants := []float64{-0.5, 24.5, 25, -24, -100, 1 << 53, 1 << 63, -1 << 63}
				f.Value = constants[id/len(all)%len(constants)]
			}
		}
		q.Filter = &f
	}
	if d.often(20) {
		q.Present = []string{pick(d, table.Tags).Key}
	}
	shapes := []func(*series.Table) query.Shape{d.buckets, d.buckets, d.rowsOf, d.rowsOf, d.totals, d.means, d.activity}
	if d.traits[table].distinct {
		shapes = append(shapes, d.last, d.last)
	}
	q.Shape = pick(d, shapes)(table)
	return q
}

// time throws a bound, not always one that a database can name.
func (d *dice) time() time.Time {
	at := d.start.Add(time.Duration(d.IntN(int(span/step))) * step)
	if d.often(30) {
		at = at.Add(time.Duration(d.IntN(int(step))))
	}
	return at
}

// tagFilter draws a filter on existing values, and one that no series has.
func (d *dice) tagFilter(table *series.Table) *query.TagIn {
	tag := pick(d, table.Tags)
	in := &query.TagIn{Key: tag.Key}
	for range 1 + d.IntN(3) {
		value, ok := tag.Values.Append(nil, uint32(d.IntN(int(d.data.schema.Series))))
		switch {
		case ok:
			in.Values = append(in.Values, string(value))
		case tag.Numeric():
			in.Values = append(in.Values, "77")
		default:
			in.Values = append(in.Values, "nobody's")
		}
	}
	return in
}

// suitable says which fields a query can take.
type suitable uint8

const (
	anyType suitable = iota
	numbers
	tame // numbers whose sums are exact in any order
)

// fields throws different fields, at least one.
func (d *dice) fields(table *series.Table, which suitable) []string {
	var names []string
	for i, f := range table.Fields {
		if which == anyType || which == numbers && f.Type.Numeric() || d.traits[table].tame[i] {
			names = append(names, f.Name)
		}
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:1+d.IntN(len(names))]
}

// keys throws the keys of different tags, from least to most of them.
func (d *dice) keys(table *series.Table, least, most int) []string {
	var keys []string
	for _, i := range d.Perm(len(table.Tags))[:least+d.IntN(most-least+1)] {
		keys = append(keys, table.Tags[i].Key)
	}
	return keys
}

// condition throws one on a tame field of the answer. Half of a quarter is no
// value that a mean of few quarters has.
func (d *dice) condition(fields []string) query.Condition {
	return query.Condition{Field: pick(d, fields), Compare: pick(d, []query.Comparison{query.Less, query.Greater}), Value: float64(d.IntN(41)-10) / 8}
}

func (d *dice) buckets(table *series.Table) query.Shape {
	s := query.Buckets{Width: pick(d, []time.Duration{90 * time.Second, 7 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour})}
	s.Aggregate, s.Fields = d.aggregateFields(table)
	if d.often(50) {
		s.GroupBy = pick(d, table.Tags).Key
	}
	s.Order = pick(d, []query.Order{query.Unordered, query.Ascending, query.Descending})
	if s.Order != query.Unordered && d.often(50) {
		s.Limit = 1 + d.IntN(8)
	}
	return s
}

// aggregateFields draws an aggregate and fields, whose sums are exact if they
// matter.
func (d *dice) aggregateFields(table *series.Table) (query.Aggregate, []string) {
	aggregate := pick(d, []query.Aggregate{query.Max, query.Max, query.Avg, query.Avg, query.Min, query.Sum, query.Count})
	which := numbers
	switch aggregate {
	case query.Avg, query.Sum:
		which = tame
	case query.Count:
		which = anyType
	}
	return aggregate, d.fields(table, which)
}

func (d *dice) totals(table *series.Table) query.Shape {
	s := query.Totals{GroupBy: pick(d, table.Tags).Key}
	s.Aggregate, s.Fields = d.aggregateFields(table)
	return s
}

func (d *dice) rowsOf(table *series.Table) query.Shape {
	fields, tag := d.fields(table, anyType), ""
	if d.often(50) {
		tag = pick(d, table.Tags).Key
	}
	switch {
	case d.often(30):
		return query.Rows{Fields: fields, Tag: tag, Order: pick(d, []query.Order{query.Ascending, query.Descending})}
	case d.often(30):
		return query.AnyRows{Fields: fields, Tag: tag, Limit: 1 + d.IntN(30)}
	case d.often(30):
		return query.RowSet{Fields: fields, Tag: tag, Set: query.Set{Operation: pick(d, query.SetOperations()), All: d.often(50), Operands: 2 + d.IntN(2)}}
	}
	return query.Rows{Fields: fields, Tag: tag}
}

func (d *dice) last(table *series.Table) query.Shape {
	keys := d.keys(table, 1, 3)
	s := query.Last{By: keys[0], Tags: keys[1:], Fields: d.fields(table, anyType)}
	if exact := d.fields(table, tame); d.often(50) && slices.Contains(s.Fields, exact[0]) {
		if s.Having = (&query.RatioCondition{Condition: d.condition(exact[:1])}); d.often(50) {
			s.Having.Over = "weight"
		}
	}
	return s
}

func (d *dice) means(table *series.Table) query.Shape {
	group, fields := d.keys(table, 1, 2), d.fields(table, tame)
	if d.often(50) {
		s := query.Means{Group: group, Fields: fields}
		if d.often(40) {
			s.MeanTags = []string{"weight"}
		}
		if d.often(50) {
			having := d.condition(fields)
			s.Having = &having
		}
		return s
	}
	s := query.UnitMeans{Group: group, Fields: fields}
	for _, tag := range table.Tags {
		if !slices.Contains(group, tag.Key) {
			s.Unit = tag.Key
		}
	}
	if slices.Contains(group, "weight") {
		s.Over = "weight" // which each group has one of
	}
	return s
}

func (d *dice) activity(table *series.Table) query.Shape {
	keys := d.keys(table, 2, 3)
	a := query.Activity{
		Unit: keys[0], Width: pick(d, []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour}),
		Field: d.fields(table, tame)[0], Zeros: d.often(30), Value: float64(d.IntN(9)) / 8,
		Compare: pick(d, []query.Comparison{query.Less, query.Greater, query.AtLeast}),
	}
	return pick(d, []query.Shape{
		query.ActiveUnits{Activity: a, More: d.IntN(4)}, query.ActiveHours{Activity: a}, query.Sessions{Activity: a},
		query.ActiveShare{Activity: a, Group: keys[1:]}, query.Starts{Activity: a, Group: keys[1:]},
	})
}

// overTime draws a function over time of a random metric, at one time or at several.
func (d *dice) overTime(id int) query.Query {
	o := query.Over{Metric: d.data.schema.Tables[0].Name, Func: pick(d, query.OverFunctions())}
	o.Range = pick(d, []time.Duration{20 * time.Second, time.Minute, 100 * time.Second, 5 * time.Minute, 17 * time.Minute})
	if o.Func == query.OverValue {
		o.Range = query.Lookback
	}
	if d.often(50) {
		o.Aggregate = pick(d, []string{"sum", "avg", "max", "min", "count"})
		o.By = [][]string{nil, {"job"}, {"zone"}, {"zone", "job"}}[d.IntN(4)]
	}
	if d.often(50) {
		o.Match = []query.Matcher{pick(d, []query.Matcher{
			{Label: "job", Op: "=", Value: "api"}, {Label: "zone", Op: "!=", Value: "us"}, {Label: "zone", Op: "=", Value: ""},
			{Label: "zone", Op: "=~", Value: "us|eu-1"}, {Label: "job", Op: "!~", Value: "web|api"}, {Label: "zone", Op: "!~", Value: "us|eu-1"},
		})}
	}
	if d.often(20) {
		above := 0.3712345
		o.Above = &above
	}
	s := query.PromQL{Expr: o.PromQL(), Over: &o, Step: pick(d, []time.Duration{0, 7 * time.Second, 15 * time.Second, time.Minute, 6 * time.Minute})}
	q := query.Query{Type: "random", ID: id, Table: o.Metric}
	q.End = d.start.Add(time.Duration(d.IntN(scrapes*15_000+600_000)) * time.Millisecond)
	if s.Step > 0 {
		q.Start = q.End.Add(-time.Duration(d.IntN(1_200_000)) * time.Millisecond)
	}
	q.Shape = s
	return q
}
