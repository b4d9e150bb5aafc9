package result

import "strings"

// Aggregate is a continuous aggregate that was made after a load, from which queries
// are answered beside those from rows.
type Aggregate struct {
	Name       string   `json:"name" redact:"-"`       // of the view or table
	Table      string   `json:"table" redact:"-"`      // of the rows
	Bucket     string   `json:"bucket" redact:"-"`     // width of the buckets: 1h
	Aggregates []string `json:"aggregates" redact:"-"` // such as mean
	Fields     []string `json:"fields" redact:"-"`     // aggregated fields
	// Unsupported is why the target has none; empty: it has one.
	Unsupported string `json:"unsupported,omitempty"`
	// Seconds is how long it took to make it of the rows that were there, settling again
	// included.
	Seconds float64 `json:"seconds"`
	// Covered is how many rows of the table it then accounted for; -1: not known.
	Covered   int64  `json:"covered"`
	Expected  int64  `json:"expected"`        // rows of the table
	DiskBytes int64  `json:"disk_bytes"`      // of the aggregate; -1: not known
	Noise     *Noise `json:"noise,omitempty"` // what other processes used; nil: unknown
	// Kept is a further load, into a table whose aggregate was kept up meanwhile, of
	// which the aggregate then is; nil: there was none.
	Kept *KeptLoad `json:"kept,omitempty"`
}

// KeptLoad is a load of the same rows while an aggregate was kept up: beside the load
// itself it tells what that costs.
type KeptLoad struct {
	// Unsupported is why the target keeps no aggregate up; empty: it does.
	Unsupported string  `json:"unsupported,omitempty"`
	Rows        int64   `json:"rows"`    // sent
	Sent        float64 `json:"sent"`    // as those of a load
	Acked       float64 `json:"acked"`   // likewise; 0: the protocol does not acknowledge
	Settled     float64 `json:"settled"` // likewise
	// Fresh is how long after the last row was acknowledged, or else sent, the aggregate
	// accounted for every row, as it was seen by looking again and again; -1: it did not.
	Fresh     float64 `json:"fresh"`
	Covered   int64   `json:"covered"`            // rows that it accounted for at last
	DiskBytes int64   `json:"disk_bytes"`         // of the aggregate; -1: not known
	Withheld  string  `json:"withheld,omitempty"` // why the figures are withheld; empty: they are not
	Cell
}

// aggregateMark stands between a query type and the width of the aggregate that it is
// answered from.
const aggregateMark = "@"

// FromAggregate is the name of a query type where it is answered from an aggregate of
// buckets of a width: double-groupby-1@1h.
func FromAggregate(queryType, width string) string { return queryType + aggregateMark + width }

// RawType returns the query type that is answered from rows where the name is one of
// FromAggregate, and whether it is that.
func RawType(name string) (queryType string, aggregate bool) {
	queryType, _, aggregate = strings.Cut(name, aggregateMark)
	return queryType, aggregate
}
