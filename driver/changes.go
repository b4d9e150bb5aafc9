package driver

import (
	"fmt"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Changes describes how users of a system change rows that it has stored, and what tsmark calls for it.
type Changes struct {
	Delete Way `json:"delete"` // all rows of some series: Optional.DeleteSeries
	Drop   Way `json:"drop"`   // all rows before a time: Optional.DropBefore
	// Correct is how values of stored rows are replaced: by Optional.Correct or, if that is nil, by
	// writers, which is possible only if Again is Replaces.
	Correct Way   `json:"correct"`
	Again   Again `json:"again"`
}

// Way is how users of a system make a change.
type Way struct {
	By     string `json:"by,omitempty"`     // the statement or request, as the system's manual names it: "DELETE"; empty: n/a
	Reason string `json:"reason,omitempty"` // the reason for n/a, to follow "n/a: "; empty if By is set
	Step   string `json:"step,omitempty"`   // the one of Caps.Steps with which users free the space of the rows; empty: none
	Space  string `json:"space,omitempty"`  // how the space comes back without that step: "by compaction in the background"; empty: unknown
}

// String describes the way in one line.
func (w Way) String() string {
	if w.By == "" {
		return "n/a: " + w.Reason
	}
	text := w.By
	if w.Step != "" {
		text += "; the step " + w.Step + " frees the space"
	}
	if w.Space != "" {
		text += "; space: " + w.Space
	}
	return text
}

// Again is what a system does with a second row of the same series and time, once the writes have settled.
type Again string

// The kinds of Again. Empty: unknown.
const (
	Replaces   Again = "replaces the first" // in the fields that the second has
	KeepsBoth  Again = "is kept beside the first"
	KeepsFirst Again = "is dropped"
	Refuses    Again = "is refused" // by an error of its write
)

// Unchangeable returns the Changes of a system whose rows tsmark does not change, for one reason.
func Unchangeable(reason string) Changes {
	way := Way{Reason: reason}
	return Changes{Delete: way, Drop: way, Correct: way}
}

// RefuseNumericTag returns the error of a DeleteSeries that cannot find rows by a numeric tag, because the driver
// stores it as a field. It wraps query.ErrUnsupported; nil: the tag is a text.
func RefuseNumericTag(t *series.Table, tag string) error {
	if t.Tag(tag).Numeric() {
		return fmt.Errorf("%w: the tag %s is a number, which is in a field; rows are deleted by tags that are texts", query.ErrUnsupported, tag)
	}
	return nil
}
