package tables

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// fewNoisy is the maximum number of query types whose disturbances are listed one by one.
const fewNoisy = 2

// noisyTypes names the disturbances of the query types of a target; if there are many, one
// represents all of them, since the table of the host lists them.
func noisyTypes(t *result.Target) []doc.Span {
	why := rank.NoiseReasons(t)
	var list []doc.Span
	for i := range t.Queries {
		if name := t.Queries[i].Type; why[name] != "" {
			list = append(list, doc.Bad(name+": noisy host: "+why[name]))
		}
	}
	if len(list) > fewNoisy {
		text := fmt.Sprintf("noisy host in %d of %s, such as %s", len(list), format.Plural(len(t.Queries), "type"), strings.Replace(list[0].Text, ": noisy host", "", 1))
		list = []doc.Span{doc.Bad(text)}
	}
	return list
}

// Host shows the use of the machine by other processes, as evidence of whether it was
// quiet. It returns nil if it was not watched.
func Host(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Host: was it quiet?", Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Words: true},
		{Head: "others", Help: "share of all cores that processes other than tsmark and the target's server used"},
		{Head: "at most", Help: "the same, as far as clocks that tick every 10 ms can tell", Rank: 4},
		{Head: "steal", Help: "share of all cores that the hypervisor gave to other machines", Rank: 2},
		{Head: "throttled", Help: "share of the scheduling periods in which a CPU limit held tsmark back", Rank: 3},
		{Head: "memory", Help: "share of the time in which some process waited for memory", Rank: 1},
		{Head: "finding", Words: true},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, h := range rank.PhaseNoises(t) {
			n := result.AddNoise(h.Phases...)
			finding := doc.Plain("quiet")
			if n.Unknown != "" {
				finding = doc.Dim(n.Unknown)
			}
			if h.Reason() != "" {
				finding = doc.Bad("noisy host")
			}
			most := *n
			most.Others = n.OthersMax
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(t.Label()), doc.Plain(h.Name), cell.Share(n.OthersShare()), cell.Share(most.OthersShare()),
				cell.Share(n.StealShare()), cell.Share(n.ThrottledShare()), cell.Share(n.MemoryShare()), finding}})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}
