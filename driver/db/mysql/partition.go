package mysql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// partitions adds the partitions that a batch needs and that do not exist yet. It runs before the
// batch's transaction, because adding partitions ends open transactions.
func (l *loader) partitions(ctx context.Context, b *series.Batch) error {
	length := l.d.options.Duration(optionPartition)
	if length == 0 {
		return nil
	}
	for i := range b.Runs {
		run := &b.Runs[i]
		var starts []int64
		end, known := l.ends[run.Table]
		for _, at := range run.Times {
			if start := query.BucketOf(at, length); (!known || at >= end) && !slices.Contains(starts, start) {
				starts = append(starts, start)
			}
		}
		if len(starts) == 0 {
			continue
		}
		slices.Sort(starts)
		var err error
		if l.ends[run.Table], err = l.d.partition(ctx, run.Table.Name, starts, length); err != nil {
			return fmt.Errorf("making a partition of table %s: %w", run.Table.Name, err)
		}
	}
	return nil
}

// partition splits partitions off the last one, which is empty except for late rows, and returns the
// start of the last one.
func (d *database) partition(ctx context.Context, table string, starts []int64, length time.Duration) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, start := range starts {
		if end, known := d.partitions[table]; known && start < end {
			continue
		}
		until := time.Unix(0, start).UTC().Add(length)
		bound := timeLiteral(until)
		if d.options[optionTimes] == timesBigint {
			bound = strconv.FormatInt(until.UnixNano(), 10)
		}
		err := d.admin.Exec(ctx, fmt.Sprintf("ALTER TABLE %s REORGANIZE PARTITION %s INTO (PARTITION %s VALUES LESS THAN (%s), PARTITION %[2]s VALUES LESS THAN %[5]s)",
			quoteIdent(table), last, time.Unix(0, start).UTC().Format("from_20060102_150405"), bound, lastBound(d.options)))
		if err != nil {
			return 0, err
		}
		d.partitions[table] = until.UnixNano()
	}
	return d.partitions[table], nil
}
