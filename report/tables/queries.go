package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// stat is a figure of a query type's time: see result.Queries.Time.
type stat struct {
	doc.Column
	quantile float64 // must be resolvable with the number of queries; 0 for a mean
	of       func(*measure.Summary) float64
	isBound  bool // a lower bound when some queries were cut off
}

func serviceStats() []stat {
	return []stat{
		{doc.Column{Head: "mean", Rank: 2}, 0, func(s *measure.Summary) float64 { return s.Mean }, true},
		{doc.Column{Head: "stddev", Help: "standard deviation", Rank: 6}, 0, func(s *measure.Summary) float64 { return s.StdDev }, false},
		{doc.Column{Head: "min", Rank: 9}, 0, func(s *measure.Summary) float64 { return s.Min }, false},
		{doc.Column{Head: "median"}, 0.5, func(s *measure.Summary) float64 { return s.Median }, true},
		{doc.Column{Head: "p90", Help: "90 of 100 queries took no longer; of 10 queries or more", Rank: 8}, 0.9, func(s *measure.Summary) float64 { return s.P90 }, true},
		{doc.Column{Head: "p95", Help: "95 of 100 queries took no longer; of 20 queries or more"}, 0.95, func(s *measure.Summary) float64 { return s.P95 }, true},
		{doc.Column{Head: "p99", Help: "99 of 100 queries took no longer; of 100 queries or more"}, 0.99, func(s *measure.Summary) float64 { return s.P99 }, true},
		{doc.Column{Head: "p99.9", Help: "999 of 1,000 queries took no longer; of 1,000 queries or more", Rank: 7}, 0.999, func(s *measure.Summary) float64 { return s.P999 }, true},
		{doc.Column{Head: "max", Rank: 4}, 1, func(s *measure.Summary) float64 { return s.Max }, true},
	}
}

// queryTable shows the query types of a target. It returns nil if the target has none.
func queryTable(g *rank.Group, at int) *doc.Table {
	r, t := g.Subjects[at].Run, g.Subjects[at].Target
	if len(t.Queries) == 0 {
		return nil
	}
	if onlyChecked(t) {
		return checkTable(t)
	}
	title := "Queries: " + t.Label()
	if n := t.Queries[0].Workers; n > 0 && !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Workers != n && q.Unsupported == ""
	}) {
		title += ", " + format.Plural(n, "worker")
	}
	if slices.ContainsFunc(t.Queries, func(q result.Queries) bool { return q.ByResponse() }) {
		title += ", " + rank.ResponseTime
	}
	view := &doc.Table{Title: title, Columns: []doc.Column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were compared with the expected ones", Words: true},
		{Head: "n", Help: "queries recorded"},
		{Head: "different", Help: "different queries among them, all repeats together", Rank: 4},
		{Head: "q/s", Help: "queries a second, all workers together", Rank: 1},
	}}
	rounds, estimated := 0, false
	for i := range t.Queries {
		rounds = max(rounds, len(g.Samples(t.Queries[i].Type)[at]))
		estimated = estimated || g.RankType(t.Queries[i].Type).Estimates[at].Interval != nil
	}
	for _, s := range serviceStats() {
		view.Columns = append(view.Columns, s.Column)
		if s.Head == "median" && estimated {
			view.Columns = append(view.Columns, doc.Column{Head: "interval", Help: cell.IntervalHelp(rank.TimeName(t), rounds), Rank: 5})
		}
	}
	view.Columns = append(view.Columns,
		doc.Column{Head: "rows", Help: "rows in an answer, on average", Rank: 3},
		doc.Column{Head: "bytes", Help: "bytes of an answer, on average", Rank: 10})
	if t.External != "" {
		view.Columns = append(view.Columns, doc.Column{Head: "in driver", Help: "mean time of a query in the external driver, by its own clock"})
		view.Notes = append(view.Notes, boundaryNotes(r, t)...)
	}
	bounds, noises := rank.ClientBounds(t), rank.NoiseReasons(t)
	for i := range t.Queries {
		q := &t.Queries[i]
		name := doc.Plain(q.Type)
		state := q.Outcome()
		switch state {
		case result.Unsupported:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("n/a: " + q.Unsupported)})
			continue
		case result.Failed:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad(q.Failed.Error())})
			continue
		case result.Withheld:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("withheld: " + q.Reason())})
			if d := q.Verdict.Difference; d != "" && !strings.Contains(q.Withheld, d) {
				view.Notes = append(view.Notes, doc.Bad(q.Type+": first difference: "+d))
			}
			continue
		}
		figures, bound := format.TonePlain, bounds[q.Type]
		if state != result.Verified {
			figures = format.ToneDim
		}
		verdict := doc.WithTone(verdictText(q), figures)
		if state == result.NotRun && q.Verdict.OK() {
			verdict.Tone = format.TonePlain
		}
		if bound != "" {
			verdict = doc.Bad(verdict.Text + ", client-bound" + rank.BoundMark)
			view.Notes = append(view.Notes, doc.Bad(q.Type+": client-bound: "+bound))
		}
		cells := []doc.Span{name, verdict, doc.Plain(format.Count(q.Executed)), doc.None(), doc.None()}
		if q.Sample.Different > 0 {
			cells[3] = doc.Plain(format.Count(int64(q.Sample.Different)))
		}
		if q.PerSecond > 0 {
			cells[4] = doc.WithTone(format.Digits(q.PerSecond), figures)
		}
		for _, s := range serviceStats() {
			text := cell.Latency(q.Time(), s.quantile, s.of(&q.Time().Summary))
			switch {
			case q.AtLeast > 0 && text != format.None && s.isBound:
				text = "≥" + text
			case q.AtLeast > 0:
				text = format.None
			}
			if s.Head != "median" {
				cells = append(cells, doc.WithTone(text, figures))
				continue
			}
			e := g.RankType(q.Type).Estimates[at]
			median := format.MedianText(e)
			if noises[q.Type] != "" {
				median += rank.NoisyMark
			}
			cells = append(cells, doc.WithTone(median, figures))
			if estimated {
				cells = append(cells, cell.Interval(e, format.Duration))
			}
		}
		cells = append(cells, doc.WithTone(average(q.Rows, q.Executed-q.AtLeast), figures), doc.None())
		if n := q.Executed - q.AtLeast; n > 0 {
			cells[len(cells)-1] = doc.WithTone(format.Size(q.Bytes/n), figures)
		}
		if t.External != "" {
			cells = append(cells, doc.None())
			if mean := inDriver(q); mean > 0 {
				cells[len(cells)-1] = doc.WithTone(format.Duration(mean), figures)
			}
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
		if q.AtLeast > 0 {
			view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("%s: ≥ at least; %s of %s cut off%s, so that figures are lower bounds",
				q.Type, format.Count(q.AtLeast), format.Count(q.Executed), limit(q))))
		}
	}
	if estimated && (rounds > 1 || len(r.Targets) > 1) {
		view.Notes = append(view.Notes, doc.Dim("median and its interval: over the queries of each round that all verified targets answered; other figures: over all queries run"))
	}
	var cells []*result.Cell
	for _, m := range rank.Measurements(t) {
		if m.Name != compare.LoadSubject {
			cells = append(cells, m.Cells...)
		}
	}
	if text := clientTimesText(cells...); text != "" {
		view.Notes = append(view.Notes, doc.Dim("CPU time of tsmark itself, all rounds together: "+text))
	}
	view.Notes = append(view.Notes, DocumentedNotes(t)...)
	view.Notes = append(view.Notes, noisyTypes(t)...)
	view.Notes = append(view.Notes, sampleNotes(t)...)
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	view.Notes = append(view.Notes, warmUpNotes(t)...)
	view.Notes = append(view.Notes, upkeepNotes(t)...)
	view.Notes = append(view.Notes, append(cacheNotes(t), stopNotes(t)...)...)
	return view
}

// warmUpNotes says how long the target was warmed up, all rounds together.
func warmUpNotes(t *result.Target) []doc.Span {
	var all result.WarmUp
	longest := &t.Queries[0]
	for i := range t.Queries {
		q := &t.Queries[i]
		all.Add(q.WarmUp)
		if q.WarmUp.Seconds > longest.WarmUp.Seconds {
			longest = q
		}
	}
	if all.Queries == 0 {
		return nil
	}
	return []doc.Span{doc.Dim(fmt.Sprintf("warm-up, excluded from all figures: %s queries in %s; %s took %s of it",
		format.Count(all.Queries), format.Duration(all.Seconds), longest.Type, format.Duration(longest.WarmUp.Seconds)))}
}

// upkeepNotes describe the maintenance that the system had done on its tables when the
// first round of queries began, and the last.
func upkeepNotes(t *result.Target) []doc.Span {
	var found []string
	for _, r := range t.Repeats {
		if len(r.Queries) > 0 && r.Queries[len(r.Queries)-1].Upkeep != "" {
			found = append(found, r.Queries[len(r.Queries)-1].Upkeep)
		}
	}
	if len(found) == 0 {
		return nil
	}
	first, last := found[0], found[len(found)-1]
	if first == last {
		return []doc.Span{doc.Dim("while queries ran, " + first)}
	}
	return []doc.Span{doc.Dim("before the first round, " + first), doc.Dim("before the last round, " + last)}
}

func limit(q *result.Queries) string {
	if q.Timeout > 0 {
		return " by the limit of " + format.Number(q.Timeout) + format.UnitSpace + "s"
	}
	return ""
}

func average(total, n int64) string {
	if n == 0 {
		return format.None
	}
	return format.Number(float64(total) / float64(n))
}
