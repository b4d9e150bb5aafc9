package driver

import "slices"

// Concern is a setting of a server that distorts what is measured while it has some
// values.
type Concern struct {
	Setting string                  // as the server names it
	Wrong   func(value string) bool // see Is and IsNot
	Effect  string                  // as Advice has it
	Fix     string                  // likewise
}

// Is returns a Wrong for which the values are wrong.
func Is(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

// IsNot returns a Wrong for which all but the values are wrong.
func IsNot(values ...string) func(string) bool {
	return func(v string) bool { return !slices.Contains(values, v) }
}

// AdviseOn returns what there is to say about settings by name. Of one that the server
// does not tell nothing is said.
func AdviseOn(concerns []Concern, settings map[string]string) []Advice {
	var found []Advice
	for _, c := range concerns {
		if value, told := settings[c.Setting]; told && c.Wrong(value) {
			found = append(found, Advice{Setting: c.Setting, Value: value, Effect: c.Effect, Fix: c.Fix})
		}
	}
	return found
}
