package influxdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
)

// MeasureReads implements driver.DB with EXPLAIN ANALYZE: the compressed bytes of the blocks that each
// iterator read from files. It does not count values in the cache, so ok is false while there are any;
// openGemini has other statistics.
func (d *database) MeasureReads(ctx context.Context, q driver.Request) (driver.Read, bool, error) {
	if d.settings.gemini() {
		return driver.Read{}, false, nil
	}
	if cached, err := d.cachedBytes(ctx); err != nil || cached > 0 {
		return driver.Read{}, false, err
	}
	rows, err := d.table(ctx, "EXPLAIN ANALYZE "+q.Text)
	if err != nil {
		return driver.Read{}, false, fmt.Errorf("explaining a query: %w", err)
	}
	bytes, found := int64(0), false
	for _, row := range rows {
		name, value, _ := strings.Cut(row["EXPLAIN ANALYZE"], ": ")
		if !strings.HasSuffix(name, "_blocks_size_bytes") {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return driver.Read{}, false, fmt.Errorf("reading what EXPLAIN ANALYZE says: %q is not a number of bytes", value)
		}
		bytes, found = bytes+n, true
	}
	return driver.Read{Rows: -1, Bytes: bytes}, found, nil
}

// explain implements driver.DB: the iterators, with the series, files and blocks of each.
func (d *database) explain(ctx context.Context, q driver.Request) (string, error) {
	rows, err := d.table(ctx, "EXPLAIN "+q.Text)
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = row["QUERY PLAN"]
	}
	return strings.Join(lines, "\n"), err
}
