package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// loadTable shows the loads of a run; nil where there are none.
func loadTable(g *group, r *result.Run) *table {
	t := &table{Title: "Load", Columns: []column{
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
		{Head: "workers", Rank: 3},
		{Head: "batch", Help: "rows in a batch", Rank: 4},
		{Head: "prepare", Help: "creating the tables, before the clock", Rank: 8},
		{Head: "wire", Help: "bytes handed to the target", Rank: 5},
		{Head: "disk", Help: "bytes on disk after settling"},
		{Head: "of raw", Help: "bytes on disk as a part of the dataset's size as line protocol"},
	}}
	ranked := g.rankLoads()
	loads := 0
	for i := range r.Targets {
		loads = max(loads, len(estimate.Loads(&r.Targets[i], estimate.Settled)))
	}
	if loads > 1 {
		t.Columns = slices.Insert(t.Columns, 5, column{Head: "interval", Help: intervalHelp("of settled/s", loads), Rank: 5})
		t.Notes = append(t.Notes, spanDim(fmt.Sprintf("Rates and disk: medians of %d loads; the rest is of the load of median rate.", loads)))
	}
	for i := range r.Targets {
		target := &r.Targets[i]
		l := target.Load
		name := spanPlain(target.Label())
		if l != nil {
			t.Notes = append(t.Notes, faultNotes(target.Name, l)...)
		}
		switch {
		case l == nil && target.Failure != "":
			t.Rows = append(t.Rows, row{Cells: []span{name}, Remark: spanBad("failed: " + target.Failure)})
			continue
		case l == nil:
			continue
		case !l.Stands():
			t.Rows = append(t.Rows, row{Cells: []span{name}, Remark: spanToned(l.Word()+": "+l.Reason(), standingTone(l))})
			continue
		}
		rate := func(of func(*result.Load) float64) string {
			if e := estimate.Load(target, of); e.N > 0 {
				return digits(e.Median.Figure)
			}
			return perSecondOf(of(l)) // of a load that nobody checked
		}
		settled := spanPlain(rate(estimate.Settled))
		if i == ranked.Reference && ranked.Sole {
			settled.Tone = toneBest
		}
		if bound := clientBounds(target)[compare.LoadSubject]; bound != "" {
			settled.Text += boundMark
			t.Notes = append(t.Notes, spanBad(target.Name+": client-bound: "+bound))
		}
		if why := noisyIn(target)[compare.LoadSubject]; why != "" {
			settled.Text += noisyMark
			t.Notes = append(t.Notes, spanBad(target.Name+": noisy host: "+why))
		}
		acked := spanPlain(rate(estimate.Acked))
		if l.Acked == 0 {
			acked = spanDim("n/a")
			t.Notes = append(t.Notes, spanDim(target.Name+": its protocol does not acknowledge rows"))
		}
		if v := l.Visible; v != nil {
			t.Notes = append(t.Notes, sightNotes(target.Name, v)...)
		}
		if l.Unverified != "" {
			t.Notes = append(t.Notes, spanBad(target.Name+": "+l.Unverified))
		}
		if text := contents(l.Census); text != "" {
			t.Notes = append(t.Notes, spanDim(target.Name+": "+text))
		}
		metrics := spanPlain(perSecondOf(metricsRate(target)))
		if l.Metrics == 0 && l.Rows > 0 {
			metrics = spanNone() // lines that passed as they were
		}
		disk, ofRaw := none, none
		if l.Disk() >= 0 {
			bytes := l.Disk()
			if e := estimate.Load(target, estimate.Disk); e.N > 0 {
				bytes = int64(e.Median.Figure)
			}
			disk = size(bytes)
			if r.Dataset.RawBytes > 0 {
				ofRaw = digits(float64(bytes)/float64(r.Dataset.RawBytes)*100) + unitSpace + "%"
			}
		}
		if l.DiskBytes >= 0 && l.DiskPending != "" {
			disk = incomplete
		}
		t.Notes = append(t.Notes, diskNotes(target.Name, l)...)
		for _, c := range l.Census {
			if c.Contents != nil && c.Contents.RowsUnread != "" {
				t.Notes = append(t.Notes, spanBad(fmt.Sprintf("%s: whole rows of table %s were not read back: %s", target.Name, c.Table, c.Contents.RowsUnread)))
			}
		}
		if l.Upkeep != "" {
			t.Notes = append(t.Notes, spanDim(target.Name+": after the load, "+l.Upkeep))
		}
		b := &l.Batches
		cells := []span{
			name, spanPlain(count(l.Rows)), spanPlain(rate(estimate.Sent)), acked, settled,
			metrics,
			spanPlain(latency(b, 0.5, b.Median)), spanPlain(latency(b, 0.95, b.P95)), spanPlain(latency(b, 0.99, b.P99)), spanPlain(latency(b, 1, b.Max)),
			spanPlain(count(int64(l.Workers))), spanPlain(count(int64(l.BatchSize))), spanPlain(duration(l.Prepare)), spanPlain(size(l.WireBytes)),
			spanPlain(disk), spanPlain(ofRaw),
		}
		if loads > 1 {
			cells = slices.Insert(cells, 5, interval(estimate.Load(target, estimate.Settled), digits))
		}
		t.Rows = append(t.Rows, row{Cells: cells})
	}
	if !slices.ContainsFunc(r.Targets, func(t result.Target) bool { return t.Load != nil }) {
		return nil
	}
	t.Notes = append(t.Notes, markNotes(t.Rows)...)
	return t
}

// sightNotes says how the rows of a load were found to be visible.
func sightNotes(name string, v *result.Visible) []span {
	var parts []string
	if v.Rows > 0 {
		parts = append(parts, fmt.Sprintf("%s of the load", counted(int64(v.Rows), "row", "rows")))
	}
	if v.Counted > 0 {
		parts = append(parts, "a count of all")
	}
	var notes []span
	if len(parts) > 0 {
		notes = append(notes, spanDim(fmt.Sprintf("%s: settled includes the queries that saw %s: %s", name, strings.Join(parts, " and "), duration(v.Seconds))))
	}
	if v.Unlooked != "" {
		notes = append(notes, spanBad(name+": rows of the load were not queried before it counted as settled: "+v.Unlooked))
	}
	if v.Missing != "" {
		notes = append(notes, spanBad(fmt.Sprintf("%s: %s were not visible when the clock was stopped", name, v.Missing)))
	}
	if v.Late > 0 {
		notes = append(notes, spanBad(fmt.Sprintf("%s: rows appeared while they were counted: settled includes %s until the census found all", name, duration(v.Late))))
	}
	return notes
}

// standingTone is the tone of why a load does not stand.
func standingTone(l *result.Load) tone {
	if l.Unsupported() != "" {
		return toneDim
	}
	return toneBad
}

// faultNotes says what became of batches that failed.
func faultNotes(name string, l *result.Load) []span {
	var notes []span
	if r := l.AllRetries(); r != nil {
		notes = append(notes, spanBad(fmt.Sprintf("%s: %s; %s sent again although they may have been stored; the first failure: %s",
			name, counted(r.Tries, "retry", "retries"), counted(r.SentTwice, "row", "rows"), r.Cause)))
	}
	if why := l.Unexcluded(); why != "" {
		notes = append(notes, spanBad(name+": losses cannot be excluded: "+why))
	}
	if n := l.Duplicates(); n > 0 {
		notes = append(notes, spanBad(fmt.Sprintf("%s: holds %s of rows that were sent again", name, counted(n, "duplicate", "duplicates"))))
	}
	return notes
}

// counted is a number with what is counted.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// latency renders a quantile of a histogram, which does not exist where so few
// durations do not tell it: see measure.Holds.
func latency(l *result.Latency, quantile, seconds float64) string {
	if !l.Holds(quantile) {
		return none
	}
	return duration(seconds)
}

func perSecond(n int64, seconds float64) string {
	if seconds <= 0 {
		return none
	}
	return digits(float64(n) / seconds)
}

// perSecondOf renders a rate; 0: there is none.
func perSecondOf(rate float64) string {
	if rate <= 0 {
		return none
	}
	return digits(rate)
}

// settledRate is rows a second until everything had settled; 0 where the load
// has no such figure that was verified.
func settledRate(l *result.Load) float64 {
	if !l.Stands() || l.Unverified != "" || l.Settled <= 0 {
		return 0
	}
	return float64(l.Rows) / l.Settled
}

// metricsRate is values a second until the last row was acknowledged, or else
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

// censusTable shows what the tables were found to hold; nil where nobody
// counted.
func censusTable(r *result.Run) *table {
	view := &table{Title: "Census", Terminal: doubtful, Columns: []column{
		{Head: "target"}, {Head: "table", Words: true}, {Head: "rows expected"}, {Head: "rows counted"}, {Head: "finding", Words: true},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil {
			continue
		}
		for _, c := range t.Load.Census {
			found := spanPlain(count(c.Counted))
			if c.Counted < 0 {
				found = spanDim("counts points only")
			}
			finding := spanPlain("agrees")
			if c.Duplicates > 0 {
				finding = spanBad("agrees, but for " + counted(c.Duplicates, "duplicate", "duplicates"))
			}
			if c.Contents != nil && c.Contents.Unexcluded != "" {
				finding = spanBad(finding.Text + "; losses cannot be excluded: " + c.Contents.Unexcluded)
			}
			if c.Problem != "" {
				finding = spanBad(c.Problem)
			}
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label()), spanPlain(c.Table), spanPlain(count(c.Expected)), found, finding}})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// contents says what the census of tables that agree compared beside the rows;
// empty: nobody did, or not all agree.
func contents(census []result.CensusResult) string {
	var by []result.Compared
	series, rows, seconds, told := int64(0), int64(0), 0.0, len(census) > 0
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
		told = told && c.Contents.Series >= 0
		series, seconds = max(series, c.Contents.Series), seconds+c.Contents.Seconds
		rows += c.Contents.Rows
	}
	if len(by) == 0 {
		return ""
	}
	parts := make([]string, len(by))
	for i, f := range by {
		parts[i] = fmt.Sprintf("%s by %s", plural(f.Fields, "field"), f.By)
	}
	text := fmt.Sprintf("contents verified: %s, %s", plural(len(census), "table"), strings.Join(parts, "; "))
	if times := census[0].Contents.Times; times != "" {
		text += "; times of rows by " + times
	}
	if told {
		text += "; tags of " + counted(series, "series", "series")
	}
	if rows > 0 {
		text += "; " + counted(rows, "whole row", "whole rows") + " drawn at random"
	}
	return text + fmt.Sprintf("; in %s, off the clock", duration(seconds))
}
