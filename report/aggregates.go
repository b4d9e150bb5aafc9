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
		name := cell{Text: t.Label()}
		switch {
		case a.Unsupported != "":
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"n/a: " + a.Unsupported, dim}})
			continue
		case !t.Load.Stands():
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"withheld: " + t.Load.Reason(), bad}})
			continue
		}
		built := stats.Summarize(estimate.Aggregates(t, estimate.Building))
		cells := []cell{name, {Text: fmt.Sprintf("%s: %s of %s", a.Name, strings.Join(a.Aggregates, ", "), plural(len(a.Fields), "field"))},
			measured(built, duration), {none, dim}, {none, dim}}
		if built.N > 0 {
			cells[3] = cell{Text: digits(float64(a.Expected) / built.Median.Figure)}
		}
		if a.DiskBytes >= 0 {
			cells[4] = cell{Text: size(a.DiskBytes)}
		}
		if why := result.Disturbed(noiseOfAggregate(a)...); why != "" {
			cells[2].Text += noisyMark
			view.Notes = append(view.Notes, note{t.Name + ": the aggregate: noisy host: " + why, bad})
		}
		if a.Covered >= 0 && a.Covered != a.Expected {
			view.Notes = append(view.Notes, note{fmt.Sprintf("%s: the aggregate accounted for %s of %s rows when it was made", t.Name, count(a.Covered), count(a.Expected)), bad})
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
		view.Notes = append(view.Notes, note{"Each load with an aggregate follows one without; the queries are of what the last one left.", dim})
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
func keptCells(t *result.Target, a *result.Aggregate) []cell {
	alone, with := estimate.Loads(t, estimate.Settled), estimate.Aggregates(t, estimate.KeptRate)
	cells := []cell{{none, dim}, {none, dim}, {none, dim}, {none, dim}, {none, dim}}
	if e := stats.Summarize(alone); e.N > 0 {
		cells[0] = cell{Text: digits(e.Median.Figure)}
	}
	if len(with) == 0 {
		return cells
	}
	cells[1] = cell{Text: digits(stats.Summarize(with).Median.Figure)}
	if t.Uncomparable() == "" {
		cost := stats.Compare(with, alone) // of rates: the time of one is that of the other, turned round
		cells[2], cells[3] = cell{Text: ratio(cost.Ratio.Figure)}, intervalOf(cost.Interval, ratio)
	}
	if fresh := stats.Summarize(estimate.Aggregates(t, estimate.Fresh)); fresh.N > 0 {
		cells[4] = cell{Text: duration(fresh.Median.Figure)}
	} else if a.Kept.Fresh < 0 {
		cells[4] = cell{"never", bad}
	}
	return cells
}

// keptNotes say what is wrong with a load while the aggregate was kept up.
func keptNotes(name string, k *result.KeptLoad) []note {
	switch {
	case k == nil:
		return nil
	case k.Unsupported != "":
		return []note{{name + ": kept up: n/a: " + k.Unsupported, dim}}
	case k.Withheld != "":
		return []note{{name + ": kept up: withheld: " + k.Withheld, bad}}
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
			cells := []cell{{Text: t.Label()}, {Text: raw}}
			if why := notCompared(t, raw, q); why.Text != "" {
				cells = append(cells, cell{none, dim}, cell{}, why, cell{}, cell{}, cell{})
				if reads {
					cells = append(cells, cell{}, cell{})
				}
				view.Rows = append(view.Rows, row{Cells: cells})
				continue
			}
			c := estimate.FromRows(t, raw, q.Type)
			times := cell{c.Ratio.Mark() + ratio(c.Ratio.Figure), plain}
			if c.Ratio.Bound == stats.Unknown {
				times = cell{none, dim}
			}
			cells = append(cells,
				cell{Text: medianText(c.B) + marksOf(t, raw)}, intervalOf(c.B.Interval, duration),
				cell{Text: medianText(c.A) + marksOf(t, q.Type)}, intervalOf(c.A.Interval, duration),
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
	view.Notes = []note{
		{"The same queries, both verified; × is the median of the ratios of all pairs of rounds, or of one round that of each query's.", dim},
		{"Query types with an @ are answered from the aggregate. They take no part in figures over all query types.", dim},
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

// notCompared is why a type is not compared with the same from rows; empty: it is.
func notCompared(t *result.Target, raw string, q *result.Queries) cell {
	switch q.Outcome() {
	case result.Unsupported:
		return cell{"n/a", dim}
	case result.Withheld, result.Failed:
		word, _ := q.MissingFigure()
		return cell{word, bad}
	case result.Verified:
		if !estimate.Verified(t, raw) {
			return cell{"rows: not verified", dim}
		}
		if t.Uncomparable() != "" {
			return cell{"stand-in", dim}
		}
		return cell{}
	}
	return cell{"not verified", dim}
}

// measured renders the median of an estimate, if there is one.
func measured(e stats.Estimate, render func(float64) string) cell {
	if e.N == 0 {
		return cell{none, dim}
	}
	return cell{Text: render(e.Median.Figure)}
}

// readCell says what a query of a type read.
func readCell(q *result.Queries) cell {
	if q == nil || q.Read == nil {
		return cell{none, dim}
	}
	var words []string
	if q.Read.Rows >= 0 {
		words = append(words, count(int64(q.Read.Rows))+" rows")
	}
	if q.Read.Bytes >= 0 {
		words = append(words, size(int64(q.Read.Bytes)))
	}
	return cell{Text: strings.Join(words, ", ")}
}
