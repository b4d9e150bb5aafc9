package clickhouse

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// counter is a counter of a query in the query log.
func counter(name string) string { return "toInt64(ProfileEvents['" + name + "'])" }

// MeasureReads implements driver.DB with the server's query log, which has the rows and the
// uncompressed bytes that a query read, the marks found in the cache, and the parts selected. ok is false if the server keeps no such log, or the user may
// not read it.
func (d *database) MeasureReads(ctx context.Context, q driver.Request) (driver.Read, bool, error) {
	name := fmt.Sprintf("tsmark reads %d", time.Now().UnixNano())
	if _, err := d.admin.Query(ctx, q.Text+fmt.Sprintf("\nSETTINGS log_queries = 1, log_comment = '%s'", name), nil); err != nil {
		return driver.Read{}, false, fmt.Errorf("running a query to measure its reads: %w", err)
	}
	if err := d.admin.Exec(ctx, "SYSTEM FLUSH LOGS"); err != nil {
		return driver.Read{}, false, nil
	}
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT toInt64(read_rows), toInt64(read_bytes), "+counter("MarkCacheHits")+", "+counter("MarkCacheMisses")+", "+counter("SelectedParts")+" FROM system.query_log WHERE type = 'QueryFinish' AND log_comment = '"+name+"'")
	if err != nil || len(rows) != 1 {
		return driver.Read{}, false, nil
	}
	return driver.Read{Rows: rows[0][0].Int, Bytes: rows[0][1].Int, Hits: rows[0][2].Int, Misses: rows[0][3].Int, Files: rows[0][4].Int}, true, nil
}
