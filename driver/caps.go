package driver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Caps describes the capabilities of a system under given options. The runner, the conformance suite
// and `tsmark drivers` all rely on it.
type Caps struct {
	Language string // of its queries: SQL, InfluxQL; empty: it answers no queries
	Embedded bool   // it runs in tsmark's own process
	Discards bool   // it stores nothing: no census, no results, no note

	MaxWriters    int  // connections that can write at once, while others wait; 0: any number
	OneConnection bool // the server accepts one connection: a second one would wait forever
	// ShowsInParts means that the rows of one batch become visible separately, so a query result may
	// match no state of whole batches.
	ShowsInParts bool
	Dedupes      bool // a row that is sent twice, with the same series and time, exists once when the load has settled
	MakesColumns bool // rows may have tags and fields that Create has not created, and the system adds columns for them: see Optional.Grow

	// InOrder means that late rows are refused, lost, or slower than others: rows that arrive after
	// newer rows of the same series, and rows that arrive after rows that are newer by more than
	// InOrder. If there are several workers, each then writes series of its own. 0: rows may arrive in
	// any order. InSeries: only rows of different series may.
	InOrder time.Duration

	TimePrecision time.Duration // smallest difference between the times of rows
	// First and Last limit the times of rows; zero: the limits of nanoseconds in 64 bits.
	First, Last time.Time
	// Lacks maps the traits of values that it cannot store to the result for such a value, to follow
	// "which": "QuestDB holds as NULL".
	Lacks map[series.Trait]string
	// Schema returns an error for tables that the system cannot store: too many columns, names that it
	// does not allow, columns that its options need. It does not contact a server. Create and Plan are
	// called only with schemas that pass. Nil: it accepts all schemas.
	Schema func(*series.Schema) error

	// Digits is the number of significant decimal digits to which it stores doubles, if the doubles of
	// a series have similar magnitudes; 0: exactly. The sums of a census have this precision too.
	Digits int
	// Types says how fields of each of series.Types are stored; other types are not supported, and
	// Schema rejects them. Nil: it stores values of all types unchanged, or stores nothing.
	Types map[series.Type]Stored
	// Changes says how stored rows are deleted, dropped and corrected.
	Changes Changes
	// Steps are the optional steps after a load, without Do: the names and help texts of the
	// Optional.Steps of an open database.
	Steps []Step
}

// InSeries is a Caps.InOrder that is longer than any dataset: rows must be in order within their series
// only.
const InSeries = 200 * 365 * 24 * time.Hour

// Holds reports whether it can store values with a trait.
func (c *Caps) Holds(t series.Trait) bool { return c.Lacks[t] == "" }

// Stored is how a system stores the values of a type.
type Stored struct {
	As string `json:"as"` // the system's own type, as its users write it: BIGINT
	// Mapped describes the converted value if the system has no such type: 0 or 1. Empty: the system
	// has the type.
	Mapped string `json:"mapped,omitempty"`
}

// String returns the type and, if there is one, the conversion.
func (s Stored) String() string {
	if s.Mapped == "" {
		return s.As
	}
	return s.As + ", " + s.Mapped
}

// MappedTypes lists, in the order of series.Types, the types of the schema's fields that the system has no
// type for, and the types that replace them. It is empty if the system has all of them.
func (c *Caps) MappedTypes(s *series.Schema) string {
	if c.Types == nil || s == nil {
		return ""
	}
	var parts []string
	for _, kind := range series.Types() {
		has := slices.ContainsFunc(s.Tables, func(t *series.Table) bool {
			return slices.ContainsFunc(t.Fields, func(f series.Field) bool { return f.Type == kind })
		})
		if stored := c.Types[kind]; has && stored.Mapped != "" {
			parts = append(parts, fmt.Sprintf("%v as %s", kind, stored))
		}
	}
	return strings.Join(parts, "; ")
}
