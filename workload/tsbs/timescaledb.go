package tsbs

import (
	_ "embed" // iotTexts
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// TimescaleDB returns TSBS's own text of a query of this package, its white
// space and oddities included: the label of cpu-max-all-32-24 speaks of 8
// hours, and high-cpu and lastpoint return every column.
func TimescaleDB(q *query.Query) Text {
	const literal = "2006-01-02 15:04:05.999999 -0700"
	at := func(t time.Time) string { return t.UTC().Format(literal) }
	if q.Table != cpuTable {
		return iotTimescaleDB(q, at)
	}
	d := describe(q, "TimescaleDB")
	out := Text{Label: d.label, Description: d.textAt(q.Start), Table: q.Table}
	window := fmt.Sprintf("time >= '%s' AND time < '%s'", at(q.Start), at(q.End))
	hosts := fmt.Sprintf("tags_id IN (SELECT id FROM tags WHERE hostname IN ('%s'))", strings.Join(d.hosts, "','"))
	bucket := fmt.Sprintf("time_bucket('%d seconds', time)", int(d.buckets.Width.Seconds()))
	switch b := d.buckets; {
	case b.Limit > 0:
		out.Description = d.textAt(q.End)
		out.SQL = fmt.Sprintf(`SELECT %s AS minute, max(usage_user)
        FROM cpu
        WHERE time < '%s'
        GROUP BY minute
        ORDER BY minute DESC
        LIMIT %d`, bucket, at(q.End), b.Limit)
	case b.Width > 0 && b.Aggregate == query.Avg:
		out.SQL = fmt.Sprintf(`
        WITH cpu_avg AS (
          SELECT %s as hour, tags_id,
          %s
          FROM cpu
          WHERE %s
          GROUP BY 1, 2
        )
        SELECT hour, tags.hostname, %s
        FROM cpu_avg
        JOIN tags ON cpu_avg.tags_id = tags.id
        ORDER BY hour, tags.hostname`, bucket, d.fields("avg(%[1]s) as mean_%[1]s", ", "), window, d.fields("mean_%s", ", "))
	case b.Width > 0:
		name, order := "minute", "minute ASC"
		if b.Width == time.Hour {
			name, order = "hour", "hour"
		}
		out.SQL = fmt.Sprintf(`SELECT %s AS %s,
        %s
        FROM cpu
        WHERE %s AND %s
        GROUP BY %s ORDER BY %s`, bucket, name, d.fields("max(%[1]s) as max_%[1]s", ", "), hosts, window, name, order)
	case q.Filter != nil:
		about := "" // of all hosts a space stays at the end
		if len(d.hosts) > 0 {
			about = "AND " + hosts
		}
		out.SQL = fmt.Sprintf("SELECT * FROM cpu WHERE usage_user > %.1f and %s %s", q.Filter.Value, window, about)
	default:
		out.Description = d.label
		out.SQL = "SELECT DISTINCT ON (t.hostname) * FROM tags t INNER JOIN LATERAL(SELECT * FROM cpu c WHERE c.tags_id = t.id ORDER BY time DESC LIMIT 1) AS b ON true ORDER BY t.hostname, b.time DESC"
	}
	return out
}

// iotTexts holds the texts of TSBS for the iot types, with placeholders for drawn values.
//
//go:embed timescaledb_iot.txt
var iotTexts string

// iotTimescaleDB returns TSBS's text of an iot query.
func iotTimescaleDB(q *query.Query, at func(time.Time) string) Text {
	value := places(iotTexts, q, "{{start}}", at(q.Start), "{{end}}", at(q.End))
	return Text{Label: value("LABEL", "DESC"), Description: value("DESC", "TABLE"), Table: value("TABLE", "SQL"), SQL: value("SQL", "")}
}
