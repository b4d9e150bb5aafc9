// Package facts returns facts about a run other than its figures: provenance, outcome and
// alerts.
package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/report/agents"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generated"
)

// List is the provenance of a run in short.
func List(r *result.Run) []doc.Fact {
	started := format.Time(r.Started)
	if !r.Finished.IsZero() {
		started += ", took " + format.ElapsedTime(r.Finished.Sub(r.Started))
	}
	list := []doc.Fact{
		{Key: "started", Value: started},
		{Key: "dataset", Value: Dataset(&r.Dataset)},
	}
	list = append(list, fileFacts(r.Dataset.Files)...)
	if len(r.Dataset.Files) > 0 {
		for _, note := range r.Notes {
			list = append(list, doc.Fact{Key: "data", Value: strings.TrimPrefix(note, result.DataNote)})
		}
	}
	if again := r.Dataset.Reread; again != nil {
		for _, line := range again.Lines() {
			list = append(list, doc.Fact{Key: "files read twice", Value: line})
		}
	}
	if place := sweepFact(&r.Place); place != "" {
		list = append(list, doc.Fact{Key: "sweep", Value: place})
	}
	if drawn := Queries(r); drawn != "" {
		list = append(list, doc.Fact{Key: "queries", Value: drawn})
	}
	list = append(list,
		doc.Fact{Key: "host", Value: Host(&r.Host)},
		doc.Fact{Key: "tsmark", Value: r.Tool.String()},
	)
	if len(r.Deviations) > 0 {
		list = append(list, doc.Fact{Key: "expected", Value: strings.Join(r.Deviations, "; ")})
	}
	if agents := agents.Summary(r); agents != "" {
		list = append(list, doc.Fact{Key: "agents", Value: agents})
	}
	if most := calibrationFact(r.Calibration); most != "" {
		list = append(list, doc.Fact{Key: "client", Value: most})
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		list = append(list, doc.Fact{Key: "target", Value: targetFact(t)})
	}
	return list
}

// Dataset describes a dataset in one line.
func Dataset(d *result.Dataset) string {
	if d.Spec.Name == "" && d.Source == "" { // all targets failed before they reported their data
		return "not known"
	}
	what := fmt.Sprintf("%s, scale %s, seed %d, every %v from %s to %s",
		d.Spec.Name, format.Count(int64(d.Spec.Scale)), d.Spec.Seed, d.Spec.Interval, format.Time(d.Spec.Start), format.Time(d.Spec.End)) + arrangement(d)
	if len(d.Files) > 0 {
		what = fmt.Sprintf("%s, %s, %s series, from %s to %s", d.Spec.Name, format.Plural(len(d.Files), "file"), format.Count(int64(d.Spec.Scale)),
			format.Time(d.Spec.Start), format.Time(d.Spec.End.Add(-d.Spec.Interval))) + arrangement(d)
	}
	if d.Source != "" {
		what += ", read from " + d.Source
	}
	var sizes []string
	if d.Rows > 0 || d.Source == "" {
		sizes = append(sizes, format.Count(d.Rows)+" rows", format.Count(d.Metrics)+" metrics")
	}
	if d.RawBytes > 0 || d.Source == "" {
		sizes = append(sizes, format.Size(d.RawBytes)+" as line protocol")
	}
	for _, as := range slices.Sorted(maps.Keys(d.FormatBytes)) {
		sizes = append(sizes, format.Size(d.FormatBytes[as])+" as a file of "+as)
	}
	if len(sizes) > 0 {
		what += "; " + strings.Join(sizes, ", ")
	}
	digest := ""
	if d.Digest != "" {
		digest = "; digest " + d.Digest
	}
	return what + "; fingerprint " + d.Fingerprint + digest
}

// shownFiles is the maximum number of input files that reports name.
const shownFiles = 20

// fileFacts describes the input files.
func fileFacts(files []workload.File) []doc.Fact {
	var list []doc.Fact
	for i, f := range files {
		if i == shownFiles {
			return append(list, doc.Fact{Key: "file", Value: fmt.Sprintf("and %d more, which the run's JSON lists", len(files)-shownFiles)})
		}
		list = append(list, doc.Fact{Key: "file", Value: fmt.Sprintf("%s: %s rows, %s, sha256 %s", f.Name, format.Count(f.Rows), format.Size(f.Bytes), f.SHA256)})
	}
	return list
}

// arrangement describes the order and shape of the rows, if they differ from
// TSBS's.
func arrangement(d *result.Dataset) string {
	text := ""
	if s := d.Spec; s.InARow > 1 {
		text += fmt.Sprintf(", %d intervals of a device in a row", s.InARow)
	}
	if d.Spec.Records > 0 {
		text += fmt.Sprintf(", the first %s of a device in each table", format.Plural(int(d.Spec.Records), "row"))
	}
	for _, appear := range []struct {
		n         uint32
		what, say string
	}{{d.Spec.NewTags, "tag", "a third"}, {d.Spec.NewFields, "field", "two thirds"}} {
		if appear.n > 0 {
			text += fmt.Sprintf(", the last %s of each table from %s of the time on", format.Plural(int(appear.n), appear.what), appear.say)
		}
	}
	about := generated.Describe(d.Spec)
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
	Embedded  = "shares tsmark's process; client figures n/a"
	CoLocated = "on tsmark's own host, whose processors, memory and disk both share"
)

func targetFact(t *result.Target) string {
	s := t.Name + ": " + t.System()
	if t.External != "" {
		s += "; external driver " + t.External
	}
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
		s += "; " + Embedded
	}
	if t.CoLocated {
		s += "; " + CoLocated
	}
	if started := Server(t); started != "" {
		s += "; " + started
	}
	if part := t.Group.String(); part != "" {
		s += "; " + part
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

// Server says that tsmark started the server, and how it was treated during the rounds of
// other targets. It is empty if the server ran already.
func Server(t *result.Target) string {
	text := "its server was started for the run and paused while other targets ran"
	switch t.Idle {
	case "":
		return ""
	case "run":
		text = "its server was started for the run and kept running while other targets ran"
	case "stop":
		text = "its server was started for each of its measurements"
	}
	return format.Join(", ", text, memoryFact(t))
}

// memoryFact returns the memory limit of a target's server. It is empty without a limit.
func memoryFact(t *result.Target) string {
	if t.ServerMemory == 0 {
		return ""
	}
	return "with at most " + format.Size(t.ServerMemory) + " of memory"
}

// Command is the run's command line, quoted for a shell.
func Command(r *result.Run) string { return format.ShellWords(r.Args) }
