package suite

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The random datasets of ticks, and the rows of each table. Their times are multiples of a second, of so few that many
// rows of both tables have one time, and differences are often just a tolerance.
const (
	tickDatasets = 2
	tickRows     = 160
	tickSeconds  = 600
	tickSymbols  = 4
)

// ticks compares the target's answers with the oracle's over random trades and quotes.
func (s *Suite) ticks(t T) {
	for seed := range uint64(tickDatasets) {
		if s.brief() && seed == 0 {
			continue // the other dataset has NULLs and decimals as well
		}
		s.sub(t, fmt.Sprint("seed ", seed), func(t T) {
			d := s.newDice(seed)
			dataset := d.tickData(seed > 0)
			if s.refused(t, dataset.schema) {
				return
			}
			if !slices.ContainsFunc(d.tickShapes(), func(shape query.Shape) bool {
				_, err := s.driver.Render(&query.Query{Table: "trades", Shape: shape}, dataset.schema, s.options)
				return !errors.Is(err, query.ErrUnsupported)
			}) {
				t.Skip("n/a: the target answers no query about ticks")
			}
			s.compareAll(t, d, dataset, d.tickQuery)
		})
	}
}

// tickData throws trades and quotes of a few symbols around midnight. Some are late. With nulls, some values are NULL,
// and prices are known to be decimals.
func (d *dice) tickData(nulls bool) *fixed {
	symbols := make(Names, tickSymbols)
	for i := range symbols {
		symbols[i] = []string{"ACME", "o'B", "Ωμ", "Z"}[i]
		if i == 1 && !d.caps.Holds(series.UnplainTags) {
			symbols[i] = "OB"
		}
	}
	tags := []series.Tag{{Key: "symbol", Values: symbols}, {Key: "exchange", Values: Names{"X", "Y", "X", "Y"}}}
	decimals := 0
	if nulls {
		decimals = 2
	}
	decimal := func(name string) series.Field {
		return series.Field{Name: name, Type: series.Float, Decimals: decimals}
	}
	schema := &series.Schema{Series: tickSymbols, Tables: []*series.Table{
		{Name: "trades", Tags: tags, Dense: !nulls, Fields: []series.Field{
			decimal("price"), {Name: "size", Type: series.Int}, {Name: "condition", Type: series.Text, Length: 7}}},
		{Name: "quotes", Tags: tags, Dense: !nulls, Fields: []series.Field{decimal("bid"), decimal("ask"), {Name: "ask_size", Type: series.Int}}},
	}}
	d.start = time.Date(2024, 3, 9, 23, 55, 0, 0, time.UTC)
	d.data = &fixed{schema: schema}
	for _, table := range schema.Tables {
		taken := map[[2]int64]bool{}
		var run *series.Run
		for row := range tickRows {
			if row%40 == 0 {
				run = d.data.batch.Add(table)
			}
			s, at := int64(d.IntN(tickSymbols)), int64(0)
			for at == 0 || taken[[2]int64{s, at}] {
				at = d.start.Add(time.Duration(row*tickSeconds/tickRows+d.IntN(30)) * time.Second).UnixNano()
			}
			taken[[2]int64{s, at}] = true
			i := run.Rows()
			run.Grow(i + 1)
			run.Series[i], run.Times[i] = uint32(s), at
			d.tick(run, i, nulls)
		}
	}
	d.bounds()
	return d.data
}

// tick throws the values of a row. Prices are decimals.
func (d *dice) tick(run *series.Run, row int, nulls bool) {
	price := float64(9_000 + d.IntN(2_000))
	for f, field := range run.Table.Fields {
		c := &run.Columns[f]
		switch {
		case field.Type == series.Text:
			number, _ := series.ParseText([]byte(pick(d, []string{"regular", "opening", "oddlots"})))
			c.Ints[row] = number
		case field.Type == series.Int:
			c.Ints[row] = int64(d.IntN(5)) * 100
		default: // the ask is never below the bid of the row
			c.Floats[row] = math.Round(price) / 100
			price += float64(1 + d.IntN(5))
		}
		if nulls && d.often(15) {
			run.SetNull(f, row)
		}
	}
}

// tickShapes draws a shape of each kind.
func (d *dice) tickShapes() []query.Shape {
	seconds := func(n int) time.Duration { return time.Duration(d.IntN(n)) * time.Second }
	width := pick(d, []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute})
	fields := []string{"price", "size"}[:1+d.IntN(2)]
	right := []string{"bid", "ask", "ask_size"}[:1+d.IntN(3)]
	around := query.Around{By: "symbol", Fields: fields, Right: "quotes", Field: "ask", Before: seconds(40), After: seconds(20)}
	if d.often(60) {
		around.Minus = "bid"
	}
	return []query.Shape{
		query.Candles{Price: "price", Size: "size", Width: width, By: "symbol"},
		query.Weighted{Value: "price", Weight: "size", Width: width, By: "symbol"},
		query.AsOf{By: "symbol", Fields: fields, Right: "quotes", RightFields: right},
		query.AsOf{By: "symbol", Fields: fields, Right: "quotes", RightFields: right, Tolerance: time.Second + seconds(20)},
		around,
		query.Movers{Field: "price", By: "symbol", Top: 1 + d.IntN(5)},
		query.Gaps{Field: "price", By: "symbol", Longer: seconds(30)},
		query.Profile{Field: "size", Width: width},
		query.Nth{By: "symbol", Event: "condition", Is: "opening", N: 1 + d.IntN(12), Fields: fields},
	}
}

// tickQuery draws a query about ticks; the shapes take turns.
func (d *dice) tickQuery(id int) query.Query {
	shapes := d.tickShapes()
	q := query.Query{Type: "random", ID: id, Table: "trades", Shape: shapes[id%len(shapes)]}
	bound := func() time.Time { return d.start.Add(time.Duration(d.IntN(tickSeconds)) * time.Second) }
	if d.often(50) {
		q.Start = bound()
	}
	if d.often(50) {
		q.End = bound()
	}
	if d.often(40) {
		q.In = &query.TagIn{Key: "symbol", Values: []string{"ACME", "Z", "nobody's"}[d.IntN(2):]}
	} else if d.often(30) {
		q.In = &query.TagIn{Key: "exchange", Values: []string{"Y"}}
	}
	return q
}
