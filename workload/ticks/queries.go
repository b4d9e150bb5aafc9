package ticks

import (
	"iter"
	"math/bits"
	"slices"
	"time"

	"github.com/tsmark/tsmark/internal/splitmix"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// queryType is a query type and the random draws of its queries.
type queryType struct {
	name, help string
	core       bool
	table      string
	symbols    uint64        // that are drawn, or all if there are fewer; 0: all
	window     time.Duration // within a session; 0: a session
	whole      bool          // all sessions, up to a week
	unbounded  bool          // all rows
	shape      func(*draw) query.Shape
}

// draw draws the parameters of a query.
type draw struct {
	splitmix.Stream
	gap time.Duration // mean time between two rows of a symbol
}

// one returns one of several values.
func one[T any](d *draw, values ...T) T { return values[d.Draw(uint64(len(values)))] }

// gaps returns a number of mean times between two rows, in whole milliseconds.
func (d *draw) gaps(tenths time.Duration) time.Duration {
	return max((d.gap * tenths / 10).Truncate(time.Millisecond), time.Millisecond)
}

// queryTypes lists the types in the order in which they run.
func queryTypes() []queryType {
	price := []string{priceField, sizeField}
	quoted := []string{bidField, askField}
	asOf := func(tolerance time.Duration) query.Shape {
		return query.AsOf{By: symbolTag, Fields: price, Right: Quotes, RightFields: quoted, Tolerance: tolerance}
	}
	return []queryType{
		{
			name: "ohlcv", core: true, help: "open, high, low, close and volume of 5 symbols per 1, 5 or 15 minutes, of a session", table: Trades, symbols: 5,
			shape: func(d *draw) query.Shape {
				return query.Candles{Price: priceField, Size: sizeField, Width: one(d, time.Minute, 5*time.Minute, 15*time.Minute), By: symbolTag}
			},
		},
		{
			name: "vwap", core: true, help: "mean price weighted by size of 5 symbols per 5 or 30 minutes, of a session", table: Trades, symbols: 5,
			shape: func(d *draw) query.Shape {
				return query.Weighted{Value: priceField, Weight: sizeField, Width: one(d, 5*time.Minute, 30*time.Minute), By: symbolTag}
			},
		},
		{
			name: "newest-quote", core: true, help: "newest quote of each symbol", table: Quotes, unbounded: true,
			shape: func(*draw) query.Shape { return query.Last{By: symbolTag, Fields: quoted} },
		},
		{
			name: "asof", core: true, help: "trades of 1 symbol in an hour with the prevailing quote", table: Trades, symbols: 1, window: time.Hour,
			shape: func(*draw) query.Shape { return asOf(0) },
		},
		{
			name: "asof-tolerance", help: "trades of 5 symbols in 15 minutes with the prevailing quote, unless it is too old", table: Trades, symbols: 5, window: 15 * time.Minute,
			shape: func(d *draw) query.Shape { return asOf(one(d, d.gaps(1), d.gaps(5), d.gaps(20))) },
		},
		{
			name: "spread-around", core: true, help: "trades of 1 symbol in 15 minutes with the mean spread around each", table: Trades, symbols: 1, window: 15 * time.Minute,
			shape: func(d *draw) query.Shape {
				around := one(d, d.gaps(5), d.gaps(20))
				return query.Around{By: symbolTag, Fields: price, Right: Quotes, Field: askField, Minus: bidField, Before: around, After: around}
			},
		},
		{
			name: "top-movers", core: true, help: "the 10 symbols whose price rises most in an hour", table: Trades, window: time.Hour,
			shape: func(*draw) query.Shape { return query.Movers{Field: priceField, By: symbolTag, Top: 10} },
		},
		{
			name: "gaps", core: true, help: "times without a quote of 10 symbols in a session, 5 or 20 times as long as the mean", table: Quotes, symbols: 10,
			shape: func(d *draw) query.Shape {
				return query.Gaps{Field: bidField, By: symbolTag, Longer: one(d, d.gaps(50), d.gaps(200))}
			},
		},
		{
			name: "volume-profile", core: true, help: "shares traded by time of day, per 5 or 15 minutes, of up to a week", table: Trades, whole: true,
			shape: func(d *draw) query.Shape {
				return query.Profile{Field: sizeField, Width: one(d, 5*time.Minute, 15*time.Minute)}
			},
		},
		{
			name: "nth-after-event", help: "the 10th trade of 10 symbols after each opening, cancelled or corrected one, in a session", table: Trades, symbols: 10,
			shape: func(d *draw) query.Shape {
				return query.Nth{By: symbolTag, Event: conditionField, Is: one(d, opening, cancelled, corrected), N: 10, Fields: price}
			},
		},
	}
}

// QueryTypes implements workload.Workload.
func (useCase) QueryTypes() []workload.QueryType {
	var listed []workload.QueryType
	for _, t := range queryTypes() {
		listed = append(listed, workload.QueryType{Name: t.name, Help: t.help, Core: t.core})
	}
	return listed
}

// Queries implements workload.Workload.
func (useCase) Queries(s workload.Spec, queryType string, n int) (iter.Seq[query.Query], error) {
	if _, err := s.ResolveQueries(nil); err != nil {
		return nil, err
	}
	for _, t := range queryTypes() {
		if t.name == queryType {
			return t.draw(s, n)
		}
	}
	return nil, workload.UnknownType(useCase{}, queryType)
}

// draw draws the first n queries, each type from a stream of its own.
func (t *queryType) draw(s workload.Spec, n int) (iter.Seq[query.Query], error) {
	data, err := newDataset(s)
	if err != nil {
		return nil, err
	}
	// The parts of the sessions that the dataset has.
	sessions := slices.Clone(data.sessions)
	for i := range sessions {
		sessions[i].open, sessions[i].close = max(sessions[i].open, data.start), min(sessions[i].close, data.end)
	}
	seed := splitmix.Mix(uint64(s.DrawingSeed()) + splitmix.MixText(t.name))
	return func(yield func(query.Query) bool) {
		d := draw{Stream: splitmix.Stream(seed), gap: s.Interval}
		var q query.Query // one variable for all queries, since it escapes to the heap
		for id := range n {
			q = query.Query{Type: t.name, ID: id, Table: t.table}
			if !t.unbounded {
				q.Start, q.End = t.drawWindow(&d, sessions)
			}
			if t.symbols > 0 {
				q.In = &query.TagIn{Key: symbolTag, Values: d.symbols(t.symbols, s.Scale)}
			}
			if q.Shape = t.shape(&d); !yield(q) {
				return
			}
		}
	}, nil
}

// week is the number of sessions in a week.
const week = 5

// drawWindow draws a window that begins at a whole second, in a session unless the window is longer.
func (t *queryType) drawWindow(d *draw, sessions []session) (start, end time.Time) {
	first := d.Draw(uint64(len(sessions)))
	if t.whole {
		first = d.Draw(uint64(max(len(sessions)-week, 0)) + 1)
	}
	from, to := sessions[first].open, sessions[first].close
	switch room := to - from - int64(t.window); {
	case t.whole:
		to = sessions[min(int(first)+week, len(sessions))-1].close
	case t.window > 0 && room > 0:
		from += int64(d.Draw(uint64(room)/uint64(time.Second)+1)) * int64(time.Second)
		to = from + int64(t.window)
	}
	return time.Unix(0, from).UTC(), time.Unix(0, to).UTC()
}

// symbols draws different symbols: half of them among all, a quarter among the more active half, an
// eighth among the most active quarter, and so on.
func (d *draw) symbols(n uint64, of uint32) []string {
	numbers := make([]uint32, 0, n)
	for len(numbers) < int(min(n, uint64(of))) {
		among := max(uint64(of)>>bits.TrailingZeros64(d.Next()|1<<16), n)
		if number := uint32(d.Draw(min(among, uint64(of)))); !slices.Contains(numbers, number) {
			numbers = append(numbers, number)
		}
	}
	names := make([]string, len(numbers))
	for i, number := range numbers {
		name, _ := symbolNames(of).Append(nil, number)
		names[i] = string(name)
	}
	return names
}
