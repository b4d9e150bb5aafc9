package driver

import (
	"slices"
	"strconv"
	"time"
)

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

// ShorterThan returns a Wrong for which durations are wrong that are shorter, but 0, by
// which servers mean no limit. A value is one of Go's durations; what is none is not wrong.
func ShorterThan(d time.Duration) func(string) bool {
	return func(v string) bool {
		has, err := time.ParseDuration(v)
		return err == nil && has > 0 && has < d
	}
}

// LessThan returns a Wrong for which numbers are wrong that are less, but 0, by which
// servers mean no limit. What is no number is not wrong.
func LessThan(n float64) func(string) bool {
	return func(v string) bool {
		has, err := strconv.ParseFloat(v, 64)
		return err == nil && has > 0 && has < n
	}
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
