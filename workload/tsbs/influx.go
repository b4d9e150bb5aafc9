package tsbs

import (
	_ "embed" // influxIoTTexts
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// influxIoTTexts holds the texts of TSBS for the iot types in InfluxQL, with placeholders for
// drawn values and for the times of the dataset.
//
//go:embed influx_iot.txt
var influxIoTTexts string

// influx returns TSBS's text for InfluxDB. The newest buckets are in it the oldest
// ones, and they are described by a start that the text has not.
func influx(q *query.Query, s workload.Spec) Text {
	post := func(label, description, statement string) Text {
		return Text{Label: label, Description: description, Method: "POST", Path: "/query?" + url.Values{"q": {statement}}.Encode(), Raw: statement}
	}
	if q.Table != cpuTable {
		value := places(influxIoTTexts, q, "{{start}}", seconds(q.Start), "{{end}}", seconds(q.End), "{{first}}", seconds(s.Start), "{{last}}", seconds(queryEnd(s)))
		return post(value("LABEL", "DESC"), value("DESC", "RAW"), value("RAW", ""))
	}
	d := describe(q, "Influx")
	window := fmt.Sprintf("time >= '%s' and time < '%s'", seconds(q.Start), seconds(q.End))
	named := make([]string, len(d.hosts))
	for i, host := range d.hosts {
		named[i] = "hostname = '" + host + "'"
	}
	hosts := "(" + strings.Join(named, " or ") + ")"
	switch b := d.buckets; {
	case b.Limit > 0:
		return post(d.label, d.textAt(q.End.Add(-time.Hour)), fmt.Sprintf("SELECT max(usage_user) from cpu WHERE time < '%s' group by time(1m) limit %d", seconds(q.End), b.Limit))
	case b.Width > 0 && b.Aggregate == query.Avg:
		return post(d.label, d.textAt(q.Start), fmt.Sprintf("SELECT %s from cpu where %s group by time(1h),hostname", d.fields("mean(%s)", ", "), window))
	case b.Width == time.Hour:
		return post(d.label, d.textAt(q.Start), fmt.Sprintf("SELECT %s from cpu where %s and %s group by time(1h)", d.fields("max(%s)", ","), hosts, window))
	case b.Width > 0:
		return post(d.label, d.textAt(q.Start), fmt.Sprintf("SELECT %s from cpu where %s and %s group by time(1m)", d.fields("max(%s)", ", "), hosts, window))
	case q.Filter != nil:
		about := "" // of all hosts a space more
		if len(d.hosts) > 0 {
			about = "and " + hosts
		}
		return post(d.label, d.textAt(q.Start), fmt.Sprintf("SELECT * from cpu where usage_user > %.1f %s and %s", q.Filter.Value, about, window))
	}
	return post(d.label, d.label+": cpu", `SELECT * from cpu group by "hostname" order by time desc limit 1`)
}
