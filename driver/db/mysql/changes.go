package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of tables laid out by the options.
func (v variant) changes(o driver.Options) driver.Changes {
	c := sqlkit.Changes(v.dialect(o), stepOptimize, "later rows fill the free pages of the files")
	if o[optionPartition] != "" {
		c.Drop = driver.Way{By: "ALTER TABLE … DROP PARTITION", Space: "at once, with the files of the partitions"}
	}
	return c
}

// atomically is change in a transaction, for statements about rows.
func (d *database) atomically(ctx context.Context, tables []string, do func(sqlkit.Conn) error) error {
	return d.change(ctx, tables, func(c sqlkit.Conn) error {
		err := c.Exec(ctx, "START TRANSACTION")
		if err == nil {
			err = do(c)
		}
		if err == nil {
			return c.Exec(ctx, "COMMIT")
		}
		_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // return the earlier error
		return err
	})
}

// DropBefore implements driver.DB. It drops partitions, if there are any, and deletes old rows that came so late that
// they are in a newer partition.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	length := d.options.Duration(optionPartition)
	if length > 0 {
		before = time.Unix(0, query.BucketOf(before.UnixNano(), length)).UTC()
		d.mu.Lock() // no worker adds a partition meanwhile
		defer d.mu.Unlock()
		for _, t := range s.Tables {
			if err := d.dropPartitions(ctx, t.Name, before); err != nil {
				return time.Time{}, fmt.Errorf("dropping partitions of table %s: %w", t.Name, err)
			}
		}
	}
	return d.Tables.DropBefore(ctx, s, before)
}

// dropPartitions drops the partitions of a table that end up to a time.
func (d *database) dropPartitions(ctx context.Context, table string, upTo time.Time) error {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT partition_name, partition_description FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = %s AND partition_name <> %s",
		literal(table), literal(last)))
	if err != nil {
		return err
	}
	var names []string
	for _, row := range rows {
		bound := strings.Trim(row[1].String(), "'")
		end, err := time.Parse("2006-01-02 15:04:05", bound)
		if d.options[optionTimes] == timesBigint {
			var ns int64
			ns, err = strconv.ParseInt(bound, 10, 64)
			end = time.Unix(0, ns)
		}
		if err != nil {
			return fmt.Errorf("partition %s ends at %s: %w", row[0], bound, err)
		}
		if !end.After(upTo) {
			names = append(names, quoteIdent(row[0].String()))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return d.admin.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DROP PARTITION %s", quoteIdent(table), strings.Join(names, ", ")))
}
