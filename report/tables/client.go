package tables

import (
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// clientTimesText returns the CPU time of tsmark itself in measurements, as time(1) splits it; empty:
// it is unknown.
func clientTimesText(cells ...*result.Cell) string {
	var user, system result.Value
	for _, c := range cells {
		u, s := c.ClientTimes()
		user, system = user+u, system+s
	}
	if !user.IsKnown() || !system.IsKnown() || user+system == 0 {
		return ""
	}
	return format.Duration(float64(user)) + " user, " + format.Duration(float64(system)) + " system"
}

// Client shows the resource use of the client itself, as evidence of whether it was
// the limit. It returns nil if no target has a process of its own.
func Client(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Client: was it the limit?", Terminal: doc.Doubtful, Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Words: true},
		{Head: "CPU", Help: "tsmark's share of all cores of the machine"},
		{Head: "user", Help: "CPU time of tsmark itself in programs, all repeats together", Rank: 1},
		{Head: "system", Help: "the same in the kernel", Rank: 1},
		{Head: "of queries", Help: "part of the service time of the queries in which tsmark itself used a processor"},
		{Head: "paused", Help: "queries or batches during which tsmark itself was stopped or had no processor; they are excluded from the figures", Rank: 5},
		{Head: "most", Help: "the same, of the repeat in which it was highest", Rank: 4},
		{Head: "GC pause max", Help: "longest pause in which tsmark collected garbage; it lengthens latencies", Rank: 2},
		{Head: "wait p99", Help: "scheduling delay: how long a goroutine that could go on waited for a processor, 99th percentile of the worst repeat"},
		{Head: "wait max", Help: "longest scheduling delay", Rank: 3},
		{Head: "finding", Words: true},
	}}
	any := false
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Embedded {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(t.Label())}, Remark: doc.Dim("n/a: shares tsmark's process")})
			continue
		}
		for _, m := range rank.Measurements(t) {
			use, known := m.Client()
			if !known {
				continue
			}
			any = true
			finding := doc.Plain("not the limit")
			if why := m.ClientBound(); why != "" {
				finding = doc.Bad("client-bound: " + why)
			}
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(t.Label()), doc.Plain(m.Name), cell.Share(use.Share), cell.Delay(use.User), cell.Delay(use.System), cell.Share(m.ClientShare()), cell.PausedOperations(m.Paused), cell.Share(use.ShareMax),
				cell.Delay(use.PauseMax), cell.Delay(use.Scheduling), cell.Delay(use.SchedulingMax), finding}})
		}
	}
	if !any {
		return nil
	}
	return view
}
