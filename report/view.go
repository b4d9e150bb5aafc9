package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/stats"
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
	d, h := &r.Dataset, &r.Host
	list := []fact{
		{"started", started},
		{"dataset", datasetFact(d)},
		{"host", joined(", ", h.OS, h.Kernel, h.Arch, h.CPU, plural(h.Cores, "core"), size(int64(h.Memory)), h.FileSystem, h.Virtualization)},
		{"tsmark", joined(", ", r.Tool.Version, r.Tool.Commit, r.Tool.Go)},
	}
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
	s := t.Name + ": " + joined(" ", t.Kind, t.Description.Version)
	if t.Description.Location != "" {
		s += " at " + t.Description.Location
	}
	if t.Embedded {
		s += "; " + embedded
	}
	if t.Description.Durability != "" {
		s += "; durability: " + t.Description.Durability
	}
	return s
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// repeats says how much one can conclude from so many runs.
func repeats(runs []*result.Run) string {
	if len(runs) == 1 {
		return "one run: no confidence interval"
	}
	return plural(len(runs), "run") + ", each shown by itself: no confidence interval"
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

// stat is a figure of a query type's service time.
type stat struct {
	column
	of      func(*measure.Summary) float64
	isBound bool // a lower bound when some queries were cut off
}

func serviceStats() []stat {
	return []stat{
		{column{Head: "mean", Rank: 1}, func(s *measure.Summary) float64 { return s.Mean }, true},
		{column{Head: "stddev", Help: "standard deviation", Rank: 6}, func(s *measure.Summary) float64 { return s.StdDev }, false},
		{column{Head: "min", Rank: 9}, func(s *measure.Summary) float64 { return s.Min }, false},
		{column{Head: "median"}, func(s *measure.Summary) float64 { return s.Median }, true},
		{column{Head: "p90", Help: "90 of 100 queries took no longer", Rank: 8}, func(s *measure.Summary) float64 { return s.P90 }, true},
		{column{Head: "p95", Help: "95 of 100 queries took no longer"}, func(s *measure.Summary) float64 { return s.P95 }, true},
		{column{Head: "p99", Help: "99 of 100 queries took no longer"}, func(s *measure.Summary) float64 { return s.P99 }, true},
		{column{Head: "p99.9", Help: "999 of 1,000 queries took no longer", Rank: 7}, func(s *measure.Summary) float64 { return s.P999 }, true},
		{column{Head: "max", Rank: 3}, func(s *measure.Summary) float64 { return s.Max }, true},
	}
}

// onlyChecked reports whether answers were compared and measuring was not
// meant: nothing was measured, and nothing withheld for another reason than
// the answers.
func onlyChecked(t *result.Target) bool {
	return !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Asked > 0 || q.Distinct > 0 || q.Withheld != "" && q.Withheld != q.Verdict.Difference
	})
}

// checkTable shows what was compared where nothing was measured.
func checkTable(t *result.Target) *table {
	view := &table{Title: "Answers: " + t.Name, Columns: []column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were the expected ones", Words: true},
		{Head: "queries", Help: "queries whose answers were compared"},
		{Head: "empty", Help: "of these, rightly without rows"},
		{Head: "rows", Help: "rows compared"},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		name, v := cell{Text: q.Type}, &q.Verdict
		switch {
		case q.Unsupported != "":
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"n/a: " + q.Unsupported, dim}})
		case !v.OK():
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"wrong: " + cmp.Or(v.Difference, q.Withheld), bad}})
		default:
			view.Rows = append(view.Rows, row{Cells: []cell{name, {Text: v.String()}, {Text: count(int64(v.Checked))}, {Text: count(int64(v.Empty))}, {Text: count(v.Rows)}}})
		}
	}
	return view
}

// queryTable shows the query types of a target; nil where it has none.
func queryTable(t *result.Target) *table {
	if len(t.Queries) == 0 {
		return nil
	}
	if onlyChecked(t) {
		return checkTable(t)
	}
	title := "Queries: " + t.Name
	if n := t.Queries[0].Workers; n > 0 && !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Workers != n && q.Unsupported == ""
	}) {
		title += ", " + plural(n, "worker")
	}
	view := &table{Title: title, Columns: []column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were compared with the expected ones", Words: true},
		{Head: "n", Help: "queries recorded"},
		{Head: "q/s", Help: "queries a second, all workers together", Rank: 4},
	}}
	for _, s := range serviceStats() {
		view.Columns = append(view.Columns, s.column)
	}
	view.Columns = append(view.Columns,
		column{Head: "rows", Help: "rows in an answer, on average", Rank: 2},
		column{Head: "bytes", Help: "bytes of an answer, on average", Rank: 10})
	for i := range t.Queries {
		q := &t.Queries[i]
		name := cell{Text: q.Type}
		state := q.Standing()
		switch state {
		case result.Unsupported:
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"n/a: " + q.Unsupported, dim}})
			continue
		case result.Withheld:
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"withheld: " + q.Reason(), bad}})
			if d := q.Verdict.Difference; d != "" && !strings.Contains(q.Withheld, d) {
				view.Notes = append(view.Notes, note{q.Type + ": first difference: " + d, bad})
			}
			continue
		}
		figures := plain
		if state != result.Verified {
			figures = dim
		}
		verdict := cell{q.Verdict.String(), figures}
		if state == result.NotAsked && q.Verdict.OK() {
			verdict.Tone = plain
		}
		cells := []cell{name, verdict, {count(q.Asked), plain}, {none, dim}}
		if q.PerSecond > 0 {
			cells[3] = cell{digits(q.PerSecond), figures}
		}
		for _, s := range serviceStats() {
			text := latency(&q.Service, s.of(&q.Service.Summary))
			switch {
			case q.AtLeast > 0 && q.Service.Count > 0 && s.isBound:
				text = "≥" + text
			case q.AtLeast > 0:
				text = none
			}
			cells = append(cells, cell{text, figures})
		}
		cells = append(cells, cell{each(q.Rows, q.Asked-q.AtLeast), figures}, cell{none, dim})
		if n := q.Asked - q.AtLeast; n > 0 {
			cells[len(cells)-1] = cell{size(q.Bytes / n), figures}
		}
		view.Rows = append(view.Rows, row{Cells: cells})
		if q.AtLeast > 0 {
			view.Notes = append(view.Notes, note{fmt.Sprintf("%s: ≥ at least; %s of %s cut off%s, so that figures are lower bounds",
				q.Type, count(q.AtLeast), count(q.Asked), limit(q)), dim})
		}
	}
	return view
}

func limit(q *result.Queries) string {
	if q.Timeout > 0 {
		return " by the limit of " + number(q.Timeout) + unitSpace + "s"
	}
	return ""
}

func each(total, n int64) string {
	if n == 0 {
		return none
	}
	return number(float64(total) / float64(n))
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

// subject is a target in a run, as one of several that are compared.
type subject struct {
	Label  string
	run    *result.Run
	target *result.Target
}

// queries returns what the subject recorded of a type; nil where it did not.
func (s *subject) queries(queryType string) *result.Queries {
	for i := range s.target.Queries {
		if s.target.Queries[i].Type == queryType {
			return &s.target.Queries[i]
		}
	}
	return nil
}

// group is the subjects that were given the same dataset: only those may be
// compared.
type group struct {
	dataset  *result.Dataset
	subjects []subject
}

// groups sorts the targets of all runs by dataset, in order of appearance.
func groups(runs []*result.Run) []group {
	var list []group
	for i, r := range runs {
		at := slices.IndexFunc(list, func(g group) bool { return result.SameDataset(g.dataset, &r.Dataset) })
		if at < 0 {
			at = len(list)
			list = append(list, group{dataset: &r.Dataset})
		}
		for j := range r.Targets {
			label := r.Targets[j].Name
			if len(runs) > 1 {
				label += " @" + shortID(runs, i)
			}
			list[at].subjects = append(list[at].subjects, subject{label, r, &r.Targets[j]})
		}
	}
	return list
}

// shortID is the random part of a run's ID where that is enough to tell it
// from the other runs, else all of it.
func shortID(runs []*result.Run, i int) string {
	short := func(r *result.Run) string { return r.ID[strings.LastIndexByte(r.ID, '-')+1:] }
	for j, other := range runs {
		if j != i && short(other) == short(runs[i]) {
			return runs[i].ID
		}
	}
	return short(runs[i])
}

// types lists the query types of all subjects in the order asked, with their
// help.
func (g *group) types() []fact {
	var list []fact
	for _, s := range g.subjects {
		for _, q := range s.target.Queries {
			if !slices.ContainsFunc(list, func(f fact) bool { return f.Key == q.Type }) {
				list = append(list, fact{q.Type, q.Help})
			}
		}
	}
	return list
}

// comparison sets medians side by side; nil where there is nothing to compare.
func comparison(g *group) *table {
	if len(g.subjects) < 2 {
		return nil
	}
	view := &table{Title: "Comparison: median service time, and how many times the best", Columns: []column{{Head: "type"}}}
	for _, s := range g.subjects {
		view.Columns = append(view.Columns, column{Head: s.Label}, column{Head: "×best", Help: s.Label + " as a multiple of the best", Follows: true})
	}
	if r, ok := compareLoads(g); ok {
		view.Rows = append(view.Rows, r)
	}
	for _, t := range g.types() {
		view.Rows = append(view.Rows, compareType(g, t.Key))
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []note{
		{"Medians over the questions that all verified targets answered, which in a time box are the first ones.", dim},
		{"Only verified figures take part; an empty answer, or one cut off by a limit, wins nothing.", dim},
	}
	return view
}

func compareLoads(g *group) (row, bool) {
	rates := make([]float64, len(g.subjects))
	compared, fastest := 0, 0.0
	for i, s := range g.subjects {
		if rates[i] = settledRate(s.target.Load); rates[i] > 0 {
			compared++
			fastest = max(fastest, rates[i])
		}
	}
	cells := []cell{{Text: "load, settled rows/s"}}
	for i, s := range g.subjects {
		switch {
		case s.target.Load != nil && s.target.Load.Withheld != "":
			cells = append(cells, cell{"withheld", bad}, cell{})
		case rates[i] == 0:
			cells = append(cells, cell{none, dim}, cell{})
		default:
			cells = append(cells, beside(digits(rates[i]), "", fastest/rates[i], compared)...)
		}
	}
	return row{Cells: cells}, compared > 0
}

// compareType sets the medians over the questions that all verified targets
// answered beside each other: a target that got further in its time box is
// not judged by other questions.
func compareType(g *group, queryType string) row {
	medians := commonMedians(g, queryType)
	fastest, compared := math.Inf(1), 0
	for i, s := range g.subjects {
		if q := s.queries(queryType); q.Standing() == result.Verified {
			compared++
			if q.AtLeast == 0 {
				fastest = min(fastest, medians[i])
			}
		}
	}
	cells := []cell{{Text: queryType}}
	for i, s := range g.subjects {
		q := s.queries(queryType)
		switch q.Standing() {
		case result.NotAsked:
			cells = append(cells, cell{none, dim}, cell{})
		case result.Unsupported:
			cells = append(cells, cell{"n/a", dim}, cell{})
		case result.Withheld:
			cells = append(cells, cell{"withheld", bad}, cell{})
		case result.Empty:
			cells = append(cells, cell{duration(q.Service.Median), dim}, cell{"empty", dim})
		case result.Unverified:
			cells = append(cells, cell{duration(q.Service.Median), dim}, cell{"not verified", dim})
		case result.Verified:
			bound := ""
			if q.AtLeast > 0 {
				bound = "≥"
			}
			cells = append(cells, beside(duration(medians[i]), bound, medians[i]/fastest, compared)...)
		}
	}
	return row{Cells: cells}
}

// commonMedians returns each subject's median service time of a type over the
// questions that all verified ones answered or were cut off at; over its own
// where there are no such questions.
func commonMedians(g *group, queryType string) []float64 {
	medians := make([]float64, len(g.subjects))
	var each [][]float64
	for _, s := range g.subjects {
		if q := s.queries(queryType); q.Standing() == result.Verified {
			each = append(each, q.Each)
		}
	}
	common := compare.Common(each...)
	for i, s := range g.subjects {
		q := s.queries(queryType)
		var times []float64
		if q.Standing() == result.Verified {
			times, common = common[0], common[1:]
		}
		switch {
		case len(times) > 0:
			medians[i] = math.Abs(stats.Median(times))
		case q != nil:
			medians[i] = q.Service.Median
		}
	}
	return medians
}

// beside returns the two cells of a figure among several: the figure, and
// how many times the best it is. A bound is put before both, and keeps the
// figure from being the best.
func beside(figure, bound string, times float64, compared int) []cell {
	switch {
	case compared < 2 || times == 0: // nothing to set it against
		return []cell{{Text: bound + figure}, {}}
	case bound == "" && times == 1:
		return []cell{{figure, best}, {ratio(1), best}}
	}
	return []cell{{Text: bound + figure}, {Text: bound + ratio(times)}}
}
