package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// aggregateTable shows what continuous aggregates cost: making them, their size, and
// loading while they are kept up; nil where none was wanted.
func aggregateTable(r *result.Run) *table {
	view := &table{Title: "Continuous aggregates", Columns: []column{
		{Head: "target"},
		{Head: "aggregate", Help: "the view or table, and what it holds", Words: true},
		{Head: "made in", Help: "making it of all rows after the load, settling again included"},
		{Head: "rows/s", Help: "rows of the table a second, while it was made"},
		{Head: "disk", Help: "bytes of the aggregate on disk, where the system tells"},
	}}
	kept := slices.ContainsFunc(r.Targets, func(t result.Target) bool {
		return t.Load != nil && t.Load.Aggregate != nil && t.Load.Aggregate.Kept != nil
	})
	if kept {
		view.Columns = append(view.Columns,
			column{Head: "load alone", Help: "settled rows a second of the loads without an aggregate"},
			column{Head: "kept up", Help: "settled rows a second of loads while the aggregate is kept up"},
			column{Head: "cost", Help: "how many times as long the load takes so"},
			column{Head: "interval", Help: "where that lies", Rank: 1},
			column{Head: "fresh after", Help: "from the last acknowledged row until the aggregate has every row, as seen by looking again and again"})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil || t.Load.Aggregate == nil {
			continue
		}
		a := t.Load.Aggregate
		name := spanPlain(t.Label())
		switch {
		case a.Unsupported != "":
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanDim("n/a: " + a.Unsupported)})
			continue
		case !t.Load.Stands():
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad("withheld: " + t.Load.Reason())})
			continue
		}
		built := stats.Summarize(estimate.Aggregates(t, estimate.Building))
		cells := []span{name, spanPlain(fmt.Sprintf("%s: %s of %s", a.Name, strings.Join(a.Aggregates, ", "), plural(len(a.Fields), "field"))),
			measured(built, duration), spanNone(), spanNone()}
		if built.N > 0 {
			cells[3] = spanPlain(digits(float64(a.Expected) / built.Median.Figure))
		}
		if a.DiskBytes >= 0 {
			cells[4] = spanPlain(size(a.DiskBytes))
		}
		if why := result.Disturbed(noiseOfAggregate(a)...); why != "" {
			cells[2].Text += noisyMark
			view.Notes = append(view.Notes, spanBad(t.Name+": the aggregate: noisy host: "+why))
		}
		if a.Covered >= 0 && a.Covered != a.Expected {
			view.Notes = append(view.Notes, spanBad(fmt.Sprintf("%s: the aggregate accounted for %s of %s rows when it was made", t.Name, count(a.Covered), count(a.Expected))))
		}
		if kept {
			cells = append(cells, keptCells(t, a)...)
			view.Notes = append(view.Notes, keptNotes(t.Name, a.Kept)...)
		}
		view.Rows = append(view.Rows, row{Cells: cells})
	}
	if len(view.Rows) == 0 {
		return nil
	}
	if kept {
		view.Notes = append(view.Notes, spanDim("Each load with an aggregate follows one without; the queries are of what the last one left."))
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

func noiseOfAggregate(a *result.Aggregate) []*result.Noise {
	var phases []*result.Noise
	if a.Noise != nil {
		phases = append(phases, a.Noise)
	}
	if a.Kept != nil && a.Kept.Noise != nil {
		phases = append(phases, a.Kept.Noise)
	}
	return phases
}

// keptCells are the cells of loads while the aggregate was kept up.
func keptCells(t *result.Target, a *result.Aggregate) []span {
	alone, with := estimate.Loads(t, estimate.Settled), estimate.Aggregates(t, estimate.KeptRate)
	cells := []span{spanNone(), spanNone(), spanNone(), spanNone(), spanNone()}
	if e := stats.Summarize(alone); e.N > 0 {
		cells[0] = spanPlain(digits(e.Median.Figure))
	}
	if len(with) == 0 {
		return cells
	}
	cells[1] = spanPlain(digits(stats.Summarize(with).Median.Figure))
	if t.Uncomparable() == "" {
		cost := stats.Compare(with, alone) // of rates: the time of one is that of the other, turned round
		cells[2], cells[3] = spanPlain(ratio(cost.Ratio.Figure)), intervalOf(cost.Interval, ratio)
	}
	if fresh := stats.Summarize(estimate.Aggregates(t, estimate.Fresh)); fresh.N > 0 {
		cells[4] = spanPlain(duration(fresh.Median.Figure))
	} else if a.Kept.Fresh < 0 {
		cells[4] = spanBad("never")
	}
	return cells
}

// keptNotes say what is wrong with a load while the aggregate was kept up.
func keptNotes(name string, k *result.KeptLoad) []span {
	switch {
	case k == nil:
		return nil
	case k.Unsupported != "":
		return []span{spanDim(name + ": kept up: n/a: " + k.Unsupported)}
	case k.Withheld != "":
		return []span{spanBad(name + ": kept up: withheld: " + k.Withheld)}
	}
	return nil
}

// againstRowsTable shows query types answered from rows and from the aggregate side by
// side; nil where there are none.
func againstRowsTable(r *result.Run) *table {
	view := &table{Title: "Queries from rows and from the aggregate: median service time", Columns: []column{
		{Head: "target"},
		{Head: "type", Words: true},
		{Head: "rows", Help: "answered from the rows"},
		{Head: "interval", Help: "where that median lies", Rank: 3},
		{Head: "aggregate", Help: "answered from the aggregate"},
		{Head: "interval", Help: "where that median lies", Rank: 2},
		{Head: "times", Help: "how many times as long it takes from rows"},
		{Head: "interval", Help: "where that ratio lies", Rank: 1},
	}}
	reads := slices.ContainsFunc(r.Targets, func(t result.Target) bool {
		return slices.ContainsFunc(t.Queries, func(q result.Queries) bool { return q.Read != nil })
	})
	if reads {
		view.Columns = append(view.Columns,
			column{Head: "read of rows", Help: "rows and bytes that the system read for a query answered from rows, by its own word", Rank: 1},
			column{Head: "read of it", Help: "the same of a query answered from the aggregate", Rank: 1})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Queries {
			q := &t.Queries[j]
			raw, aggregate := result.RawType(q.Type)
			if !aggregate {
				continue
			}
			cells := []span{spanPlain(t.Label()), spanPlain(raw)}
			if why := notCompared(t, raw, q); why.Text != "" {
				cells = append(cells, spanNone(), span{}, why, span{}, span{}, span{})
				if reads {
					cells = append(cells, span{}, span{})
				}
				view.Rows = append(view.Rows, row{Cells: cells})
				continue
			}
			c := estimate.FromRows(t, raw, q.Type)
			times := spanPlain(c.Ratio.Mark() + ratio(c.Ratio.Figure))
			if c.Ratio.Bound == stats.Unknown {
				times = spanNone()
			}
			cells = append(cells,
				spanPlain(medianText(c.B)+marksOf(t, raw)), intervalOf(c.B.Interval, duration),
				spanPlain(medianText(c.A)+marksOf(t, q.Type)), intervalOf(c.A.Interval, duration),
				times, intervalOf(c.Interval, ratio))
			if reads {
				cells = append(cells, readCell((&subject{target: t}).queries(raw)), readCell(q))
			}
			view.Rows = append(view.Rows, row{Cells: cells})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []span{
		spanDim("The same queries, both verified; × is the median of the ratios of all pairs of rounds, or of one round that of each query's."),
		spanDim("Query types with an @ are answered from the aggregate. They take no part in figures over all query types."),
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

// notCompared is why a type is not compared with the same from rows; empty: it is.
func notCompared(t *result.Target, raw string, q *result.Queries) span {
	switch q.Outcome() {
	case result.Unsupported:
		return spanDim("n/a")
	case result.Withheld, result.Failed:
		word, _ := q.MissingFigure()
		return spanBad(word)
	case result.Verified:
		if !estimate.Verified(t, raw) {
			return spanDim("rows: not verified")
		}
		if t.Uncomparable() != "" {
			return spanDim("stand-in")
		}
		return span{}
	}
	return spanDim("not verified")
}

// measured renders the median of an estimate, if there is one.
func measured(e stats.Estimate, render func(float64) string) span {
	if e.N == 0 {
		return spanNone()
	}
	return spanPlain(render(e.Median.Figure))
}

// readCell says what a query of a type read.
func readCell(q *result.Queries) span {
	if q == nil || q.Read == nil {
		return spanNone()
	}
	var words []string
	if q.Read.Rows >= 0 {
		words = append(words, count(int64(q.Read.Rows))+" rows")
	}
	if q.Read.Bytes >= 0 {
		words = append(words, size(int64(q.Read.Bytes)))
	}
	return spanPlain(strings.Join(words, ", "))
}
