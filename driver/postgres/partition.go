package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/query"
)

// partitions makes those that the batch at work needs and that are not there
// yet. It is done outside the batch's transaction: an open one would keep others
// from attaching theirs.
func (w *writer) partitions(ctx context.Context) error {
	length := w.layout.options.Duration(optionPartition)
	if length == 0 {
		return nil
	}
	for _, t := range w.order {
		for _, run := range t.runs {
			for _, at := range run.Times {
				if start := query.BucketOf(at, length); start != t.partition || !t.partitioned {
					if err := w.d.partition(ctx, t.table.Name, start, length); err != nil {
						return fmt.Errorf("making a partition of table %s: %w", t.table.Name, err)
					}
					t.partition, t.partitioned = start, true
				}
			}
		}
	}
	return nil
}

// partition makes a partition that begins at a time, unless it was made.
func (d *database) partition(ctx context.Context, table string, start int64, length time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.layout
	key := fmt.Sprintf("%s %d", table, start)
	if l.partitions[key] {
		return nil
	}
	from := time.Unix(0, start).UTC()
	name := fmt.Sprintf("%.40s_%s", table, from.Format("20060102_150405"))
	kind := "TABLE"
	if l.options[optionUnlogged] == on {
		kind = "UNLOGGED TABLE"
	}
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		return c.Exec(ctx, fmt.Sprintf("CREATE %s %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s)%s",
			kind, Quoted(name), Quoted(table), timeLiteral(from), timeLiteral(from.Add(length)), l.storage()))
	})
	if err == nil {
		l.partitions[key] = true
	}
	return err
}
