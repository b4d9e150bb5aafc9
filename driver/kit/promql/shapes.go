package promql

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// plan returns a plan with the columns of the result.
func (r *Renderer) plan(timed bool, tags, fields []string) *metric.Plan {
	p := &metric.Plan{Timed: timed, Order: r.Query.Order()}
	for _, key := range tags {
		if key != "" {
			p.Tags = append(p.Tags, metric.Tag{Label: r.Label(key), Number: r.Table.Tag(key).Numeric()})
		}
	}
	for _, f := range fields {
		name := r.Metric(r.Table, f)
		if r.isNative() { // one series has all fields
			name, p.Native = f, r.Table.Metric.Native
		}
		p.Fields = append(p.Fields, metric.Field{Name: name})
	}
	return p
}

// markStored marks the values of the plan's fields as stored values.
func (r *Renderer) markStored(p *metric.Plan, fields []string) *metric.Plan {
	for i, f := range fields {
		p.Fields[i].Single = r.Table.Fields[r.Table.FieldIndex(f)].Type == series.Float32
	}
	return p
}

// markCounts marks the plan's values as counts if the aggregate is a count.
func markCounts(p *metric.Plan, a query.Aggregate) *metric.Plan {
	for i := range p.Fields {
		p.Fields[i].Count = a == query.Count
	}
	return p
}

func (r *Renderer) totals(q query.Totals) *metric.Plan {
	p := markCounts(r.plan(false, []string{q.GroupBy}, q.Fields), q.Aggregate)
	p.Expression = r.Union(r.aggregateRows(q.Aggregate, q.Fields, r.All(), q.GroupBy)...)
	return p
}

// width returns the width of buckets in milliseconds.
func width(of time.Duration) (int64, error) {
	if of < 2*time.Millisecond || of%time.Millisecond != 0 {
		return 0, metric.UnsupportedError("times are in milliseconds, and %v is not a multiple of that", of)
	}
	return of.Milliseconds(), nil
}

// buckets renders the Buckets shape: a range query at the last millisecond of each bucket. A first or
// last bucket that the window cuts is a separate part, evaluated once. A query for the newest buckets
// without a beginning looks at earlier ones only if there are too few.
func (r *Renderer) buckets(q query.Buckets) (*metric.Plan, error) {
	if !r.bounded {
		return nil, boundless("a range query")
	}
	width, err := width(q.Width)
	if err != nil {
		return nil, err
	}
	p := markCounts(r.plan(true, []string{q.GroupBy}, q.Fields), q.Aggregate)
	p.Limit = q.Limit
	var by []string
	if q.GroupBy != "" {
		by = []string{q.GroupBy}
	}
	first, end := floor(r.From, width), floor(r.To, width)+width
	if end-first == width {
		p.At, p.Shift = r.To, first-r.To
		p.Expression = r.Union(r.aggregateRows(q.Aggregate, q.Fields, r.All(), by...)...)
		return p, nil
	}
	p.Start, p.End, p.Step, p.Shift = first+width-1, end-1, width, 1-width
	p.Newest = q.Limit > 0 && q.Order == query.Descending && r.Query.Start.IsZero()
	var parts []string
	number := 0
	part := func(s Span, after, before int64) {
		for _, expression := range r.aggregateRows(q.Aggregate, q.Fields, s, by...) {
			parts = append(parts, r.Part(r.LimitTimes(expression, after, before), number))
		}
		number++
	}
	var after, before int64 // the whole buckets are between these
	if r.From > first {
		after = first + width
		part(Span{Length: first + width - r.From, At: first + width - 1, Last: first + width - 1}, 0, after)
	}
	if r.To < end-1 {
		before = end - width
		part(Span{Length: r.To - before + 1, At: r.To, Last: r.To}, before, 0)
	}
	part(Span{Length: width}, after, before)
	p.Expression = r.Union(parts...)
	return p, nil
}

// rows renders the Rows shape: the samples themselves.
func (r *Renderer) rows(q query.Rows) *metric.Plan {
	p := r.markStored(r.plan(true, []string{q.Tag}, q.Fields), q.Fields)
	r.Rows(p, r, append(slices.Clone(q.Fields), r.Witnesses(q.Fields)...), r.All())
	return p
}

// last renders the Last shape.
func (r *Renderer) last(q query.Last) (*metric.Plan, error) {
	p := r.markStored(r.plan(true, append([]string{q.By}, q.Tags...), q.Fields), q.Fields)
	p.One = true
	return p, r.Last(p, r, q, r.All())
}

// means renders the Means shape.
func (r *Renderer) means(q query.Means) (*metric.Plan, error) {
	p := r.plan(false, q.Group, append(slices.Clone(q.Fields), q.MeanTags...))
	var parts []string
	if len(q.Fields) > 0 {
		parts = r.Aggregate(r, query.Avg, q.Fields, r.All(), q.Group)
	}
	counter := slices.IndexFunc(r.Table.Fields, func(f series.Field) bool { return r.Sure(f.Name) })
	for _, tag := range q.MeanTags {
		if counter < 0 {
			return nil, metric.UnsupportedError("the mean of tag %s counts each row once, and %s counts samples: no field of table %s has one in each row", tag, r.Name(), r.Table.Name)
		}
		mean, err := r.TagMean(r, tag, r.Table.Fields[counter].Name, r.All(), q.Group)
		if err != nil {
			return nil, err
		}
		parts = append(parts, r.SetName(mean, r.Metric(r.Table, tag)))
	}
	parts = append(parts, r.groupsOf(q.Fields, r.All(), q.Group...)...)
	if having := q.Having; having != nil {
		condition := fmt.Sprintf("%s %s %s", Parenthesize(r.Mean(r, having.Field, r.All(), q.Group)), having.Compare, Number(having.Value))
		for i := range parts {
			parts[i] = r.Filter(Parenthesize(parts[i]), q.Group, condition)
		}
	}
	p.Expression = r.Union(parts...)
	return p, nil
}

// unitMeans renders the UnitMeans shape.
func (r *Renderer) unitMeans(q query.UnitMeans) (*metric.Plan, error) {
	p := r.plan(false, q.Group, q.Fields)
	means, err := r.UnitMeans(r, q.Fields, r.All(), q.Group, q.Unit, q.Over)
	p.Expression = r.Union(append(means, r.groupsOf(q.Fields, r.All(), q.Group...)...)...)
	return p, err
}

// activity renders the shapes that look at the buckets of each unit. It uses subqueries whose steps are
// multiples of the bucket's width; the value at the end of a bucket stands for the bucket.
func (r *Renderer) activity() (*metric.Plan, error) {
	a := r.Query.Activity()
	if !r.bounded {
		return nil, boundless("a subquery")
	}
	width, err := width(a.Width)
	if err != nil {
		return nil, err
	}
	first, end := floor(r.From, width), floor(r.To, width)+width
	firstDay, lastDay := floor(first, day), floor(end-1, day)+day
	// subquery returns the activity over a length of time.
	subquery := func(length int64, boolean string, by ...string) string {
		var active string
		if err == nil {
			active, err = r.active(first, end, boolean, by...)
		}
		return fmt.Sprintf("%s[%s:%s]", Parenthesize(active), r.Duration(length), r.Duration(width))
	}
	var p *metric.Plan
	switch s := r.Query.Shape.(type) {
	case query.ActiveUnits:
		if s.More < 0 {
			return nil, metric.UnsupportedError("more than %d buckets", s.More)
		}
		p = r.plan(false, []string{a.Unit}, nil)
		p.At = end
		p.Expression = fmt.Sprintf("count_over_time(%s) > %d", subquery(end-first, "", a.Unit), s.More)
	case query.ActiveHours:
		p = r.plan(false, []string{a.Unit}, nil)
		p.Fields = []metric.Field{{Name: "hours"}}
		p.At = lastDay
		p.Expression = r.SetName(fmt.Sprintf("avg_over_time(count_over_time(%s)[%s:1d]) * %s",
			subquery(day, "", a.Unit), r.Duration(lastDay-firstDay), Number(a.Width.Hours())), "hours")
	case query.ActiveShare:
		p = r.plan(true, s.Group, nil)
		p.Fields = []metric.Field{{Name: "share"}}
		p.Start, p.End, p.Step, p.Shift = firstDay+day, lastDay, day, -day
		buckets := r.GroupBy("sum", fmt.Sprintf("count_over_time(%s)", subquery(day, "", append(slices.Clone(s.Group), a.Unit)...)), s.Group...)
		p.Expression = r.SetName(fmt.Sprintf("%s / %d", buckets, day/width), "share")
	case query.Starts:
		p = r.plan(false, s.Group, nil)
		p.Fields = []metric.Field{{Name: "starts"}}
		p.At = end
		rises := r.Rises(subquery(end-first, "bool ", append(slices.Clone(s.Group), a.Unit)...))
		p.Expression = r.SetName(r.GroupBy("sum", rises, s.Group...)+" > 0", "starts")
	default:
		return nil, metric.UnsupportedError("%s has nothing for %s", r.Name(), r.Query.ShapeName())
	}
	return p, err
}

// active returns an expression whose value at the end of a bucket is the units that are active in the
// bucket; with bool, it has all units with samples, as 1 and 0.
func (r *Renderer) active(first, end int64, boolean string, by ...string) (string, error) {
	a, width := r.Query.Activity(), r.Query.Activity().Width.Milliseconds()
	var parts []string
	var failed error
	part := func(s Span, after, before int64) {
		mean := r.Mean(r, a.Field, s, by)
		if a.Zeros {
			mean, failed = r.ZeroShare(r, a.Field, s, by)
		}
		parts = append(parts, r.LimitTimes(mean, after, before))
	}
	// half keeps the bounds of conditions away from the steps.
	half := max(1, width/2)
	after, before := first, end+half
	switch {
	case end-first == width:
		part(Span{Length: r.To - r.From + 1, Offset: end - r.To, Last: r.To}, end-half, before)
		after = before
	case r.From > first:
		after = first + width + half
		part(Span{Length: first + width - r.From, Offset: 1, Last: first + width - 1}, first+half, after)
		fallthrough
	default:
		if r.To < end-1 {
			before = end - half
			part(Span{Length: r.To - (end - width) + 1, Offset: end - r.To, Last: r.To}, before, end+half)
		}
	}
	if after < before && (end-first > width) {
		part(Span{Length: width, Offset: 1}, after, before)
	}
	mean := Parenthesize(parts[0])
	if len(parts) > 1 { // at each step, one part has a value
		for i := range parts {
			parts[i] = r.Part(parts[i], i)
		}
		mean = r.GroupBy("sum", r.Union(parts...), by...)
	}
	return fmt.Sprintf("%s %s %s%s", mean, a.Compare, boolean, Number(a.Value)), failed
}
