package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Aggregates shows the cost of continuous aggregates: making them, their size, and
// loading while they are maintained. It returns nil if no aggregate was requested.
func Aggregates(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Continuous aggregates", Columns: []doc.Column{
		{Head: "target"},
		{Head: "aggregate", Help: "the view or table, and its contents", Words: true},
		{Head: "made in", Help: "making it of all rows after the load, settling again included"},
		{Head: "rows/s", Help: "rows of the table a second, while it was made"},
		{Head: "disk", Help: "bytes of the aggregate on disk, if the system reports it"},
	}}
	kept := slices.ContainsFunc(r.Targets, func(t result.Target) bool {
		return t.Load != nil && t.Load.Aggregate != nil && t.Load.Aggregate.Kept != nil
	})
	if kept {
		view.Columns = append(view.Columns,
			doc.Column{Head: "load alone", Help: "settled rows a second of the loads without an aggregate"},
			doc.Column{Head: "kept up", Help: "settled rows a second of loads while the aggregate is kept up"},
			doc.Column{Head: "cost", Help: "how many times as long the load takes so"},
			doc.Column{Head: "interval", Help: "where that lies", Rank: 1},
			doc.Column{Head: "fresh after", Help: "from the last acknowledged row until the aggregate has every row, as seen by looking again and again"})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil || t.Load.Aggregate == nil {
			continue
		}
		a := t.Load.Aggregate
		name := doc.Plain(t.Label())
		switch {
		case a.Unsupported != "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("n/a: " + a.Unsupported)})
			continue
		case !t.Load.HasFigures():
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("withheld: " + t.Load.Reason())})
			continue
		}
		built := stats.Summarize(estimate.Aggregates(t, estimate.Building))
		cells := []doc.Span{name, doc.Plain(fmt.Sprintf("%s: %s of %s", a.Name, strings.Join(a.Aggregates, ", "), format.Plural(len(a.Fields), "field"))),
			cell.Median(built, format.Duration), doc.None(), doc.None()}
		if built.N > 0 {
			cells[3] = doc.Plain(format.Digits(float64(a.Expected) / built.Median.Figure))
		}
		if a.DiskBytes >= 0 {
			cells[4] = doc.Plain(format.Size(a.DiskBytes))
		}
		if why := result.Disturbance(noiseOfAggregate(a)...); why != "" {
			cells[2].Text += rank.NoisyMark
			view.Notes = append(view.Notes, doc.Bad(t.Name+": the aggregate: noisy host: "+why))
		}
		if a.Covered >= 0 && a.Covered != a.Expected {
			view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s: the aggregate accounted for %s of %s rows when it was made", t.Name, format.Count(a.Covered), format.Count(a.Expected))))
		}
		if kept {
			cells = append(cells, keptCells(t, a)...)
			view.Notes = append(view.Notes, keptNotes(t.Name, a.Kept)...)
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	if len(view.Rows) == 0 {
		return nil
	}
	if kept {
		view.Notes = append(view.Notes, doc.Dim("Each load with an aggregate follows one without; the queries run on the data of the last load."))
	}
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
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

// keptCells returns the cells of loads during which the aggregate was maintained.
func keptCells(t *result.Target, a *result.Aggregate) []doc.Span {
	alone, with := estimate.Loads(t, estimate.SettledRate), estimate.Aggregates(t, estimate.KeptRate)
	cells := []doc.Span{cell.Median(stats.Summarize(alone), format.Digits), doc.None(), doc.None(), doc.None(), doc.None()}
	if len(with) == 0 {
		return cells
	}
	cells[1] = cell.Median(stats.Summarize(with), format.Digits)
	if t.Uncomparable() == "" {
		cost := stats.Compare(with, alone) // of rates: the time of one is that of the other, turned round
		cells[2], cells[3] = doc.Plain(format.Ratio(cost.Ratio.Figure)), cell.IntervalOf(cost.Interval, format.Ratio)
	}
	if fresh := stats.Summarize(estimate.Aggregates(t, estimate.Fresh)); fresh.N > 0 {
		cells[4] = doc.Plain(format.Duration(fresh.Median.Figure))
	} else if a.Kept.Fresh < 0 {
		cells[4] = doc.Bad("never")
	}
	return cells
}

// keptNotes return the problems of a load during which the aggregate was maintained.
func keptNotes(name string, k *result.KeptLoad) []doc.Span {
	switch {
	case k == nil:
		return nil
	case k.Unsupported != "":
		return []doc.Span{doc.Dim(name + ": kept up: n/a: " + k.Unsupported)}
	case k.Withheld != "":
		return []doc.Span{doc.Bad(name + ": kept up: withheld: " + k.Withheld)}
	}
	return nil
}

// AgainstRows shows query types answered from rows and from the aggregate side by
// side, or returns nil without such types.
func AgainstRows(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Queries from rows and from the aggregate: median service time", Columns: []doc.Column{
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
			doc.Column{Head: "read of rows", Help: "rows and bytes that the system reports to have read for a query answered from rows", Rank: 1},
			doc.Column{Head: "read of it", Help: "rows and bytes that the system reports to have read for a query answered from the aggregate", Rank: 1})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Queries {
			q := &t.Queries[j]
			raw, aggregate := result.RawType(q.Type)
			if !aggregate {
				continue
			}
			cells := []doc.Span{doc.Plain(t.Label()), doc.Plain(raw)}
			if why := notCompared(t, raw, q); why.Text != "" {
				cells = append(cells, doc.None(), doc.Span{}, why, doc.Span{}, doc.Span{}, doc.Span{})
				if reads {
					cells = append(cells, doc.Span{}, doc.Span{})
				}
				view.Rows = append(view.Rows, doc.Row{Cells: cells})
				continue
			}
			c := estimate.FromRows(t, raw, q.Type)
			times := doc.Plain(c.Ratio.Mark() + format.Ratio(c.Ratio.Figure))
			if c.Ratio.Bound == stats.Unknown {
				times = doc.None()
			}
			cells = append(cells,
				doc.Plain(format.MedianText(c.B)+rank.Marks(t, raw)), cell.IntervalOf(c.B.Interval, format.Duration),
				doc.Plain(format.MedianText(c.A)+rank.Marks(t, q.Type)), cell.IntervalOf(c.A.Interval, format.Duration),
				times, cell.IntervalOf(c.Interval, format.Ratio))
			if reads {
				cells = append(cells, readCell(rank.FindQueries(t, raw)), readCell(q))
			}
			view.Rows = append(view.Rows, doc.Row{Cells: cells})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []doc.Span{
		doc.Dim("The same queries, both verified; × is the median of the ratios of all pairs of rounds, or of one round that of each query's."),
		doc.Dim("Query types with an @ are answered from the aggregate. They take no part in figures over all query types."),
	}
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

// notCompared returns why a type is not compared with the same type from rows, or "".
func notCompared(t *result.Target, raw string, q *result.Queries) doc.Span {
	switch q.Outcome() {
	case result.Unsupported:
		return doc.Dim("n/a")
	case result.Withheld, result.Failed:
		word, _ := q.MissingFigure()
		return doc.Bad(word)
	case result.Verified:
		if !estimate.Verified(t, raw) {
			return doc.Dim("rows: not verified")
		}
		if t.Uncomparable() != "" {
			return doc.Dim("stand-in")
		}
		return doc.Span{}
	}
	return doc.Dim("not verified")
}

// readCell shows the reads of a query of a type.
func readCell(q *result.Queries) doc.Span {
	if q == nil || q.Read == nil {
		return doc.None()
	}
	var words []string
	if q.Read.Rows >= 0 {
		words = append(words, format.Count(int64(q.Read.Rows))+" rows")
	}
	if q.Read.Bytes >= 0 {
		words = append(words, format.Size(int64(q.Read.Bytes)))
	}
	return doc.Plain(strings.Join(words, ", "))
}
