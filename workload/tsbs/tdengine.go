package tsbs

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// tdEngine returns the text of TDengine's fork of TSBS, github.com/taosdata/tsbs. A query about one host
// reads the host's table. It orders no buckets of groupby-orderby-limit, so that its limit leaves the
// oldest ones.
func tdEngine(q *query.Query, _ workload.Spec) Text {
	d := describe(q, "TDengine")
	fields := strings.Join(cpuFields(), ",")
	out := Text{Label: d.label, Description: d.textAt(q.Start), Table: q.Table}
	from, hosts := q.Table, "tbname IN ('"+strings.Join(d.hosts, "','")+"') AND "
	if len(d.hosts) == 1 {
		from, hosts = d.hosts[0], ""
	}
	window := fmt.Sprintf("ts >= %d AND ts < %d", q.Start.UnixMilli(), q.End.UnixMilli())
	switch b := d.buckets; {
	case b.Limit > 0:
		out.Description = d.textAt(q.End)
		out.SQL = fmt.Sprintf("SELECT _wstart as ts,max(usage_user) FROM cpu WHERE ts < %d INTERVAL(1m) LIMIT %d", q.End.UnixMilli(), b.Limit)
	case b.Width > 0 && b.Aggregate == query.Avg:
		out.SQL = fmt.Sprintf("SELECT _wstart as ts,tbname,%s from cpu where %s partition by tbname interval(1h) order by tbname,ts asc",
			d.fields("avg(%s)", ", "), strings.Replace(window, "AND", "and", 1))
	case b.Width == time.Hour:
		out.SQL = fmt.Sprintf("SELECT _wstart as ts,%s FROM %s WHERE %s%s interval(1h)", d.fields("max(%s)", ", "), from, hosts, window)
		if hosts == "" {
			out.SQL = strings.Replace(out.SQL, " WHERE", "  WHERE", 1)
		}
	case b.Width > 0:
		out.SQL = fmt.Sprintf("SELECT  _wstart as ts,%s FROM %s WHERE %s%s INTERVAL(1m)", d.fields("max(%s)", ", "), from, hosts, window)
	case q.Filter != nil && len(d.hosts) == 1:
		out.SQL = fmt.Sprintf("SELECT * FROM %s WHERE usage_user > %.1f and %s ", from, q.Filter.Value, window)
	case q.Filter != nil:
		out.SQL = fmt.Sprintf("SELECT ts,%s FROM cpu WHERE usage_user > %.1f and %s ", fields, q.Filter.Value, window)
	default:
		out.Description, out.SQL = d.label, "SELECT last_row(*),tbname from cpu group by tbname"
	}
	return out
}
