package cassandra

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/limit"
	"github.com/tsmark/tsmark/query"
)

// maxValues is the most values that are kept of an answer that has to be ordered or
// combined.
const maxValues = 1 << 24

// querier implements driver.Querier.
type querier struct {
	db          *database
	concurrency int
	closed      bool
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	if err := d.renew(ctx); err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", err)
	}
	return &querier{db: d, concurrency: int(d.options.Int(optionConcurrency))}, nil
}

// Close implements driver.Querier. The session is the target's.
func (q *querier) Close() error {
	q.closed = true
	return nil
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.closed {
		return driver.Cost{}, errors.New("the connection is closed")
	}
	p, err := parsePlan(r.Text)
	if err != nil {
		return driver.Cost{}, err
	}
	run := &execution{querier: q, plan: p, sink: sink, slots: make(chan struct{}, q.concurrency)}
	rows, err := run.answer(ctx)
	return driver.Cost{Rows: rows, Bytes: run.bytes.Load()}, err
}

// execution is a request that is run.
type execution struct {
	*querier
	plan  *plan
	sink  query.Sink
	bytes atomic.Int64
	slots chan struct{} // of statements in the narrow layout that may be under way

	mu     sync.Mutex // guards what follows, while statements run
	rows   int64      // that were handed on
	values int        // that are kept
	out    []query.Value
	kept   [][]query.Value
	newest map[string][]query.Value
	groups map[string]*group
}

// answer runs the statements and hands the answer's rows to the sink.
func (x *execution) answer(ctx context.Context) (int64, error) {
	all, err := x.partitions(ctx)
	if err != nil {
		return 0, err
	}
	switch p := x.plan; {
	case p.Rows != nil:
		return x.stored(ctx, all)
	case p.Newest != nil:
		return x.last(ctx, all)
	case p.Fold != nil:
		return x.fold(ctx, all)
	}
	return 0, errors.New("the request does not say what becomes of rows")
}

// statement runs a statement, and hands its rows on one at a time, whatever other
// statements do.
func (x *execution) statement(ctx context.Context, text string, args []any, take func([]query.Value) error) error {
	var r reader
	cost, err := x.db.run(ctx, &r, func(row []query.Value) error {
		x.mu.Lock()
		defer x.mu.Unlock()
		return take(row)
	}, text, args...)
	x.bytes.Add(cost.Bytes)
	return err
}

// read reads a partition, and hands its rows on one at a time.
func (x *execution) read(ctx context.Context, at *partition, take func([]query.Value) error) error {
	if x.plan.Narrow != nil {
		return x.join(ctx, at, take)
	}
	return x.statement(ctx, x.plan.Partition, x.plan.args(at), take)
}

// keep counts values that are kept.
func (x *execution) keep(values int) error {
	if x.values += values; x.values > maxValues {
		return fmt.Errorf("the rows of the answer have more than %d values, and it was read no further", maxValues)
	}
	return nil
}

// hand hands a row on.
func (x *execution) hand(row []query.Value) error {
	x.rows++
	if x.sink == nil {
		return nil
	}
	return x.sink.Row(row)
}

// partitions reads from the registry which partitions the query is about, the newest
// first.
func (x *execution) partitions(ctx context.Context) (all []partition, err error) {
	p := x.plan
	take := func(row []query.Value) error {
		if len(row) < 2 || row[0].Kind != query.Int {
			return errors.New("the registry's answer has not its columns")
		}
		if row[1].Kind != query.Time || !p.wants(row[2:]) {
			return nil
		}
		if err := x.keep(len(row)); err != nil {
			return err
		}
		var kept query.Answer
		_ = kept.Row(row[2:]) // an Answer takes every row
		all = append(all, partition{row[0].Int, row[1].Int / int64(time.Millisecond), kept.Rows[0]})
		return nil
	}
	err = each(ctx, x.concurrency, max(1, len(p.Values)), func(ctx context.Context, i int) error {
		var value *string
		if p.Values != nil {
			value = &p.Values[i]
		}
		return x.statement(ctx, p.Registry, p.registryArgs(value), take)
	})
	slices.SortFunc(all, func(a, b partition) int {
		return cmp.Or(cmp.Compare(b.bucket, a.bucket), cmp.Compare(a.series, b.series))
	})
	return all, err
}

// stored hands on rows as they are stored.
func (x *execution) stored(ctx context.Context, all []partition) (int64, error) {
	p := x.plan.Rows
	full := func() bool { return p.Limit > 0 && x.rows >= int64(p.Limit) }
	err := each(ctx, x.concurrency, len(all), func(ctx context.Context, i int) error {
		x.mu.Lock()
		enough := full()
		x.mu.Unlock()
		if enough {
			return nil
		}
		at := &all[i]
		return x.read(ctx, at, func(row []query.Value) error {
			if full() {
				return nil
			}
			if x.sink == nil {
				x.rows++
				return nil
			}
			x.out = append(x.out[:0], row[0])
			for _, t := range p.Tags {
				x.out = append(x.out, at.tags[t])
			}
			x.out = append(x.out, row[1:]...)
			if p.Order == query.Unordered {
				return x.hand(x.out)
			}
			x.kept = append(x.kept, slices.Clone(x.out)) // texts stay where they came
			return x.keep(len(x.out))
		})
	})
	if err != nil || len(x.kept) == 0 {
		return x.rows, err
	}
	return x.rowsBy(p.Order, 1+len(p.Tags), 0)
}

// rowsBy hands on what was kept in an order by the first columns.
func (x *execution) rowsBy(order query.Order, keys, most int) (int64, error) {
	slices.SortStableFunc(x.kept, func(a, b []query.Value) int {
		by := query.CompareRows(a[:keys], b[:keys])
		if order == query.Descending {
			return -by
		}
		return by
	})
	if most > 0 && len(x.kept) > most {
		x.kept = x.kept[:most]
	}
	for _, row := range x.kept {
		if err := x.hand(row); err != nil {
			return x.rows, &limit.Refused{Err: err}
		}
	}
	return x.rows, nil
}

// last hands on the newest row of each value of a tag.
func (x *execution) last(ctx context.Context, all []partition) (int64, error) {
	p := x.plan.Newest
	x.newest = map[string][]query.Value{}
	bySeries := map[int64][]*partition{}
	var series []int64
	for i := range all { // the newest first
		at := &all[i]
		if bySeries[at.series] == nil {
			series = append(series, at.series)
		}
		bySeries[at.series] = append(bySeries[at.series], at)
	}
	err := each(ctx, x.concurrency, len(series), func(ctx context.Context, i int) error {
		found := false
		for _, at := range bySeries[series[i]] {
			err := x.read(ctx, at, func(row []query.Value) error {
				found = true
				return x.compete(p, at, row)
			})
			if err != nil || found {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, row := range x.newest {
		over := row[0]
		if row = row[1:]; p.Having != nil {
			number, known := row[1+len(p.Tags)+p.Field].Number()
			if p.Over > 0 {
				number /= over.Float
			}
			if !known || p.Over > 0 && over.Kind == query.Null || !p.Having.Holds(number) {
				continue
			}
		}
		if err := x.hand(row); err != nil {
			return x.rows, err
		}
	}
	return x.rows, nil
}

// compete keeps a row if it is the newest of its value of the first tag, behind what
// divides its field.
func (x *execution) compete(p *lastPlan, at *partition, row []query.Value) error {
	key := string(at.tags[p.Tags[0]].String())
	if before := x.newest[key]; before != nil && before[1].Int >= row[0].Int {
		return nil
	}
	kept := make([]query.Value, 0, 1+len(p.Tags)+len(row))
	var over query.Value
	if p.Over > 0 {
		over = at.tags[p.Over-1]
	}
	kept = append(kept, over, row[0])
	for _, t := range p.Tags {
		kept = append(kept, at.tags[t])
	}
	kept = append(kept, row[1:]...) // texts stay where they came
	x.newest[key] = kept
	return x.keep(len(kept))
}

// group is what rows with the same keys come to.
type group struct {
	bucket query.Value
	keys   []query.Value
	over   query.Value
	parts  []folded
}

// folded is a part of a group.
type folded struct {
	n     int64   // values
	total float64 // their sum
	value query.Value
}

// fold combines the aggregates of partitions. Of an ordered answer with a limit no
// more partitions are read than it needs, one span after the other.
func (x *execution) fold(ctx context.Context, all []partition) (int64, error) {
	f := x.plan.Fold
	x.groups = map[string]*group{}
	if f.Limit == 0 {
		if err := x.foldAll(ctx, all); err != nil {
			return 0, err
		}
		return x.folded(f)
	}
	if f.Order == query.Ascending {
		slices.Reverse(all)
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].bucket == all[0].bucket {
			n++
		}
		if err := x.foldAll(ctx, all[:n]); err != nil {
			return 0, err
		}
		begin := all[0].bucket
		all = all[n:]
		whole := 0 // groups to which no further partition adds
		for _, g := range x.groups {
			ms := g.bucket.Int / int64(time.Millisecond)
			if f.Order == query.Descending && ms >= begin || f.Order == query.Ascending && ms+f.Width <= begin+x.plan.Span {
				whole++
			}
		}
		if whole >= f.Limit {
			break
		}
	}
	return x.folded(f)
}

// foldAll adds what partitions have.
func (x *execution) foldAll(ctx context.Context, all []partition) error {
	f := x.plan.Fold
	return each(ctx, x.concurrency, len(all), func(ctx context.Context, i int) error {
		at := &all[i]
		var key []byte
		return x.read(ctx, at, func(row []query.Value) error {
			var bucket query.Value
			if f.Buckets {
				bucket, row = row[0], row[1:]
			}
			if row[0].Int == 0 { // of no row
				return nil
			}
			key = binary.BigEndian.AppendUint64(key[:0], uint64(bucket.Int))
			for _, t := range f.Keys {
				key = at.tags[t].AppendKey(key)
			}
			if f.Unit > 0 {
				key = at.tags[f.Unit-1].AppendKey(key)
			}
			g := x.groups[string(key)]
			if g == nil {
				g = &group{bucket: bucket, parts: make([]folded, len(f.Parts))}
				for _, t := range f.Keys {
					g.keys = append(g.keys, at.tags[t])
				}
				if f.Over > 0 {
					g.over = at.tags[f.Over-1]
				}
				x.groups[string(key)] = g
				if err := x.keep(2 + len(g.keys) + len(g.parts)); err != nil {
					return err
				}
			}
			g.add(f.Parts, at, row)
			return nil
		})
	})
}

// add adds a row of a partition's answer, whose first column is the number of rows.
func (g *group) add(parts []part, at *partition, row []query.Value) {
	column := 1
	for i, p := range parts {
		to := &g.parts[i]
		switch v := row[min(column, len(row)-1)]; p.Make {
		case "tag":
			if tag := at.tags[p.Tag]; tag.Kind == query.Float {
				to.n, to.total = to.n+row[0].Int, to.total+tag.Float*float64(row[0].Int)
			}
		case "count":
			to.n += v.Int
		case "sum", "avg":
			to.n, to.total = to.n+row[column+1].Int, to.total+v.Float
		default:
			by := compare(v, to.value)
			if v.Kind != query.Null && (to.n == 0 || p.Make == "max" && by > 0 || p.Make == "min" && by < 0) {
				to.n, to.value = 1, v
			}
		}
		column += p.columns()
	}
}

// compare compares numbers of one kind.
func compare(a, b query.Value) int {
	if a.Kind == query.Float {
		return cmp.Compare(a.Float, b.Float)
	}
	return cmp.Compare(a.Int, b.Int)
}

// result is what a part has come to.
func (f *folded) result(p part) query.Value {
	switch {
	case p.Make == "count":
		return query.Value{Kind: query.Int, Int: f.n}
	case f.n == 0:
		return query.Value{}
	case p.Make == "sum":
		return query.Value{Kind: query.Float, Float: f.total}
	case p.Make == "avg", p.Make == "tag":
		return query.Value{Kind: query.Float, Float: f.total / float64(f.n)}
	}
	return f.value
}

// folded hands on a row of each group.
func (x *execution) folded(f *foldPlan) (int64, error) {
	if f.Unit > 0 {
		x.units(f)
	}
	for _, g := range x.groups {
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
		x.kept = append(x.kept, row)
	}
	keys := len(f.Keys)
	if f.Buckets {
		keys++
	}
	return x.rowsBy(f.Order, keys, f.Limit)
}

// units makes of the means of units those of their groups.
func (x *execution) units(f *foldPlan) {
	made := map[string]*group{}
	var key []byte
	for _, unit := range x.groups {
		key = key[:0]
		for _, v := range unit.keys {
			key = v.AppendKey(key)
		}
		g := made[string(key)]
		if g == nil {
			g = &group{keys: unit.keys, parts: make([]folded, len(f.Parts))}
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
	x.groups = made
}
