package driver

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Option is a setting of a target.
type Option struct {
	Name    string
	Default string // as a user would write it; empty: the system's own
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
	// Check returns an error that says what a right value looks like. A nil
	// Check takes every text.
	Check func(value string) error
}

// Options is the value of every option of a kind, by name.
type Options map[string]string

// Resolve checks what the user gave against the kind's options and adds the
// defaults. Its error names the option, and the closest one for a name that
// the kind does not have.
func (k *Driver) Resolve(given map[string]string) (Options, error) {
	names := make([]string, len(k.Options))
	resolved := make(Options, len(k.Options))
	for i, o := range k.Options {
		names[i] = o.Name
		resolved[o.Name] = o.Default
	}
	for name, value := range given {
		if _, ok := resolved[name]; !ok {
			return nil, fmt.Errorf("%s has no option %q%s", k.Name, name, suggest.Among(name, names))
		}
		resolved[name] = value
	}
	for _, o := range k.Options {
		if v := resolved[o.Name]; v != "" && o.Check != nil {
			if err := o.Check(v); err != nil {
				if o.Secret {
					v = secret.Mark
				}
				return nil, fmt.Errorf("%s option %s=%s: %w", k.Name, o.Name, v, err)
			}
		}
	}
	return resolved, nil
}

// LayoutOf returns the values of the options that say how data is laid out, by
// name.
func (k *Driver) LayoutOf(o Options) map[string]string {
	layout := make(map[string]string)
	for _, option := range k.Options {
		if option.Layout {
			layout[option.Name] = o[option.Name]
		}
	}
	return layout
}

// Renderer returns Render with the options.
func (k *Driver) Renderer(options Options) func(*query.Query, *series.Schema) (Request, error) {
	return func(q *query.Query, s *series.Schema) (Request, error) { return k.Render(q, s, options) }
}

// Change is an option that has another value than by default.
type Change struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Default string `json:"default"` // in words where the system chooses
}

// Changes lists the options whose values differ from their defaults, in the
// order of the kind's options.
func (k *Driver) Changes(options Options) []Change {
	var changes []Change
	for _, o := range k.Options {
		if v := options[o.Name]; v != o.Default {
			changes = append(changes, Change{o.Name, v, cmp.Or(o.Default, o.Empty, "the system's own")})
		}
	}
	return changes
}

// AtLeast is a Check for whole numbers not smaller than min.
func AtLeast(min int) func(string) error {
	return func(v string) error {
		if n, err := strconv.Atoi(v); err != nil || n < min {
			return fmt.Errorf("must be a whole number, %d or more", min)
		}
		return nil
	}
}

// ByteSize is a Check for sizes such as 512MB, 4GiB or 80%.
func ByteSize(v string) error {
	i := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i > 0 {
		if _, err := strconv.ParseFloat(v[:i], 64); err == nil {
			switch strings.ToUpper(strings.TrimSpace(v[i:])) {
			case "B", "KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB", "%":
				return nil
			}
		}
	}
	return fmt.Errorf("must be a size with its unit, such as 512MB or 4GiB")
}
