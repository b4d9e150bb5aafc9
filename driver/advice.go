package driver

import (
	"slices"
	"strconv"
	"time"
)

// Concern is a server setting whose values can distort a measurement.
type Concern struct {
	Setting string                  // as the server names it
	Wrong   func(value string) bool // see Is and IsNot
	Effect  string                  // as Advice has it
	Fix     string                  // likewise
}

// Is returns a Wrong that reports the given values.
func Is(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

// IsNot returns a Wrong that reports all values but the given ones.
func IsNot(values ...string) func(string) bool {
	return func(v string) bool { return !slices.Contains(values, v) }
}

// ShorterThan returns a Wrong that reports durations shorter than d. It accepts 0, which servers use
// for no limit. Values are Go durations; anything else is accepted.
func ShorterThan(d time.Duration) func(string) bool {
	return func(v string) bool {
		has, err := time.ParseDuration(v)
		return err == nil && has > 0 && has < d
	}
}

// LessThan returns a Wrong that reports numbers less than n. It accepts 0, which servers use for no
// limit, and text that is not a number.
func LessThan(n float64) func(string) bool {
	return func(v string) bool {
		has, err := strconv.ParseFloat(v, 64)
		return err == nil && has > 0 && has < n
	}
}

// AdviseOn returns advice about the settings, given by name. It ignores concerns about settings that
// the server does not report.
func AdviseOn(concerns []Concern, settings map[string]string) []Advice {
	var found []Advice
	for _, c := range concerns {
		if value, known := settings[c.Setting]; known && c.Wrong(value) {
			found = append(found, Advice{Setting: c.Setting, Value: value, Effect: c.Effect, Fix: c.Fix})
		}
	}
	return found
}
