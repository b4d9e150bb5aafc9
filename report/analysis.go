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
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/analysis"
)

// WriteAnalysis renders what an operation log tells as text. Its errors are
// those of w.
func WriteAnalysis(w io.Writer, a *analysis.Analysis, opts Options) error {
	t := newTextWriter(w, opts, "--json has all")
	h := a.Header
	t.wrapped("", "  ", spanPlain(joined(", ", "Operations since "+moment(h.Start), prefixed("run ", h.Run), prefixed("client ", h.Client), prefixed("tsmark ", h.Tool))))
	if a.Truncated != "" {
		t.wrapped("", "  ", spanBad("Cut off: "+a.Truncated))
	}
	if a.Lost > 0 {
		t.wrapped("", "  ", spanBad(fmt.Sprintf("%s are missing: the disk was slower than they came", plural(int(a.Lost), "operation"))))
	}
	t.table(analysisTable(a))
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the analysis: %w", err)
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// analysisTable has a row for each cell of a log.
func analysisTable(a *analysis.Analysis) *table {
	view := &table{Title: "Measurements", Columns: []column{
		{Head: "what"}, {Head: "target", Words: true}, {Head: "repeat"}, {Head: "n", Help: "operations recorded"},
		{Head: "/s", Help: "rows of a load, or queries, a second"}, {Head: "median"}, {Head: "p95"}, {Head: "p99"}, {Head: "p99.9", Rank: 1}, {Head: "max"},
		{Head: "rows", Rank: 2}, {Head: "others", Words: true, Help: "operations that did not end well; paused: tsmark itself stood still meanwhile, so that their time is left out"},
	}}
	for i := range a.Cells {
		f := &a.Cells[i]
		name, times, n, perSecond, rows, paused := joined(" ", "load", string(f.Part), f.Schedule), result.Latency{}, int64(0), none, int64(0), int64(0)
		switch {
		case f.Load != nil:
			l := f.Load
			times, n, rows, paused = l.Batches, l.Batches.Count, l.Rows, l.Paused
			if seconds := cmp.Or(l.Acked, l.Sent); seconds > 0 {
				perSecond = digits(float64(l.Rows) / seconds)
			}
		case f.Queries != nil:
			q := f.Queries
			name, times, n, rows, paused = joined(" ", f.Type, string(f.Part), f.Setting, f.Schedule), q.Service, q.Executed, q.Rows, q.Paused
			if q.PerSecond > 0 {
				perSecond = digits(q.PerSecond)
			}
		}
		cells := []span{spanPlain(name), spanPlain(f.Target), spanPlain(strconv.Itoa(f.Repeat)), spanPlain(count(n)), spanPlain(perSecond)}
		for _, figure := range []struct{ quantile, seconds float64 }{
			{0.5, times.Median}, {0.95, times.P95}, {0.99, times.P99}, {0.999, times.P999}, {1, times.Max},
		} {
			cells = append(cells, spanPlain(latency(&times, figure.quantile, figure.seconds)))
		}
		view.Rows = append(view.Rows, row{Cells: append(cells, spanPlain(count(rows)), spanBad(others(f.Outcomes, paused)))})
	}
	return view
}

// others lists the outcomes that are not as wanted, and how many operations are left out
// because tsmark itself stood still.
func others(outcomes map[oplog.Outcome]int64, paused int64) string {
	var list []string
	if paused > 0 {
		list = append(list, count(paused)+" paused")
	}
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		switch o {
		case oplog.OK, oplog.Unacknowledged, oplog.Flushed:
		default:
			list = append(list, count(outcomes[o])+" "+o.String())
		}
	}
	return strings.Join(list, ", ")
}
