package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of tables laid out by the options.
func (v Variant) changes(o driver.Options) driver.Changes {
	c := sqlkit.Changes(v.dialect(o), "vacuum", "autovacuum frees it for later rows; CLUSTER (the step cluster) or VACUUM FULL returns it to the file system")
	switch {
	case v.DropBefore != nil:
		c.Drop = v.Drops
	case o[optionPartition] != "":
		c.Drop = driver.Way{By: "DROP TABLE of partitions", Space: "at once, with the files of the partitions"}
	}
	return c
}

// DropBefore implements driver.DB. It drops partitions, if there are any.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	length := d.options.Duration(optionPartition)
	if length == 0 && d.variant.DropBefore == nil {
		return d.Tables.DropBefore(ctx, s, before)
	}
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = t.Name
	}
	d.mu.Lock() // no worker creates a partition meanwhile
	defer d.mu.Unlock()
	upTo := before
	var dropped []string
	err := d.change(ctx, names, func(c sqlkit.Conn) (err error) {
		if d.variant.DropBefore != nil {
			upTo, err = d.variant.DropBefore(ctx, c, names, before)
			return err
		}
		upTo = time.Unix(0, query.BucketOf(before.UnixNano(), length)).UTC()
		for _, name := range names {
			keys, err := dropPartitions(ctx, c, name, upTo, length)
			if err != nil {
				return err
			}
			dropped = append(dropped, keys...)
		}
		return nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("dropping old rows in %s: %w", d.config.Location(), err)
	}
	for _, key := range dropped {
		delete(d.partitions, key)
	}
	return upTo, nil
}

// dropPartitions drops the partitions of a table that end up to a time, and returns their keys.
func dropPartitions(ctx context.Context, c sqlkit.Conn, table string, upTo time.Time, length time.Duration) (keys []string, err error) {
	rows, err := sqlkit.QueryRows(ctx, c, "SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = "+Literal(QuoteIdent(table))+"::regclass")
	for _, row := range rows {
		name := row[0].String()
		from, failed := time.Parse(partitionTime, name[max(0, len(name)-len(partitionTime)):])
		if failed != nil || from.Add(length).After(upTo) {
			continue
		}
		if err := c.Exec(ctx, "DROP TABLE IF EXISTS "+QuoteIdent(name)); err != nil {
			return nil, err
		}
		keys = append(keys, partitionKey(table, from.UnixNano()))
	}
	return keys, err
}
