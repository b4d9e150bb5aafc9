package result

import (
	"strings"
	"time"
)

// Sweep is an experiment whose parameters differ from run to run.
type Sweep struct {
	ID         string    `json:"id" redact:"-"` // sorts by time, like the IDs of runs: 20260131-154500-s3f2a
	Name       string    `json:"name"`
	Command    string    `json:"command" redact:"-"`
	Args       []string  `json:"args"`                  // command line as typed
	Experiment string    `json:"experiment" redact:"-"` // with its matrix
	Started    time.Time `json:"started"`
	Points     int       `json:"points"` // number of runs when it is complete
}

// Parameter is the value of an experiment's key in one run of a sweep.
type Parameter struct {
	Path  string `json:"path"`  // of the key, such as load.workers
	Value string `json:"value"` // the value, as text
}

// Parameters are the values of several parameters.
type Parameters []Parameter

// String lists the parameters: load.workers=2, load.batch-size=1000.
func (p Parameters) String() string {
	texts := make([]string, len(p))
	for i := range p {
		texts[i] = p[i].Path + "=" + p[i].Value
	}
	return strings.Join(texts, ", ")
}

// Value returns the value of a path; empty: it is not set.
func (p Parameters) Value(path string) string {
	for i := range p {
		if p[i].Path == path {
			return p[i].Value
		}
	}
	return ""
}

// Place is the place of a run in a sweep. The zero value is a run outside of a sweep.
type Place struct {
	Sweep      string     `json:"sweep,omitempty" redact:"-"` // id
	Point      int        `json:"point,omitempty"`            // from 1
	Points     int        `json:"points,omitempty"`           // of the sweep
	Parameters Parameters `json:"parameters,omitempty"`       // values that the sweep sets in this run
}

// Parameters that raise the load on a target from step to step.
const (
	RampWorkers = "queries.workers"
	RampQueries = "queries.rate"
	RampRows    = "mixed.row-rate"
	RampMixed   = "mixed.query-rate"
)

// RampPaths lists the parameters that raise the load on a target from step to step.
func RampPaths() []string { return []string{RampWorkers, RampQueries, RampRows, RampMixed} }
