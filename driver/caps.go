package driver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Caps is what a system can and cannot do with some options: the one answer by
// which the runner, the conformance suite and `tsmark drivers` go.
type Caps struct {
	Language string // of its queries: SQL, InfluxQL; empty: it answers none
	Embedded bool   // it runs in tsmark's own process
	Discards bool   // it keeps nothing: no census, no answers, no note

	MaxWriters    int  // connections that can write at once, while others wait their turn; 0: any number
	OneConnection bool // the server takes one connection: a second one would wait for ever
	// ShowsInParts means that the rows of one batch become visible separately, so a query result may
	// match no state of whole batches.
	ShowsInParts bool
	Dedupes      bool // a row that is sent twice, with the same series and time, is there once when the load has settled
	MakesColumns bool // rows bring tags and fields that Create has not made, and the system makes room for them: see Optional.Grow

	// InOrder says that late rows are refused, lost or dearer than others: those of a
	// series that come after newer ones of it, and any that come after rows that are
	// newer by more than so much. Each of several workers then writes series of its own.
	// 0: rows may come in any order. InSeries: those of different series may.
	InOrder time.Duration

	TimePrecision time.Duration // finest distinct times of rows
	// First and Last are the bounds of the times of rows; zero: those of
	// nanoseconds in 64 bits.
	First, Last time.Time
	// Lacks are traits of values that it cannot hold, with what becomes of such a
	// value, to stand behind "which": "QuestDB holds as NULL".
	Lacks map[series.Trait]string
	// Schema says what of a dataset's tables the system cannot hold: too many
	// columns, names that it has not, columns that its options need. It looks at
	// no server. Create and Plan are given no other schema. Nil: it takes all.
	Schema func(*series.Schema) error

	// Digits is to how many significant decimal digits it holds doubles, where the
	// doubles of a series are of like size; 0: as they are. Censuses say so too.
	Digits int
	// Types says how fields of each of series.Types are stored, those of the others
	// not at all, which Schema says. Nil: it keeps values as they are, or nothing.
	Types map[series.Type]Stored
	// Steps are what its users may do once data is loaded, without Do: names and
	// help of the Optional.Steps of an open database.
	Steps []Step
}

// InSeries is a Caps.InOrder that is longer than any dataset, so that rows have an order
// within their series alone.
const InSeries = 200 * 365 * 24 * time.Hour

// Holds reports whether it can hold values of a trait.
func (c *Caps) Holds(t series.Trait) bool { return c.Lacks[t] == "" }

// Stored is how a system stores the values of a type.
type Stored struct {
	As string `json:"as"` // the system's own type, as its users write it: BIGINT
	// Mapped is what a value becomes where the system has no such type, in
	// words: 0 or 1. Empty: the type is the system's own.
	Mapped string `json:"mapped,omitempty"`
}

// String is the type, and what the values become in it.
func (s Stored) String() string {
	if s.Mapped == "" {
		return s.As
	}
	return s.As + ", " + s.Mapped
}

// Mapped lists, in the order of series.Types, the types of the schema's fields that the system has no
// type for, and the types that replace them. It is empty if the system has all of them.
func (c *Caps) Mapped(s *series.Schema) string {
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
