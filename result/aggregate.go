package result

import "strings"

// Aggregate is a continuous aggregate that was created after a load. Queries are answered from it
// as well as from rows.
type Aggregate struct {
	Name       string   `json:"name" redact:"-"`       // of the view or table
	Table      string   `json:"table" redact:"-"`      // of the rows
	Bucket     string   `json:"bucket" redact:"-"`     // width of the buckets: 1h
	Aggregates []string `json:"aggregates" redact:"-"` // such as mean
	Fields     []string `json:"fields" redact:"-"`     // aggregated fields
	// Unsupported is why the target has no aggregate; empty: it has one.
	Unsupported string `json:"unsupported,omitempty"`
	// Seconds is the time to create the aggregate from the existing rows, including settling again.
	Seconds float64 `json:"seconds"`
	// Covered is the number of rows of the table that the aggregate then included; -1: unknown.
	Covered   int64  `json:"covered"`
	Expected  int64  `json:"expected"`        // rows of the table
	DiskBytes int64  `json:"disk_bytes"`      // of the aggregate; -1: not known
	Noise     *Noise `json:"noise,omitempty"` // what other processes used; nil: unknown
	// Kept is a further load, into a table whose aggregate was maintained during the load; its
	// figures belong to that aggregate. Nil: no further load ran.
	Kept *KeptLoad `json:"kept,omitempty"`
}

// KeptLoad is a load of the same rows while an aggregate was maintained. Compared with the load
// itself it shows the cost of maintenance.
type KeptLoad struct {
	// Unsupported is why the target cannot maintain an aggregate; empty: it can.
	Unsupported string  `json:"unsupported,omitempty"`
	Rows        int64   `json:"rows"`    // sent
	Sent        float64 `json:"sent"`    // as those of a load
	Acked       float64 `json:"acked"`   // likewise; 0: the protocol does not acknowledge
	Settled     float64 `json:"settled"` // likewise
	// Fresh is the time between the last acknowledgement (or else the last row sent) and the first
	// check that found every row in the aggregate; -1: it never included all rows.
	Fresh     float64 `json:"fresh"`
	Covered   int64   `json:"covered"`            // rows that it included at the end
	DiskBytes int64   `json:"disk_bytes"`         // of the aggregate; -1: not known
	Withheld  string  `json:"withheld,omitempty"` // why the figures are withheld; empty: they are not
	Cell
}

// aggregateMark separates a query type from the width of the aggregate that answers it.
const aggregateMark = "@"

// FromAggregate returns the name of a query type that is answered from an aggregate with buckets of
// a width: double-groupby-1@1h.
func FromAggregate(queryType, width string) string { return queryType + aggregateMark + width }

// RawType returns the query type that is answered from rows, if the name is a result of
// FromAggregate, and whether it is.
func RawType(name string) (queryType string, aggregate bool) {
	queryType, _, aggregate = strings.Cut(name, aggregateMark)
	return queryType, aggregate
}
