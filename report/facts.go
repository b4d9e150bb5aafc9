package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/all"
)

// fact is a line of a list of properties.
type fact struct{ Key, Value string }

// alerts says what readers must know before they see any figure.
func alerts(r *result.Run) []span { return alertsBeside(r, otherDatabases(r)) }

// alertsBeside is alerts with others' words about other databases on the host.
func alertsBeside(r *result.Run, otherDatabases []span) []span {
	var list []span
	warn := func(format string, args ...any) {
		list = append(list, spanBad(fmt.Sprintf(format, args...)))
	}
	switch r.Status {
	case result.Running:
		warn("DID NOT FINISH: the run is still going on, or was killed. This report shows what had finished.")
	case result.Incomplete:
		warn("INCOMPLETE: %s", cmp.Or(r.Reason, "no reason was recorded"))
	}
	if why := r.NotMeasuredHere(); why != "" {
		warn("%s: the figures of run %s are what its file says.", strings.ToUpper(why[:1])+why[1:], r.ID)
	}
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Description.StandIn != "" {
			warn("STAND-IN: target %s is %s. Its figures say nothing of the system, and are compared with none.", t.Name, t.Description.StandIn)
		}
	}
	loads, beside := 0, 0
	var wrong, failed, missing affected
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Failure != "" && !(r.Status == result.Incomplete && r.Reason == "target "+t.Name+": "+t.Failure) { // as it was said above
			warn("Target %s failed: %s", t.Name, t.Failure)
		}
		switch {
		case t.Load == nil || t.Load.Stands() || t.Load.Unsupported() != "" || t.Failure != "":
		case t.Load.Withheld == "":
			beside++
		case t.Load.Settled == 0:
			warn("The load of target %s did not come to its end: %s", t.Name, t.Load.Withheld)
		default:
			loads++
		}
		for j := range t.Queries {
			switch q := &t.Queries[j]; {
			case q.Withheld != "" && onlyMissing(t, q.Type):
				missing.add(t, q)
			case q.Withheld != "":
				wrong.add(t, q)
			case q.Failed != nil:
				failed.add(t, q)
			}
		}
		if t.Load != nil && t.Load.Lost() > 0 {
			warn("Target %s lost %s that it had acknowledged (durability: %s)", t.Name,
				counted(t.Load.Lost(), "row", "rows"), cmp.Or(t.Durability, t.Description.Durability, "not known"))
		}
		if t.Load != nil && t.Load.Mixed.Problem() != "" {
			warn("Target %s, queried while it was loaded: figures withheld: %s", t.Name, t.Load.Mixed.Problem())
		}
		if t.Load != nil && t.Load.Mixed != nil {
			for j := range t.Load.Mixed.Types {
				if q := &t.Load.Mixed.Types[j]; !q.WithoutFigure() && q.StaleShare() > result.MostStale {
					warn("Target %s, queried while it was loaded: %s of the answers of %s were stale: they lack acknowledged rows.", t.Name, shareText(q.StaleShare()), q.Type)
				}
			}
		}
		if t.Load != nil && t.Load.Mixed.Failure() != nil {
			warn("Target %s, queried while it was loaded: %v", t.Name, t.Load.Mixed.Failure())
		}
	}
	if loads > 0 {
		warn("Figures of %s withheld: the check of what was loaded failed.", plural(loads, "load"))
	}
	if beside > 0 {
		warn("Figures of %s withheld: answers of the same target are wrong.", plural(beside, "load"))
	}
	if len(wrong.types) > 0 {
		warn("Figures of %s withheld: the check of the answers failed.", &wrong)
	}
	if len(missing.types) > 0 {
		warn("Figures of %s withheld: an agent did not finish its share.", &missing)
	}
	if len(failed.types) > 0 {
		warn("No figures of %s: a query failed or had no answer in time. No answer was wrong, and other figures stand.", &failed)
	}
	if r.LostOperations > 0 {
		warn("The operation log lacks %s, since the disk was slower than they came; the figures here have them, those of tsmark analyze do not.",
			plural(int(r.LostOperations), "operation"))
	}
	if n := pausedNote(r); n != "" {
		warn("%s", n)
	}
	list = append(list, agentNotes(r)...)
	list = append(list, selfTestNotes(r)...)
	if n, noisy := noiseAlert(r); noisy {
		list = append(list, n)
	}
	list = append(list, otherDatabases...)
	if r.Dataset.Unverified != "" {
		warn("%s", r.Dataset.Unverified)
	}
	if types := r.OwnTexts(); len(types) > 0 {
		warn("%s: the queries are texts that the experiment brought (own text). No answer of them is verified, and no two targets are compared by them.", strings.Join(types, ", "))
	}
	if how := disagreement(r); how != "" {
		warn("Answers to own texts differ from system to system, and nobody knows which one is right: %s. The texts must select the same columns, of the same types.", how)
	}
	if why := noReference(r); why != "" {
		warn("Reference texts of own queries were not run: %s", why)
	}
	if r.Texts() == result.TextsTSBS {
		warn("The queries are the texts of TSBS's own generator (query-texts: tsbs), which do not ask all systems the same: no answer is verified, and no two targets are compared by them.")
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

// pausedNote says what was measured while tsmark itself stood still; empty: nothing.
func pausedNote(r *result.Run) string {
	var queries, batches int64
	for i := range r.Targets {
		for _, m := range r.Targets[i].Measured() {
			if m.Load != nil {
				batches += m.Load.Paused
			}
			for j := range m.Queries {
				queries += m.Queries[j].Paused
			}
		}
	}
	var parts []string
	if queries > 0 {
		parts = append(parts, counted(queries, "query", "queries"))
	}
	if batches > 0 {
		parts = append(parts, counted(batches, "batch", "batches"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "tsmark itself stood still during " + strings.Join(parts, " and ") + ", because it was stopped or had no processor: their times are left out."
}

// affected are the query types of which something is wrong, and the targets.
type affected struct{ types, targets []string }

func (a *affected) add(t *result.Target, q *result.Queries) {
	if !slices.Contains(a.types, q.Type) {
		a.types = append(a.types, q.Type)
	}
	if !slices.Contains(a.targets, t.Name) {
		a.targets = append(a.targets, t.Name)
	}
}

// String is how many there are, each type once, and of how many targets if that is not one.
func (a *affected) String() string {
	text := plural(len(a.types), "query type")
	if n := len(a.targets); n > 1 {
		text += fmt.Sprintf(" of %d targets", n)
	}
	return text
}

// disagreement is how answers to the first own text differ of which nobody knows the
// right one; empty: there is none.
func disagreement(r *result.Run) string {
	for i := range r.Targets {
		for _, of := range r.Targets[i].Measured() {
			for j := range of.Queries {
				if q := &of.Queries[j]; q.Disagrees != "" {
					return q.Type + ", " + q.Disagrees
				}
			}
		}
	}
	return ""
}

// noReference is why reference texts of own queries were not run; empty: they were, or
// there are none.
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

// outcome is the run's status in a few words.
func outcome(r *result.Run) span {
	switch {
	case r.Status == result.Running:
		return spanBad("did not finish")
	case r.Status == result.Incomplete:
		return spanBad("incomplete")
	case r.AnyWithheld():
		return spanBad("complete, figures withheld")
	case r.AnyFailed():
		return spanBad("complete, queries failed")
	case r.AnyRateNotFound():
		return spanBad("complete, no highest rate found")
	case r.Texts() == result.TextsTSBS:
		return spanBad("complete, queries not verified: " + result.TSBSText)
	case r.Unverified() != "":
		text, _, _ := strings.Cut(r.Unverified(), ":")
		return spanBad("complete, " + text)
	}
	return spanBest("complete")
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
	list = append(list, fileFacts(r.Dataset.Files)...)
	if again := r.Dataset.Reread; again != nil {
		for _, line := range again.Lines() {
			list = append(list, fact{"files read twice", line})
		}
	}
	if place := sweepFact(&r.Place); place != "" {
		list = append(list, fact{"sweep", place})
	}
	if drawn := queriesFact(r); drawn != "" {
		list = append(list, fact{"queries", drawn})
	}
	list = append(list,
		fact{"host", hostFact(&r.Host)},
		fact{"tsmark", r.Tool.String()},
	)
	if len(r.Deviations) > 0 {
		list = append(list, fact{"expected", strings.Join(r.Deviations, "; ")})
	}
	if agents := agentsFact(r); agents != "" {
		list = append(list, fact{"agents", agents})
	}
	if most := calibrationFact(r.Calibration); most != "" {
		list = append(list, fact{"client", most})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		list = append(list, fact{"target", targetFact(t)})
	}
	return list
}

func datasetFact(d *result.Dataset) string {
	if d.Spec.Name == "" && d.Source == "" { // no target lived to tell what it holds
		return "not known"
	}
	what := fmt.Sprintf("%s, scale %s, seed %d, every %v from %s to %s",
		d.Spec.Name, count(int64(d.Spec.Scale)), d.Spec.Seed, d.Spec.Interval, moment(d.Spec.Start), moment(d.Spec.End)) + arrangement(d)
	if len(d.Files) > 0 {
		what = fmt.Sprintf("%s, %s, %s series, from %s to %s", d.Spec.Name, plural(len(d.Files), "file"), count(int64(d.Spec.Scale)),
			moment(d.Spec.Start), moment(d.Spec.End.Add(-d.Spec.Interval))) + arrangement(d)
	}
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
	for _, format := range slices.Sorted(maps.Keys(d.FormatBytes)) {
		sizes = append(sizes, size(d.FormatBytes[format])+" as a file of "+format)
	}
	if len(sizes) > 0 {
		what += "; " + strings.Join(sizes, ", ")
	}
	digest := ""
	if d.Digest != "" {
		digest = "; digest " + d.Digest
	}
	if d.Unverified != "" {
		return what + "; " + d.Unverified + digest
	}
	return what + "; fingerprint " + d.Fingerprint + digest
}

// shownFiles is how many files reports name, of those that rows came from.
const shownFiles = 20

// fileFacts are the files that rows came from.
func fileFacts(files []workload.File) []fact {
	var list []fact
	for i, f := range files {
		if i == shownFiles {
			return append(list, fact{"file", fmt.Sprintf("and %d more, which the run's JSON lists", len(files)-shownFiles)})
		}
		list = append(list, fact{"file", fmt.Sprintf("%s: %s rows, %s, sha256 %s", f.Name, count(f.Rows), size(f.Bytes), f.SHA256)})
	}
	return list
}

// arrangement says in which order and shape the rows come, where that is not as
// TSBS has it.
func arrangement(d *result.Dataset) string {
	text := ""
	if s := d.Spec; s.InARow > 1 {
		text += fmt.Sprintf(", %d intervals of a device in a row", s.InARow)
	}
	if d.Spec.Records > 0 {
		text += fmt.Sprintf(", the first %s of a device in each table", plural(int(d.Spec.Records), "row"))
	}
	for _, appear := range []struct {
		n         uint32
		what, say string
	}{{d.Spec.NewTags, "tag", "a third"}, {d.Spec.NewFields, "field", "two thirds"}} {
		if appear.n > 0 {
			text += fmt.Sprintf(", the last %s of each table from %s of the time on", plural(int(appear.n), appear.what), appear.say)
		}
	}
	about := all.Describe(d.Spec)
	for _, fact := range about.Facts {
		text += ", " + fact
	}
	switch l := d.Late; {
	case l != nil:
		text += fmt.Sprintf(", %.3g %% of rows late in their series (%.3g %% to %.3g %%; %s), by %d steps in the median, p90 %d, p99 %d, %d at most",
			100*l.Share, 100*l.Least, 100*l.Most, about.Late, l.P50, l.P90, l.P99, l.Max)
	case d.Lateness > 0 && about.Late == "":
		text += ", rows late by up to " + time.Duration(d.Lateness*float64(time.Second)).Round(time.Millisecond).String()
	}
	return text
}

const (
	embedded  = "shares tsmark's process; client figures n/a"
	coLocated = "on tsmark's own host, whose processors, memory and disk both share"
)

func targetFact(t *result.Target) string {
	s := t.Name + ": " + t.System()
	if t.Description.StandIn != "" {
		s += "; stand-in: " + t.Description.StandIn
	}
	if t.Description.Location != "" {
		s += " at " + t.Description.Location
	}
	if t.Adapter != "" {
		s += "; adapter " + t.Adapter
	}
	if t.Adopted != "" {
		s += "; not loaded by tsmark: " + t.Adopted
	}
	if t.ResultCache.Name != "" {
		s += "; result cache: " + t.ResultCache.String()
	}
	if t.Embedded {
		s += "; " + embedded
	}
	if t.CoLocated {
		s += "; " + coLocated
	}
	if started := startedFact(t); started != "" {
		s += "; " + started
	}
	if turn := t.Turn.String(); turn != "" {
		s += "; " + turn
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

// startedFact says that tsmark started the server, and what became of it while
// other targets had their turn; empty: it ran already.
func startedFact(t *result.Target) string {
	text := "its server was started for the run and paused during others' turns"
	switch t.Idle {
	case "":
		return ""
	case "run":
		text = "its server was started for the run and ran on during others' turns"
	case "stop":
		text = "its server was started for each of its turns"
	}
	return joined(", ", text, memoryFact(t))
}

// memoryFact says how much memory a target's server could use; empty: as much as there was.
func memoryFact(t *result.Target) string {
	if t.ServerMemory == 0 {
		return ""
	}
	return "with at most " + size(t.ServerMemory) + " of memory"
}

// joined joins the parts that are not empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}

// command is the run's command line, quoted for a shell.
func command(r *result.Run) string { return shellWords(r.Args) }

func shellWords(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsFunc(a, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=,+@%", c))
		}) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted[i] = a
	}
	return strings.Join(quoted, " ")
}
