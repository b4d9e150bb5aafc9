package report

import (
	"fmt"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// mixedTable shows the queries that were run while a target was loaded;
// nil where there were none.
func mixedTable(t *result.Target) *table {
	if t.Load == nil || t.Load.Mixed == nil || t.Load.Withheld != "" {
		return nil // a load that is withheld says why in its own table
	}
	m := t.Load.Mixed
	view := &table{Title: "Load and queries: " + t.Label(), Columns: []column{
		{Head: "type"},
		{Head: "verdict", Help: "of the answers that were kept: right at once, or for an older state", Words: true},
		{Head: "n", Help: "queries run"},
		{Head: "q/s", Help: "queries a second, all queriers together"},
		{Head: "median", Help: "time from sending a query to the last byte of its answer"},
		{Head: "p95", Help: "95 of 100 queries took no longer", Rank: 3},
		{Head: "p99", Help: "99 of 100 queries took no longer"},
		{Head: "max", Rank: 4},
		{Head: "response p99", Help: "from when a query was due to the last byte of its answer: 99th percentile", Rank: 2},
		{Head: "checked", Help: "answers compared, or their rows counted", Rank: 1},
		{Head: "stale", Help: "of these, right for an older state of the database"},
		{Head: "fresh p50", Help: "of stale answers, for how long at least acknowledged rows were not visible: median"},
		{Head: "max", Help: "longest of it", Follows: true},
	}}
	for i := range m.Types {
		q := &m.Types[i]
		name := spanPlain(q.Type)
		switch {
		case q.Failed != nil && q.Withheld == "":
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad(q.Failed.Error())})
		case q.Unsupported != "":
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanDim("n/a: " + q.Unsupported)})
		case q.Withheld != "":
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad("withheld: " + q.Withheld)})
		case q.Executed == 0:
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanDim("not run: no window fitted before the rows were written")})
		default:
			view.Rows = append(view.Rows, row{Cells: append([]span{name}, mixedCells(q)...)})
		}
		if q.Unexamined > 0 {
			view.Notes = append(view.Notes, spanBad(fmt.Sprintf("%s: %s further answers were wrong, and were not examined", q.Type, count(q.Unexamined))))
		}
		if !q.WithoutFigure() && q.StaleShare() > result.MostStale {
			view.Notes = append(view.Notes, spanBad(fmt.Sprintf("%s: %s of the answers were stale, right for an older state with fewer rows: its times are compared with none", q.Type, shareText(q.StaleShare()))))
		}
		if !q.WithoutFigure() && q.Unmatched > 0 {
			view.Notes = append(view.Notes, spanBad(fmt.Sprintf("%s: %s of %s stale answers match no state that was tried; only their number of rows or the limits of their values were checked, because the target shows the rows of a batch separately", q.Type, count(q.Unmatched), count(q.Stale))))
		}
		if q.AtLeast > 0 {
			view.Notes = append(view.Notes, spanDim(fmt.Sprintf("%s: ≥ at least; %s of %s cut off", q.Type, count(q.AtLeast), count(q.Executed))))
		}
	}
	view.Notes = append(view.Notes, spanDim(mixedNote(m, t.Load.Stands())))
	if why := noisyIn(t)[compare.MixedSubject]; why != "" {
		view.Title += noisyMark
		view.Notes = append(view.Notes, spanBad("noisy host: "+why), spanDim(noisyNote))
	}
	return view
}

// mixedCells are the figures of a type.
func mixedCells(q *result.MixedType) []span {
	bound := ""
	if q.AtLeast > 0 {
		bound = "≥"
	}
	of := func(l *result.Latency, quantile, seconds float64) span {
		if !l.Holds(quantile) {
			return spanNone()
		}
		return spanPlain(bound + duration(seconds))
	}
	stale, fresh := spanPlain(count(q.Stale)), []span{spanNone(), spanNone()}
	verdict := spanPlain(q.Verdict.String())
	if q.Verdict.OK() && q.Wanted > 0 {
		verdict.Text += fmt.Sprintf(" %s + %s counted", count(int64(q.Verdict.Checked)), count(q.Counted))
	}
	if q.Stale > 0 {
		verdict.Text += ", " + shareText(q.StaleShare()) + " stale"
		if q.StaleShare() > result.MostStale {
			verdict.Tone = toneBad
		}
		fresh = []span{spanPlain(duration(q.Freshness.Median)), spanPlain(duration(q.Freshness.Max))}
	}
	response := spanNone()
	if q.Response != nil {
		response = of(q.Response, 0.99, q.Response.P99)
	}
	s := &q.Service
	cells := []span{
		verdict, spanPlain(count(q.Executed)), spanPlain(digits(q.PerSecond)),
		of(s, 0.5, s.Median), of(s, 0.95, s.P95), of(s, 0.99, s.P99), of(s, 1, s.Max), response,
		spanPlain(count(int64(q.Verdict.Checked) + q.Counted)), stale,
	}
	return append(cells, fresh...)
}

// mixedNote says what went on beside the queries, whose rate has a figure where
// the load stands.
func mixedNote(m *result.Mixed, stands bool) string {
	pace := "each side as fast as it went"
	switch {
	case m.Share > 0.99: // in per cent nobody could tell one from another
		pace = fmt.Sprintf("%.0f batches to one query", m.Share/(1-m.Share))
	case m.Share > 0:
		pace = fmt.Sprintf("%.0f%s%% of the operations batches", m.Share*100, unitSpace)
	case m.RowRate != "" && m.QueryRate != "":
		pace = "rows by " + m.RowRate + ", queries by " + m.QueryRate
	case m.RowRate != "":
		pace = "rows by " + m.RowRate
	case m.QueryRate != "":
		pace = "queries by " + m.QueryRate
	}
	rate := "a rate that is withheld"
	if stands {
		rate = perSecond(m.Writes.Rows, m.Writes.Acked) + "/s"
	}
	text := fmt.Sprintf("%s rows written during the queries at %s (%s), after %s rows loaded before; %s windows below what was acknowledged.",
		count(m.Writes.Rows), rate, pace, count(m.Loaded), m.Windows)
	if m.Dropped > 0 {
		text += fmt.Sprintf(" %s of %s queries found the queue full.", count(m.Dropped), count(m.Arrivals))
	}
	if m.Waiting > 0 {
		text += fmt.Sprintf(" %s of %s queries still waited for a querier when the writes ended, and were not run: responses were slower than shown.", count(m.Waiting), count(m.Arrivals))
	}
	if m.Rest > 0 {
		text += fmt.Sprintf(" %s rows were loaded alone afterwards.", count(m.Rest))
	}
	if m.Early > 0 {
		text += fmt.Sprintf(" %s of %s queries came before any window fitted.", count(m.Early), count(m.Arrivals))
	}
	return text
}
