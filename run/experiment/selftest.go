package experiment

import (
	"fmt"
	"maps"
	"slices"
)

// selfTestLoads is the number of loads in a self-test of an experiment that loads once: enough to
// detect a difference between two targets.
const selfTestLoads = DefaultRepeats

// twinSuffix ends the name and the path of a duplicated target.
const twinSuffix = "-again"

// SelfTest duplicates each target of the experiment, with the same options and a path of its own.
// Differences between the duplicates are below the resolution of this machine and these settings.
func (e *Experiment) SelfTest() error {
	if e.Load.File == "-" {
		return e.Problem("load.file", "standard input can be read only once, and a self-test loads several times; name a file")
	}
	if slices.ContainsFunc(e.Targets, func(t Target) bool { return t.Twin != "" }) {
		return nil // it already is a self-test
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

// twins finds duplicates that differ from their original.
func (c *checker) twins(targets []Target) {
	for i, t := range targets {
		if t.Twin == "" {
			continue
		}
		first := slices.IndexFunc(targets, func(other Target) bool { return other.Name == t.Twin })
		if first < 0 || first == i || targets[first].Driver != t.Driver || targets[first].Twin != "" {
			c.add(fmt.Sprintf("targets[%d].twin", i), "%q must be the name of another target with driver %s that is not itself a twin", t.Twin, t.Driver)
		}
	}
}
