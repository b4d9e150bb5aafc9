package facts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Host is the machine in one line.
func Host(h *result.Host) string {
	parts := []string{
		h.OS, h.Kernel, h.Arch, h.CPU, format.Plural(h.Cores, "core"), format.Size(int64(h.Memory)), h.FileSystem, h.Disk, h.Virtualization,
	}
	more := func(format string, v any, known bool) {
		if known {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	more("CPU limit %s", format.Plural(int(h.CPULimit), "core"), h.CPULimit > 0 && h.CPULimit == math.Trunc(h.CPULimit))
	more("CPU limit %.2f cores", h.CPULimit, h.CPULimit != math.Trunc(h.CPULimit))
	more("memory limit %s", format.Size(int64(h.MemoryLimit)), h.MemoryLimit > 0)
	more("swap %s", format.Size(int64(h.Swap)), h.Swap > 0)
	more("%d NUMA nodes", h.NUMANodes, h.NUMANodes > 1)
	more("clock %s", h.ClockSource, h.ClockSource != "")
	more("governor %s", h.Governor, h.Governor != "")
	more("turbo %s", h.Turbo, h.Turbo != "")
	more("%s open files", format.Count(int64(min(h.OpenFiles, math.MaxInt64))), h.OpenFiles > 0 && h.OpenFiles < unlimited)
	return format.Join(", ", parts...)
}

// unlimited is more than any number of open files: kernels write "no
// limit" as a number.
const unlimited = 1 << 50

// Queries returns how many queries were drawn, with which seed, and how many of them every
// target ran at least. It is empty without queries, or if the number is unknown. Runs with
// the same fingerprint had the same queries.
func Queries(r *result.Run) string {
	text := QueriesDrawn(r)
	if text == "" {
		return ""
	}
	if r.QuerySeed != 0 {
		text += fmt.Sprintf(", by the seed %d", r.QuerySeed)
	}
	sum := sha256.New()
	for _, q := range r.QuerySets {
		fmt.Fprintf(sum, "%s %d %s\n", q.Type, q.Count, q.Fingerprint)
	}
	return text + "; fingerprint " + hex.EncodeToString(sum.Sum(nil)[:8])
}

// QueriesDrawn returns how many queries were drawn and run. It is empty without queries, or
// if the number is unknown.
func QueriesDrawn(r *result.Run) string {
	sets := r.QuerySets
	if len(sets) == 0 {
		return ""
	}
	counts := []int{sets[0].Count, sets[0].Count}
	for _, q := range sets {
		counts[0], counts[1] = min(counts[0], q.Count), max(counts[1], q.Count)
	}
	drawn := format.Count(int64(counts[0]))
	if counts[0] != counts[1] {
		drawn += " to " + format.Count(int64(counts[1]))
	}
	of := format.Plural(len(sets), "type")
	if len(sets) > 1 {
		of = "of each of " + of
	} else {
		of = "of " + of
	}
	text := fmt.Sprintf("%s drawn %s", drawn, of)
	if least, who := leastRun(r); least >= int64(counts[1]) {
		text += ", all run"
	} else if least > 0 {
		text += fmt.Sprintf(", at least %s of them run (%s)", format.Count(least), who)
	}
	return text
}

// Changes says which options are not as by default.
func Changes(changes []driver.Change) string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = fmt.Sprintf("%s=%s (default %s)", c.Name, c.Value, c.Default)
	}
	return strings.Join(parts, ", ")
}

// settingsFact lists effective settings by name.
func settingsFact(settings map[string]string) string {
	var parts []string
	for _, f := range doc.Pairs(settings) {
		parts = append(parts, f.Key+"="+f.Value)
	}
	return strings.Join(parts, ", ")
}

// Modules lists the client's modules.
func Modules(modules []result.Module) string {
	parts := make([]string, len(modules))
	for i, m := range modules {
		parts[i] = m.Path + " " + m.Version
	}
	return strings.Join(parts, ", ")
}

// Version is a system's version with its edition.
func Version(d *driver.Description) string { return format.Join(" ", d.Version, d.Edition) }

// provenance returns further facts about a target, shown after its description.
func provenance(t *result.Target) string {
	var parts []string
	for _, f := range []doc.Fact{
		{Key: "types", Value: t.Types}, {Key: "options", Value: Changes(t.Changes)}, {Key: "server settings", Value: t.ServerSettingsText()}, {Key: "settings", Value: settingsFact(t.Description.Settings)}, {Key: "client modules", Value: Modules(t.Modules)},
	} {
		if f.Value != "" {
			parts = append(parts, "; "+f.Key+": "+f.Value)
		}
	}
	return strings.Join(parts, "")
}

// Remarks returns the requirements for repeating a run, besides the command.
func Remarks(r *result.Run) []doc.Fact {
	var list []doc.Fact
	if text := notesFact(r); text != "" && len(r.Dataset.Files) == 0 { // List has those about files
		list = append(list, doc.Fact{Key: "notes", Value: text})
	}
	if names := secrets(r); len(names) > 0 {
		list = append(list, doc.Fact{Key: "secrets", Value: "not stored, to be given again: " + strings.Join(names, ", ")})
	}
	return list
}

// notesFact returns the first of the experiment's notes and the place of the others. It is
// empty if there are no notes.
func notesFact(r *result.Run) string {
	if len(r.Notes) < 2 {
		return strings.Join(r.Notes, "")
	}
	return fmt.Sprintf("%s %s in tsmark report %s --experiment", r.Notes[0], format.Plural(len(r.Notes)-1, "further note"), r.ID)
}

// RepeatCommand returns the shell command that repeats a run on another machine that has
// its results. It is empty if the run's command line suffices.
func RepeatCommand(r *result.Run) string {
	if r.Command != "run" || r.Experiment == "" {
		return ""
	}
	return fmt.Sprintf("tsmark report %s --experiment > experiment.yaml && tsmark run experiment.yaml", r.ID)
}

// secrets lists the options whose values were not stored.
func secrets(r *result.Run) []string {
	var names []string
	for i := range r.Targets {
		for name, value := range r.Targets[i].Options {
			if strings.Contains(value, "***") {
				names = append(names, r.Targets[i].Name+" "+name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// calibrationFact returns the client's maximum rates, or "" if they were not measured.
func calibrationFact(c *result.Calibration) string {
	if c == nil {
		return ""
	}
	rows, queries := format.Digits(c.RowsPerSecond), format.Digits(c.QueriesPerSecond)
	if c.QueryWorkers == 0 || c.QueryWorkers == c.Workers {
		return fmt.Sprintf("at most %s rows/s and %s queries/s with %s, against a stub", rows, queries, format.Plural(c.Workers, "worker"))
	}
	return fmt.Sprintf("at most %s rows/s with %s and %s queries/s with %d, against a stub", rows, format.Plural(c.Workers, "worker"), queries, c.QueryWorkers)
}

// leastRun returns the smallest number of queries that a target recorded of a type
// that it ran, with their names; -1: the target ran none.
func leastRun(r *result.Run) (least int64, who string) {
	least = -1
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Queries {
			q := &t.Queries[j]
			if different := int64(q.Sample.Different); different > 0 && !q.Sample.Repeated && (least < 0 || different < least) {
				least, who = different, q.Type+" of "+t.Name
			}
		}
	}
	return least, who
}

// sweepFact returns the place of a run in its sweep, or "" if it has none.
func sweepFact(p *result.Place) string {
	if p.Sweep == "" {
		return ""
	}
	return format.Join(": ", fmt.Sprintf("%s, run %d of %d", p.Sweep, p.Point, p.Points), p.Parameters.String())
}
