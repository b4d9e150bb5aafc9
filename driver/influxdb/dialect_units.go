package influxdb

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
)

// means renders the Means shape. Its groups come in no order, and the time that
// InfluxQL sets beside them means nothing.
func (r *renderer) means(q query.Means) (*statement, error) {
	s, numbers, err := r.grouped(q.Group, slices.Concat(q.Fields, q.MeanTags), "")
	if err != nil {
		return nil, err
	}
	if len(numbers) == 0 && q.Having == nil { // which NULL does not fulfil
		s.columns = append(s.columns, counts(r.witnesses(slices.Concat(q.Fields, q.MeanTags)))...)
	}
	outer := r.untimed(s, q.Group)
	if having := q.Having; having != nil {
		name := r.valueNames(len(q.Fields) + len(q.MeanTags))[slices.Index(q.Fields, having.Field)]
		outer.where = []string{compared(ident(name), having.Compare, having.Value)}
	}
	return outer, nil
}

// unitMeans renders the UnitMeans shape.
func (r *renderer) unitMeans(q query.UnitMeans) (*statement, error) {
	if err := r.groupable(q.Unit); err != nil {
		return nil, err
	}
	units, numbers, err := r.grouped(q.Group, q.Fields, q.Over)
	if err != nil {
		return nil, err
	}
	s := &statement{inner: units, group: units.group}
	for _, key := range numbers {
		s.columns = append(s.columns, as(call("max", key), key))
	}
	for _, name := range r.valueNames(len(q.Fields)) {
		s.columns = append(s.columns, as(call("mean", name), name))
	}
	if len(numbers) == 0 {
		own := r.witnesses(q.Fields)
		units.columns = append(units.columns, counts(own)...)
		for _, field := range own {
			s.columns = append(s.columns, as(call("sum", ownName(field)), ownName(field)))
		}
	}
	units.group = append(slices.Clone(units.group), q.Unit)
	return r.untimed(s, q.Group), nil
}

// grouped returns the statement of the means of fields in groups, and the
// numbers among the tags of the groups. These are fields, and InfluxQL cannot
// group by them; where each group of the other tags has one value of them, they
// are read from its rows.
func (r *renderer) grouped(group, fields []string, over string) (s *statement, numbers []string, err error) {
	s = &statement{from: r.q.Table}
	for _, key := range group {
		if r.numeric(key) {
			numbers = append(numbers, key)
			s.columns = append(s.columns, as(call("max", key), key))
		} else {
			s.group = append(s.group, key)
		}
	}
	for _, key := range numbers {
		if !r.follows(key, s.group) {
			return nil, nil, r.groupable(key)
		}
	}
	for i, name := range r.valueNames(len(fields)) {
		mean := call("mean", fields[i])
		if over != "" {
			mean += " / " + call("max", over)
		}
		s.columns = append(s.columns, as(mean, name))
	}
	s.where, err = r.where()
	return s, numbers, err
}

// untimed returns a statement around another, whose time is no part of the
// answer.
func (r *renderer) untimed(inner *statement, group []string) *statement {
	outer := &statement{columns: append([]string{as("time", timeColumn)}, idents(group)...), inner: inner}
	outer.columns = append(outer.columns, idents(r.valueNames(r.q.Values()))...)
	return outer
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

// activity renders the shapes that look at active buckets.
func (r *renderer) activity(a *query.Activity) (*statement, error) {
	untimed := as("time", timeColumn)
	switch s := r.q.Shape.(type) {
	case query.ActiveUnits:
		active, err := r.active(a, nil, as(call("count", measureColumn), countColumn), 0, a.Unit)
		return &statement{
			columns: []string{untimed, ident(a.Unit), as(ident(countColumn), ownName(countColumn))},
			inner:   active,
			where:   []string{fmt.Sprintf("%s > %d", ident(countColumn), s.More)},
		}, err
	case query.ActiveHours:
		// The mean over the days that have an active bucket.
		active, err := r.active(a, nil, as(call("count", measureColumn), countColumn), day, a.Unit)
		return &statement{
			columns: []string{untimed, as(call("mean", countColumn)+" * "+number(a.Width.Hours()), "hours")},
			inner:   active,
			group:   []string{a.Unit},
		}, err
	case query.ActiveShare:
		if !slices.IsSorted(s.Group) {
			return nil, unsupported("an order by tags that is not the alphabetical one of their keys: InfluxQL orders by time alone")
		}
		share := as(fmt.Sprintf("%s / %d.0", call("count", measureColumn), day/a.Width), "share")
		active, err := r.active(a, s.Group, share, day, s.Group...)
		return &statement{columns: append(idents(s.Group), ident("share")), inner: active}, err
	case query.Starts:
		return r.starts(a, s.Group)
	}
	return nil, unsupported("InfluxQL knows a session's length, by elapsed(), where it ends, and no statement can bring it to the day on which it began")
}

// active returns the statement of a column over the active buckets, in groups and
// wider buckets.
func (r *renderer) active(a *query.Activity, group []string, column string, width time.Duration, by ...string) (*statement, error) {
	measured, err := r.measured(a, group)
	s := &statement{columns: []string{column}, inner: measured, where: []string{compared(ident(measureColumn), a.Compare, a.Value)}, bucket: width, group: by}
	if width > 0 {
		s.where = append(s.where, lastTime)
	}
	return s, err
}

// measured returns the statement of what each unit's buckets are judged by.
func (r *renderer) measured(a *query.Activity, group []string) (*statement, error) {
	group = append(slices.Clone(group), a.Unit)
	if err := r.groupable(group...); err != nil {
		return nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	s := &statement{columns: []string{as(call("mean", a.Field), measureColumn)}, from: r.q.Table, where: where, bucket: a.Width, group: group}
	if a.Zeros {
		// x/x is 1 but for 0, where InfluxQL's division is 0.
		field := ident(a.Field)
		s.columns = []string{as(call("mean", "zero"), measureColumn)}
		s.from, s.where = "", nil
		s.inner = &statement{columns: []string{as(fmt.Sprintf("1 - %s / %[1]s", field), "zero")}, from: r.q.Table, where: where, group: group}
	}
	s.where = append(s.where, r.untilTheEnd()...)
	return s, nil
}

// starts renders how often a unit's active bucket follows one that is not.
// InfluxQL has no CASE, so that "active" is computed as a number: d/abs(d) is
// the sign of d, since its division by 0 is 0, and rounding makes 0 or 1 of it.
func (r *renderer) starts(a *query.Activity, group []string) (*statement, error) {
	measured, err := r.measured(a, group)
	difference := fmt.Sprintf("(%s - %s)", ident(measureColumn), number(a.Value))
	round, sign := "floor", fmt.Sprintf("%s / abs(%[1]s)", difference)
	switch a.Compare {
	case query.Less:
		sign = "-1 * " + sign
	case query.AtLeast:
		round = "ceil"
	}
	units := append(slices.Clone(group), a.Unit)
	active := &statement{columns: []string{as(fmt.Sprintf("%s((%s + 1) / 2)", round, sign), activeColumn)}, inner: measured, group: units}
	changes := &statement{columns: []string{as(call("difference", activeColumn), changeColumn)}, inner: active, group: units}
	starts := &statement{columns: []string{as(call("count", changeColumn), "starts")}, inner: changes, where: []string{ident(changeColumn) + " > 0"}, group: group}
	return r.untimed(starts, group), err
}
