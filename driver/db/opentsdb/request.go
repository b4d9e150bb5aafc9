package opentsdb

import (
	"encoding/json"
	"strconv"

	"github.com/tsmark/tsmark/driver/kit/metric"
)

// request is the body of a request to pathQuery. Times are milliseconds since 1970.
type request struct {
	Start int64 `json:"start"`
	// End is inclusive, except with the downsampling all, for which the server excludes the last
	// millisecond.
	End          int64      `json:"end"`
	Milliseconds bool       `json:"msResolution"`
	Plain        bool       `json:"noAnnotations"`
	Delete       bool       `json:"delete,omitempty"`
	Numbered     bool       `json:"showQuery,omitempty"` // each series has the number of its sub-query
	Queries      []subQuery `json:"queries"`
}

// subQuery is one of the queries of a request. Its downsample reduces the points of each of a metric's
// series, and its aggregator merges the series of a group.
type subQuery struct {
	Metric     string   `json:"metric"`
	Aggregator string   `json:"aggregator"`
	Downsample string   `json:"downsample,omitempty"`
	Filters    []filter `json:"filters,omitempty"`
}

// filter selects series by a tag.
type filter struct {
	Type    string `json:"type"`
	Tag     string `json:"tagk"`
	Filter  string `json:"filter"`
	GroupBy bool   `json:"groupBy"`
}

// newRequest returns a request about a window.
func newRequest(w metric.Window) request {
	return request{Start: max(w.From, firstTime), End: w.To, Milliseconds: true, Plain: true}
}

// all is the downsampling that reduces the window to one point.
const all = "0all-"

// downsampling is the downsampling that makes a point of each bucket of a width. Buckets begin at multiples
// of the width since 1970, and the server drops buckets that begin before the window.
func downsampling(width int64, function string) string {
	return strconv.FormatInt(width, 10) + "ms-" + function
}

// none is the aggregator that makes each series a group.
const none = "none"

// mergeFunction returns the aggregator that merges a function's results for several series without
// interpolation.
func mergeFunction(function string) string {
	switch function {
	case "min":
		return "mimmin"
	case "max":
		return "mimmax"
	}
	return "zimsum"
}

// text returns the request's body.
func (r *request) text() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}
