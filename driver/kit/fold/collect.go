package fold

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// maxValues is the largest number of values buffered for a result that must be sorted or merged.
const maxValues = 1 << 24

// Collector merges the results of a query's statements. It is used by one goroutine at a time.
type Collector struct {
	plan   *Plan
	sink   query.Sink
	rows   int64 // passed on
	values int   // buffered
	out    []query.Value
	kept   [][]query.Value
	newest map[string][]query.Value
	groups map[string]*group
	key    []byte
}

// Collect returns a collector that passes the rows of the query's result to a sink, which may be nil.
func Collect(p *Plan, sink query.Sink) *Collector {
	return &Collector{plan: p, sink: sink, newest: map[string][]query.Value{}, groups: map[string]*group{}}
}

// Count returns the number of rows passed on.
func (c *Collector) Count() int64 { return c.rows }

// Keep counts buffered values.
func (c *Collector) Keep(values int) error {
	if c.values += values; c.values > maxValues {
		return fmt.Errorf("the rows of the answer have more than %d values, and it was read no further", maxValues)
	}
	return nil
}

// hand passes a row on.
func (c *Collector) hand(row []query.Value) error {
	c.rows++
	if c.sink == nil {
		return nil
	}
	return c.sink.Row(row)
}

// Full reports whether no further rows are needed.
func (c *Collector) Full() bool {
	return c.plan.Rows != nil && c.plan.Rows.Limit > 0 && c.rows >= int64(c.plan.Rows.Limit)
}

// Take takes one row, in the layout of the plan, from the result of a statement, with the tags of its
// series. The collector copies the texts of buffered rows.
func (c *Collector) Take(tags, row []query.Value) error {
	switch {
	case c.plan.Rows != nil:
		return c.emitStored(tags, row)
	case c.plan.Newest != nil:
		return c.compete(tags, row)
	}
	return c.fold(tags, row)
}

// emitStored passes on a stored row, or buffers it until all rows can be sorted.
func (c *Collector) emitStored(tags, row []query.Value) error {
	p := c.plan.Rows
	if c.Full() {
		return nil
	}
	if c.sink == nil {
		c.rows++
		return nil
	}
	c.out = append(c.out[:0], row[0])
	for _, t := range p.Tags {
		c.out = append(c.out, tags[t])
	}
	c.out = append(c.out, row[1:]...)
	if p.Order == query.Unordered {
		return c.hand(c.out)
	}
	c.kept = append(c.kept, ownTexts(slices.Clone(c.out)))
	return c.Keep(len(c.out))
}

// Finish passes on the buffered rows and returns the number of rows.
func (c *Collector) Finish() (int64, error) {
	switch p := c.plan; {
	case p.Rows != nil:
		if len(c.kept) == 0 {
			return c.rows, nil
		}
		return c.rowsBy(p.Rows.Order, 1+len(p.Rows.Tags), 0)
	case p.Newest != nil:
		return c.last(p.Newest)
	}
	return c.emitGroups(c.plan.Fold)
}

// rowsBy passes on the buffered rows in the order of their first columns.
func (c *Collector) rowsBy(order query.Order, keys, most int) (int64, error) {
	slices.SortStableFunc(c.kept, func(a, b []query.Value) int {
		by := query.CompareRows(a[:keys], b[:keys])
		if order == query.Descending {
			return -by
		}
		return by
	})
	if most > 0 && len(c.kept) > most {
		c.kept = c.kept[:most]
	}
	for _, row := range c.kept {
		if err := c.hand(row); err != nil {
			return c.rows, &limit.Refused{Err: err}
		}
	}
	return c.rows, nil
}

// compete buffers a row if it is the newest for its value of the first tag, together with the divisor
// of its field.
func (c *Collector) compete(tags, row []query.Value) error {
	p := c.plan.Newest
	c.key = tags[p.Tags[0]].AppendKey(c.key[:0])
	before := c.newest[string(c.key)]
	if before != nil && before[1].Int >= row[0].Int {
		return nil
	}
	kept := make([]query.Value, 0, 1+len(p.Tags)+len(row))
	var over query.Value
	if p.Over > 0 {
		over = tags[p.Over-1]
	}
	kept = append(kept, over, row[0])
	for _, t := range p.Tags {
		kept = append(kept, tags[t])
	}
	kept = ownTexts(append(kept, row[1:]...))
	c.newest[string(c.key)] = kept
	return c.Keep(len(kept) - len(before))
}

// ownTexts copies the texts of a row, whose memory the caller may reuse.
func ownTexts(row []query.Value) []query.Value {
	for i := range row {
		row[i].Text = bytes.Clone(row[i].Text)
	}
	return row
}

// last passes on the newest row for each value of a tag.
func (c *Collector) last(p *Newest) (int64, error) {
	for _, row := range c.newest {
		over := row[0]
		if row = row[1:]; p.Having != nil {
			number, known := row[1+len(p.Tags)+p.Field].Number()
			if p.Over > 0 && known {
				var divisor float64
				divisor, known = over.Number()
				number /= divisor
			}
			if !known || !p.Having.Holds(number) {
				continue
			}
		}
		if err := c.hand(row); err != nil {
			return c.rows, err
		}
	}
	return c.rows, nil
}

// group is the result for rows with equal keys.
type group struct {
	bucket query.Value
	keys   []query.Value
	over   query.Value
	parts  []emitGroups
}

// emitGroups is a part of a group.
type emitGroups struct {
	n     int64   // number of values
	total float64 // their sum
	value query.Value
}

// fold adds partial aggregates to the aggregates of their group.
func (c *Collector) fold(tags, row []query.Value) error {
	f := c.plan.Fold
	var bucket query.Value
	if f.Buckets {
		bucket, row = row[0], row[1:]
	}
	if row[0].Int == 0 { // no rows
		return nil
	}
	key := binary.BigEndian.AppendUint64(c.key[:0], uint64(bucket.Int))
	for _, t := range f.Keys {
		key = tags[t].AppendKey(key)
	}
	if f.Unit > 0 {
		key = tags[f.Unit-1].AppendKey(key)
	}
	c.key = key
	g := c.groups[string(key)]
	if g == nil {
		g = &group{bucket: bucket, parts: make([]emitGroups, len(f.Parts))}
		for _, t := range f.Keys {
			g.keys = append(g.keys, tags[t])
		}
		ownTexts(g.keys)
		if f.Over > 0 {
			g.over = tags[f.Over-1]
		}
		c.groups[string(key)] = g
		if err := c.Keep(2 + len(g.keys) + len(g.parts)); err != nil {
			return err
		}
	}
	g.add(f.Parts, tags, row)
	return nil
}

// add adds a row of a statement's result, whose first column is the number of rows.
func (g *group) add(parts []Part, tags, row []query.Value) {
	column := 1
	for i, p := range parts {
		to := &g.parts[i]
		switch v := row[min(column, len(row)-1)]; p.Make {
		case MakeTag:
			if tag := tags[p.Tag]; tag.Kind == query.Float {
				to.n, to.total = to.n+row[0].Int, to.total+tag.Float*float64(row[0].Int)
			}
		case "count":
			to.n += v.Int
		case "sum", "avg", MakeZeros:
			to.n, to.total = to.n+row[column+1].Int, to.total+v.Float
		default:
			by := compare(v, to.value)
			if v.Kind != query.Null && (to.n == 0 || p.Make == "max" && by > 0 || p.Make == "min" && by < 0) {
				to.n, to.value = 1, v
			}
		}
		column += p.Columns()
	}
}

// compare compares numbers of one kind.
func compare(a, b query.Value) int {
	if a.Kind == query.Float {
		return cmp.Compare(a.Float, b.Float)
	}
	return cmp.Compare(a.Int, b.Int)
}

// HasEnough reports whether the collector has as many complete groups as the plan wants. The function
// whole reports whether the bucket that starts at a time in milliseconds is complete.
func (c *Collector) HasEnough(whole func(bucket int64) bool) bool {
	n := 0
	for _, g := range c.groups {
		if whole(g.bucket.Int / int64(time.Millisecond)) {
			n++
		}
	}
	return n >= c.plan.Fold.Limit
}

// result is the final value of a part.
func (f *emitGroups) result(p Part) query.Value {
	switch {
	case p.Make == "count":
		return query.Value{Kind: query.Int, Int: f.n}
	case f.n == 0:
		return query.Value{}
	case p.Make == "sum":
		return query.Value{Kind: query.Float, Float: f.total}
	case p.Make == "avg", p.Make == MakeTag, p.Make == MakeZeros:
		return query.Value{Kind: query.Float, Float: f.total / float64(f.n)}
	}
	return f.value
}

// emitGroups passes on a row for each group.
func (c *Collector) emitGroups(f *Fold) (int64, error) {
	if f.Activity != nil {
		return c.active(f)
	}
	if f.Unit > 0 {
		c.units(f)
	}
	for _, g := range c.groups {
		var row []query.Value
		if f.Buckets {
			row = append(row, g.bucket)
		}
		row = append(row, g.keys...)
		from := len(row)
		for i := range f.Parts {
			row = append(row, g.parts[i].result(f.Parts[i]))
		}
		if h := f.Having; h != nil {
			if v := row[from+h.Part]; v.Kind == query.Null || !h.Holds(v.Float) {
				continue
			}
		}
		c.kept = append(c.kept, row)
	}
	keys := len(f.Keys)
	if f.Buckets {
		keys++
	}
	return c.rowsBy(f.Order, keys, f.Limit)
}

// units replaces the means of units by the means of their groups.
func (c *Collector) units(f *Fold) {
	made := map[string]*group{}
	var key []byte
	for _, unit := range c.groups {
		key = key[:0]
		for _, v := range unit.keys {
			key = v.AppendKey(key)
		}
		g := made[string(key)]
		if g == nil {
			g = &group{keys: unit.keys, parts: make([]emitGroups, len(f.Parts))}
			made[string(key)] = g
		}
		for i := range unit.parts {
			mean := unit.parts[i].result(f.Parts[i])
			if f.Over > 0 {
				mean.Float /= unit.over.Float
			}
			if mean.Kind != query.Null && (f.Over == 0 || unit.over.Kind != query.Null) {
				g.parts[i].n, g.parts[i].total = g.parts[i].n+1, g.parts[i].total+mean.Float
			}
		}
	}
	c.groups = made
}
