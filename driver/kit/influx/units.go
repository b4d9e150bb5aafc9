package influx

import (
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
)

// means renders the Means shape. Its groups come in no order, and the time that
// InfluxQL sets beside them means nothing.
func (r *renderer) means(q query.Means) *statement {
	fields := slices.Concat(q.Fields, q.MeanTags)
	s, numbers := r.groupMeans(q.Group, fields, "")
	if len(numbers) == 0 && q.Having == nil { // which NULL does not fulfil
		s.columns = append(s.columns, r.witnessColumns("count", fields)...)
	}
	outer := r.dropTime(s, q.Group)
	if having := q.Having; having != nil {
		name := r.valueNames(len(fields))[slices.Index(q.Fields, having.Field)]
		outer.where = []string{comparison(Ident(name), having.Compare, having.Value)}
	}
	return outer
}

// unitMeans renders the UnitMeans shape: of each unit its mean, and of these the
// mean of each group.
func (r *renderer) unitMeans(q query.UnitMeans) *statement {
	r.groupable(q.Unit)
	units, numbers := r.groupMeans(q.Group, q.Fields, q.Over)
	s := &statement{inner: units, group: units.group}
	units.group = append(slices.Clone(units.group), q.Unit)
	for _, key := range numbers {
		s.columns = append(s.columns, alias(call("max", key), key))
	}
	for _, name := range r.valueNames(len(q.Fields)) {
		s.columns = append(s.columns, alias(call("mean", name), name))
	}
	if len(numbers) == 0 {
		units.columns = append(units.columns, r.witnessColumns("count", q.Fields)...)
		for _, field := range r.selection().Witnesses(q.Fields) {
			s.columns = append(s.columns, alias(call("sum", ownName(field)), ownName(field)))
		}
	}
	return r.dropTime(s, q.Group)
}

// groupMeans returns the statement of the means of fields in groups, and the
// numbers among the tags of the groups. These are fields, and InfluxQL cannot
// group by them; where each group of the other tags has one value of them, they
// are read from its rows.
func (r *renderer) groupMeans(group, fields []string, over string) (s *statement, numbers []string) {
	s, numbers = r.selectRows(nil, slices.DeleteFunc(slices.Clone(group), r.numeric)), r.numbers(group...)
	for _, key := range numbers {
		s.columns = append(s.columns, alias(call("max", key), key))
		if !r.follows(key, s.group) {
			r.groupable(key)
		}
	}
	for i, name := range r.valueNames(len(fields)) {
		mean := call("mean", fields[i])
		if over != "" {
			mean += " / " + call("max", over)
		}
		s.columns = append(s.columns, alias(mean, name))
	}
	return s, numbers
}

// dropTime returns a statement that reads another one and drops its time from the result.
func (r *renderer) dropTime(inner *statement, group []string) *statement {
	return &statement{columns: slices.Concat([]string{untimed}, idents(group), idents(r.valueNames(r.q.Values()))), inner: inner}
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

// Column names in the statements of an Activity.
const (
	measureColumn = "measure"
	countColumn   = "count"
	activeColumn  = "active"
	changeColumn  = "change"
)

const day = 24 * time.Hour

// activeUnits renders the ActiveUnits shape: the units with more than a given number of active buckets.
func (r *renderer) activeUnits(q query.ActiveUnits) *statement {
	return &statement{
		columns: []string{untimed, Ident(q.Unit), alias(Ident(countColumn), ownName(countColumn))},
		inner:   r.active(&q.Activity, nil, alias(call("count", measureColumn), countColumn), 0, q.Unit),
		where:   []string{fmt.Sprintf("%s > %d", Ident(countColumn), q.More)},
	}
}

// activeHours renders the ActiveHours shape: a unit's mean over the days that have
// an active bucket.
func (r *renderer) activeHours(q query.ActiveHours) *statement {
	return &statement{
		columns: []string{untimed, alias(call("mean", countColumn)+" * "+number(q.Width.Hours()), "hours")},
		inner:   r.active(&q.Activity, nil, alias(call("count", measureColumn), countColumn), day, q.Unit),
		group:   []string{q.Unit},
	}
}

// activeShare renders the ActiveShare shape: the active ones among the buckets of each day.
func (r *renderer) activeShare(q query.ActiveShare) *statement {
	if !slices.IsSorted(q.Group) {
		r.setUnsupported("an order by tags that is not the alphabetical one of their keys: InfluxQL orders by time alone")
	}
	if r.gemini && !slices.ContainsFunc(q.Group, r.oneGroup) {
		r.setUnsupported("%s", groupByGroup)
	}
	share := alias(fmt.Sprintf("%s / %d.0", call("count", measureColumn), day/q.Width), "share")
	return &statement{columns: append(idents(q.Group), Ident("share")), inner: r.active(&q.Activity, q.Group, share, day, q.Group...)}
}

// active returns the statement of a column over the active buckets, in groups and
// wider buckets.
func (r *renderer) active(a *query.Activity, group []string, column string, width time.Duration, by ...string) *statement {
	return &statement{
		columns: []string{column}, inner: r.unitMeasure(a, group), bucket: width, group: by,
		where: []string{comparison(Ident(measureColumn), a.Compare, a.Value)},
	}
}

// unitMeasure returns the statement that computes the measure by which the buckets of each unit count as
// active.
func (r *renderer) unitMeasure(a *query.Activity, group []string) *statement {
	group = append(slices.Clone(group), a.Unit)
	r.groupable(group...)
	s := r.selectRows([]string{alias(call("mean", a.Field), measureColumn)}, group)
	if a.Zeros { // x/x is 1 but for 0, where InfluxQL's division is 0
		s.columns = []string{alias(fmt.Sprintf("1 - %s / %[1]s", Ident(a.Field)), "zero")}
		s = &statement{columns: []string{alias(call("mean", "zero"), measureColumn)}, inner: s, ends: s.ends, group: group}
	}
	s.bucket = a.Width
	return s
}

// starts renders how often a unit's active bucket follows an inactive one. InfluxQL has no CASE, so
// "active" is computed as a number: d/abs(d) is the sign of d, since division by 0 yields 0, and
// rounding turns it into 0 or 1.
func (r *renderer) starts(q query.Starts) *statement {
	difference := fmt.Sprintf("(%s - %s)", Ident(measureColumn), number(q.Value))
	round, sign := "floor", fmt.Sprintf("%s / abs(%[1]s)", difference)
	switch q.Compare {
	case query.Less:
		sign = "-1 * " + sign
	case query.AtLeast:
		round = "ceil"
	}
	units := append(slices.Clone(q.Group), q.Unit)
	active := &statement{columns: []string{alias(fmt.Sprintf("%s((%s + 1) / 2)", round, sign), activeColumn)}, inner: r.unitMeasure(&q.Activity, q.Group), group: units}
	changes := &statement{columns: []string{alias(call("difference", activeColumn), changeColumn)}, inner: active, group: units}
	starts := &statement{columns: []string{alias(call("count", changeColumn), "starts")}, inner: changes, where: []string{Ident(changeColumn) + " > 0"}, group: q.Group}
	return r.dropTime(starts, q.Group)
}
