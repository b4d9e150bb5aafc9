package ticks_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle/ticks"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// symbols are the values of a tag; empty: the series lacks it.
type symbols []string

func (s symbols) Append(to []byte, series uint32) ([]byte, bool) {
	return append(to, s[series]...), s[series] != ""
}

func tickSchema() *series.Schema {
	tags := []series.Tag{{Key: "symbol", Values: symbols{"A", "B", "C", ""}}}
	price := func(name string) series.Field { return series.Field{Name: name, Type: series.Float, Decimals: 2} }
	return &series.Schema{Series: 4, Tables: []*series.Table{
		{Name: "trades", Tags: tags, Fields: []series.Field{price("price"), {Name: "size", Type: series.Int}, {Name: "condition", Type: series.Text, Length: 2}}},
		{Name: "quotes", Tags: tags, Fields: []series.Field{price("bid"), price("ask")}},
	}}
}

// tick is a row. A value that is NULL is NaN.
type tick struct {
	series uint32
	time   int64
	values []float64
	event  bool
}

// fill fills a run with rows of different times within a series, somewhat out of order, and returns them in order.
func fill(d *rand.Rand, run *series.Run, n int) []tick {
	var rows []tick
	taken := map[[2]int64]bool{}
	run.Grow(n)
	for i := range n {
		row := tick{series: uint32(d.IntN(4)), event: d.IntN(4) == 0}
		for row.time == 0 || taken[[2]int64{int64(row.series), row.time}] {
			row.time = int64(i+d.IntN(12)-n/2) * int64(time.Second)
		}
		taken[[2]int64{int64(row.series), row.time}] = true
		run.Series[i], run.Times[i] = row.series, row.time
		for f, field := range run.Table.Fields {
			v, c := float64(d.IntN(3000)+1)/100, &run.Columns[f]
			switch field.Type {
			case series.Text:
				if c.Ints[i] = 1; row.event {
					c.Ints[i] = 2
				}
			case series.Int:
				v = math.Ceil(v)
				c.Ints[i] = int64(v)
			default:
				c.Floats[i] = v
			}
			if d.IntN(8) == 0 && field.Type != series.Text {
				run.SetNull(f, i)
				v = math.NaN()
			}
			row.values = append(row.values, v)
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b tick) int { return cmp.Compare(a.time, b.time) })
	return rows
}

// The lies that a shape's answer must not pass for.
var lies = map[string][]string{
	"query.Candles": {"shifted", "swapped"}, "query.Weighted": {"plain mean"}, "query.AsOf": {"next", "any age", "earlier only"}, "query.Around": {"before only", "open"},
	"query.Movers": {"swapped"}, "query.Gaps": {"or equal"}, "query.Profile": {"shifted"}, "query.Nth": {"one less"},
}

func drawShapes(d *rand.Rand) []query.Shape {
	seconds := func(n int) time.Duration { return time.Duration(d.IntN(n)+1) * time.Second }
	width := []time.Duration{20 * time.Second, time.Minute}[d.IntN(2)]
	return []query.Shape{
		query.Candles{Price: "price", Size: "size", Width: width, By: "symbol"},
		query.Weighted{Value: "price", Weight: "size", Width: width, By: "symbol"},
		query.AsOf{By: "symbol", Fields: []string{"price"}, Right: "quotes", RightFields: []string{"bid", "ask"}, Tolerance: seconds(9)},
		query.AsOf{By: "symbol", Fields: []string{"price"}, Right: "quotes", RightFields: []string{"bid", "ask"}},
		query.Around{By: "symbol", Fields: []string{"size"}, Right: "quotes", Field: "ask", Minus: "bid", Before: seconds(9), After: seconds(9)},
		query.Movers{Field: "price", By: "symbol", Top: 1 + d.IntN(3)},
		query.Gaps{Field: "price", By: "symbol", Longer: seconds(9)},
		query.Profile{Field: "size", Width: width},
		query.Nth{By: "symbol", Event: "condition", Is: "02", N: 1 + d.IntN(4), Fields: []string{"price"}},
	}
}

// The oracle answers as a reading of the definitions row by row, also with late rows. Wrong readings differ.
func TestAnswers(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(60) {
		d := rand.New(rand.NewPCG(seed, 1))
		s := tickSchema()
		var batch series.Batch
		trades := fill(d, batch.Add(s.Tables[0]), 10+d.IntN(60))
		quotes := fill(d, batch.Add(s.Tables[1]), d.IntN(60))
		for _, shape := range drawShapes(d) {
			q := query.Query{Table: "trades", Shape: shape}
			if d.IntN(2) == 0 {
				q.Start = time.Unix(int64(d.IntN(30)-30), 0)
			}
			if d.IntN(2) == 0 {
				q.End = time.Unix(int64(d.IntN(30)), 0)
			}
			if err := q.CheckIn(s); err != nil {
				t.Fatal(err)
			}
			c := ticks.New(s, &q, nil)
			var answer query.Answer
			for i := range batch.Runs {
				if run := &batch.Runs[i]; c.Concerns(run, slices.Min(append(run.Times, math.MaxInt64)), slices.Max(append(run.Times, math.MinInt64))) {
					c.Add(run)
				}
			}
			if err := c.Answer(func(row []query.Value) { _ = answer.Row(row) }); err != nil {
				t.Fatal(err)
			}
			columns, name := q.Columns(s.Tables[0]), fmt.Sprintf("%T", shape)
			for _, lie := range append(lies[name], "") {
				n := naive{&q, trades, quotes, lie}
				other := query.Answer{Rows: n.answer()}
				difference := query.Compare(&q, columns, &query.Answer{Rows: slices.Clone(answer.Rows)}, &other)
				switch {
				case lie != "" && difference != nil:
					found[name+" "+lie]++
				case lie == "" && difference != nil:
					t.Errorf("seed %d: %+v: %v", seed, q, difference)
				}
			}
		}
	}
	for name, list := range lies {
		for _, lie := range list {
			if found[name+" "+lie] < 5 {
				t.Errorf("%s, a lie of %s, is found %d times", lie, name, found[name+" "+lie])
			}
		}
	}
}

// naive answers by reading all rows again for each row.
type naive struct {
	q              *query.Query
	trades, quotes []tick
	lie            string
}

// rows returns the trades of a series in the window that have a value of each of some fields.
func (n *naive) rows(series uint32, fields ...int) []tick {
	start, end := n.q.Bounds()
	return slices.DeleteFunc(slices.Clone(n.trades), func(r tick) bool {
		return r.series != series || r.time < start || r.time >= end || slices.ContainsFunc(fields, func(f int) bool { return math.IsNaN(r.values[f]) })
	})
}

func number(v float64) query.Value {
	if math.IsNaN(v) {
		return query.Value{}
	}
	return query.Value{Kind: query.Float, Float: v}
}

func timeValue(t int64) query.Value { return query.Value{Kind: query.Time, Int: t} }

func (n *naive) answer() (out [][]query.Value) {
	for s, name := range []string{"A", "B", "C"} {
		out = append(out, n.series(uint32(s), query.Value{Kind: query.Text, Text: []byte(name)})...)
	}
	switch s := n.q.Shape.(type) {
	case query.Movers:
		slices.SortFunc(out, func(a, b []query.Value) int {
			return cmp.Or(-cmp.Compare(a[1].Float, b[1].Float), bytes.Compare(a[0].Text, b[0].Text))
		})
		return out[:min(s.Top, len(out))]
	case query.Profile:
		sums := map[int64]float64{}
		for s := range uint32(4) {
			for _, r := range n.rows(s, 1) {
				second := ((r.time/int64(time.Second))%86400 + 86400) % 86400
				if n.lie == "shifted" {
					second += 10
				}
				sums[second] += r.values[1]
			}
		}
		widths := map[int64]float64{}
		for second, v := range sums {
			widths[second-second%int64(s.Width/time.Second)] += v
		}
		for second, v := range widths {
			out = append(out, []query.Value{{Kind: query.Int, Int: second}, number(v)})
		}
	}
	return out
}

func (n *naive) series(series uint32, by query.Value) (out [][]query.Value) {
	switch s := n.q.Shape.(type) {
	case query.Candles:
		for bucket, rows := range inBuckets(n.rows(series, 0, 1), s.Width) {
			price := func(r tick) float64 { return r.values[0] }
			first, last := rows[0], rows[len(rows)-1]
			switch n.lie {
			case "shifted":
				bucket += int64(s.Width)
			case "swapped":
				first, last = last, first
			}
			volume := 0.0
			for _, r := range rows {
				volume += r.values[1]
			}
			high, low := slices.MaxFunc(rows, func(a, b tick) int { return cmp.Compare(price(a), price(b)) }), slices.MinFunc(rows, func(a, b tick) int { return cmp.Compare(price(a), price(b)) })
			out = append(out, []query.Value{timeValue(bucket), by, number(price(first)), number(price(high)), number(price(low)), number(price(last)), number(volume)})
		}
	case query.Weighted:
		for bucket, rows := range inBuckets(n.rows(series, 0, 1), s.Width) {
			products, weights := 0.0, 0.0
			for _, r := range rows {
				weight := r.values[1]
				if n.lie == "plain mean" {
					weight = 1
				}
				products, weights = products+r.values[0]*weight, weights+weight
			}
			out = append(out, []query.Value{timeValue(bucket), by, number(products / weights)})
		}
	case query.AsOf:
		for _, r := range n.rows(series) {
			row := []query.Value{timeValue(r.time), by, number(r.values[0]), {}, {}}
			for _, quote := range n.quotes { // in the order of their times
				age := r.time - quote.time
				switch {
				case quote.series != series, age < 0 && n.lie != "next", age == 0 && n.lie == "earlier only":
				case s.Tolerance > 0 && age > int64(s.Tolerance) && n.lie != "any age":
				case age > 0 && n.lie == "next":
				default:
					row[3], row[4] = number(quote.values[0]), number(quote.values[1])
				}
				if n.lie == "next" && age <= 0 && quote.series == series {
					break
				}
			}
			out = append(out, row)
		}
	case query.Around:
		for _, r := range n.rows(series) {
			sum, count := 0.0, 0.0
			for _, quote := range n.quotes {
				age, spread := r.time-quote.time, quote.values[1]-quote.values[0]
				if quote.series != series || math.IsNaN(spread) || age > int64(s.Before) || age < -int64(s.After) ||
					age < 0 && n.lie == "before only" || age == int64(s.Before) && n.lie == "open" {
					continue
				}
				sum, count = sum+spread, count+1
			}
			size := number(r.values[1])
			if size.Kind == query.Float {
				size = query.Value{Kind: query.Int, Int: int64(r.values[1])}
			}
			out = append(out, []query.Value{timeValue(r.time), by, size, number(sum / count)}) // NaN without a value
		}
	case query.Movers:
		if rows := n.rows(series, 0); len(rows) > 0 {
			first, last := rows[0].values[0], rows[len(rows)-1].values[0]
			if n.lie == "swapped" {
				first, last = last, first
			}
			out = append(out, []query.Value{by, number(last/first - 1)})
		}
	case query.Gaps:
		rows := n.rows(series, 0)
		for i := 1; i < len(rows); i++ {
			if gap := rows[i].time - rows[i-1].time; gap > int64(s.Longer) || gap == int64(s.Longer) && n.lie == "or equal" {
				out = append(out, []query.Value{timeValue(rows[i-1].time), by, timeValue(rows[i].time)})
			}
		}
	case query.Nth:
		rows := n.rows(series, 0)
		for i, r := range rows {
			if !r.event {
				continue
			}
			row := []query.Value{timeValue(r.time), by, {}, {}}
			k := i + s.N
			if n.lie == "one less" {
				k--
			}
			if k < len(rows) {
				row[2], row[3] = timeValue(rows[k].time), number(rows[k].values[0])
			}
			out = append(out, row)
		}
	}
	return out
}

func inBuckets(rows []tick, width time.Duration) map[int64][]tick {
	buckets := map[int64][]tick{}
	for _, r := range rows {
		bucket := query.BucketOf(r.time, width)
		buckets[bucket] = append(buckets[bucket], r)
	}
	return buckets
}

// Rows with equal times are an error only where the answer depends on their order.
func TestTies(t *testing.T) {
	s := tickSchema()
	add := func(b *series.Batch, table int, at int64, values ...float64) {
		run := b.Add(s.Tables[table])
		run.Grow(1)
		run.Series[0], run.Times[0] = 0, at
		for f, v := range values {
			if c := &run.Columns[f]; run.Table.Fields[f].Type.UsesInts() {
				c.Ints[0] = int64(v)
			} else {
				c.Floats[0] = v
			}
		}
	}
	for says, test := range map[string]struct {
		shape  query.Shape
		prices []float64 // of trades at 0, 1, 1, 2
		quoted []float64 // of quotes at 0
	}{
		"":        {query.Candles{Price: "price", Size: "size", Width: time.Second, By: "symbol"}, []float64{1, 2, 3, 4}, nil},
		" ":       {query.Gaps{Field: "price", By: "symbol"}, []float64{1, 2, 3, 4}, nil},
		"  ":      {query.AsOf{By: "symbol", Right: "quotes", RightFields: []string{"ask"}}, []float64{1, 2, 3, 4}, []float64{7, 7}},
		"quotes":  {query.AsOf{By: "symbol", Right: "quotes", RightFields: []string{"ask"}}, []float64{1, 2, 3, 4}, []float64{7, 8}},
		"quotes,": {query.AsOf{By: "symbol", Right: "quotes", RightFields: []string{"ask"}}, []float64{1, 2, 3, 4}, []float64{7, 8, 8}},
		"trades":  {query.Candles{Price: "price", Size: "size", Width: 1, By: "symbol"}, []float64{1, 2, 3, 4}, nil},
		"trades,": {query.Nth{By: "symbol", Event: "condition", Is: "00", N: 1, Fields: []string{"price"}}, []float64{1, 2, 3, 4}, nil},
	} {
		var batch series.Batch
		for i, price := range test.prices {
			add(&batch, 0, []int64{0, 1, 1, 2}[i], price, 1, 0)
		}
		for _, ask := range test.quoted {
			add(&batch, 1, 0, 1, ask)
		}
		q := query.Query{Type: "x", Table: "trades", Shape: test.shape}
		c := ticks.New(s, &q, nil)
		for i := range batch.Runs {
			c.Add(&batch.Runs[i])
		}
		err := c.Answer(func([]query.Value) {})
		if (err == nil) != (len(bytes.TrimSpace([]byte(says))) == 0) || err != nil && !bytes.Contains([]byte(err.Error()), []byte("in table "+says)) {
			t.Errorf("%+v: error %v, want %q", test.shape, err, says)
		}
	}
}
