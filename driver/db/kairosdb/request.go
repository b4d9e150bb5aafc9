package kairosdb

import (
	"encoding/json"
	"time"
)

// request is the body of a request to pathQuery or pathDelete. Times are milliseconds since 1970; both
// bounds are inclusive.
type request struct {
	Start   int64      `json:"start_absolute"`
	End     int64      `json:"end_absolute"`
	Metrics []subQuery `json:"metrics"`
}

// subQuery is one of the queries of a request: the points of a metric's series in groups. Each group
// passes through the aggregators.
type subQuery struct {
	Name        string              `json:"name"`
	Tags        map[string][]string `json:"tags,omitempty"`
	GroupBy     []groupBy           `json:"group_by,omitempty"`
	Aggregators []aggregator        `json:"aggregators,omitempty"`
	Limit       int                 `json:"limit,omitempty"`
	ExcludeTags bool                `json:"exclude_tags"`
}

// groupBy groups series by tags.
type groupBy struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

// aggregator is one step of the pipeline that points pass through.
type aggregator struct {
	Name string `json:"name"`
	*ranges
	FilterOp  string   `json:"filter_op,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Factor    float64  `json:"factor,omitempty"`
}

// ranges sets the length and the beginning of the ranges that an aggregator reduces to one point each.
// An empty range has no point.
type ranges struct {
	Sampling sampling `json:"sampling"`
	// Align says that they begin at midnight UTC, or a full second, before the window
	// and not with it: see aligned.
	Align bool `json:"align_sampling"`
	// Stamp sets the time of a point to the start of its range. Otherwise it is the time of the range's
	// first point, or of the point that first and last choose.
	Stamp bool `json:"align_start_time"`
}

type sampling struct {
	Value int64  `json:"value"`
	Unit  string `json:"unit"`
}

// wholeWindow returns an aggregator that reduces the window to one point.
func wholeWindow(name string) aggregator {
	return aggregator{Name: name, ranges: &ranges{Sampling: sampling{1000, "years"}, Stamp: true}}
}

// chosen returns first or last of the window, keeping the time of the chosen point.
func chosen(name string) aggregator {
	a := wholeWindow(name)
	a.Stamp = false
	return a
}

// Of a second and of a day, in milliseconds.
const (
	second = int64(time.Second / time.Millisecond)
	day    = int64(24 * time.Hour / time.Millisecond)
)

// newRanges returns ranges of a width that begin at its multiples since 1970, and whether that is
// possible: the server begins ranges at midnight, those in milliseconds at a full second, or at the
// start of the window.
func newRanges(width, from int64) (ranges, bool) {
	r := ranges{Sampling: sampling{width, "milliseconds"}, Align: second%width == 0}
	if width%second == 0 {
		r = ranges{Sampling: sampling{width / second, "seconds"}, Align: day%width == 0}
	}
	return r, r.Align || from%width == 0
}

// filter returns an aggregator that leaves out values by an operator.
func filter(operator string, threshold float64) aggregator {
	return aggregator{Name: "filter", FilterOp: operator, Threshold: &threshold}
}

// text returns the request's body.
func (r *request) text() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}
