package result

import (
	"maps"
	"slices"
	"strings"
)

// OptionQuirks is the option of targets whose profile is for a system that is compatible with the driver's: it
// identifies the profile's contents.
const OptionQuirks = "quirks"

// Label returns the target's name and a warning that must accompany each of its figures: that a
// stand-in answered, or a system other than the one that the driver is named for.
func (t *Target) Label() string {
	var words []string
	if s := t.Description.System; s != "" && !strings.Contains(strings.ToLower(t.Name), strings.ToLower(s)) {
		words = append(words, s)
	}
	if t.Options[OptionQuirks] != "" {
		words = append(words, "profile "+t.Profile)
	}
	if t.Description.StandIn != "" {
		words = append(words, "stand-in")
	}
	if len(words) == 0 {
		return t.Name
	}
	return t.Name + " (" + strings.Join(words, ", ") + ")"
}

// System returns the measured system: the system that answered, its version and edition.
func (t *Target) System() string {
	d := &t.Description
	name, version := t.Driver, d.Version
	if d.System != "" {
		name, version = d.System, strings.TrimPrefix(version, d.System+" ")
	}
	if d.StandIn != "" {
		name += " (stand-in)"
	}
	return strings.Join(slices.DeleteFunc([]string{name, version, d.Edition}, func(s string) bool { return s == "" }), " ")
}

// Uncomparable is why no output compares a figure of the target with another; empty: figures are
// comparable. Only this method decides it.
func (t *Target) Uncomparable() string {
	if t.Description.StandIn == "" {
		return ""
	}
	return "stand-in: " + t.Description.StandIn
}

// ServerSettingsText returns the settings with which tsmark started the server, and what the server
// reports instead where that differs.
func (t *Target) ServerSettingsText() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t.ServerSettings)) {
		text := name + "=" + t.ServerSettings[name]
		if effective, ok := t.Description.Settings[name]; ok && effective != t.ServerSettings[name] {
			text += " (the server: " + effective + ")"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// NotMeasuredHere is the label of a run that was imported from a file: its figures are taken from
// the file, and Unchecked is why they were not compared with its operation log. Empty: the run was
// executed into this results folder.
func (r *Run) NotMeasuredHere() string {
	const mark = "imported, not measured here"
	switch {
	case r.Imported.IsZero():
		return ""
	case r.Unchecked == "":
		return mark
	}
	return mark + ", figures not checked: " + r.Unchecked
}
