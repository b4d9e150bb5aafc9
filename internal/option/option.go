// Package option defines settings that users write as NAME=VALUE: their names, valid values, and
// meaning. Resolve checks each text once; Values then reads it without errors.
package option

import (
	"cmp"
	"fmt"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
)

// Option is a setting.
type Option struct {
	Name    string
	Type    Type   // of its values; the zero Type takes every text
	Default string // as a user would write it
	Empty   string // meaning of an empty value, as text: one per core
	Help    string
	// Secret values are neither stored nor shown, and must be provided again to resume a run.
	Secret bool
	// Layout means that the option affects how tables are created and rows are stored. A dataset
	// can be queried only with the values it was loaded with; otherwise the figures would be those
	// of another layout. Options that matter only during writing, such as how rows are sent, do not
	// affect the layout.
	Layout bool
}

// DefaultText returns the default as text, which describes the system's choice if there is no fixed
// value.
func (o *Option) DefaultText() string { return cmp.Or(o.Default, o.Empty, "none") }

// Resolve checks values against the options and adds the defaults. An empty value is valid for an
// option without a default. Errors begin with whose, name the option, and suggest the closest one
// for an unknown name: each is an *Error.
func Resolve(whose string, options []Option, values map[string]string) (Values, error) {
	names := make([]string, len(options))
	resolved := make(Values, len(options))
	for i, o := range options {
		names[i] = o.Name
		resolved[o.Name] = o.Default
	}
	for name, value := range values {
		if _, ok := resolved[name]; !ok {
			return nil, &Error{name, fmt.Sprintf("%s has no option %q%s", whose, name, suggest.Names(name, names))}
		}
		resolved[name] = value
	}
	for _, o := range options {
		v := resolved[o.Name]
		if v == "" && o.Default == "" {
			continue
		}
		if err := o.Type.Check(v); err != nil {
			if o.Secret {
				v = secret.Mark
			}
			return nil, &Error{o.Name, fmt.Sprintf("%s option %s=%s: %s", whose, o.Name, v, err)}
		}
	}
	return resolved, nil
}

// Error is the error of a value or of a name.
type Error struct {
	Name string // of the option
	text string
}

func (e *Error) Error() string { return e.text }
