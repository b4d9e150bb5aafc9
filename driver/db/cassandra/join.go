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

// values are the values of one field in a partition, in the order of their times.
type values struct {
	times []int64
	of    []query.Value
	next  int // index of the next value
}

// join reads the partitions of a series and day in the narrow layout, and passes on the result that the
// statement of the wide layout would return: rows, the newest row, or aggregates.
func (x *execution) join(ctx context.Context, at *partition, take func([]query.Value) error) error {
	p := x.plan.Narrow
	statements := strings.Split(x.plan.Partition, "\n")
	if len(statements) != len(p.Fields) || at.tags[p.Key].Kind != query.Text {
		return errors.New("the request has not a statement for each field, or the registry no name for a series")
	}
	read := make([]values, len(statements))
	err := runParallel(ctx, len(statements), len(statements), func(ctx context.Context, i int) error {
		var err error
		read[i], err = x.ofField(ctx, statements[i], x.plan.narrowArgs(at, p.Fields[i].Name))
		return err
	})
	if err != nil {
		return err
	}
	rows := joinRows(p, read)
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
		return x.plan.Fold.Aggregates(rows, take)
	}
	for row := range rows {
		if err := take(row); err != nil {
			return err
		}
	}
	return nil
}

// narrowArgs returns the arguments of the statement for a field's partition.
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

// nanoseconds converts milliseconds to nanoseconds, and saturates at the bounds of an int64.
func nanoseconds(ms int64) int64 {
	const unit = int64(time.Millisecond)
	return max(math.MinInt64/unit, min(ms, math.MaxInt64/unit)) * unit
}

// ofField reads a field's values. The option concurrency limits the number of running statements.
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

// joinRows iterates over rows in the order of time: the time, and the value of each field that is a
// column. It reuses the row.
func joinRows(p *narrowPlan, read []values) func(yield func([]query.Value) bool) {
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
			dropped := false
			for i := range read {
				f, v := &p.Fields[i], &read[i]
				row[1+i] = query.Value{}
				if v.next < len(v.times) && v.times[v.next] == least {
					row[1+i] = f.value(v.of[v.next])
					v.next++
				}
				dropped = dropped || f.Filter && !p.keeps(row[1+i])
			}
			if !dropped && !yield(row[:1+p.Shown]) {
				return
			}
		}
	}
}
