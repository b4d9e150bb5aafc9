package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/analysis"
)

// WriteAnalysis renders the analysis of an operation log as text. Its errors are
// those of w.
func WriteAnalysis(w io.Writer, a *analysis.Analysis, opts write.Options) error {
	h := a.Header
	alerts := []doc.Span{doc.Plain(format.Join(", ", "Operations since "+format.Time(h.Start), format.Prefix("run ", h.Run), format.Prefix("client ", h.Client), format.Prefix("tsmark ", h.Tool)))}
	if a.Truncated != "" {
		alerts = append(alerts, doc.Bad("Cut off: "+a.Truncated))
	}
	if a.Lost > 0 {
		alerts = append(alerts, doc.Bad(fmt.Sprintf("%s are missing: the disk was slower than they came", format.Plural(int(a.Lost), "operation"))))
	}
	d := &doc.Document{Elsewhere: "--json has all", Chapters: []doc.Chapter{{Alerts: alerts, Sections: []doc.Section{{Tables: []*doc.Table{analysisTable(a)}}}}}}
	if err := write.WriteText(w, d, opts); err != nil {
		return fmt.Errorf("writing the analysis: %w", err)
	}
	return nil
}

// analysisTable has a row for each cell of a log.
func analysisTable(a *analysis.Analysis) *doc.Table {
	view := &doc.Table{Title: "Measurements", Columns: []doc.Column{
		{Head: "what"}, {Head: "target", Words: true}, {Head: "repeat"}, {Head: "n", Help: "operations recorded"},
		{Head: "/s", Help: "rows of a load, or queries, a second"}, {Head: "median"}, {Head: "p95"}, {Head: "p99"}, {Head: "p99.9", Rank: 1}, {Head: "max"},
		{Head: "rows", Rank: 2}, {Head: "others", Words: true, Help: "operations that did not end well; paused: tsmark itself was paused meanwhile, and the time is excluded"},
	}}
	for i := range a.Cells {
		f := &a.Cells[i]
		name, times, n, perSecond, rows, paused := format.Join(" ", "load", string(f.Part), f.Schedule), result.Latency{}, int64(0), format.None, int64(0), int64(0)
		switch {
		case f.Load != nil:
			l := f.Load
			times, n, rows, paused = l.Batches, l.Batches.Count, l.Rows, l.Paused
			if seconds := cmp.Or(l.Acked, l.Sent); seconds > 0 {
				perSecond = format.Digits(float64(l.Rows) / seconds)
			}
		case f.Queries != nil:
			q := f.Queries
			name, times, n, rows, paused = format.Join(" ", f.Type, string(f.Part), f.Setting, f.Schedule), q.Service, q.Executed, q.Rows, q.Paused
			if q.PerSecond > 0 {
				perSecond = format.Digits(q.PerSecond)
			}
		}
		cells := []doc.Span{doc.Plain(name), doc.Plain(f.Target), doc.Plain(strconv.Itoa(f.Repeat)), doc.Plain(format.Count(n)), doc.Plain(perSecond)}
		for _, figure := range []struct{ quantile, seconds float64 }{
			{0.5, times.Median}, {0.95, times.P95}, {0.99, times.P99}, {0.999, times.P999}, {1, times.Max},
		} {
			cells = append(cells, doc.Plain(cell.Latency(&times, figure.quantile, figure.seconds)))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: append(cells, doc.Plain(format.Count(rows)), doc.Bad(describeUnwanted(f.Outcomes, paused)))})
	}
	return view
}

// describeUnwanted lists the unwanted outcomes, and the number of operations that are left out
// because tsmark itself was paused.
func describeUnwanted(outcomes map[oplog.Outcome]int64, paused int64) string {
	var list []string
	if paused > 0 {
		list = append(list, format.Count(paused)+" paused")
	}
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		switch o {
		case oplog.OK, oplog.Unacknowledged, oplog.Flushed:
		default:
			list = append(list, format.Count(outcomes[o])+" "+o.String())
		}
	}
	return strings.Join(list, ", ")
}
