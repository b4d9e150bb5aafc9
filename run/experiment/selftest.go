package experiment

import (
	"fmt"
	"maps"
	"slices"
)

// selfTestLoads is how often a self-test loads, where the experiment loads once:
// so often a difference between two targets could be shown.
const selfTestLoads = DefaultRepeats

// twinSuffix ends the name, and the path, of a target that takes part twice.
const twinSuffix = "-again"

// SelfTest has each target of the experiment take part twice, with the same
// options and a path of its own, so that what they differ by is what this machine
// and these settings cannot resolve.
func (e *Experiment) SelfTest() error {
	if e.Load.File == "-" {
		return e.Problem("load.file", "standard input can be read only once, and a self-test loads several times; name a file")
	}
	if slices.ContainsFunc(e.Targets, func(t Target) bool { return t.Twin != "" }) {
		return nil // it is one
	}
	for i, t := range slices.Clone(e.Targets) {
		if slices.ContainsFunc(e.Targets, func(other Target) bool { return other.Name == t.Name+twinSuffix }) {
			return e.Problem(fmt.Sprintf("targets[%d].name", i), "a self-test adds a target %s, and there is one; choose another name", t.Name+twinSuffix)
		}
		t.Twin, t.Name = t.Name, t.Name+twinSuffix
		t.Options = maps.Clone(t.Options)
		if path := t.Options["path"]; path != "" {
			t.Options["path"] = path + twinSuffix
		}
		e.Targets = append(e.Targets, t)
	}
	if e.Load.Repeats <= 1 {
		e.Load.Repeats = selfTestLoads
	}
	return nil
}

// twins finds targets that are to be the same as another and are not.
func (c *checker) twins(targets []Target) {
	for i, t := range targets {
		if t.Twin == "" {
			continue
		}
		first := slices.IndexFunc(targets, func(other Target) bool { return other.Name == t.Twin })
		if first < 0 || first == i || targets[first].Driver != t.Driver || targets[first].Twin != "" {
			c.add(fmt.Sprintf("targets[%d].twin", i), "%q must be the name of another target with driver %s, which is no twin itself", t.Twin, t.Driver)
		}
	}
}
