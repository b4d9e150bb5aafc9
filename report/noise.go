package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// noisyMark stands behind figures that others disturbed while they were measured.
const noisyMark = "‡"

const noisyNote = noisyMark + " noisy host: other processes or the hypervisor used part of the machine during the measurement; on a quiet host the figure may be better."

// standInMark stands behind figures of a stand-in.
const standInMark = "¤"

const standInNote = standInMark + " stand-in: what answered is not a server of the system as its users run it; its figures say nothing of the system and are compared with none."

// heard is what others took of the machine during a measurement, in all its
// repeats.
type heard struct {
	Name   string
	Phases []*result.Noise
}

// heardIn lists the measurements of a target, the steps after its load and its
// mixed phase included, in which somebody looked for noise.
func heardIn(t *result.Target) []heard {
	var list []heard
	add := func(name string, phases ...*result.Noise) {
		phases = slices.DeleteFunc(phases, func(n *result.Noise) bool { return n == nil })
		if len(phases) > 0 {
			list = append(list, heard{name, phases})
		}
	}
	for _, m := range measurements(t) {
		var phases []*result.Noise
		for _, c := range m.Cells {
			phases = append(phases, c.Noise)
		}
		add(m.Name, phases...)
		if m.Name == compare.LoadSubject && t.Load != nil {
			for i := range t.Load.Steps {
				add("step "+t.Load.Steps[i].Name, t.Load.Steps[i].Noise)
			}
			if t.Load.Mixed != nil {
				add(compare.MixedSubject, t.Load.Mixed.Writes.Noise)
			}
		}
	}
	return list
}

// noisy says why a measurement was disturbed; empty: it was not.
func (h *heard) noisy() string { return result.Disturbed(h.Phases...) }

// noisyIn says of each measurement of a target that was disturbed why it was.
func noisyIn(t *result.Target) map[string]string {
	found := map[string]string{}
	for _, h := range heardIn(t) {
		if why := h.noisy(); why != "" {
			found[h.Name] = why
		}
	}
	return found
}

// marksOf are the marks behind a figure of a target: that it is a stand-in's, that the
// client may have set its pace, and that others disturbed it. What is compare.AllTypes for a figure
// over all query types.
func marksOf(t *result.Target, what string) string {
	marks := ""
	if t.Description.StandIn != "" {
		marks = standInMark
	}
	for _, m := range []struct {
		mark string
		of   map[string]string
	}{{boundMark, clientBounds(t)}, {noisyMark, noisyIn(t)}} {
		_, marked := m.of[what]
		if marked || what == compare.AllTypes && len(typesAmong(t, m.of)) > 0 {
			marks += m.mark
		}
	}
	return marks
}

// typesAmong are the query types of a target among what is marked, in the order
// run.
func typesAmong(t *result.Target, marked map[string]string) []string {
	var list []string
	for _, q := range t.Queries {
		if _, ok := marked[q.Type]; ok {
			list = append(list, q.Type)
		}
	}
	return list
}

// markNotes explains the marks that stand in rows.
func markNotes(rows []row) []span {
	var notes []span
	for _, m := range []struct{ mark, text string }{{standInMark, standInNote}, {boundMark, boundNote}, {noisyMark, noisyNote}} {
		if slices.ContainsFunc(rows, func(r row) bool {
			return slices.ContainsFunc(r.Cells, func(c span) bool { return strings.Contains(c.Text, m.mark) })
		}) {
			notes = append(notes, spanDim(m.text))
		}
	}
	return notes
}

// noiseAlert says in how many measurements of a run the host was noisy; false: in
// none.
func noiseAlert(r *result.Run) (span, bool) {
	noisy, all, worst := 0, 0, (*result.Noise)(nil)
	for i := range r.Targets {
		for _, h := range heardIn(&r.Targets[i]) {
			all++
			if h.noisy() == "" {
				continue
			}
			noisy++
			for _, n := range h.Phases {
				if n.Noisy() != "" && (worst == nil || n.OthersShare()+n.StealShare() > worst.OthersShare()+worst.StealShare()) {
					worst = n
				}
			}
			if worst == nil { // no phase by itself
				worst = result.AddNoise(h.Phases...)
			}
		}
	}
	if noisy == 0 {
		return span{}, false
	}
	return spanBad(fmt.Sprintf("NOISY HOST in %d of %s; at worst %s. What it disturbed is marked %s.",
		noisy, plural(all, "measurement"), worst.Noisy(), noisyMark)), true
}

// fewNoisy is how many query types are named each with what disturbed it.
const fewNoisy = 2

// noisyTypes says what disturbed the query types of a target; of many one stands
// for all, which the table of the host has.
func noisyTypes(t *result.Target) []span {
	why := noisyIn(t)
	var list []span
	for i := range t.Queries {
		if name := t.Queries[i].Type; why[name] != "" {
			list = append(list, spanBad(name+": noisy host: "+why[name]))
		}
	}
	if len(list) > fewNoisy {
		text := fmt.Sprintf("noisy host in %d of %s, such as %s", len(list), plural(len(t.Queries), "type"), strings.Replace(list[0].Text, ": noisy host", "", 1))
		list = []span{spanBad(text)}
	}
	return list
}

// hostTable shows what others took of the machine: proof, or not, that it was
// quiet. Nil where nobody looked.
func hostTable(r *result.Run) *table {
	view := &table{Title: "Host: was it quiet?", Columns: []column{
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
		for _, h := range heardIn(t) {
			n := result.AddNoise(h.Phases...)
			finding := spanPlain("quiet")
			if n.Untold != "" {
				finding = spanDim(n.Untold)
			}
			if h.noisy() != "" {
				finding = spanBad("noisy host")
			}
			most := *n
			most.Others = n.OthersMax
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label()), spanPlain(h.Name), share(n.OthersShare()), share(most.OthersShare()),
				share(n.StealShare()), share(n.ThrottledShare()), share(n.MemoryShare()), finding}})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}
