package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// fact is a line of a list of properties.
type fact struct{ Key, Value string }

// alerts says what readers must know before they see any figure.
func alerts(r *result.Run) []note {
	var list []note
	warn := func(format string, args ...any) {
		list = append(list, note{fmt.Sprintf(format, args...), bad})
	}
	switch r.Status {
	case result.Running:
		warn("DID NOT FINISH: it is still going on, or it was killed. Shown is what had finished.")
	case result.Incomplete:
		warn("INCOMPLETE: %s", cmp.Or(r.Reason, "no reason was recorded"))
	}
	loads, types := 0, 0
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Failure != "" {
			warn("Target %s gave up: %s", t.Name, t.Failure)
		}
		if t.Load != nil && t.Load.Withheld != "" {
			loads++
		}
		for j := range t.Queries {
			if t.Queries[j].Withheld != "" {
				types++
			}
		}
	}
	if loads > 0 {
		warn("Figures of %s withheld: the check of what was loaded failed.", plural(loads, "load"))
	}
	if types > 0 {
		warn("Figures of %s withheld: the check of the answers failed.", plural(types, "query type"))
	}
	if r.Dataset.Unverified != "" {
		warn("%s", r.Dataset.Unverified)
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil {
			continue
		}
		if t.Load.Unverified != "" {
			warn("Target %s: %s", t.Name, t.Load.Unverified)
		}
		if t.Load.Skipped > 0 {
			warn("Target %s: %s skipped, so that their rows are missing", t.Name, plural(int(t.Load.Skipped), "bad line"))
		}
	}
	return list
}

// outcome is the run's status in a few words.
func outcome(r *result.Run) note {
	switch {
	case r.Status == result.Running:
		return note{"did not finish", bad}
	case r.Status == result.Incomplete:
		return note{"incomplete", bad}
	case !r.Passed():
		return note{"complete, figures withheld", bad}
	case r.Unverified() != "":
		text, _, _ := strings.Cut(r.Unverified(), ":")
		return note{"complete, " + text, bad}
	}
	return note{"complete", best}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// facts is the provenance of a run in short.
func facts(r *result.Run) []fact {
	started := moment(r.Started)
	if !r.Finished.IsZero() {
		started += ", took " + elapsed(r.Finished.Sub(r.Started))
	}
	list := []fact{
		{"started", started},
		{"dataset", datasetFact(&r.Dataset)},
	}
	if asked := questionsFact(r.Questions); asked != "" {
		list = append(list, fact{"asked", asked})
	}
	list = append(list,
		fact{"host", hostFact(&r.Host)},
		fact{"tsmark", joined(", ", r.Tool.Version, r.Tool.Commit, r.Tool.Go)},
	)
	for i := range r.Targets {
		t := &r.Targets[i]
		list = append(list, fact{"target", targetFact(t)})
	}
	return list
}

func datasetFact(d *result.Dataset) string {
	what := fmt.Sprintf("%s, scale %s, seed %d, every %v from %s to %s",
		d.Spec.Name, count(int64(d.Spec.Scale)), d.Spec.Seed, d.Spec.Interval, moment(d.Spec.Start), moment(d.Spec.End))
	if d.Unverified != "" {
		what = d.Spec.Name
	}
	if d.Source != "" {
		what += ", read from " + d.Source
	}
	var sizes []string
	if d.Rows > 0 || d.Source == "" {
		sizes = append(sizes, count(d.Rows)+" rows", count(d.Metrics)+" metrics")
	}
	if d.RawBytes > 0 || d.Source == "" {
		sizes = append(sizes, size(d.RawBytes)+" as line protocol")
	}
	if len(sizes) > 0 {
		what += "; " + strings.Join(sizes, ", ")
	}
	if d.Unverified != "" {
		return what + "; " + d.Unverified
	}
	return what + "; fingerprint " + d.Fingerprint
}

const embedded = "shares tsmark's process; client figures n/a"

func targetFact(t *result.Target) string {
	s := t.Name + ": " + joined(" ", t.Kind, version(&t.Description))
	if t.Description.Location != "" {
		s += " at " + t.Description.Location
	}
	if t.Embedded {
		s += "; " + embedded
	}
	if t.Profile != "" {
		s += "; profile " + t.Profile
	}
	if t.Durability != "" {
		s += "; durability level " + t.Durability
	}
	if t.Description.Durability != "" {
		s += "; durability: " + t.Description.Durability
	}
	return s + provenance(t)
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// command is the command line, quoted for a shell.
func command(r *result.Run) string {
	quoted := make([]string, len(r.Args))
	for i, a := range r.Args {
		if a == "" || strings.ContainsFunc(a, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=,+@%", c))
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}

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
	view := &table{Title: "Census", Columns: []column{
		{Head: "target"}, {Head: "table", Words: true}, {Head: "rows expected"}, {Head: "rows counted"}, {Head: "finding", Words: true},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load == nil {
			continue
		}
		for _, c := range t.Load.Census {
			counted := cell{Text: count(c.Counted)}
			if c.Counted < 0 {
				counted = cell{"counts points only", dim}
			}
			finding := cell{Text: "agrees"}
			if c.Problem != "" {
				finding = cell{c.Problem, bad}
			}
			view.Rows = append(view.Rows, row{Cells: []cell{{Text: t.Name}, {Text: c.Table}, {Text: count(c.Expected)}, counted, finding}})
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}
