package influxdb

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
)

// means renders the Means shape. Its groups come in no order, and the time that
// InfluxQL sets beside them means nothing.
func (r *renderer) means() (*statement, error) {
	q := r.q
	tags, numbers, err := r.meansGroups()
	if err != nil {
		return nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	answer := q.Columns(r.table)[len(q.Group):]
	asked := slices.Concat(q.Fields, q.MeanTags)
	s := &statement{from: q.Table, where: where, group: tags}
	for _, key := range numbers {
		s.columns = append(s.columns, as(call("max", key), key))
	}
	for i, field := range asked {
		mean := call("mean", field)
		if q.Over != "" {
			mean += " / " + call("max", q.Over)
		}
		s.columns = append(s.columns, as(mean, answer[i].Name))
	}
	var own []string
	if len(numbers) == 0 && q.Having == nil { // which NULL does not fulfil
		own = r.witnesses(asked)
		s.columns = append(s.columns, counts(own)...)
	}
	if q.Unit != "" {
		units := s
		units.group = append(slices.Clone(tags), q.Unit)
		s = &statement{inner: units, group: tags}
		for _, key := range numbers {
			s.columns = append(s.columns, as(call("max", key), key))
		}
		for _, column := range answer {
			s.columns = append(s.columns, as(call("mean", column.Name), column.Name))
		}
		for _, field := range own {
			s.columns = append(s.columns, as(call("sum", ownName(field)), ownName(field)))
		}
	}
	outer := &statement{columns: []string{as("time", timeColumn)}, inner: s}
	outer.columns = append(outer.columns, idents(q.Group)...)
	for _, column := range answer {
		outer.columns = append(outer.columns, ident(column.Name))
	}
	if having := q.Having; having != nil {
		at := slices.Index(q.Fields, having.Field)
		name := ownName(having.Field)
		if at >= 0 {
			name = answer[at].Name
		} else {
			s.columns = append(s.columns, as(call("mean", having.Field), name))
		}
		outer.where = []string{compared(ident(name), having)}
	}
	return outer, nil
}

// meansGroups returns the tags to group by, and the numbers among the Group.
// These are fields, and InfluxQL cannot group by them; where each group of tags
// has one value of them, they are read from its rows.
func (r *renderer) meansGroups() (tags, numbers []string, err error) {
	q := r.q
	if err := r.groupable(q.Unit); err != nil {
		return nil, nil, err
	}
	for _, key := range q.Group {
		if r.numeric(key) {
			numbers = append(numbers, key)
		} else {
			tags = append(tags, key)
		}
	}
	for _, key := range numbers {
		if !r.follows(key, tags) {
			return nil, nil, r.groupable(key)
		}
	}
	return tags, numbers, nil
}

// follows reports whether all series that have the tags and the number, and
// agree in the tags, have the same number.
func (r *renderer) follows(number string, tags []string) bool {
	values := make(map[string]string)
	var key, value []byte
	for s := range r.schema.Series {
		key, value = key[:0], value[:0]
		has := true
		for _, tag := range tags {
			var ok bool
			key, ok = r.table.Tag(tag).Values.Append(key, s)
			key = append(key, 0)
			has = has && ok
		}
		value, ok := r.table.Tag(number).Values.Append(value, s)
		if !has || !ok {
			continue
		}
		if known, ok := values[string(key)]; ok && known != string(value) {
			return false
		} else if !ok {
			values[string(key)] = string(value)
		}
	}
	return true
}

// The names of what the statements of an Activity compute.
const (
	measureColumn = "measure"
	countColumn   = "count"
	activeColumn  = "active"
	changeColumn  = "change"
)

const day = 24 * time.Hour

// activity renders the Activity shape.
func (r *renderer) activity() (*statement, error) {
	q, a := r.q, r.q.Active
	if err := r.groupable(append([]string{q.Unit}, q.Group...)...); err != nil {
		return nil, err
	}
	if q.Bucket <= 0 || day%q.Bucket != 0 {
		return nil, unsupported("buckets of %v, which do not divide a day", q.Bucket)
	}
	measured, err := r.measured()
	if err != nil {
		return nil, err
	}
	active := func(column string, width time.Duration, group ...string) *statement {
		s := &statement{columns: []string{column}, inner: measured, where: []string{r.isActive()}, bucket: width, group: group}
		if width > 0 {
			s.where = append(s.where, lastTime)
		}
		return s
	}
	untimed := as("time", timeColumn)
	switch a.Summary {
	case query.UnitsWithMore:
		return &statement{
			columns: []string{untimed, ident(q.Unit), as(ident(countColumn), ownName(countColumn))},
			inner:   active(as(call("count", measureColumn), countColumn), 0, q.Unit),
			where:   []string{fmt.Sprintf("%s > %d", ident(countColumn), a.More)},
		}, nil
	case query.HoursPerDay:
		// The mean over the days that have an active bucket.
		return &statement{
			columns: []string{untimed, as(call("mean", countColumn)+" * "+number(q.Bucket.Hours()), "hours")},
			inner:   active(as(call("count", measureColumn), countColumn), day, q.Unit),
			group:   []string{q.Unit},
		}, nil
	case query.SharePerDay:
		share := as(fmt.Sprintf("%s / %d.0", call("count", measureColumn), day/q.Bucket), "share")
		if !slices.IsSorted(q.Group) && q.Order != query.Unordered {
			return nil, unsupported("an order by tags that is not the alphabetical one of their keys: InfluxQL orders by time alone")
		}
		return &statement{columns: append(idents(q.Group), ident("share")), inner: active(share, day, q.Group...)}, nil
	case query.Starts:
		return r.starts(measured), nil
	case query.SessionPerDay:
		return nil, unsupported("InfluxQL knows a session's length, by elapsed(), where it ends, and no statement can bring it to the day on which it began")
	}
	return nil, unsupported("the summary %s", a.Summary)
}

// measured returns the statement of what each unit's buckets are judged by.
func (r *renderer) measured() (*statement, error) {
	q := r.q
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	group := append(slices.Clone(q.Group), q.Unit)
	s := &statement{columns: []string{as(call("mean", q.Active.Field), measureColumn)}, from: q.Table, where: where, bucket: q.Bucket, group: group}
	if q.Active.Zeros {
		// x/x is 1 but for 0, where InfluxQL's division is 0.
		field := ident(q.Active.Field)
		s.columns = []string{as(call("mean", "zero"), measureColumn)}
		s.from, s.where = "", nil
		s.inner = &statement{columns: []string{as(fmt.Sprintf("1 - %s / %[1]s", field), "zero")}, from: q.Table, where: where, group: group}
	}
	s.where = append(s.where, r.untilTheEnd()...)
	return s, nil
}

// isActive returns the condition that a bucket is active.
func (r *renderer) isActive() string {
	a, operator := r.q.Active, ">"
	switch {
	case a.Below:
		operator = "<"
	case a.AtLeast:
		operator = ">="
	}
	return fmt.Sprintf("%s %s %s", ident(measureColumn), operator, number(a.Value))
}

// starts renders how often a unit's active bucket follows one that is not.
// InfluxQL has no CASE, so that "active" is computed as a number: d/abs(d) is
// the sign of d, since its division by 0 is 0, and rounding makes 0 or 1 of it.
func (r *renderer) starts(measured *statement) *statement {
	q, a := r.q, r.q.Active
	difference := fmt.Sprintf("(%s - %s)", ident(measureColumn), number(a.Value))
	round, sign := "floor", fmt.Sprintf("%s / abs(%[1]s)", difference)
	switch {
	case a.Below:
		sign = "-1 * " + sign
	case a.AtLeast:
		round = "ceil"
	}
	units := append(slices.Clone(q.Group), q.Unit)
	active := &statement{columns: []string{as(fmt.Sprintf("%s((%s + 1) / 2)", round, sign), activeColumn)}, inner: measured, group: units}
	changes := &statement{columns: []string{as(call("difference", activeColumn), changeColumn)}, inner: active, group: units}
	starts := &statement{columns: []string{as(call("count", changeColumn), "starts")}, inner: changes, where: []string{ident(changeColumn) + " > 0"}, group: q.Group}
	return &statement{columns: append(append([]string{as("time", timeColumn)}, idents(q.Group)...), ident("starts")), inner: starts}
}
