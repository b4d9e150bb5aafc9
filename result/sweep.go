package result

import (
	"strings"
	"time"
)

// Sweep is an experiment of which parameters differ from run to run.
type Sweep struct {
	ID         string    `json:"id" redact:"-"` // sorts by time, as those of runs: 20260131-154500-s3f2a
	Name       string    `json:"name"`
	Command    string    `json:"command" redact:"-"`
	Args       []string  `json:"args"`                  // command line as typed
	Experiment string    `json:"experiment" redact:"-"` // with its matrix
	Started    time.Time `json:"started"`
	Points     int       `json:"points"` // runs when it is complete
}

// Parameter is a value that a sweep gives to the key of an experiment.
type Parameter struct {
	Path  string `json:"path"`  // of the key, such as load.workers
	Value string `json:"value"` // the value, as text
}

// Parameters is the values of several parameters.
type Parameters []Parameter

// String lists them: load.workers=2, load.batch-size=1000.
func (p Parameters) String() string {
	texts := make([]string, len(p))
	for i := range p {
		texts[i] = p[i].Path + "=" + p[i].Value
	}
	return strings.Join(texts, ", ")
}

// Value returns that of a path; empty: it is not set.
func (p Parameters) Value(path string) string {
	for i := range p {
		if p[i].Path == path {
			return p[i].Value
		}
	}
	return ""
}

// Place is where a run stands in a sweep. The zero value: it stands alone.
type Place struct {
	Sweep      string     `json:"sweep,omitempty" redact:"-"` // id
	Point      int        `json:"point,omitempty"`            // from 1
	Points     int        `json:"points,omitempty"`           // of the sweep
	Parameters Parameters `json:"parameters,omitempty"`       // what the sweep sets in this run
}
