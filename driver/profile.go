package driver

import (
	"fmt"
	"maps"

	"github.com/tsmark/tsmark/internal/suggest"
)

// Profile is a set of options that go together.
type Profile struct {
	Name    string  `json:"name"`
	Help    string  `json:"help"`    // one line, in the system's own terms
	Options Options `json:"options"` // by name; all of them are options of the driver
}

// The levels of durability that kinds offer, as far as their systems have them.
const (
	AsShipped = "as-shipped" // as the system is without settings
	Relaxed   = "relaxed"    // a crash of the machine may lose acknowledged rows
	Strict    = "strict"     // none that was acknowledged is lost
)

// Choose puts options together: those of the profile, over them those of the
// durability level, over them the given ones. Empty names choose nothing.
// Errors are one line; what the options are worth Resolve says.
func (k *Driver) Choose(profile, durability string, given map[string]string) (map[string]string, error) {
	chosen := make(map[string]string)
	for _, c := range []struct {
		what, name string
		among      []Profile
	}{{"profile", profile, k.Profiles}, {"durability", durability, k.Durabilities}} {
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
			return nil, fmt.Errorf("%s has no %s to choose; leave it out", k.Name, c.what)
		}
		if !found {
			return nil, fmt.Errorf("%s has no %s %q%s", k.Name, c.what, c.name, suggest.Names(c.name, names))
		}
	}
	maps.Copy(chosen, given)
	return chosen, nil
}
