package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// Upkeep implements driver.DB: the work of autovacuum, or of a step after the load, on the tables,
// their partitions and chunks. Index-only scans need the visibility map, which only VACUUM fills, and
// plans need the statistics of ANALYZE.
func (d *database) Upkeep(ctx context.Context, objects []driver.Object) (string, error) {
	if len(objects) == 0 {
		return "", nil
	}
	var names []string
	for _, o := range objects {
		names = append(names, fmt.Sprintf("(%s::regclass)", Literal(QuoteIdent(o.Name))))
	}
	// Partitions and TimescaleDB's chunks inherit from their table, which holds no rows itself. Sizes
	// are computed, because pg_class has only those of the last VACUUM or ANALYZE.
	row, err := sqlkit.QueryRow(ctx, d.admin, fmt.Sprintf(`WITH RECURSIVE own(rel) AS (
			SELECT rel::oid FROM (VALUES %s) AS named(rel)
			UNION SELECT inhrelid FROM pg_inherits JOIN own ON inhparent = rel),
		pages AS (SELECT rel, relallvisible, pg_relation_size(rel) / current_setting('block_size')::bigint AS n
			FROM own JOIN pg_class ON oid = rel WHERE relkind = 'r')
		SELECT count(*) FILTER (WHERE n > 0),
			count(*) FILTER (WHERE n > 0 AND coalesce(last_vacuum, last_autovacuum) IS NOT NULL),
			count(*) FILTER (WHERE n > 0 AND coalesce(last_analyze, last_autoanalyze) IS NOT NULL),
			coalesce(sum(n), 0)::bigint, coalesce(sum(relallvisible), 0)::bigint, coalesce(sum(n_dead_tup), 0)::bigint,
			coalesce(to_char(max(greatest(last_vacuum, last_autovacuum, last_analyze, last_autoanalyze)) AT TIME ZONE 'UTC', 'HH24:MI:SS'), ''),
			current_setting('autovacuum')
		FROM pages LEFT JOIN pg_stat_user_tables ON relid = rel`, strings.Join(names, ", ")))
	if err != nil {
		return "", fmt.Errorf("looking for vacuums of %s: %w", d.variant.System, err)
	}
	tables, pages := row[0].Int, row[3].Int
	if pages == 0 {
		return "", nil
	}
	text := fmt.Sprintf("of %d tables with rows %d vacuumed and %d analyzed since they were made", tables, row[1].Int, row[2].Int)
	if at := row[6].String(); at != "" {
		text += ", the last one at " + at + " UTC"
	}
	return text + fmt.Sprintf("; %d %% of their pages are known to be visible to all, %d rows are dead; autovacuum is %s",
		min(100, 100*row[4].Int/pages), row[5].Int, row[7].String()), nil
}
