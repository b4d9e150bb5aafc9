package driver

import (
	"fmt"
	"maps"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Profile is a set of options that belong together.
type Profile struct {
	Name    string  `json:"name"`
	Help    string  `json:"help"`    // one line, in the system's own terms
	Options Options `json:"options"` // by name; all are options of the driver
	// System is the compatible system that the profile is for, which needs a driver of its own: see
	// Adapter. Empty: the driver's system.
	System string `json:"system,omitempty"`
}

// The levels of durability that drivers offer, as far as their systems have them.
const (
	AsShipped = "as-shipped" // the system's defaults
	Relaxed   = "relaxed"    // a crash of the machine may lose acknowledged rows
	Strict    = "strict"     // no acknowledged row is lost
)

// Choose combines options: the profile's options, overridden by those of the durability level,
// overridden by the given ones. Empty names choose nothing. Errors are one line; Resolve checks the
// values.
func (d *Driver) Choose(profile, durability string, options map[string]string) (map[string]string, error) {
	chosen := make(map[string]string)
	for _, c := range []struct {
		what, name string
		among      []Profile
	}{{"profile", profile, d.Profiles}, {"durability", durability, d.Durabilities}} {
		if c.name == "" {
			continue
		}
		found := false
		var names []string
		for _, p := range c.among {
			names = append(names, p.Name)
			if p.Name == c.name {
				maps.Copy(chosen, p.Options)
				found = true
			}
		}
		if !found && len(names) == 0 {
			return nil, fmt.Errorf("%s has no %s to choose; leave it out", d.Name, c.what)
		}
		if !found {
			return nil, fmt.Errorf("%s has no %s %q%s", d.Name, c.what, c.name, suggest.Names(c.name, names))
		}
	}
	maps.Copy(chosen, options)
	return chosen, nil
}
