package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// loadTable shows the loads of a run, or returns nil without loads.
func loadTable(g *rank.Group, r *result.Run) *doc.Table {
	t := &doc.Table{Title: "Load", Columns: []doc.Column{
		{Head: "target"},
		{Head: "rows", Help: "rows sent", Rank: 1},
		{Head: "sent/s", Help: "rows a second until the last one was handed over"},
		{Head: "acked/s", Help: "rows a second until the last one was acknowledged"},
		{Head: "settled/s", Help: "rows a second until all were visible and background work idle"},
		{Head: "metrics/s", Help: "values a second until the last row was acknowledged"},
		{Head: "batch p50", Help: "median time from handing a batch over to its acknowledgement", Rank: 2},
		{Head: "p95", Help: "95th percentile of it, of 20 batches or more", Rank: 7},
		{Head: "p99", Help: "99th percentile of it, of 100 batches or more"},
		{Head: "max", Help: "longest of it", Rank: 6},
		{Head: "workers", Rank: rankIfEqual(r, 3, func(l *result.Load) int { return l.Workers })},
		{Head: "batch", Help: "rows in a batch", Rank: rankIfEqual(r, 4, func(l *result.Load) int { return l.BatchSize })},
		{Head: "prepare", Help: "creating the tables, before the clock", Rank: 8},
		{Head: "wire", Help: "bytes handed to the target", Rank: 5},
		{Head: "disk", Help: "bytes on disk after settling"},
		{Head: "of raw", Help: "bytes on disk as a part of the dataset's size as line protocol", Rank: 1},
	}}
	ranked := g.RankLoads()
	var clientTimes []string
	loads := 0
	for i := range r.Targets {
		loads = max(loads, len(estimate.Loads(&r.Targets[i], estimate.SettledRate)))
	}
	if loads > 1 {
		t.Columns = slices.Insert(t.Columns, 5, doc.Column{Head: "interval", Help: cell.IntervalHelp("of settled/s", loads), Rank: 5})
		t.Notes = append(t.Notes, doc.Dim(fmt.Sprintf("Rates and disk: medians of %d loads; the rest is of the load of median rate.", loads)))
	}
	for i := range r.Targets {
		target := &r.Targets[i]
		l := target.Load
		name := doc.Plain(target.Label())
		if l != nil {
			t.Notes = append(t.Notes, boundaryNotes(r, target)...)
			t.Notes = append(t.Notes, FaultNotes(target.Name, l)...)
		}
		switch {
		case l == nil && target.Failure != "":
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("failed: " + target.Failure)})
			continue
		case l == nil:
			continue
		case !l.HasFigures():
			t.Rows = append(t.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.WithTone(l.Word()+": "+l.Reason(), rank.WithheldTone(l))})
			continue
		}
		rate := func(of func(*result.Load) float64) string {
			if e := estimate.Load(target, of); e.N > 0 {
				return format.Digits(e.Median.Figure)
			}
			return format.PerSecondOf(of(l)) // of an unchecked load
		}
		settled := doc.Plain(rate(estimate.SettledRate))
		if i == ranked.Reference && ranked.Sole {
			settled.Tone = format.ToneBest
		}
		if bound := rank.ClientBounds(target)[compare.LoadSubject]; bound != "" {
			settled.Text += rank.BoundMark
			t.Notes = append(t.Notes, doc.Bad(target.Name+": client-bound: "+bound))
		}
		if why := rank.NoiseReasons(target)[compare.LoadSubject]; why != "" {
			settled.Text += rank.NoisyMark
			t.Notes = append(t.Notes, doc.Bad(target.Name+": noisy host: "+why))
		}
		acked := doc.Plain(rate(estimate.AckedRate))
		if l.Acked == 0 {
			acked = doc.Dim("n/a")
			t.Notes = append(t.Notes, doc.Dim(target.Name+": its protocol does not acknowledge rows"))
		}
		if v := l.Visible; v != nil {
			t.Notes = append(t.Notes, sightNotes(target.Name, v)...)
		}
		if l.Unverified != "" {
			t.Notes = append(t.Notes, doc.Bad(target.Name+": "+l.Unverified))
		}
		if text := contents(l, rowsRead(target)); text != "" {
			t.Notes = append(t.Notes, doc.Dim(target.Name+": "+text))
		}
		metrics := doc.Plain(format.PerSecondOf(metricsRate(target)))
		if l.Metrics == 0 && l.Rows > 0 {
			metrics = doc.None() // lines that passed as they were
		}
		disk, ofRaw := format.None, format.None
		if l.Disk() >= 0 {
			bytes := l.Disk()
			if e := estimate.Load(target, estimate.Disk); e.N > 0 {
				bytes = int64(e.Median.Figure)
			}
			disk = format.Size(bytes)
			if r.Dataset.RawBytes > 0 {
				ofRaw = format.Digits(float64(bytes)/float64(r.Dataset.RawBytes)*100) + format.UnitSpace + "%"
			}
		}
		if l.DiskBytes >= 0 && l.DiskPending != "" {
			disk = Incomplete
		}
		t.Notes = append(t.Notes, diskNotes(target.Name, l)...)
		for _, c := range l.FinalCensus() {
			if c.Merged > 0 {
				t.Notes = append(t.Notes, doc.Dim(fmt.Sprintf("%s: keeps one row of each series and time: %s of %s replaced another one", target.Name, format.CountOf(c.Merged, "row", "rows"), c.Table)))
			}
		}
		t.Notes = append(t.Notes, unreadNotes(target)...)
		if l.Upkeep != "" {
			t.Notes = append(t.Notes, doc.Dim(target.Name+": after the load, "+l.Upkeep))
		}
		if text := clientTimesText(&l.Cell); text != "" {
			clientTimes = append(clientTimes, target.Name+" "+text)
		}
		b := &l.Batches
		cells := []doc.Span{
			name, doc.Plain(format.Count(l.Rows)), doc.Plain(rate(estimate.SentRate)), acked, settled,
			metrics,
			doc.Plain(cell.Latency(b, 0.5, b.Median)), doc.Plain(cell.Latency(b, 0.95, b.P95)), doc.Plain(cell.Latency(b, 0.99, b.P99)), doc.Plain(cell.Latency(b, 1, b.Max)),
			doc.Plain(format.Count(int64(l.Workers))), doc.Plain(format.Count(int64(l.BatchSize))), doc.Plain(format.Duration(l.Prepare)), doc.Plain(format.Size(l.WireBytes)),
			doc.Plain(disk), doc.Plain(ofRaw),
		}
		if loads > 1 {
			cells = slices.Insert(cells, 5, cell.Interval(estimate.Load(target, estimate.SettledRate), format.Digits))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	if !slices.ContainsFunc(r.Targets, func(t result.Target) bool { return t.Load != nil }) {
		return nil
	}
	if len(clientTimes) > 0 {
		t.Notes = append(t.Notes, doc.Dim("CPU time of tsmark itself: "+strings.Join(clientTimes, "; ")))
	}
	t.Notes = append(t.Notes, rank.MarkNotes(t.Rows)...)
	return t
}

// rankIfEqual returns the rank of a column about a setting of loads: 0, which shows it at any width,
// if the setting differs between targets.
func rankIfEqual(r *result.Run, rank int, setting func(*result.Load) int) int {
	var first *result.Load
	for i := range r.Targets {
		l := r.Targets[i].Load
		if first != nil && l != nil && setting(l) != setting(first) {
			return 0
		}
		first = cmp.Or(first, l)
	}
	return rank
}

// sightNotes says how the rows of a load were found to be visible.
func sightNotes(name string, v *result.Visible) []doc.Span {
	var parts []string
	if v.Rows > 0 {
		parts = append(parts, fmt.Sprintf("%s of the load", format.CountOf(int64(v.Rows), "row", "rows")))
	}
	if v.Counted > 0 {
		parts = append(parts, "a count of all")
	}
	var notes []doc.Span
	if len(parts) > 0 {
		notes = append(notes, doc.Dim(fmt.Sprintf("%s: settled includes the queries that saw %s: %s", name, strings.Join(parts, " and "), format.Duration(v.Seconds))))
	}
	if v.Unchecked != "" {
		notes = append(notes, doc.Bad(name+": rows of the load were not queried before it counted as settled: "+v.Unchecked))
	}
	if v.Missing != "" {
		notes = append(notes, doc.Bad(fmt.Sprintf("%s: %s were not visible when the clock was stopped", name, v.Missing)))
	}
	if v.Late > 0 {
		notes = append(notes, doc.Bad(fmt.Sprintf("%s: rows appeared while they were counted: settled includes %s until the census found all", name, format.Duration(v.Late))))
	}
	return notes
}

// FaultNotes describe the fate of failed batches.
func FaultNotes(name string, l *result.Load) []doc.Span {
	var notes []doc.Span
	if r := l.AllRetries(); r != nil {
		notes = append(notes, doc.Bad(fmt.Sprintf("%s: %s; %s sent again although they may have been stored; the first failure: %s",
			name, format.CountOf(r.Tries, "retry", "retries"), format.CountOf(r.SentTwice, "row", "rows"), r.Cause)))
	}
	if why := l.UndetectedLoss(); why != "" {
		notes = append(notes, doc.Bad(name+": losses cannot be excluded: "+why))
	}
	if n := l.Duplicates(); n > 0 {
		notes = append(notes, doc.Bad(fmt.Sprintf("%s: holds %s of rows that were sent again", name, format.CountOf(n, "duplicate", "duplicates"))))
	}
	return notes
}

// metricsRate returns the values a second until the last row was acknowledged, or otherwise
// handed over: the median of the loads.
func metricsRate(t *result.Target) float64 {
	of := func(l *result.Load) float64 {
		if seconds := cmp.Or(l.Acked, l.Sent); seconds > 0 {
			return float64(l.Metrics) / seconds
		}
		return 0
	}
	if e := estimate.Load(t, of); e.N > 0 {
		return e.Median.Figure
	}
	return of(t.Load)
}

// Census shows the contents found in the tables. It returns nil if they were not
// counted.
func Census(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Census", Terminal: doc.Doubtful, Columns: append([]doc.Column{{Head: "target"}}, censusColumns()...)}
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, cells := range censusCells(t) {
			view.Rows = append(view.Rows, doc.Row{Cells: append([]doc.Span{doc.Plain(t.Label())}, cells...)})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// TargetCensus shows the contents found in the tables of one target. It returns nil if they
// were not counted.
func TargetCensus(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Census", Terminal: doc.Doubtful, Columns: censusColumns()}
	for _, cells := range censusCells(t) {
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

func censusColumns() []doc.Column {
	return []doc.Column{{Head: "table", Words: true}, {Head: "rows expected"}, {Head: "rows counted"}, {Head: "finding", Words: true}}
}

// censusCells returns the cells of each table of a target.
func censusCells(t *result.Target) [][]doc.Span {
	if t.Load == nil {
		return nil
	}
	var list [][]doc.Span
	for _, c := range t.Load.FinalCensus() {
		found := doc.Plain(format.Count(c.Counted))
		if c.Counted < 0 {
			found = doc.Dim("counts points only")
		}
		finding := doc.Plain("agrees")
		if c.Duplicates > 0 {
			finding = doc.Bad("agrees, but for " + format.CountOf(c.Duplicates, "duplicate", "duplicates"))
		}
		if c.Contents != nil && c.Contents.PossiblyMissing != "" {
			finding = doc.Bad(finding.Text + "; losses cannot be excluded: " + c.Contents.PossiblyMissing)
		}
		if c.Problem != "" {
			finding = doc.Bad(c.Problem)
		}
		list = append(list, []doc.Span{doc.Plain(c.Table), doc.Plain(format.Count(c.Expected)), found, finding})
	}
	return list
}

// Contents describes the comparisons of a load's census in addition to the rows. It is
// empty if there were no comparisons, or if some tables do not match.
func Contents(l *result.Load) string {
	return contents(l, []int64{wholeRows(l.FinalCensus())})
}

// wholeRows returns the number of rows that were read back for a census.
func wholeRows(census []result.CensusResult) (rows int64) {
	for i := range census {
		if c := census[i].Contents; c != nil {
			rows += c.Rows
		}
	}
	return rows
}

// rowsRead returns wholeRows of each load of a target: a repeated load has fewer.
func rowsRead(t *result.Target) (rows []int64) {
	for _, r := range t.MeasuredRepeats() {
		if r.Load != nil {
			rows = append(rows, wholeRows(r.Load.FinalCensus()))
		}
	}
	return rows
}

// unreadNotes says of each table why rows of it were not read back after some load.
func unreadNotes(t *result.Target) (list []doc.Span) {
	for _, r := range t.MeasuredRepeats() {
		if r.Load == nil {
			continue
		}
		for _, c := range r.Load.FinalCensus() {
			if c.Contents == nil || c.Contents.RowsUnread == "" {
				continue
			}
			note := doc.Bad(fmt.Sprintf("%s: whole rows of table %s were not read back: %s", t.Name, c.Table, c.Contents.RowsUnread))
			if !slices.Contains(list, note) {
				list = append(list, note)
			}
		}
	}
	return list
}

// contents is Contents with the numbers of rows that were read back after each of several loads, at least one.
func contents(l *result.Load, rows []int64) string {
	census := l.FinalCensus()
	var by []result.Compared
	series, seconds, complete := int64(0), 0.0, len(census) > 0
	for i := range census {
		c := &census[i]
		if c.Problem != "" || c.Contents == nil {
			return ""
		}
		for _, f := range c.Contents.Fields {
			if at := slices.IndexFunc(by, func(other result.Compared) bool { return other.By == f.By }); at >= 0 {
				by[at].Fields += f.Fields
			} else {
				by = append(by, f)
			}
		}
		complete = complete && c.Contents.Series >= 0
		series, seconds = max(series, c.Contents.Series), seconds+c.Contents.Seconds
	}
	if len(by) == 0 {
		return ""
	}
	parts := make([]string, len(by))
	for i, f := range by {
		parts[i] = fmt.Sprintf("%s by %s", format.Plural(f.Fields, "field"), f.By)
	}
	text := ""
	if l.Life != nil {
		text = "after its life, "
	}
	text += fmt.Sprintf("contents verified: %s, %s", format.Plural(len(census), "table"), strings.Join(parts, "; "))
	if times := census[0].Contents.Times; times != "" {
		text += "; times of rows by " + times
	}
	if complete {
		text += "; tags of " + format.CountOf(series, "series", "series")
	}
	if most := slices.Max(rows); most > 0 {
		text += "; "
		if least := slices.Min(rows); least < most {
			text += format.Count(least) + " to "
		}
		text += format.CountOf(most, "whole row", "whole rows") + " drawn at random"
		if len(rows) > 1 {
			text += " after each load"
		}
	}
	return text + fmt.Sprintf("; in %s, off the clock", format.Duration(seconds))
}
