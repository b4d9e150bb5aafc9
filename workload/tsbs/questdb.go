package tsbs

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// questDB returns TSBS's text for QuestDB. It orders no buckets, so that its limit
// leaves the oldest ones.
func questDB(q *query.Query, _ workload.Spec) Text {
	d := describe(q, "QuestDB")
	description, statement := d.textAt(q.Start), ""
	hosts := "hostname IN ('" + strings.Join(d.hosts, "', '") + "')"
	switch b := d.buckets; {
	case b.Limit > 0:
		description = d.textAt(q.End)
		statement = fmt.Sprintf(`
		SELECT timestamp AS minute,
			max(usage_user)
		FROM cpu
		WHERE timestamp < '%s'
		SAMPLE BY 1m
		LIMIT %d`, seconds(q.End), b.Limit)
	case b.Width > 0 && b.Aggregate == query.Avg:
		statement = fmt.Sprintf(`
		SELECT timestamp, hostname,
			%s
		FROM cpu
		WHERE timestamp >= '%s'
		  AND timestamp < '%s'
		SAMPLE BY 1h
		GROUP BY timestamp, hostname`, d.fields("avg(%[1]s) AS avg_%[1]s", ", "), seconds(q.Start), seconds(q.End))
	case b.Width > 0:
		statement = fmt.Sprintf(`
		SELECT timestamp,
			%s
		FROM cpu
		WHERE %s
		  AND timestamp >= '%s'
		  AND timestamp < '%s'
		SAMPLE BY 1m`, d.fields("max(%[1]s) AS max_%[1]s", ", "), hosts, seconds(q.Start), seconds(q.End))
	case q.Filter != nil:
		about := ""
		if len(d.hosts) > 0 {
			about = "\n\t\t       AND " + hosts
		}
		statement = fmt.Sprintf(`
		      SELECT *
		      FROM cpu
		      WHERE usage_user > %.1f%s
		       AND timestamp >= '%s'
		       AND timestamp < '%s'`, q.Filter.Value, about, seconds(q.Start), seconds(q.End))
	default:
		description, statement = d.label, "SELECT * FROM cpu latest by hostname"
	}
	return Text{
		Label: d.label, Description: description, Method: "GET",
		Path: "/exec?" + url.Values{"count": {"false"}, "query": {statement}}.Encode(), Raw: statement,
	}
}
