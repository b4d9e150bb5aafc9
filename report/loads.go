package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/result"
)

// loadTable shows the loads of a run; nil where there are none.
func loadTable(r *result.Run) *table {
	t := &table{Title: "Load", Columns: []column{
		{Head: "target"},
		{Head: "rows", Help: "rows sent", Rank: 1},
		{Head: "sent/s", Help: "rows a second until the last one was handed over"},
		{Head: "acked/s", Help: "rows a second until the last one was acknowledged"},
		{Head: "settled/s", Help: "rows a second until all were visible and background work idle"},
		{Head: "metrics/s", Help: "values a second until the last row was acknowledged"},
		{Head: "batch p50", Help: "median time from handing a batch over to its acknowledgement", Rank: 2},
		{Head: "p95", Help: "95th percentile of it", Rank: 7},
		{Head: "p99", Help: "99th percentile of it"},
		{Head: "max", Help: "longest of it", Rank: 6},
		{Head: "workers", Rank: 3},
		{Head: "batch", Help: "rows in a batch", Rank: 4},
		{Head: "prepare", Help: "creating the tables, before the clock", Rank: 8},
		{Head: "wire", Help: "bytes handed to the target", Rank: 5},
		{Head: "disk", Help: "bytes on disk after settling"},
		{Head: "of raw", Help: "bytes on disk as a part of the dataset's size as line protocol"},
	}}
	fastest := fastestLoad(r)
	for i := range r.Targets {
		target := &r.Targets[i]
		l := target.Load
		name := cell{Text: target.Name}
		if l != nil {
			t.Notes = append(t.Notes, faultNotes(target.Name, l)...)
		}
		switch {
		case l == nil && target.Failure != "":
			t.Rows = append(t.Rows, row{Cells: []cell{name}, Span: cell{"gave up: " + target.Failure, bad}})
			continue
		case l == nil:
			continue
		case l.Withheld != "":
			t.Rows = append(t.Rows, row{Cells: []cell{name}, Span: cell{"withheld: " + l.Withheld, bad}})
			continue
		}
		settled := cell{Text: perSecond(l.Rows, l.Settled)}
		if i == fastest {
			settled.Tone = best
		}
		if bound := clientBounds(target)[compare.LoadSubject]; bound != "" {
			settled.Text += boundMark
			t.Notes = append(t.Notes, note{target.Name + ": client-bound: " + bound, bad}, note{boundNote, dim})
		}
		acked := cell{Text: perSecond(l.Rows, l.Acked)}
		if l.Acked == 0 {
			acked = cell{"n/a", dim}
			t.Notes = append(t.Notes, note{target.Name + ": its protocol does not acknowledge rows", dim})
		}
		if l.Unverified != "" {
			t.Notes = append(t.Notes, note{target.Name + ": " + l.Unverified, bad})
		}
		metrics := cell{Text: perSecond(l.Metrics, cmp.Or(l.Acked, l.Sent))}
		if l.Metrics == 0 && l.Rows > 0 {
			metrics = cell{none, dim} // lines that passed as they were
		}
		disk, ofRaw := none, none
		if l.DiskBytes >= 0 {
			disk = size(l.DiskBytes)
			if r.Dataset.RawBytes > 0 {
				ofRaw = digits(float64(l.DiskBytes)/float64(r.Dataset.RawBytes)*100) + unitSpace + "%"
			}
		}
		b := &l.Batches
		t.Rows = append(t.Rows, row{Cells: []cell{
			name, {Text: count(l.Rows)}, {Text: perSecond(l.Rows, l.Sent)}, acked, settled,
			metrics,
			{Text: latency(b, b.Median)}, {Text: latency(b, b.P95)}, {Text: latency(b, b.P99)}, {Text: latency(b, b.Max)},
			{Text: count(int64(l.Workers))}, {Text: count(int64(l.BatchSize))}, {Text: duration(l.Prepare)}, {Text: size(l.WireBytes)},
			{Text: disk}, {Text: ofRaw},
		}})
	}
	if !slices.ContainsFunc(r.Targets, func(t result.Target) bool { return t.Load != nil }) {
		return nil
	}
	return t
}

// faultNotes says what became of batches that failed.
func faultNotes(name string, l *result.Load) []note {
	var notes []note
	if r := l.AllRetries(); r != nil {
		notes = append(notes, note{fmt.Sprintf("%s: %s; %s sent again although they may have been stored; the first failure: %s",
			name, counted(r.Tries, "retry", "retries"), counted(r.SentTwice, "row", "rows"), r.Cause), bad})
	}
	if n := l.Duplicates(); n > 0 {
		notes = append(notes, note{fmt.Sprintf("%s: holds %s of rows that were sent again", name, counted(n, "duplicate", "duplicates")), bad})
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

// latency renders one figure of a histogram, which does not exist where
// nothing was recorded.
func latency(l *result.Latency, seconds float64) string {
	if l.Count == 0 {
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

// settledRate is rows a second until everything had settled; 0 where the load
// has no such figure that was verified.
func settledRate(l *result.Load) float64 {
	if l == nil || l.Withheld != "" || l.Unverified != "" || l.Settled <= 0 {
		return 0
	}
	return float64(l.Rows) / l.Settled
}

// fastestLoad returns the target with the most settled rows a second, -1
// where fewer than two are there to compare.
func fastestLoad(r *result.Run) int {
	fastest, compared := -1, 0
	for i := range r.Targets {
		rate := settledRate(r.Targets[i].Load)
		if rate == 0 {
			continue
		}
		compared++
		if fastest < 0 || rate > settledRate(r.Targets[fastest].Load) {
			fastest = i
		}
	}
	if compared < 2 {
		return -1
	}
	return fastest
}

// censusTable shows what the tables were found to hold; nil where nobody
// counted.
func censusTable(r *result.Run) *table {
	view := &table{Title: "Census", Proof: true, Columns: []column{
		{Head: "target"}, {Head: "table", Words: true}, {Head: "rows expected"}, {Head: "rows counted"}, {Head: "finding", Words: true},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil {
			continue
		}
		for _, c := range t.Load.Census {
			found := cell{Text: count(c.Counted)}
			if c.Counted < 0 {
				found = cell{"counts points only", dim}
			}
			finding := cell{Text: "agrees"}
			if c.Duplicates > 0 {
				finding = cell{"agrees, but for " + counted(c.Duplicates, "duplicate", "duplicates"), bad}
			}
			if c.Problem != "" {
				finding = cell{c.Problem, bad}
			}
			view.Rows = append(view.Rows, row{Cells: []cell{{Text: t.Name}, {Text: c.Table}, {Text: count(c.Expected)}, found, finding}})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}
