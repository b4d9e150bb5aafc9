package tables

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// lifeRule is the rule of UsualAfter, for readers.
const lifeRule = "Queries are as usual again from the first of three seconds in a row, the last of them after the event, without a failed query and with times of at most a quarter more than in the slowest of up to ten seconds before the event; each time is compared with the median of its query type in these."

// lifeTable shows the events of a target's life; nil: it had none. The rule is beside the targets' common
// table if there is one.
func lifeTable(t *result.Target, alone bool) *doc.Table {
	if t.Load == nil || t.Load.Life == nil {
		return nil
	}
	l := t.Load.Life
	view := &doc.Table{Title: "Life: " + t.Label(), Columns: []doc.Column{
		{Head: "event"},
		{Head: "at", Help: "seconds since the life began"},
		{Head: "took", Help: "time until the event had ended"},
		{Head: "before", Help: "median response time of the dashboards in the seconds before"},
		{Head: "during", Help: "median response time of queries due during the event, at least a second; ≥: queries were cut off", Follows: true},
		{Head: "after", Help: "median response time in the ten seconds after", Follows: true, Rank: 4},
		{Head: "p99 during", Help: "99 of 100 queries during the event took no longer", Rank: 2},
		{Head: "slower", Help: "median multiple of the median of the type before"},
		{Head: "as usual", Help: "when the queries were as usual again, since the event began; not yet: not before the next event, or the end", Words: true},
		{Head: "failed", Help: "queries without an answer, or cut off, during the event and the ten seconds after", Rank: 3},
		{Head: "fresh", Help: "longest time until an acknowledged row was visible, during the event; ≥: it was not yet", Rank: 1},
		{Head: "disk", Help: "size on disk before"},
		{Head: "after", Help: "size on disk when the event ended", Follows: true},
		{Head: "least", Help: "least size on disk before the next event, and how long after the start of the event", Follows: true, Rank: 5},
		{Head: "written", Help: "bytes that the server's processes wrote to disk during the event, or tsmark with an embedded database", Rank: 6},
		{Head: "backlog", Help: "background work that the system had still to do, before the event", Rank: 7},
		{Head: "most", Help: "most of it, until the next event", Follows: true, Rank: 7},
		{Head: "back", Help: "when no more was to do than before, since the event began; not yet: not before the next event, or the end", Words: true, Follows: true, Rank: 7},
		{Head: "checked", Help: "answers compared of queries that ran while the event changed rows; +: may show a part of the change and were not checked"},
	}}
	if problem := l.Problem(); problem != "" {
		view.Rows = []doc.Row{{Cells: []doc.Span{doc.Plain("all")}, Remark: doc.Bad("withheld: " + problem)}}
		return view
	}
	for i, name := range l.EventNames() {
		e, name := &l.Events[i], doc.Plain(name)
		if why, missing := eventMissing(e); missing {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: why})
			continue
		}
		view.Rows = append(view.Rows, doc.Row{Cells: append([]doc.Span{name}, eventCells(l, e)...)})
	}
	for i := range l.Events {
		if e := &l.Events[i]; e.HasFigure() {
			what := e.What
			if e.Rows > 0 {
				what += ": " + format.Count(e.Rows) + " rows"
			}
			view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("%s s, %s.", format.Digits(e.Begin), what)))
		}
	}
	view.Notes = append(view.Notes, doc.Dim(lifeNote(l)))
	if alone {
		view.Notes = append(view.Notes, doc.Dim(lifeRule))
	}
	if l.Base.Saturated != "" {
		view.Notes = append(view.Notes, doc.Bad(l.Base.Saturated))
	}
	if l.Failed > 0 {
		view.Notes = append(view.Notes, doc.Bad(fmt.Sprintf("%s of the dashboards had no answer, the first because: %s", format.CountOf(l.Failed, "query", "queries"), l.FailedWhy)))
	}
	if l.FreshnessUnknown != "" {
		view.Notes = append(view.Notes, doc.Dim("freshness n/a: "+l.FreshnessUnknown))
	}
	if l.Backlog == "" {
		view.Notes = append(view.Notes, doc.Dim("backlog n/a: tsmark reads no metric of background work from this system"))
	} else {
		view.Notes = append(view.Notes, doc.Dim("backlog: "+l.Backlog))
	}
	return view
}

// eventMissing returns why an event has no figures; false: it has.
func eventMissing(e *result.LifeEvent) (doc.Span, bool) {
	switch {
	case e.Failed != "":
		return doc.Bad("failed: " + e.Failed), true
	case e.Unsupported != "":
		return doc.Dim("n/a: " + e.Unsupported), true
	case !e.HasFigure():
		return doc.Dim("not reached"), true
	}
	return doc.Span{}, false
}

func eventCells(l *result.Life, e *result.LifeEvent) []doc.Span {
	least := doc.None()
	if e.DiskLeast >= 0 {
		least = doc.Plain(fmt.Sprintf("%s at %s s", format.Size(e.DiskLeast), format.Digits(e.DiskLeastAfter)))
	}
	checked := doc.Plain(format.Count(int64(e.Checked)))
	if e.Undecided > 0 {
		checked.Text += fmt.Sprintf(" +%d", e.Undecided)
	}
	failed := doc.Plain(format.Count(e.During.Failed + e.After.Failed))
	if e.During.Failed+e.After.Failed > 0 {
		failed.Tone = format.ToneBad
	}
	backlog := []doc.Span{doc.None(), doc.None(), doc.None()}
	if l.Backlog != "" && e.BacklogBefore >= 0 {
		backlog = []doc.Span{doc.Plain(format.Digits(e.BacklogBefore)), doc.None(), doc.Bad("not yet")}
		if e.BacklogMost >= 0 {
			backlog[1] = doc.Plain(format.Digits(e.BacklogMost))
		}
		if e.BacklogBack >= 0 {
			backlog[2] = doc.Plain("after " + format.Duration(e.BacklogBack))
		}
	}
	cells := []doc.Span{
		doc.Plain(format.Digits(e.Begin)), doc.Plain(format.Duration(e.End - e.Begin)),
		timeIf(e.Before.Median), timeIf(e.During.Median), timeIf(e.After.Median), timeIf(e.During.P99),
		slowerCell(e), usualCell(e), failed, timeIf(e.During.Freshness), sizeIf(e.DiskBefore), sizeIf(e.DiskAfter), least, sizeIf(e.WrittenBytes),
	}
	return append(append(cells, backlog...), checked)
}

// timeIf shows a time; 0: unknown; below 0: at least so long.
func timeIf(seconds float64) doc.Span {
	switch {
	case seconds == 0:
		return doc.None()
	case seconds < 0:
		return doc.Plain("≥ " + format.Duration(-seconds))
	}
	return doc.Plain(format.Duration(seconds))
}

// sizeIf shows a size; below 0: unknown.
func sizeIf(bytes int64) doc.Span {
	if bytes < 0 {
		return doc.None()
	}
	return doc.Plain(format.Size(bytes))
}

// slowerCell shows how much slower queries were during an event.
func slowerCell(e *result.LifeEvent) doc.Span {
	if e.Slower == 0 {
		return doc.None()
	}
	if e.Slower < 0 {
		return doc.Plain("≥ " + format.Ratio(-e.Slower))
	}
	return doc.Plain(format.Ratio(e.Slower))
}

// usualCell shows when queries were as usual again after an event.
func usualCell(e *result.LifeEvent) doc.Span {
	switch {
	case e.Limit == 0:
		return doc.Dim("unknown")
	case e.UsualAfter < 0:
		return doc.Bad("not yet")
	case e.UsualAfter == 0:
		return doc.Plain("always")
	}
	return doc.Plain("after " + format.Duration(e.UsualAfter))
}

// lifeNote describes the base and the checks.
func lifeNote(l *result.Life) string {
	m := &l.Base
	checked, undecided := 0, 0
	var types []string
	for i := range m.Types {
		checked += m.Types[i].Verdict.Checked
		types = append(types, m.Types[i].Type)
	}
	for i := range l.Events {
		undecided += l.Events[i].Undecided
	}
	text := fmt.Sprintf("Beside the events, %s rows were written at %s after the first %s; %s ran at %s, of %s.", format.Count(m.Writes.Rows), m.RowRate, format.Count(m.Loaded),
		format.CountOf(lifeExecuted(m), "query", "queries"), m.QueryRate, strings.Join(types, ", "))
	text += fmt.Sprintf(" %s sampled answers match the rows that the target had at their time", format.Count(int64(checked)))
	if undecided > 0 {
		text += fmt.Sprintf("; not checked: %s of queries that ran while rows changed, equal to neither the state before nor the one after", format.CountOf(int64(undecided), "answer", "answers"))
	}
	if len(l.Census) > 0 {
		text += "; the contents at the end were compared too"
	}
	text += "."
	if l.Loads > 1 {
		text += fmt.Sprintf(" Times and sizes are medians over the lives of %d loads, counts are sums.", l.Loads)
	}
	if m.Dropped > 0 {
		text += fmt.Sprintf(" %s of %s queries found the queue full.", format.Count(m.Dropped), format.Count(m.Arrivals))
	}
	return text
}

func lifeExecuted(m *result.Mixed) (n int64) {
	for i := range m.Types {
		n += m.Types[i].Executed
	}
	return n
}

// LifeSideBySide sets the events of several targets side by side; nil: fewer than two have some.
func LifeSideBySide(g *rank.Group) *doc.Table {
	view := &doc.Table{Title: "A year in the life: how much slower dashboards were during each event, when they were as usual again, and how long it took", Columns: []doc.Column{{Head: "event"}}}
	var lives []*result.Life
	for _, s := range g.Subjects {
		if s.Target.Load == nil || s.Target.Load.Life == nil {
			continue
		}
		lives = append(lives, s.Target.Load.Life)
		view.Columns = append(view.Columns, doc.Column{Head: s.Label, Help: "median multiple of the time before, of " + s.Label},
			doc.Column{Head: "as usual", Help: "again, since the start of the event, of " + s.Label, Words: true, Follows: true}, doc.Column{Head: "took", Help: "time of the event itself, of " + s.Label, Follows: true})
	}
	if len(lives) < 2 {
		return nil
	}
	for i, name := range lives[0].EventNames() {
		row := doc.Row{Cells: []doc.Span{doc.Plain(name)}}
		for _, l := range lives {
			cells := []doc.Span{doc.None(), doc.None(), doc.None()}
			if l.Problem() != "" {
				cells[0] = doc.Bad("withheld")
			} else if i < len(l.Events) && l.Events[i].Do == lives[0].Events[i].Do {
				e := &l.Events[i]
				if why, missing := eventMissing(e); missing {
					why.Text, _, _ = strings.Cut(why.Text, ":")
					cells[0] = why
				} else {
					cells = []doc.Span{slowerCell(e), usualCell(e), doc.Plain(format.Duration(e.End - e.Begin))}
				}
			}
			row.Cells = append(row.Cells, cells...)
		}
		view.Rows = append(view.Rows, row)
	}
	view.Notes = []doc.Span{doc.Dim("Differences between targets may be chance: tsmark compare judges them, by the lives of several loads (--load-repeats)."), doc.Dim(lifeRule)}
	return view
}
