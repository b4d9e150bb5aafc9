package iotdb

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
)

// last renders the Last shape. If each row has all fields and no condition excludes rows, it is SELECT
// LAST, which IoTDB caches; otherwise the values at the greatest time.
func (r *treeRenderer) last(s query.Last) {
	if r.nodeOf(s.By) < 0 {
		r.requireDevices(s.By)
	} else if !r.identifies(s.By) {
		tags := append([]string{s.By}, s.Tags...)
		if s.Having != nil {
			tags = append(tags, s.Having.Over)
		}
		merge, _, err := fold.New(r.q, "IoTDB", func(key string) int { return slices.Index(tags, key) })
		r.plan.Fold, r.err = &merge, cmp.Or(r.err, err)
		defer func() { // the time is before the tags, and a divisor behind the fields
			out, tags := r.plan.Output, 1+len(s.Tags)
			fields := out[1+tags : 1+tags+len(s.Fields)]
			r.plan.Output = slices.Concat(out[1:1+tags], out[1+tags+len(s.Fields):], out[:1], fields)
			r.plan.Tags = len(out) - 1 - len(s.Fields)
		}()
	}
	q := r.q
	numeric := !slices.ContainsFunc(s.Fields, func(f string) bool { return !r.table.Fields[r.table.FieldIndex(f)].Type.Numeric() })
	if r.table.Dense && !hasRowName(r.table) && numeric && s.Having == nil && len(r.values()) == 0 && q.Start.IsZero() && q.End.IsZero() {
		r.column(node(witness(r.table)))
		r.output(fromTime, 0)
		for _, key := range append([]string{s.By}, s.Tags...) {
			r.tag(key, "")
		}
		for _, f := range s.Fields {
			r.output(fromValue, r.column(node(f)))
		}
		r.plan.Last = r.columns
		r.perDevice("", "", "")
		r.plan.Device = false
		r.plan.Statement = strings.TrimSuffix(strings.Replace(r.plan.Statement, "SELECT ", "SELECT LAST ", 1), "ALIGN BY DEVICE") + "ORDER BY TIMESERIES"
		return
	}
	if len(r.values()) > 0 {
		r.setUnsupported("the newest of the rows that a condition on values keeps: IoTDB 2.0 refuses max_by(x, time) beside such a condition")
	}
	value := "max_by(%s, time)"
	if r.template {
		// If each row has all fields, the last values are those of the newest row.
		if value = "last_value(%s)"; !r.table.Dense || r.table.Widths != nil {
			r.setUnsupported("the newest rows where devices of a template lack values: max_by(x, time) fails on such devices in IoTDB 2.0.1; give schema=auto")
		}
	} else if r.table.Widths != nil && slices.ContainsFunc(s.Fields, func(f string) bool { return uint32(r.table.FieldIndex(f)) >= slices.Min(r.table.Widths) }) {
		r.setUnsupported("the newest rows where devices lack a measurement: IoTDB 2.0 refuses max_by(x, time) of such devices")
	}
	newest := func(name string) string { return fmt.Sprintf(value, node(name)) }
	r.output(fromTimeValue, r.column(call("max_time", node(witness(r.table)))))
	for _, key := range append([]string{s.By}, s.Tags...) {
		if r.nodeOf(key) >= 0 {
			r.tag(key, "")
		} else {
			r.output(fromValue, r.column(newest(key)))
		}
	}
	for _, f := range s.Fields {
		r.output(fromValue, r.column(newest(f)))
	}
	kept := r.rowsExist()
	if c := s.Having; c != nil && r.plan.Fold != nil {
		if c.Over != "" {
			r.output(fromValue, r.column(newest(c.Over)))
		}
	} else if c != nil {
		compared := newest(c.Field)
		if c.Over != "" {
			compared += " / " + newest(c.Over)
		}
		kept += fmt.Sprintf(" AND %s %s %s", compared, c.Compare, number(c.Value))
	}
	r.perDevice("", kept, "")
}

// meansOfGroups renders means over groups of several devices.
func (r *treeRenderer) meansOfGroups(s query.Means) {
	names := slices.Concat(s.Fields, s.MeanTags)
	if len(s.Group) == 1 && s.Having == nil && len(r.values()) == 0 {
		r.output(fromTag, 0)
		r.levels(s.Group[0], query.Avg, names, "", r.times(), "")
		return
	}
	means := &fold.Fold{}
	for i, key := range s.Group {
		r.tag(key, "")
		means.Keys = append(means.Keys, i)
	}
	for _, name := range names {
		r.output(fromValue, r.column(call("sum", node(name))))
		r.output(fromCount, r.column(call("count", node(name))))
		means.Parts = append(means.Parts, fold.Part{Make: string(query.Avg)})
	}
	if c := s.Having; c != nil {
		means.Having = &fold.Having{Part: slices.Index(s.Fields, c.Field), Condition: *c}
	}
	r.plan.Fold, r.plan.Tags = &fold.Plan{Fold: means}, len(s.Group)
	r.perDevice("", r.rowsExist(), "")
}

// means renders the Means shape.
func (r *treeRenderer) means(s query.Means) {
	if !slices.ContainsFunc(s.Group, r.identifies) && !slices.ContainsFunc(s.Group, func(key string) bool { return r.nodeOf(key) < 0 }) {
		r.meansOfGroups(s)
		return
	}
	r.requireDevices(s.Group...)
	for _, key := range s.Group {
		r.tag(key, "max_value")
	}
	for _, name := range slices.Concat(s.Fields, s.MeanTags) {
		r.output(fromValue, r.column(call("avg", node(name))))
	}
	having := r.rowsExist()
	if c := s.Having; c != nil {
		having += fmt.Sprintf(" AND %s %s %s", call("avg", node(c.Field)), c.Compare, number(c.Value))
	}
	r.perDevice("", having, "")
}

// perBucket renders values of each bucket and device, which a function adds to the result.
func (r *treeRenderer) perBucket(width time.Duration, by string, addValues func()) {
	if width%r.unit != 0 {
		r.setUnsupported("IoTDB cannot have buckets of %v, its times are multiples of %v", width, r.unit)
		return
	}
	r.requireDevices(by)
	window, where := r.window(query.Buckets{Width: width})
	r.output(fromTime, 0)
	r.tag(by, "")
	addValues()
	r.perDevice(where, r.rowsExist(), "", window)
}
