package tsbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// clickHouse returns TSBS's text for ClickHouse.
func clickHouse(q *query.Query, _ workload.Spec) Text {
	d := describe(q, "ClickHouse")
	out := Text{Label: d.label, Description: d.textAt(q.Start), Table: q.Table}
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime) }
	start, end := at(q.Start), at(q.End)
	hosts := "tags_id IN (SELECT id FROM tags WHERE hostname IN ('" + strings.Join(d.hosts, "','") + "'))"
	switch b := d.buckets; {
	case b.Limit > 0:
		out.Description = d.textAt(q.End)
		out.SQL = fmt.Sprintf(`
        SELECT
            toStartOfMinute(created_at) AS minute,
            max(usage_user)
        FROM cpu
        WHERE created_at < '%s'
        GROUP BY minute
        ORDER BY minute DESC
        LIMIT %d
        `, end, b.Limit)
	case b.Width > 0 && b.Aggregate == query.Avg:
		out.SQL = fmt.Sprintf(`
        SELECT
            hour,
            hostname,
            %s
        FROM
        (
            SELECT
                toStartOfHour(created_at) AS hour,
                tags_id AS id,
                %s
            FROM cpu
            WHERE (created_at >= '%s') AND (created_at < '%s')
            GROUP BY
                hour,
                id
        ) AS cpu_avg
        ANY INNER JOIN tags USING (id)
        ORDER BY
            hour ASC,
            hostname
        `, d.fields("mean_%s", ", "), d.fields("avg(%[1]s) AS mean_%[1]s", ", "), start, end)
	case b.Width > 0:
		bucket, order := "toStartOfMinute(created_at) AS minute", "minute\n        ORDER BY minute ASC"
		if b.Width == time.Hour {
			bucket, order = "toStartOfHour(created_at) AS hour", "hour\n        ORDER BY hour"
		}
		out.SQL = fmt.Sprintf(`
        SELECT
            %s,
            %s
        FROM cpu
        WHERE %s AND (created_at >= '%s') AND (created_at < '%s')
        GROUP BY %s
        `, bucket, d.fields("max(%[1]s) AS max_%[1]s", ", "), hosts, start, end, order)
	case q.Filter != nil:
		about := "" // of all hosts a space stays at the end
		if len(d.hosts) > 0 {
			about = "AND (" + hosts + ")"
		}
		out.SQL = fmt.Sprintf(`
        SELECT *
        FROM cpu
        PREWHERE (usage_user > %.1f) AND (created_at >= '%s') AND (created_at <  '%s') %s
        `, q.Filter.Value, start, end, about)
	default:
		out.Description = d.label
		out.SQL = `
            SELECT *
            FROM
            (
                SELECT *
                FROM cpu
                WHERE (tags_id, created_at) IN
                (
                    SELECT
                        tags_id,
                        max(created_at)
                    FROM cpu
                    GROUP BY tags_id
                )
            ) AS c
            ANY INNER JOIN tags AS t ON c.tags_id = t.id
            ORDER BY
                t.hostname ASC,
                c.time DESC
            `
	}
	return out
}
