package driver

import (
	"fmt"
	"strings"
)

// Brought is about a server that no script in the folder servers starts: no package
// registry has it, or none that can be installed within minutes, so users bring it.
// What such a driver was seen to do is bound to versions, and is said so.
type Brought struct {
	// How says in one sentence how a server is to be had and started, as far as a
	// line can: "in a container, as docs/drivers/NAME.md says".
	How string
	// Verified are the versions of the server on which the whole conformance suite has
	// passed. Empty: it was never run against a server.
	Verified []Verified
}

// Verified is a version of a server on which the conformance suite has passed.
type Verified struct {
	Version string // as Description.Version has it
	Server  string // where the server came from: "built from source"
}

// String is the version, and where the server came from.
func (v Verified) String() string {
	if v.Server == "" {
		return v.Version
	}
	return v.Version + " (" + v.Server + ")"
}

// String says which versions the suite has passed on, to stand behind "adapter".
func (b *Brought) String() string {
	if len(b.Verified) == 0 {
		return "not verified against a server of any version"
	}
	versions := make([]string, len(b.Verified))
	for i, v := range b.Verified {
		versions[i] = v.String()
	}
	return "verified against " + strings.Join(versions, ", ")
}

// Caution says that the adapter was not verified against a server of the version, to
// stand behind "adapter"; empty: it was, or a script in the folder servers starts the
// server that tests have (b is nil).
func (b *Brought) Caution(version string) string {
	if b == nil {
		return ""
	}
	for _, v := range b.Verified {
		if v.Version == version {
			return ""
		}
	}
	text := fmt.Sprintf("not verified against a server of this version (%s)", version)
	if version == "" {
		text = "not verified against a server of this version, which it does not tell"
	}
	if len(b.Verified) > 0 {
		text += ", but " + strings.TrimPrefix(b.String(), "verified ")
	}
	return text
}
