package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// partitions adds the partitions that a batch needs and that do not exist yet. It runs outside the
// batch's transaction, because an open transaction would keep other workers from attaching partitions.
func (l *loader) partitions(ctx context.Context, b *series.Batch) error {
	length := l.d.options.Duration(optionPartition)
	if length == 0 {
		return nil
	}
	for i := range b.Runs {
		run := &b.Runs[i]
		last, known := l.partition[run.Table]
		for _, at := range run.Times {
			if start := query.BucketOf(at, length); start != last || !known {
				if err := l.d.partition(ctx, run.Table.Name, start, length); err != nil {
					return fmt.Errorf("making a partition of table %s: %w", run.Table.Name, err)
				}
				last, known = start, true
				l.partition[run.Table] = start
			}
		}
	}
	return nil
}

// partitionTime is the form of the start of a partition, with which its name ends.
const partitionTime = "20060102_150405"

// partitionKey is the key of a partition in database.partitions.
func partitionKey(table string, start int64) string { return fmt.Sprintf("%s %d", table, start) }

// partition creates the partition that begins at a time, unless it exists.
func (d *database) partition(ctx context.Context, table string, start int64, length time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := partitionKey(table, start)
	if d.partitions[key] {
		return nil
	}
	from := time.Unix(0, start).UTC()
	name := fmt.Sprintf("%.40s_%s", table, from.Format(partitionTime))
	err := d.admin.Exec(ctx, fmt.Sprintf("CREATE %s %s PARTITION OF %s FOR VALUES FROM (%s) TO (%s)%s",
		tableKind(d.options), QuoteIdent(name), QuoteIdent(table), TimeLiteral(from), TimeLiteral(from.Add(length)), storage(d.options)))
	if err == nil {
		d.partitions[key] = true
	}
	return err
}
