package opentsdb

import (
	"encoding/json"
	"strconv"

	"github.com/tsmark/tsmark/driver/kit/metric"
)

// request is the body of a request to pathQuery. Times are milliseconds since 1970.
type request struct {
	Start int64 `json:"start"`
	// End is of the window, but where points are those of the whole window (all): the
	// server leaves its last millisecond out there.
	End          int64      `json:"end"`
	Milliseconds bool       `json:"msResolution"`
	Plain        bool       `json:"noAnnotations"`
	Delete       bool       `json:"delete,omitempty"`
	Numbered     bool       `json:"showQuery,omitempty"` // each series has the number of its sub-query
	Queries      []subQuery `json:"queries"`
}

// subQuery is one of the queries of a request: of the points of each of a metric's series
// downsample makes others, which aggregator puts together where series are of one group.
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

// all is the downsampling that makes one point of the window.
const all = "0all-"

// bucketed is the downsampling that makes a point of each bucket of a width. Buckets begin at multiples
// of the width since 1970, and the server drops buckets that begin before the window.
func bucketed(width int64, function string) string {
	return strconv.FormatInt(width, 10) + "ms-" + function
}

// none is the aggregator by which each series is a group of its own.
const none = "none"

// together returns the aggregator that puts together what a function has made of
// several series, without points that it invents between others.
func together(function string) string {
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
