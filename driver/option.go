package driver

import (
	"cmp"

	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Option is a setting of a target.
type Option = option.Option

// Options is the value of every option of a driver, by name.
type Options = option.Values

// Resolve checks the user's options against the driver's options, and adds the defaults. Its error
// names the option, and the closest known name for one that the driver does not have.
func (d *Driver) Resolve(options map[string]string) (Options, error) {
	return option.Resolve(d.Name, d.Options, options)
}

// AdoptsOwn is the Adopts of a system that TSBS has no loader for: it adopts data that is laid out as
// Create lays it out.
func AdoptsOwn(*series.Schema, Options) error { return nil }

// LayoutOf returns the values of the options that determine the layout of data, by name.
func (d *Driver) LayoutOf(o Options) map[string]string {
	layout := make(map[string]string)
	for _, option := range d.Options {
		if option.Layout {
			layout[option.Name] = o[option.Name]
		}
	}
	return layout
}

// Ports returns the options that are ports of its server, in the order in which the script servers/NAME
// assigns consecutive ports to them.
func (d *Driver) Ports() []string {
	var names []string
	for _, o := range d.Options {
		if o.Type.String() == option.Port().String() {
			names = append(names, o.Name)
		}
	}
	return names
}

// Renderer returns Render with the options.
func (d *Driver) Renderer(options Options) func(*query.Query, *series.Schema) (Request, error) {
	return func(q *query.Query, s *series.Schema) (Request, error) { return d.Render(q, s, options) }
}

// Change is an option whose value differs from its default.
type Change struct {
	Name    string `json:"name"`    // the option
	Value   string `json:"value"`   // its value
	Default string `json:"default"` // in words if the system chooses
}

// Changes lists the options whose values differ from their defaults, in the
// order of the driver's options.
func (d *Driver) Changes(options Options) []Change {
	var changes []Change
	for _, o := range d.Options {
		if v := options[o.Name]; v != o.Default {
			changes = append(changes, Change{o.Name, v, cmp.Or(o.Default, o.Empty, "the system's own")})
		}
	}
	return changes
}
