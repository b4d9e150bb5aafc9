package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/workload"
)

// Mark is the record that a load leaves in the database, so that later commands can identify the
// data.
type Mark struct {
	Dataset      workload.Spec `json:"dataset"`
	Fingerprint  string        `json:"fingerprint"`
	RowsExpected int64         `json:"rows_expected"` // -1: not known when the load began
	// RowsAtMost is an upper bound of the dataset's rows if the number was unknown when the load
	// began; 0: no bound was known.
	RowsAtMost int64     `json:"rows_at_most,omitempty"`
	RowsAcked  int64     `json:"rows_acked"`
	Complete   bool      `json:"complete"` // every row was acknowledged
	Loaded     time.Time `json:"loaded"`
	Tool       string    `json:"tool"` // tsmark's version
	// SentTwice is the number of rows that were sent again although they may have been stored the
	// first time, in a system that does not dedupe: at most this number of rows beyond the expected
	// ones can be duplicates.
	SentTwice int64 `json:"sent_twice,omitempty"`
	// Run is the ID of the run that loaded the data and may load it again.
	Run string `json:"run,omitempty"`
	// Target is the name of the target that was loaded, Driver its driver, and Repeat the number of
	// the target's load in its run, from 1. Empty and 0: an earlier tsmark that did not record them
	// loaded the data.
	Target string `json:"target,omitempty"`
	Driver string `json:"driver,omitempty"`
	Repeat int    `json:"repeat,omitempty"`
	// Layout has the values of the options with driver.Option.Layout set, as of the creation of the
	// tables.
	Layout map[string]string `json:"layout,omitempty"`
}

// Differs describes how the layout of the marked data differs from the layout that a target of the
// driver with these options would create; empty: no known difference. Options missing from the mark
// count as equal.
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

// setting formats an option with its value, as a user would write it.
func setting(name, value string) string {
	if value == "" {
		return "no " + name
	}
	return name + "=" + value
}
