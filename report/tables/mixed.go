package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// mixedTable shows the queries that ran while a target was loaded, or returns nil if
// no query did.
func mixedTable(t *result.Target) *doc.Table {
	if t.Load == nil || t.Load.Mixed == nil || t.Load.Withheld != "" {
		return nil // a load that is withheld says why in its own table
	}
	m := t.Load.Mixed
	view := &doc.Table{Title: "Load and queries: " + t.Label(), Columns: []doc.Column{
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
		{Head: "stale", Help: "of these, correct for an older state of the database"},
		{Head: "fresh p50", Help: "of stale answers, for how long at least acknowledged rows were not visible: median"},
		{Head: "max", Help: "longest of it", Follows: true},
	}}
	for i := range m.Types {
		q := &m.Types[i]
		name := doc.Plain(q.Type)
		switch {
		case q.Failed != nil && q.Withheld == "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad(q.Failed.Error())})
		case q.Unsupported != "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("n/a: " + q.Unsupported)})
		case q.Withheld != "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("withheld: " + q.Withheld)})
		case q.Executed == 0:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("not run: no window fitted before the rows were written")})
		default:
			view.Rows = append(view.Rows, doc.Row{Cells: append([]doc.Span{name}, mixedCells(q)...)})
		}
		if q.Unexamined > 0 {
			view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s: %s further answers were wrong, and were not examined", q.Type, format.Count(q.Unexamined))))
		}
		if q.TooStale() {
			view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s: %s of the answers were stale, correct for an older state with fewer rows: its times are not compared", q.Type, format.PercentUp(q.StaleShare()))))
		}
		if !q.WithoutFigure() && q.Unmatched > 0 {
			view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s: %s of %s stale answers match no state that was tried; only their number of rows or the limits of their values were checked, because the target shows the rows of a batch separately", q.Type, format.Count(q.Unmatched), format.Count(q.Stale))))
		}
		if q.AtLeast > 0 {
			view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("%s: ≥ at least; %s of %s cut off", q.Type, format.Count(q.AtLeast), format.Count(q.Executed))))
		}
	}
	if few := tooFewMixed(m); few != "" {
		view.Notes = append(view.Notes, doc.Bad(few))
	}
	if m.Saturated != "" {
		view.Notes = append(view.Notes, doc.Bad(m.Saturated+": the times are not compared"))
	}
	view.Notes = append(view.Notes, doc.Dim(mixedNote(m, t.Load.HasFigures())))
	if why := rank.NoiseReasons(t)[compare.MixedSubject]; why != "" {
		view.Title += rank.NoisyMark
		view.Notes = append(view.Notes, doc.Bad("noisy host: "+why), doc.Dim(rank.NoisyNote))
	}
	return view
}

// tooFewMixed names the query types with too few queries for p99, and says how to get more; empty:
// every type has enough.
func tooFewMixed(m *result.Mixed) string {
	var types []string
	for i := range m.Types {
		if q := &m.Types[i]; !q.WithoutFigure() && q.Executed > 0 && !q.Time().Holds(0.99) {
			types = append(types, fmt.Sprintf("%s (%s)", q.Type, format.Count(q.Time().Count)))
		}
	}
	if len(types) == 0 {
		return ""
	}
	remedy := "a longer mixed.duration or a higher mixed.query-rate brings more"
	switch {
	case m.Share > 0:
		remedy = "smaller batches or more rows bring more, or no mixed.writes, with which the rows decide how many queries run"
	case m.QueryRate == "":
		remedy = "a lower mixed.row-rate or more rows bring more"
	}
	return fmt.Sprintf("too few queries for p99, which needs %d, in %s: %s", measure.MinimumSamples(0.99), strings.Join(types, ", "), remedy)
}

// MixedSideBySide sets the queries that ran while rows were written side by side. It returns nil
// unless several targets have such queries.
func MixedSideBySide(g *rank.Group) *doc.Table {
	types := g.MixedTypes()
	if len(g.Subjects) < 2 || len(types) == 0 {
		return nil
	}
	name := rank.ServiceTime
	rates := []doc.Span{doc.Plain("rows written/s")}
	view := &doc.Table{Columns: []doc.Column{{Head: "type"}}}
	for _, s := range g.Subjects {
		view.Columns = append(view.Columns, doc.Column{Head: s.Label, Help: "median of " + s.Label}, doc.Column{Head: "p99", Help: "99th percentile of " + s.Label, Follows: true},
			doc.Column{Head: "×best", Help: "median of " + s.Label + " as a multiple of the best", Follows: true})
		rate := doc.None()
		if e := rank.MixedRate(s.Target); e.N > 0 {
			rate = doc.Plain(format.Digits(e.Median.Figure))
		}
		rates = append(rates, rate, doc.Span{}, doc.Span{})
		if s.Target.Load == nil || s.Target.Load.Mixed == nil {
			continue
		}
		m := s.Target.Load.Mixed
		if m.QueryRate != "" {
			name = rank.ResponseTime
		}
		if note := doc.Dim("Mixed phase: " + mixedPace(m) + "."); !slices.Contains(view.Notes, note) {
			view.Notes = append(view.Notes, note)
		}
		for _, problem := range []string{m.Saturated, tooFewMixed(m)} {
			if problem != "" {
				view.Notes = append(view.Notes, doc.Bad(s.Label+": "+problem))
			}
		}
	}
	view.Title = "While rows were written: median " + name + ", 99th percentile, and how many times the best median"
	view.Rows = append(view.Rows, doc.Row{Cells: rates})
	for _, queryType := range types {
		cells := []doc.Span{doc.Plain(queryType)}
		for i := range g.Subjects {
			cells = append(cells, g.MixedCells(i, queryType)...)
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	return view
}

// mixedCells returns the figures of a type.
func mixedCells(q *result.MixedType) []doc.Span {
	of := boundedLatency(q.AtLeast)
	stale, fresh := doc.Plain(format.Count(q.Stale)), []doc.Span{doc.None(), doc.None()}
	verdict := doc.Plain(q.Verdict.String())
	if q.Verdict.OK() && q.Wanted > 0 {
		verdict.Text += fmt.Sprintf(" %s + %s counted", format.Count(int64(q.Verdict.Checked)), format.Count(q.Counted))
	}
	if q.Stale > 0 {
		verdict.Text += ", " + format.PercentUp(q.StaleShare()) + " stale"
		if q.TooStale() {
			verdict.Tone = format.ToneBad
		}
		fresh = []doc.Span{doc.Plain(format.Duration(q.Freshness.Median)), doc.Plain(format.Duration(q.Freshness.Max))}
	}
	response := doc.None()
	if q.Response != nil {
		response = of(q.Response, 0.99, q.Response.P99)
	}
	s := &q.Service
	cells := []doc.Span{
		verdict, doc.Plain(format.Count(q.Executed)), doc.Plain(format.Digits(q.PerSecond)),
		of(s, 0.5, s.Median), of(s, 0.95, s.P95), of(s, 0.99, s.P99), of(s, 1, s.Max), response,
		doc.Plain(format.Count(int64(q.Verdict.Checked) + q.Counted)), stale,
	}
	return append(cells, fresh...)
}

// mixedPace describes the rates of both sides.
func mixedPace(m *result.Mixed) string {
	pace := "each side as fast as it went"
	switch {
	case m.Share > 0.99: // in percent they would be indistinguishable
		pace = fmt.Sprintf("%.0f batches to one query", m.Share/(1-m.Share))
	case m.Share > 0:
		pace = fmt.Sprintf("%.0f%s%% of the operations batches", m.Share*100, format.UnitSpace)
	case m.RowRate != "" && m.QueryRate != "":
		pace = "rows by " + m.RowRate + ", queries by " + m.QueryRate
	case m.RowRate != "":
		pace = "rows by " + m.RowRate
	case m.QueryRate != "":
		pace = "queries by " + m.QueryRate
	}
	return pace
}

// mixedNote describes the writes during the queries. Their rate has a figure if
// the load is usable.
func mixedNote(m *result.Mixed, valid bool) string {
	rate := "a rate that is withheld"
	if valid {
		rate = format.PerSecond(m.Writes.Rows, m.Writes.Acked) + "/s"
	}
	text := fmt.Sprintf("%s rows written during the queries at %s (%s), after %s rows loaded before; %s windows below the acknowledged rows.",
		format.Count(m.Writes.Rows), rate, mixedPace(m), format.Count(m.Loaded), m.Windows)
	if m.Dropped > 0 {
		text += fmt.Sprintf(" %s of %s queries found the queue full.", format.Count(m.Dropped), format.Count(m.Arrivals))
	}
	if m.Waiting > 0 {
		text += fmt.Sprintf(" %s of %s queries still waited for a querier when the writes ended, and were not run: responses were slower than shown.", format.Count(m.Waiting), format.Count(m.Arrivals))
	}
	if m.Rest > 0 {
		text += fmt.Sprintf(" %s rows were loaded alone afterwards.", format.Count(m.Rest))
	}
	if m.Early > 0 {
		text += fmt.Sprintf(" %s of %s queries came before any window existed.", format.Count(m.Early), format.Count(m.Arrivals))
	}
	return text
}
