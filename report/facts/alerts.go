package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/agents"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// OtherDatabaseNames is otherDatabases without figures, which differ from run to run.
func OtherDatabaseNames(r *result.Run) []doc.Span {
	var list []doc.Span
	for _, other := range r.OtherDatabases {
		n := doc.Bad("Another process on this host: " + other.Name + ".")
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// otherDatabases names the other databases that ran on the host.
func otherDatabases(r *result.Run) []doc.Span {
	var list []doc.Span
	for _, other := range r.OtherDatabases {
		text := fmt.Sprintf("Another process on this host: %s (%s, process %d", other.Name, other.Process, other.PID)
		if other.Share.IsKnown() {
			text += fmt.Sprintf(", %.0f%s%% of a core", 100*float64(other.Share), format.UnitSpace)
		}
		if other.RSS.IsKnown() {
			text += ", " + format.Size(int64(other.RSS))
		}
		list = append(list, doc.Bad(text+")."))
	}
	return list
}

// Alerts are warnings about a run, shown before all figures.
func Alerts(r *result.Run) []doc.Span { return AlertsBeside(r, otherDatabases(r)) }

// AlertsBeside is alerts with others' words about other databases on the host.
func AlertsBeside(r *result.Run, otherDatabases []doc.Span) []doc.Span {
	var list []doc.Span
	warn := func(format string, args ...any) {
		list = append(list, doc.Bad(fmt.Sprintf(format, args...)))
	}
	for _, text := range r.Comments {
		list = append(list, doc.Plain("Note: "+text))
	}
	switch r.Status {
	case result.Running:
		warn("DID NOT FINISH: the run is still going on, or was killed. This report shows its finished measurements.")
	case result.Incomplete:
		warn("INCOMPLETE: %s", cmp.Or(r.Reason, "no reason was recorded"))
	}
	if why := r.NotMeasuredHere(); why != "" {
		warn("%s: the figures of run %s are what its file says.", strings.ToUpper(why[:1])+why[1:], r.ID)
	}
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Description.StandIn != "" {
			warn("STAND-IN: target %s is %s. Its figures say nothing about the system and are not compared.", t.Name, t.Description.StandIn)
		}
	}
	loads, beside := 0, 0
	var wrong, failed, missing, documented affected
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Failure != "" && !(r.Status == result.Incomplete && r.Reason == "target "+t.Name+": "+t.Failure) { // otherwise it is in the alert above
			warn("Target %s failed: %s", t.Name, t.Failure)
		}
		switch {
		case t.Load == nil || t.Load.HasFigures() || t.Load.UnsupportedReason() != "" || t.Failure != "":
		case t.Load.Withheld == "":
			beside++
		case t.Load.Settled == 0:
			warn("The load of target %s did not finish: %s", t.Name, t.Load.Withheld)
		default:
			loads++
		}
		for j := range t.Queries {
			switch q := &t.Queries[j]; {
			case q.Withheld != "" && agents.OnlyMissing(t, q.Type):
				missing.add(t, q)
			case q.Withheld != "":
				wrong.add(t, q)
			case q.Failed != nil:
				failed.add(t, q)
			case q.Verdict.Documented > 0:
				documented.add(t, q)
			}
		}
		if t.Load != nil && t.Load.LostRows() > 0 {
			warn("Target %s lost %s that it had acknowledged (durability: %s)", t.Name,
				format.CountOf(t.Load.LostRows(), "row", "rows"), cmp.Or(t.Durability, t.Description.Durability, "not known"))
		}
		if t.Load != nil && t.Load.Mixed.Problem() != "" {
			warn("Target %s, queried while it was loaded: figures withheld: %s", t.Name, t.Load.Mixed.Problem())
		}
		if t.Load != nil && t.Load.Mixed != nil {
			for j := range t.Load.Mixed.Types {
				if q := &t.Load.Mixed.Types[j]; q.TooStale() {
					warn("Target %s, queried while it was loaded: %s of the answers of %s were stale: they lack acknowledged rows.", t.Name, format.PercentUp(q.StaleShare()), q.Type)
				}
			}
		}
		if t.Load != nil && t.Load.Life.Problem() != "" {
			warn("Target %s, life: figures withheld: %s", t.Name, t.Load.Life.Problem())
		}
		if t.Crash != nil && t.Crash.Ended != "" {
			warn("Target %s crashed %d of %d times: %s", t.Name, len(t.Crash.Rounds), t.Crash.Planned, t.Crash.Ended)
		}
		if t.Load != nil && t.Load.Mixed.Failure() != nil {
			warn("Target %s, queried while it was loaded: %v", t.Name, t.Load.Mixed.Failure())
		}
	}
	if loads > 0 {
		warn("Figures of %s withheld: the check of the loaded data failed.", format.Plural(loads, "load"))
	}
	if beside > 0 {
		warn("Figures of %s withheld: answers of the same target are wrong.", format.Plural(beside, "load"))
	}
	if len(wrong.types) > 0 {
		warn("Figures of %s withheld: the check of the answers failed.", &wrong)
	}
	if len(documented.types) > 0 {
		warn("Answers of %s differ from Prometheus's as documented, and are not wrong.", &documented)
	}
	if len(missing.types) > 0 {
		warn("Figures of %s withheld: an agent did not finish its share.", &missing)
	}
	if len(failed.types) > 0 {
		warn("No figures of %s: a query failed or had no answer in time. No answer was wrong, and other figures stand.", &failed)
	}
	if r.LostOperations > 0 {
		warn("The operation log lacks %s, since the disk was slower than they came; the figures here have them, those of tsmark analyze do not.",
			format.Plural(int(r.LostOperations), "operation"))
	}
	if n := PausedNote(r); n != "" {
		warn("%s", n)
	}
	list = append(list, dataNotes(r)...)
	list = append(list, agents.Notes(r)...)
	list = append(list, selfTestNotes(r)...)
	if n, noisy := noiseAlert(r); noisy {
		list = append(list, n)
	}
	list = append(list, otherDatabases...)
	if types := r.OwnTexts(); len(types) > 0 {
		warn("%s: the query texts are user-provided (own text). Their answers are not verified, and targets are not compared by them.", strings.Join(types, ", "))
	}
	if how := disagreement(r); how != "" {
		warn("Answers to own texts differ between systems, and the correct one is unknown: %s. The texts must select the same columns with the same types.", how)
	}
	if why := noReference(r); why != "" {
		warn("Reference texts of own queries were not run: %s", why)
	}
	if r.Texts() == result.TextsTSBS {
		warn("The queries are TSBS's own texts (query-texts: tsbs), which differ in meaning between systems: answers are not verified, and targets are not compared by them.")
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
			warn("Target %s: %s skipped, so that their rows are missing", t.Name, format.Plural(int(t.Load.Skipped), "bad line"))
		}
	}
	return list
}

// PausedNote returns in one sentence how much of the runs was measured while tsmark itself was
// paused, for several runs as the range of their counts. It is empty if none was paused.
func PausedNote(runs ...*result.Run) string {
	var queries, batches countRange
	paused := 0
	for _, r := range runs {
		var q, b int64
		for i := range r.Targets {
			for _, m := range r.Targets[i].MeasuredRepeats() {
				if m.Load != nil {
					b += m.Load.Paused
				}
				for j := range m.Queries {
					q += m.Queries[j].Paused
				}
			}
		}
		queries.add(q)
		batches.add(b)
		if q+b > 0 {
			paused++
		}
	}
	if paused == 0 {
		return ""
	}
	where := ""
	if len(runs) > 1 {
		where = fmt.Sprintf(" in %d of %s,", paused, format.Plural(len(runs), "run"))
	}
	return "tsmark itself was paused" + where + " during " + format.Join(" and ", queries.text("query", "queries"), batches.text("batch", "batches")) +
		", because it was stopped or had no processor; these times are excluded."
}

// countRange is the smallest and the largest count above 0.
type countRange struct{ least, most int64 }

func (c *countRange) add(n int64) {
	if n > 0 && (c.least == 0 || n < c.least) {
		c.least = n
	}
	c.most = max(c.most, n)
}

// text returns the range with its unit: 1 to 668 queries. It is empty without counts.
func (c *countRange) text(singular, plural string) string {
	switch {
	case c.most == 0:
		return ""
	case c.least < c.most:
		return format.Count(c.least) + " to " + format.CountOf(c.most, singular, plural)
	}
	return format.CountOf(c.most, singular, plural)
}

// affected are the query types with a problem, and the targets.
type affected struct{ types, targets []string }

func (a *affected) add(t *result.Target, q *result.Queries) {
	if !slices.Contains(a.types, q.Type) {
		a.types = append(a.types, q.Type)
	}
	if !slices.Contains(a.targets, t.Name) {
		a.targets = append(a.targets, t.Name)
	}
}

// String returns the number of types, each counted once, and of targets if there are several.
func (a *affected) String() string {
	text := format.Plural(len(a.types), "query type")
	if n := len(a.targets); n > 1 {
		text += fmt.Sprintf(" of %d targets", n)
	}
	return text
}

// disagreement describes how the answers to the first own text differ if the expected answer is unknown. It is
// empty if they do not differ.
func disagreement(r *result.Run) string {
	for i := range r.Targets {
		for _, of := range r.Targets[i].MeasuredRepeats() {
			for j := range of.Queries {
				if q := &of.Queries[j]; q.Disagrees != "" {
					return q.Type + ", " + q.Disagrees
				}
			}
		}
	}
	return ""
}

// noReference returns why reference texts of own queries were not run. It is empty if they were run or
// do not exist.
func noReference(r *result.Run) string {
	for i := range r.Targets {
		for j := range r.Targets[i].Queries {
			if why := r.Targets[i].Queries[j].NoReference; why != "" {
				return why
			}
		}
	}
	return ""
}

// Outcome is the run's status in a few words.
func Outcome(r *result.Run) doc.Span {
	switch {
	case r.Status == result.Running:
		return doc.Bad("did not finish")
	case r.Status == result.Incomplete:
		return doc.Bad("incomplete")
	case r.AnyWithheld():
		return doc.Bad("complete, figures withheld")
	case r.AnyFailed():
		return doc.Bad("complete, queries failed")
	case r.AnyRateNotFound():
		return doc.Bad("complete, no highest rate found")
	case r.Texts() == result.TextsTSBS:
		return doc.Bad("complete, queries not verified: " + result.TSBSText)
	case r.UnverifiedParts() != "":
		text, _, _ := strings.Cut(r.UnverifiedParts(), ":")
		return doc.Bad("complete, " + text)
	}
	return doc.Best("complete")
}

// noiseAlert reports in how many measurements of a run the host was noisy. It is false if it
// never was.
func noiseAlert(r *result.Run) (doc.Span, bool) {
	noisy, all, worst := 0, 0, (*result.Noise)(nil)
	for i := range r.Targets {
		for _, h := range rank.PhaseNoises(&r.Targets[i]) {
			all++
			if h.Reason() == "" {
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
		return doc.Span{}, false
	}
	text := fmt.Sprintf("NOISY HOST in %d of %s; at worst %s.", noisy, format.Plural(all, "measurement"), worst.Noisy())
	if noisy < all {
		text += " Disturbed figures are marked " + rank.NoisyMark + "."
	}
	return doc.Bad(text), true
}

// selfTestNotes return the differences that a run cannot resolve, if it compared its
// targets with themselves. A run that is not a self-test has no such notes.
func selfTestNotes(r *result.Run) []doc.Span {
	tests := compare.SelfTests(r)
	if len(tests) == 0 {
		return nil
	}
	var notes []doc.Span
	var differ []string
	for i := range tests {
		for _, f := range tests[i].Differs() {
			differ = append(differ, fmt.Sprintf("%s %s %s× (%s)", tests[i].Target, f.Subject, format.Times(f.Ratio), format.IntervalText(f.Interval)))
		}
	}
	if len(differ) > 0 {
		notes = append(notes, doc.Bad("A TARGET DIFFERS FROM ITSELF: "+strings.Join(differ, ", ")+
			". With these settings neither this machine nor its figures can be trusted, unless it was chance: about one self-test in ten. Repeat it."))
	}
	var resolved []string
	for _, m := range []struct {
		metric compare.Metric
		what   string
	}{{compare.Median, "query medians"}, {compare.Load, "load rates"}} {
		middle, worst, of, ok := compare.Resolutions(tests, m.metric)
		if !ok {
			continue
		}
		text := format.Percent(middle) + " of " + m.what
		if worst > middle {
			text += fmt.Sprintf(" (%s at worst, of %s)", format.Percent(worst), of)
		}
		resolved = append(resolved, text)
	}
	if len(resolved) == 0 {
		return append(notes, doc.Bad("Self-test: no result, since no figure was measured often enough; see the table."))
	}
	return append(notes, doc.Plain("On this machine and with these settings differences below "+strings.Join(resolved, " and ")+" cannot be resolved."))
}

// dataNotes describes the rows of users' files: the columns that are loaded, the columns that
// are left out, and whether a second reader compared them.
func dataNotes(r *result.Run) []doc.Span {
	var list []doc.Span
	for _, note := range r.Notes {
		if text, ok := strings.CutPrefix(note, result.DataNote); ok {
			list = append(list, doc.Plain("Data: "+text))
		}
	}
	if again := r.Dataset.Reread; again != nil {
		if again.Reader == "" {
			list = append(list, doc.Plain("Data: no second reader compared the values of the files"))
		}
		for _, skipped := range again.Skipped {
			list = append(list, doc.Plain("Data: not checked by a second reader: "+skipped))
		}
	}
	return list
}
