package cassandra

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// values are those of one field in a partition, in the order of their times.
type values struct {
	times []int64
	of    []query.Value
	next  int // that was not taken yet
}

// join reads the partitions of a series and day in the narrow layout, and hands on what
// the statement of the wide layout would answer: rows, the newest row, or aggregates.
func (x *execution) join(ctx context.Context, at *partition, take func([]query.Value) error) error {
	p := x.plan.Narrow
	statements := strings.Split(x.plan.Partition, "\n")
	if len(statements) != len(p.Fields) || at.tags[p.Key].Kind != query.Text {
		return errors.New("the request has not a statement for each field, or the registry no name for a series")
	}
	read := make([]values, len(statements))
	err := each(ctx, len(statements), len(statements), func(ctx context.Context, i int) error {
		var err error
		read[i], err = x.ofField(ctx, statements[i], x.plan.narrowArgs(at, p.Fields[i].Name))
		return err
	})
	if err != nil {
		return err
	}
	rows := joined(p, read)
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.plan.Newest != nil:
		var newest []query.Value
		for row := range rows {
			newest = slices.Clone(row)
		}
		if newest == nil {
			return nil
		}
		return take(newest)
	case x.plan.Fold != nil:
		return x.plan.Fold.aggregates(rows, take)
	}
	for row := range rows {
		if err := take(row); err != nil {
			return err
		}
	}
	return nil
}

// narrowArgs are what the statement for a field's partition binds.
func (p *plan) narrowArgs(at *partition, field string) []any {
	id := appendPlace(slices.Clone(at.tags[p.Narrow.Key].Text), field, at.bucket*int64(time.Millisecond))
	args := []any{string(id)}
	for _, t := range []*int64{p.Start, p.End} {
		if t != nil {
			args = append(args, nanoseconds(*t))
		}
	}
	return args
}

// nanoseconds are those of milliseconds, or the bound of what 64 bits can say.
func nanoseconds(ms int64) int64 {
	const unit = int64(time.Millisecond)
	return max(math.MinInt64/unit, min(ms, math.MaxInt64/unit)) * unit
}

// ofField reads a field's values. No more statements are under way than the option
// concurrency says.
func (x *execution) ofField(ctx context.Context, text string, args []any) (v values, err error) {
	select {
	case x.slots <- struct{}{}:
		defer func() { <-x.slots }()
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
	var r reader
	cost, err := x.db.run(ctx, &r, func(row []query.Value) error {
		v.times, v.of = append(v.times, row[0].Int), append(v.of, row[1])
		return nil
	}, text, args...)
	x.bytes.Add(cost.Bytes)
	return v, err
}

// joined goes through rows: the time, and of each field that is a column its value, in the
// order of time. A row is used again.
func joined(p *narrowPlan, read []values) func(yield func([]query.Value) bool) {
	row := make([]query.Value, 1+len(read))
	return func(yield func([]query.Value) bool) {
		for {
			least, left := int64(math.MaxInt64), false
			for i := range read {
				if v := &read[i]; v.next < len(v.times) {
					least, left = min(least, v.times[v.next]), true
				}
			}
			if !left {
				return
			}
			row[0] = query.Value{Kind: query.Time, Int: least}
			below := false
			for i := range read {
				f, v := &p.Fields[i], &read[i]
				row[1+i] = query.Value{}
				if v.next < len(v.times) && v.times[v.next] == least {
					row[1+i] = f.value(v.of[v.next])
					v.next++
				}
				below = below || f.Above && !exceeds(row[1+i], *p.Above)
			}
			if !below && !yield(row[:1+p.Shown]) {
				return
			}
		}
	}
}

// aggregates folds rows that come in the order of time to what the statement of the wide
// layout answers for a partition: the start of the bucket, if there are buckets, the number
// of rows, and the columns of each part.
func (f *foldPlan) aggregates(rows func(func([]query.Value) bool), take func([]query.Value) error) error {
	var err error
	var out []query.Value
	from := 0 // of the columns behind the bucket
	if f.Buckets {
		from = 1
	}
	flush := func() bool {
		if out != nil {
			err = take(out)
		}
		return err == nil
	}
	rows(func(row []query.Value) bool {
		bucket := query.Value{Kind: query.Time}
		if f.Buckets {
			bucket.Int = query.BucketOf(row[0].Int, time.Duration(f.Width)*time.Millisecond)
		}
		if out == nil || f.Buckets && out[0].Int != bucket.Int {
			if !flush() {
				return false
			}
			out = f.begin(out[:0], bucket)
		}
		out[from].Int++
		column := from + 1
		for i, p := range f.Parts {
			if p.Make == "tag" {
				continue
			}
			p.fold(out[column:], row[1+i])
			column += p.columns()
		}
		return true
	})
	if err == nil {
		flush()
	}
	return err
}

// begin appends the columns of no row yet.
func (f *foldPlan) begin(out []query.Value, bucket query.Value) []query.Value {
	if f.Buckets {
		out = append(out, bucket)
	}
	out = append(out, query.Value{Kind: query.Int})
	for _, p := range f.Parts {
		switch p.Make {
		case "tag":
		case "sum", "avg":
			out = append(out, query.Value{Kind: query.Float}, query.Value{Kind: query.Int})
		case "count":
			out = append(out, query.Value{Kind: query.Int})
		default:
			out = append(out, query.Value{})
		}
	}
	return out
}

// fold adds a value to the columns of a part.
func (p part) fold(columns []query.Value, v query.Value) {
	if v.Kind == query.Null {
		return
	}
	switch p.Make {
	case "count":
		columns[0].Int++
	case "sum", "avg":
		number, _ := v.Number()
		columns[0].Float += number
		columns[1].Int++
	default:
		by := compare(v, columns[0])
		if columns[0].Kind == query.Null || p.Make == "max" && by > 0 || p.Make == "min" && by < 0 {
			columns[0] = v
		}
	}
}
