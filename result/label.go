package result

import (
	"slices"
	"strings"
)

// Label names the target, with what its readers must know of every figure beside it: that
// a stand-in answered, or a system other than the one that the driver is named for.
func (t *Target) Label() string {
	var words []string
	if s := t.Description.System; s != "" && !strings.Contains(strings.ToLower(t.Name), strings.ToLower(s)) {
		words = append(words, s)
	}
	if t.Description.StandIn != "" {
		words = append(words, "stand-in")
	}
	if len(words) == 0 {
		return t.Name
	}
	return t.Name + " (" + strings.Join(words, ", ") + ")"
}

// System names what was measured: the system that answered, its version and edition.
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

// Uncomparable is why no figure of the target is compared with another one, in any output;
// empty: they may be. This is the one place that decides it.
func (t *Target) Uncomparable() string {
	if t.Description.StandIn == "" {
		return ""
	}
	return "stand-in: " + t.Description.StandIn
}

// NotMeasuredHere is the mark of a run that came from a file: its figures are what the file
// says, and Unchecked is why they were not compared with its operation log. Empty: it was
// executed into the results folder that it is in.
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
