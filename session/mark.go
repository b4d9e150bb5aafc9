package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload"
)

// Mark is what a load leaves in the database, so that later commands know
// what they face.
type Mark struct {
	Dataset      workload.Spec `json:"dataset"`
	Fingerprint  string        `json:"fingerprint"`
	RowsExpected int64         `json:"rows_expected"` // -1: not known when the load began
	// RowsAtMost bounds the rows of a dataset of which no more was known when the
	// load began; 0: nothing was.
	RowsAtMost int64     `json:"rows_at_most,omitempty"`
	RowsAcked  int64     `json:"rows_acked"`
	Complete   bool      `json:"complete"` // every row was acknowledged
	Loaded     time.Time `json:"loaded"`
	Tool       string    `json:"tool"` // tsmark's version
	// SentTwice is how many rows were sent again although they may have been
	// stored the first time, and the system does not dedupe: so many more than
	// expected can be duplicates.
	SentTwice int64 `json:"sent_twice,omitempty"`
	// Run is the id of the run that loaded it, and that may load it again.
	Run string `json:"run,omitempty"`
	// Target is the name of the target that was loaded, Driver what drove it, and
	// Repeat which load of the target it was in its run, from 1. Empty and 0: a
	// tsmark that did not say so loaded it.
	Target string `json:"target,omitempty"`
	Driver string `json:"driver,omitempty"`
	Repeat int    `json:"repeat,omitempty"`
	// Layout is the values of the options that have driver.Option.Layout set, as they
	// were when the tables were made.
	Layout map[string]string `json:"layout,omitempty"`
}

// Differs says in what the data that a mark tells of is laid out otherwise than
// a target of the driver with the options would lay it out; empty: in nothing
// that is known. What the mark does not name counts as alike.
func (m *Mark) Differs(k *driver.Driver, o driver.Options) string {
	if m.Driver != "" && m.Driver != k.Name {
		return fmt.Sprintf("was loaded as %s, not %s", m.Driver, k.Name)
	}
	var was, is []string
	for _, option := range k.Options {
		loaded, known := m.Layout[option.Name]
		if now := o[option.Name]; option.Layout && known && loaded != now {
			was, is = append(was, setting(option.Name, loaded)), append(is, setting(option.Name, now))
		}
	}
	if len(was) == 0 {
		return ""
	}
	return fmt.Sprintf("was loaded with %s, not with %s", strings.Join(was, ","), strings.Join(is, ","))
}

// setting is an option with its value, as a user would write it.
func setting(name, value string) string {
	if value == "" {
		return "no " + name
	}
	return name + "=" + value
}
