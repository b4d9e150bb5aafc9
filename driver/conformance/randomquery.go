package conformance

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// query throws a question that has one right answer: of several newest rows
// none is the newest, and a sum that depends on its order meets no threshold.
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
		q.In = d.in(table)
	}
	if d.often(30) {
		above := d.fields(table, numbers)
		if d.often(60) {
			above = above[:1]
		}
		q.Above = &query.Above{Field: above[0], And: above[1:], Value: pick(d, []float64{0, -0.5, 24.5, -100, 1 << 53, 1 << 63, -1 << 63, 1e-300})}
	}
	if d.often(20) {
		q.Present = []string{pick(d, table.Tags).Key}
	}
	shapes := []func(*query.Query, *series.Table){d.buckets, d.buckets, d.rowsOf, d.rowsOf, d.totals, d.means, d.activity}
	if d.traits[table].distinct {
		shapes = append(shapes, d.last, d.last)
	}
	pick(d, shapes)(&q, table)
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

// in throws a filter on values that series have, and one that none has.
func (d *dice) in(table *series.Table) *query.TagIn {
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

// suitable says which fields a question can take.
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

// condition throws one on a tame field of the question's. Half of a quarter is
// no value that a mean of few quarters has.
func (d *dice) condition(fields []string) *query.Condition {
	return &query.Condition{Field: pick(d, fields), Below: d.often(50), Value: float64(d.IntN(41)-10) / 8}
}

func (d *dice) buckets(q *query.Query, table *series.Table) {
	q.Shape = query.Buckets
	d.aggregated(q, table)
	q.Bucket = pick(d, []time.Duration{90 * time.Second, 7 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour})
	if d.often(50) {
		q.GroupBy = pick(d, table.Tags).Key
	}
	q.Order = pick(d, []query.Order{query.Unordered, query.Ascending, query.Descending})
	if q.Order != query.Unordered && d.often(50) {
		q.Limit = 1 + d.IntN(8)
	}
}

// aggregated throws an aggregate and fields, whose sums are exact where they
// matter.
func (d *dice) aggregated(q *query.Query, table *series.Table) {
	q.Aggregate = pick(d, []query.Aggregate{query.Max, query.Max, query.Avg, query.Avg, query.Min, query.Sum, query.Count})
	which := numbers
	switch q.Aggregate {
	case query.Avg, query.Sum:
		which = tame
	case query.Count:
		which = anyType
	}
	q.Fields = d.fields(table, which)
}

func (d *dice) totals(q *query.Query, table *series.Table) {
	q.Shape, q.GroupBy = query.Totals, pick(d, table.Tags).Key
	d.aggregated(q, table)
}

func (d *dice) rowsOf(q *query.Query, table *series.Table) {
	q.Shape, q.Fields = query.Rows, d.fields(table, anyType)
	if d.often(50) {
		q.GroupBy = pick(d, table.Tags).Key
	}
	switch {
	case d.often(30):
		q.Order = pick(d, []query.Order{query.Ascending, query.Descending})
	case d.often(30):
		q.Limit = 1 + d.IntN(30)
	case d.often(30):
		q.Set = &query.Set{Operation: pick(d, query.SetOperations()), All: d.often(50), Operands: 2 + d.IntN(2)}
	}
}

func (d *dice) last(q *query.Query, table *series.Table) {
	keys := d.keys(table, 1, 3)
	q.Shape, q.GroupBy, q.Tags = query.Last, keys[0], keys[1:]
	q.Fields = d.fields(table, anyType)
	if exact := d.fields(table, tame); d.often(50) && slices.Contains(q.Fields, exact[0]) {
		if q.Having = d.condition(exact[:1]); d.often(50) {
			q.Having.Over = "weight"
		}
	}
}

func (d *dice) means(q *query.Query, table *series.Table) {
	q.Shape, q.Group, q.Fields = query.Means, d.keys(table, 1, 2), d.fields(table, tame)
	if d.often(40) {
		q.MeanTags = []string{"weight"}
	}
	if d.often(50) {
		if d.often(50) {
			q.Having = d.condition(q.Fields)
		}
		return
	}
	for _, tag := range table.Tags {
		if !slices.Contains(q.Group, tag.Key) {
			q.Unit = tag.Key
		}
	}
	if slices.Contains(q.Group, "weight") {
		q.Over = "weight" // which each group has one of
	}
}

func (d *dice) activity(q *query.Query, table *series.Table) {
	q.Shape, q.Bucket = query.Activity, pick(d, []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour})
	keys := d.keys(table, 2, 3)
	q.Unit = keys[0]
	q.Active = &query.Active{
		Field: d.fields(table, tame)[0], Zeros: d.often(30), Below: d.often(30), Value: float64(d.IntN(9)) / 8,
		Summary: pick(d, []query.Summary{query.UnitsWithMore, query.HoursPerDay, query.SessionPerDay, query.SharePerDay, query.Starts}),
		More:    d.IntN(4),
	}
	q.Active.AtLeast = !q.Active.Below && d.often(50)
	if s := q.Active.Summary; s == query.SharePerDay || s == query.Starts {
		q.Group = keys[1:]
	}
}
