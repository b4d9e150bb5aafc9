package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
)

// hostFact is the machine in one line.
func hostFact(h *result.Host) string {
	parts := []string{
		h.OS, h.Kernel, h.Arch, h.CPU, plural(h.Cores, "core"), size(int64(h.Memory)), h.FileSystem, h.Disk, h.Virtualization,
	}
	more := func(format string, v any, known bool) {
		if known {
			parts = append(parts, fmt.Sprintf(format, v))
		}
	}
	more("CPU limit %s", plural(int(h.CPULimit), "core"), h.CPULimit > 0 && h.CPULimit == math.Trunc(h.CPULimit))
	more("CPU limit %.2f cores", h.CPULimit, h.CPULimit != math.Trunc(h.CPULimit))
	more("memory limit %s", size(int64(h.MemoryLimit)), h.MemoryLimit > 0)
	more("swap %s", size(int64(h.Swap)), h.Swap > 0)
	more("%d NUMA nodes", h.NUMANodes, h.NUMANodes > 1)
	more("clock %s", h.ClockSource, h.ClockSource != "")
	more("governor %s", h.Governor, h.Governor != "")
	more("turbo %s", h.Turbo, h.Turbo != "")
	more("%s open files", count(int64(min(h.OpenFiles, math.MaxInt64))), h.OpenFiles > 0 && h.OpenFiles < unlimited)
	return joined(", ", parts...)
}

// unlimited is more files than anybody could have open: kernels write "no
// limit" as a number.
const unlimited = 1 << 50

// queriesFact says how many queries were drawn, by which seed, and how many of them every
// target ran at least; empty: none, or not known. Runs with the same fingerprint were given
// the same queries.
func queriesFact(r *result.Run) string {
	text := drawnFact(r)
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

// drawnFact says how many queries were drawn and run; empty: none, or not known.
func drawnFact(r *result.Run) string {
	sets := r.QuerySets
	if len(sets) == 0 {
		return ""
	}
	counts := []int{sets[0].Count, sets[0].Count}
	for _, q := range sets {
		counts[0], counts[1] = min(counts[0], q.Count), max(counts[1], q.Count)
	}
	drawn := count(int64(counts[0]))
	if counts[0] != counts[1] {
		drawn += " to " + count(int64(counts[1]))
	}
	of := plural(len(sets), "type")
	if len(sets) > 1 {
		of = "of each of " + of
	} else {
		of = "of " + of
	}
	text := fmt.Sprintf("%s drawn %s", drawn, of)
	if least, who := leastRun(r); least >= int64(counts[1]) {
		text += ", all run"
	} else if least > 0 {
		text += fmt.Sprintf(", at least %s of them run (%s)", count(least), who)
	}
	return text
}

// changesFact says which options are not as by default.
func changesFact(changes []driver.Change) string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		parts[i] = fmt.Sprintf("%s=%s (default %s)", c.Name, c.Value, c.Default)
	}
	return strings.Join(parts, ", ")
}

// settingsFact lists effective settings by name.
func settingsFact(settings map[string]string) string {
	var parts []string
	for _, f := range pairs(settings) {
		parts = append(parts, f.Key+"="+f.Value)
	}
	return strings.Join(parts, ", ")
}

// modulesFact lists the client's modules.
func modulesFact(modules []result.Module) string {
	parts := make([]string, len(modules))
	for i, m := range modules {
		parts[i] = m.Path + " " + m.Version
	}
	return strings.Join(parts, ", ")
}

// version is a system's version with its edition.
func version(d *driver.Description) string { return joined(" ", d.Version, d.Edition) }

// provenance is what else is known of a target, behind its description.
func provenance(t *result.Target) string {
	var parts []string
	for _, f := range []fact{
		{"types", t.Types}, {"options", changesFact(t.Changes)}, {"settings", settingsFact(t.Description.Settings)}, {"client modules", modulesFact(t.Modules)},
	} {
		if f.Value != "" {
			parts = append(parts, "; "+f.Key+": "+f.Value)
		}
	}
	return strings.Join(parts, "")
}

// repeating says how to do the same elsewhere.
func repeating(r *result.Run) []fact {
	var list []fact
	if len(r.Args) > 0 {
		list = append(list, fact{"command", command(r)})
	}
	if again := elsewhere(r); again != "" {
		list = append(list, fact{"repeat", again})
	}
	if text := notesFact(r); text != "" {
		list = append(list, fact{"notes", text})
	}
	if names := secrets(r); len(names) > 0 {
		list = append(list, fact{"secrets", "not stored, to be given again: " + strings.Join(names, ", ")})
	}
	return list
}

// notesFact is the first of the experiment's notes, and where the others are;
// empty: there are none.
func notesFact(r *result.Run) string {
	if len(r.Notes) < 2 {
		return strings.Join(r.Notes, "")
	}
	return fmt.Sprintf("%s %s in tsmark report %s --experiment", r.Notes[0], plural(len(r.Notes)-1, "further note"), r.ID)
}

// elsewhere is the shell command that repeats a run on another machine that has
// its results; empty: its command line says all.
func elsewhere(r *result.Run) string {
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
