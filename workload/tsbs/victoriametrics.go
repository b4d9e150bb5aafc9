package tsbs

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// victoriaMetrics returns TSBS's text for VictoriaMetrics: the parameters of a
// range query.
func victoriaMetrics(q *query.Query, _ workload.Spec) Text {
	d := describe(q, "VictoriaMetrics")
	b := d.buckets
	hosts := ""
	switch len(d.hosts) {
	case 0:
	case 1:
		hosts = "hostname='" + d.hosts[0] + "'"
	default:
		hosts = "hostname=~'" + strings.Join(d.hosts, "|") + "'"
	}
	var selector string
	if len(b.Fields) == 1 {
		selector = fmt.Sprintf("cpu_%s{%s}", b.Fields[0], hosts)
	} else {
		selector = "{__name__=~'cpu_(" + strings.Join(b.Fields, "|") + ")'"
		if hosts != "" {
			selector += ", " + hosts
		}
		selector += "}"
	}
	function, by, width, step := "max", "__name__", "1m", "60"
	if b.Width == time.Hour {
		width, step = "1h", "3600"
	}
	if b.Aggregate == query.Avg {
		function, by = "avg", "__name__, hostname"
	}
	parameters := url.Values{
		"query": {fmt.Sprintf("%s(%[1]s_over_time(%s[%s])) by (%s)", function, selector, width, by)},
		"start": {strconv.FormatInt(q.Start.Unix(), 10)}, "end": {strconv.FormatInt(q.End.Unix(), 10)}, "step": {step},
	}
	return Text{Label: d.label, Description: d.textAt(q.Start), Method: "GET", Path: "/api/v1/query_range?" + parameters.Encode()}
}
