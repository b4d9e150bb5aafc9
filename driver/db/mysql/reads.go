package mysql

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// MeasureReads implements driver.DB with the connection's counters of requests to read a row, by an
// index or from a table. There are no counters of bytes.
func (d *database) MeasureReads(ctx context.Context, q driver.Request) (read driver.Read, ok bool, err error) {
	err = d.admin.Do(ctx, func(c *conn) error {
		// Reading the counters reads rows too: the first two results tell how many.
		var counts [3]int64
		for i := range counts {
			if i == 2 {
				if _, err := c.Query(ctx, q.Text, nil); err != nil {
					return fmt.Errorf("running a query to measure its reads: %w", err)
				}
			}
			rows, err := sqlkit.QueryRows(ctx, c, "SHOW SESSION STATUS LIKE 'Handler_read%'")
			if err != nil {
				return fmt.Errorf("reading the counters of rows: %w", err)
			}
			for _, row := range rows {
				var n int64
				if _, err := fmt.Sscan(row[1].String(), &n); err != nil {
					return fmt.Errorf("the counter %s is %q", row[0], row[1])
				}
				counts[i] += n
			}
		}
		read = driver.Read{Rows: counts[2] - counts[1] - (counts[1] - counts[0]), Bytes: -1}
		return nil
	})
	return read, err == nil, err
}
