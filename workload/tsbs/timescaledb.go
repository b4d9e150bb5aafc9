package tsbs

import (
	_ "embed" // iotTexts
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// TimescaleDBQuery is a query as TSBS's generator makes it for TimescaleDB
// with its default flags.
type TimescaleDBQuery struct {
	Label       string // what TSBS's runner groups latencies by
	Description string
	Table       string
	SQL         string
}

// String is the form of the project's golden query texts: a key and its value
// a line.
func (q TimescaleDBQuery) String() string {
	return fmt.Sprintf("LABEL=%s\nDESC=%s\nTABLE=%s\nSQL=%s\n", q.Label, q.Description, q.Table, q.SQL)
}

// TimescaleDB returns TSBS's own text of a query of this package, its white
// space and oddities included: the label of cpu-max-all-32-24 speaks of 8
// hours, and high-cpu and lastpoint return every column.
func TimescaleDB(q *query.Query) TimescaleDBQuery {
	const literal = "2006-01-02 15:04:05.999999 -0700"
	at := func(t time.Time) string { return t.UTC().Format(literal) }
	window := fmt.Sprintf("time >= '%s' AND time < '%s'", at(q.Start), at(q.End))
	buckets, _ := q.Shape.(query.Buckets)
	list := func(format string) string {
		var parts []string
		for _, f := range buckets.Fields {
			parts = append(parts, fmt.Sprintf(format, f))
		}
		return strings.Join(parts, ", ")
	}
	hosts := ""
	if q.In != nil {
		hosts = fmt.Sprintf("tags_id IN (SELECT id FROM tags WHERE hostname IN ('%s'))", strings.Join(q.In.Values, "','"))
	}

	if q.Table != cpuTable {
		return iotTimescaleDB(q, at)
	}
	out := TimescaleDBQuery{Table: q.Table}
	described := q.Start
	bucket := fmt.Sprintf("time_bucket('%d seconds', time)", int(buckets.Width.Seconds()))
	switch q.Shape.(type) {
	case query.Last:
		out.Label = "TimescaleDB last row per host"
		out.SQL = "SELECT DISTINCT ON (t.hostname) * FROM tags t INNER JOIN LATERAL(SELECT * FROM cpu c WHERE c.tags_id = t.id ORDER BY time DESC LIMIT 1) AS b ON true ORDER BY t.hostname, b.time DESC"
		out.Description = out.Label
		return out
	case query.Rows:
		out.Label = "TimescaleDB CPU over threshold, all hosts"
		out.SQL = fmt.Sprintf("SELECT * FROM cpu WHERE usage_user > %.1f and %s ", q.Above.Value, window)
		if q.In != nil {
			out.Label = fmt.Sprintf("TimescaleDB CPU over threshold, %d host(s)", len(q.In.Values))
			out.SQL = fmt.Sprintf("SELECT * FROM cpu WHERE usage_user > %.1f and %s AND %s", q.Above.Value, window, hosts)
		}
	}
	switch {
	case buckets.Width == 0:
	case buckets.Limit > 0:
		described = q.End
		out.Label = fmt.Sprintf("TimescaleDB max cpu over last %d min-intervals (random end)", buckets.Limit)
		out.SQL = fmt.Sprintf(`SELECT %s AS minute, max(usage_user)
        FROM cpu
        WHERE time < '%s'
        GROUP BY minute
        ORDER BY minute DESC
        LIMIT %d`, bucket, at(q.End), buckets.Limit)
	case buckets.Aggregate == query.Avg:
		out.Label = fmt.Sprintf("TimescaleDB mean of %d metrics, all hosts, random %s by 1h", len(buckets.Fields), q.End.Sub(q.Start))
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
        ORDER BY hour, tags.hostname`, bucket, list("avg(%[1]s) as mean_%[1]s"), window, list("mean_%s"))
	default:
		name, order := "minute", "minute ASC"
		out.Label = fmt.Sprintf("TimescaleDB %d cpu metric(s), random %4d hosts, random %s by 1m", len(buckets.Fields), len(q.In.Values), q.End.Sub(q.Start))
		if buckets.Width == time.Hour {
			name, order = "hour", "hour"
			out.Label = fmt.Sprintf("TimescaleDB max of all CPU metrics, random %4d hosts, random 8h0m0s by 1h", len(q.In.Values))
		}
		out.SQL = fmt.Sprintf(`SELECT %s AS %s,
        %s
        FROM cpu
        WHERE %s AND %s
        GROUP BY %s ORDER BY %s`, bucket, name, list("max(%[1]s) as max_%[1]s"), hosts, window, name, order)
	}
	out.Description = out.Label + ": " + described.UTC().Format(time.RFC3339)
	return out
}

// iotTexts holds TSBS's texts of the iot types, with places for what is drawn.
//
//go:embed timescaledb_iot.txt
var iotTexts string

// iotTimescaleDB returns TSBS's text of an iot query.
func iotTimescaleDB(q *query.Query, at func(time.Time) string) TimescaleDBQuery {
	_, section, _ := strings.Cut(iotTexts, "##### "+q.Type+"\n")
	section, _, _ = strings.Cut(section, "\n##### ")
	drawn := "" // a fleet or a truck
	if q.In != nil {
		drawn = q.In.Values[0]
	}
	section = strings.NewReplacer("{{fleet}}", drawn, "{{truck}}", drawn, "{{start}}", at(q.Start), "{{end}}", at(q.End)).Replace(section)
	value := func(key, next string) string {
		_, rest, _ := strings.Cut(section, key+"=")
		text, _, _ := strings.Cut(rest, "\n"+next+"=")
		return text
	}
	return TimescaleDBQuery{
		Label: value("LABEL", "DESC"), Description: value("DESC", "TABLE"), Table: value("TABLE", "SQL"),
		SQL: strings.TrimSuffix(value("SQL", "\x00"), "\n"),
	}
}
