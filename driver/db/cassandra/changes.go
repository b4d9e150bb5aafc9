package cassandra

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of tables laid out by the options. A TTL would have to be known when rows are written.
func changes(o driver.Options) driver.Changes {
	const space = "by compactions after gc_grace_seconds, ten days as shipped"
	c := driver.Changes{
		Delete:  driver.Way{By: "DELETE of partitions", Space: space},
		Drop:    driver.Way{By: "DELETE of partitions and of a range in the last one", Space: space},
		Correct: driver.Way{By: "writing the rows again", Space: "by compactions in the background"},
		Again:   driver.Replaces,
	}
	if o[optionLayout] == layoutNarrow {
		c.Delete = driver.Way{Reason: "tsmark deletes nothing in TSBS's layout; leave out " + optionLayout + "=" + layoutNarrow}
		c.Drop = c.Delete
	}
	return c
}

// DeleteSeries implements driver.DB. The registry keeps the series: partitions without rows are in no answer.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	want := query.Value{Kind: query.Text, Text: []byte(value)}
	if t.Tag(tag).Numeric() {
		number, _ := strconv.ParseFloat(value, 64)
		want = query.Value{Kind: query.Float, Float: number}
	}
	gone := map[int64]bool{}
	err := d.scan(ctx, func(row []query.Value) error {
		if row[1].Kind == want.Kind && query.CompareRows(row[1:], []query.Value{want}) == 0 {
			gone[row[0].Int] = true
		}
		return nil
	}, fmt.Sprintf("SELECT DISTINCT %s, %s FROM %s", seriesColumn, ident(tag), d.layout.registry(t)))
	if err == nil {
		err = d.deletePartitions(ctx, t, func(p partition) string {
			if !gone[p.series] {
				return ""
			}
			return d.deletion(t, "")
		})
	}
	return err
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	before = before.UTC().Truncate(time.Millisecond)
	for _, t := range s.Tables {
		err := d.deletePartitions(ctx, t, func(p partition) string {
			from := time.UnixMilli(p.bucket)
			switch {
			case !from.Before(before):
				return ""
			case from.Add(d.layout.span).After(before):
				return d.deletion(t, fmt.Sprintf(" AND %s < %d", timeColumn, before.UnixMilli()))
			}
			return d.deletion(t, "")
		})
		if err != nil {
			return time.Time{}, err
		}
	}
	return before, nil
}

// deletion returns the statement that deletes the rows of a partition that satisfy a further condition.
func (d *database) deletion(t *series.Table, condition string) string {
	return fmt.Sprintf("DELETE FROM %s WHERE %s = ? AND %s = ?%s", d.layout.rows(t), seriesColumn, bucketColumn, condition)
}

// deletePartitions runs the statement for each partition of a table, unless it is empty.
func (d *database) deletePartitions(ctx context.Context, t *series.Table, statement func(partition) string) error {
	var all []partition
	err := d.scan(ctx, func(row []query.Value) error {
		p := partition{series: row[0].Int, bucket: row[1].Int / int64(time.Millisecond)}
		if statement(p) != "" {
			all = append(all, p)
		}
		return nil
	}, fmt.Sprintf("SELECT DISTINCT %s, %s FROM %s", seriesColumn, bucketColumn, d.layout.rows(t)))
	if err == nil {
		err = runParallel(ctx, int(d.options.Int(optionConcurrency)), len(all), func(ctx context.Context, i int) error {
			_, err := d.runOwn(ctx, statement(all[i]), int32(all[i].series), all[i].bucket)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("deleting rows of table %s: %w", t.Name, err)
	}
	return nil
}
