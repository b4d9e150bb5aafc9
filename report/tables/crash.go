package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// Crashes sets the targets that crashed side by side: the rate of their loads, losses by kind of crash, and the time
// of recovery. It returns nil without crashes.
func Crashes(g *rank.Group) *doc.Table {
	kinds := g.CrashKinds()
	if len(kinds) == 0 {
		return nil
	}
	view := &doc.Table{Title: "Crashes: what an acknowledged row is worth", Columns: []doc.Column{
		{Head: "target"},
		{Head: "durability", Help: "level", Words: true},
		{Head: "acked/s", Help: "rows a second of the load until the last one was acknowledged"},
		{Head: "batch p99", Help: "99th percentile of the time until a batch was acknowledged, over all loads; they need 100 batches or more"},
	}}
	for _, kind := range kinds {
		view.Columns = append(view.Columns, doc.Column{Head: rank.CrashName(kind), Help: "crashes after which acknowledged rows were missing, torn, wrong or there twice, or the target did not answer again"})
	}
	view.Columns = append(view.Columns,
		doc.Column{Head: "rows lost", Help: "of the rows of the crashes' rounds that were acknowledged before them; older: of these, rows from before a round"},
		doc.Column{Head: "answers", Help: "median time from the start of a restart until the target answered; by kind of crash in the table of recovery"},
		doc.Column{Head: "complete", Help: "median time until it had every acknowledged row", Follows: true},
		doc.Column{Head: "twice", Help: "rows that the target has twice after the client sent again everything that was not acknowledged: those, or others", Rank: 6},
		doc.Column{Head: "torn", Help: "acknowledged rows with some of their fields only", Rank: 5},
		doc.Column{Head: "wrong", Help: "rows with other values", Rank: 4},
		doc.Column{Head: "acknowledged rows", Help: "where they are", Words: true, Rank: 7},
	)
	proven := g.RankProven()
	var notes []doc.Span
	of := make(map[doc.Span][]string) // targets
	for i, s := range g.Subjects {
		found := estimate.CrashesByKind(s.Target)
		if found == nil {
			continue
		}
		rate := doc.None()
		if e := estimate.Load(s.Target, estimate.AckedRate); e.N > 0 {
			rate = doc.Plain(format.Digits(e.Median.Figure) + rank.Marks(s.Target, compare.LoadSubject))
			if i == proven.Reference && proven.Sole {
				rate.Tone = format.ToneBest
			}
		}
		batches := estimate.Batches(s.Target)
		p99 := doc.Plain(cell.Latency(&batches, 0.99, batches.P99))
		row := doc.Row{Cells: []doc.Span{doc.Plain(s.Label), doc.Plain(terms.Level(s.Target)), rate, p99}}
		for _, kind := range kinds {
			cell := doc.None()
			if c := estimate.FindCrashes(found, kind); c != nil {
				cell = lossCell(c)
			}
			row.Cells = append(row.Cells, cell)
		}
		all, restarts := estimate.AllCrashes(s.Target), estimate.Restarts(s.Target)
		lost := doc.None()
		switch {
		case all.Earlier > 0: // which are not among the acknowledged rows of the rounds
			lost = harmCell(all.Lost)
			lost.Text += fmt.Sprintf(" (%s older)", format.Count(all.Earlier))
		case all.Acked > 0:
			lost = harmCell(all.Lost)
			lost.Text += " of " + format.Count(all.Acked)
		}
		row.Cells = append(row.Cells, lost, recoveryCell(restarts.Answers), recoveryCell(restarts.Complete), harmCell(all.Doubled), harmCell(all.Torn), harmCell(all.Wrong),
			doc.Plain(cmp.Or(string(s.Target.Description.Safety), "unknown")))
		view.Rows = append(view.Rows, row)
		if at := slices.IndexFunc(s.Target.Crash.Rounds, func(r result.CrashRound) bool { return r.Failed == "" && !r.Intact() }); at >= 0 && len(g.Subjects) > 1 {
			view.Notes = append(view.Notes, doc.Bad(s.Label+", "+crashText(at, &s.Target.Crash.Rounds[at])))
		}
		for _, n := range crashNotes(s.Target) {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
			of[n] = append(of[n], s.Label)
		}
	}
	for _, n := range notes {
		who := format.List(of[n])
		if len(of[n]) > 1 && len(of[n]) == len(view.Rows) {
			who = "all targets"
		}
		view.Notes = append(view.Notes, doc.WithTone(who+": "+n.Text, n.Tone))
	}
	view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("≤: if no crash lost rows, at most this share of such crashes does, with 95%s%%: 3 divided by the number of crashes (rule of three).", format.UnitSpace)))
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

// lossCell shows how many crashes of a kind lost rows, or at most do.
func lossCell(c *estimate.Crashes) doc.Span {
	var text doc.Span
	switch {
	case c.Count == 0 && c.Failed == 0:
		return doc.Dim("n/a")
	case c.Count == 0:
		return doc.Bad("not judged")
	case c.Losing == 0:
		text = doc.Plain(fmt.Sprintf("0 of %d (≤%s)", c.Count, format.PercentUp(c.Bound())))
	default:
		text = doc.Bad(fmt.Sprintf("%d of %d", c.Losing, c.Count))
	}
	if c.Failed > 0 {
		text.Text += fmt.Sprintf(", %d not judged", c.Failed)
	}
	return text
}

// harmCell shows a number of rows that should be 0.
func harmCell(rows int64) doc.Span {
	if rows == 0 {
		return doc.Plain("0")
	}
	return doc.Bad(format.Count(rows))
}

// recoveryCell shows the median of times.
func recoveryCell(seconds []float64) doc.Span {
	e := stats.Summarize(seconds)
	if e.N > 0 && e.Median.Bound != stats.Exact {
		return doc.Bad(format.MedianText(e))
	}
	return doc.Plain(format.MedianText(e))
}

// crashNotes say why crashes of a target are missing, and how it was crashed.
func crashNotes(t *result.Target) (notes []doc.Span) {
	c := t.Crash
	for _, kind := range slices.Sorted(maps.Keys(c.Unsupported)) {
		notes = append(notes, doc.Dim(fmt.Sprintf("%s n/a: %s", rank.CrashName(kind), c.Unsupported[kind])))
	}
	if c.Ended != "" {
		notes = append(notes, doc.Bad(fmt.Sprintf("%d of %s: %s", len(c.Rounds), format.CountOf(int64(c.Planned), "crash", "crashes"), c.Ended)))
	}
	if c.Child != "" {
		notes = append(notes, doc.Dim("the load ran in tsmark's process, the rounds of the crashes "+c.Child))
	}
	if c.ByCommand {
		notes = append(notes, doc.Dim("its restart command killed it; tsmark cannot tell whether with SIGKILL"))
	}
	if c.Disk != "" {
		notes = append(notes, doc.Dim(c.Disk))
	}
	return notes
}

// crashTable shows each crash of a target; nil: it had none.
func crashTable(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Crashes: " + t.Label(), Columns: []doc.Column{
		{Head: "crash"},
		{Head: "by", Words: true, Names: true},
		{Head: "rows", Help: "acknowledged before the round of the crash"},
		{Head: "size", Help: "on disk at that time", Rank: 3},
		{Head: "acked", Help: "rows of the round that were acknowledged before the crash"},
		{Head: "in flight", Help: "rows under way at the crash, which the target may have stored or not", Rank: 2},
		{Head: "stored", Help: "rows that the target has although they were never acknowledged, which is allowed", Follows: true, Rank: 1},
		{Head: "finding", Words: true},
		{Head: "answers", Help: "time from the start of the restart, or the end of the pause, until the target answered"},
		{Head: "complete", Help: "time until it had every acknowledged row", Follows: true},
	}}
	c := t.Crash
	if c == nil {
		return nil
	}
	for i := range c.Rounds {
		r := &c.Rounds[i]
		name := doc.Plain(format.Count(int64(len(view.Rows) + 1)))
		if r.Failed != "" {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad(rank.CrashName(r.Kind) + ": " + r.Finding())})
			continue
		}
		finding := doc.Plain("nothing lost")
		if !r.Intact() || r.Doubled > 0 {
			finding = doc.Bad(shortFinding(r))
			view.Notes = append(view.Notes, doc.Bad(format.Capital(crashText(i, r))))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name, doc.Plain(rank.CrashName(r.Kind)), doc.Plain(format.Count(r.Stored)), sizeIf(r.Bytes), doc.Plain(format.Count(r.Acked)),
			doc.Plain(format.Count(r.InFlight)), doc.Plain(format.Count(r.Extra)), finding, neverIf(r.Answers), neverIf(r.Complete)}})
	}
	view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("The times of the crashes come from seed %d. Missing rows count as lost once the target has settled and no row has appeared for %s.", c.Seed, format.Duration(c.Patience))))
	view.Notes = append(view.Notes, crashNotes(t)...)
	return view
}

// crashText describes a crash in words.
func crashText(i int, r *result.CrashRound) string {
	return fmt.Sprintf("crash %d, by %s: %s.", i+1, rank.CrashName(r.Kind), r.Finding())
}

// shortFinding is result.CrashRound.Finding without the rows.
func shortFinding(r *result.CrashRound) string {
	if r.Answers < 0 {
		return r.Finding()
	}
	var parts []string
	if r.Lost > 0 {
		which := "the last ones"
		switch {
		case r.Holes:
			which = "holes"
		case r.Lost == r.Acked:
			which = "all"
		}
		parts = append(parts, fmt.Sprintf("lost rows of %d of %d batches: %s", r.LostBatches, r.AckedBatches, which))
	}
	for _, harm := range []struct {
		rows int64
		what string
	}{{r.LostEarlier, "earlier rows lost"}, {r.Torn, "torn"}, {r.Wrong, "wrong"}, {r.Doubled, "twice"}} {
		if harm.rows > 0 {
			parts = append(parts, format.Count(harm.rows)+" "+harm.what)
		}
	}
	return strings.Join(parts, ", ")
}

// neverIf shows a time; less than 0: longer than the patience.
func neverIf(seconds float64) doc.Span {
	if seconds < 0 {
		return doc.Bad("never")
	}
	return doc.Plain(format.Duration(seconds))
}

// Recovery shows the times of recovery by kind of crash and by the size of the data; nil: no target had crashes of two
// kinds, or at several sizes.
func Recovery(g *rank.Group) *doc.Table {
	const most = 4 // rows for each target
	view := &doc.Table{Title: "Recovery by kind of crash and size of the data", Columns: []doc.Column{
		{Head: "target"}, {Head: "by", Words: true, Names: true}, {Head: "crashes"},
		{Head: "rows", Help: "acknowledged before the crashes"}, {Head: "size", Help: "on disk before the crashes"},
		{Head: "answers", Help: "median time from the start of a restart until the target answered"},
		{Head: "complete", Help: "median time until it had every acknowledged row", Follows: true}, {Head: "longest", Help: "of these times", Follows: true},
	}}
	for _, s := range g.Subjects {
		var rows []doc.Row
		byKind := estimate.RestartRounds(s.Target)
		for _, rounds := range byKind {
			groups := min(most/len(byKind), len(rounds))
			if rounds[0].Stored == rounds[len(rounds)-1].Stored {
				groups = 1
			}
			for n := range groups {
				rows = append(rows, recoveryRow(s.Label, rounds[n*len(rounds)/groups:(n+1)*len(rounds)/groups], s.Target.Crash.Patience))
			}
		}
		if len(rows) > 1 { // a single one would repeat the medians of Crashes
			view.Rows = append(view.Rows, rows...)
		}
	}
	switch n := len(view.Rows); {
	case n == 0:
		return nil
	case n > 3*most: // targets whose medians Crashes shows
		view.Terminal = doc.OnRequest
	}
	return view
}

// recoveryRow shows the times of crashes of one kind, by the rows that were stored.
func recoveryRow(label string, rounds []result.CrashRound, patience float64) doc.Row {
	var c estimate.Crashes
	for i := range rounds {
		c.Add(&rounds[i], patience)
	}
	first, last := &rounds[0], &rounds[len(rounds)-1]
	longest, smallest, largest := 0.0, first.Bytes, first.Bytes
	for n, seconds := range c.Complete {
		longest = max(longest, seconds, -seconds)
		smallest, largest = min(smallest, rounds[n].Bytes), max(largest, rounds[n].Bytes)
	}
	if slices.Min(c.Complete) < 0 { // one was longer than that
		longest = -longest
	}
	return doc.Row{Cells: []doc.Span{
		doc.Plain(label), doc.Plain(rank.CrashName(first.Kind)), doc.Plain(format.Count(int64(c.Count))), doc.Plain(span(format.Count(first.Stored), format.Count(last.Stored))),
		sizeSpan(smallest, largest), recoveryCell(c.Answers), recoveryCell(c.Complete), recoveryCell([]float64{longest}),
	}}
}

// span shows a range.
func span(from, to string) string {
	if from == to {
		return from
	}
	return from + "–" + to
}

func sizeSpan(from, to int64) doc.Span {
	if from < 0 || to < 0 {
		return doc.None()
	}
	return doc.Plain(span(format.Size(from), format.Size(to)))
}
