package driver

import (
	"fmt"
	"slices"
	"strings"
)

// Tested is a version of a server on which the whole conformance suite has passed.
type Tested struct {
	// Version is a prefix of Description.Version that ends before a dot: 15 matches 15.20.
	Version string
	// From says where a server came from that no script in the folder servers starts: "built from
	// source". Empty: a script starts it.
	From string
}

// String returns the version, and where the server came from.
func (t Tested) String() string {
	if t.From == "" {
		return t.Version
	}
	return t.Version + " (" + t.From + ")"
}

// is reports whether a version equals the tested one or belongs to its release: 15.20 belongs to 15.
func (t Tested) is(version string) bool {
	rest, ok := strings.CutPrefix(version, t.Version)
	return ok && strings.IndexAny(rest, "0123456789") != 0
}

// TestedWith reports whether the conformance suite has passed on a server of the version.
func (d *Driver) TestedWith(version string) bool {
	return slices.ContainsFunc(d.Tested, func(t Tested) bool { return t.is(version) })
}

// TestedText lists the versions on which the conformance suite has passed; empty: none.
func (d *Driver) TestedText() string {
	versions := make([]string, len(d.Tested))
	for i, t := range d.Tested {
		versions[i] = t.String()
	}
	return strings.Join(versions, ", ")
}

// standInText describes the substitute on which the suite has passed; empty: no substitute.
func (d *Driver) standInText() string {
	if d.StandIn == "" {
		return ""
	}
	return ", but against " + d.StandIn
}

// Adapter describes the versions of a user-provided server that the suite has passed on, as the text
// after "adapter". It is empty if a script starts the server, or if there is no server.
func (d *Driver) Adapter() string {
	switch {
	case d.UserServer == nil:
		return ""
	case len(d.Tested) == 0:
		return "not verified against a server of any version" + d.standInText()
	}
	return "verified against " + d.TestedText()
}

// Caution says that the suite has not passed on this version of a user-provided server, as the text
// after "adapter"; empty: it has passed, or a script starts the server.
func (d *Driver) Caution(version string) string {
	if d.UserServer == nil || d.TestedWith(version) {
		return ""
	}
	text := fmt.Sprintf("not verified against a server of this version (%s)", version)
	if version == "" {
		text = "not verified against a server of this version, which it does not report"
	}
	if len(d.Tested) == 0 {
		return text + d.standInText()
	}
	return text + ", but against " + d.TestedText()
}
