// Package option is settings that users write as NAME=VALUE: what each is
// called, what a right value looks like, and what it amounts to. A text is
// checked once, by Resolve; Values then reads it without errors.
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
	Empty   string // what an empty value means, in words: one a core
	Help    string
	// Secret values are neither stored nor shown, and are asked for again where
	// a run is resumed.
	Secret bool
	// Layout says that the option decides how tables are made and rows are kept.
	// A dataset can be queried only with the values that it was loaded with: the
	// figures would else be those of another layout. Options that matter only
	// while rows are written, such as how they are sent, are none.
	Layout bool
}

// DefaultText is the default for people: in words where the system chooses.
func (o *Option) DefaultText() string { return cmp.Or(o.Default, o.Empty, "none") }

// Resolve checks given values against the options and adds the defaults. An
// empty value is right for an option without default. Errors begin with whose the options
// are, name the option, and the closest one for a name that is none: each is an
// *Error.
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

// Error is what is wrong with a value, or with a name.
type Error struct {
	Name string // of the option
	text string
}

func (e *Error) Error() string { return e.text }
