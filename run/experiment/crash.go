package experiment

import (
	"slices"

	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
)

// Crash crashes each target after its last load. In each round the writers of the load write further rows,
// which are behind the loaded ones, until the target crashes. Then the rows are read back. The
// zero value crashes nothing.
type Crash struct {
	Count int `yaml:"count"` // rounds of each target
	// Kinds are the kinds of crashes, in turn, each one of result.CrashKinds; empty: all of them.
	Kinds []string `yaml:"kinds,flow,omitempty"`
	Seed  uint64   `yaml:"seed,omitempty"` // of the time of each crash within its round
}

// maxCrashes limits Crash.Count.
const maxCrashes = 10_000

// Enabled reports whether targets crash.
func (c *Crash) Enabled() bool { return c.Count > 0 }

// Chosen returns the kinds of crashes, in turn.
func (c *Crash) Chosen() []string {
	if len(c.Kinds) == 0 {
		return result.CrashKinds()
	}
	return c.Kinds
}

// Has reports whether crashes of a kind happen.
func (c *Crash) Has(kind string) bool { return c.Enabled() && slices.Contains(c.Chosen(), kind) }

// crash checks the section crash.
func (c *checker) crash(e *Experiment) {
	c.checkRange("crash.count", e.Crash.Count, 0, maxCrashes)
	for i, kind := range e.Crash.Kinds {
		if !slices.Contains(result.CrashKinds(), kind) {
			c.add("crash.kinds", "%q is not a kind of crash%s", kind, suggest.Names(kind, result.CrashKinds()))
		} else if slices.Contains(e.Crash.Kinds[:i], kind) {
			c.add("crash.kinds", "%s is there twice", kind)
		}
	}
	if !e.Crash.Enabled() {
		if e.Crash.Kinds != nil || e.Crash.Seed != 0 {
			c.add("crash.count", "must say how often each target crashes, such as 20")
		}
		return
	}
	for _, other := range []struct {
		set  bool
		path string
	}{{e.Mixed.Enabled(), "mixed"}, {e.Life.Enabled(), "life"}, {e.Materialize.Enabled(), "materialize"}, {e.Adopt, "adopt"}, {e.Load.File != "", "load.file"}, {e.Load.Columns != "", "load.columns"}} {
		if other.set {
			c.add(other.path, "cannot stand beside crashes; leave it out, or the section crash")
		}
	}
}
