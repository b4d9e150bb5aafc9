package influxdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The engine looks for compactions to make once a second, so that it is idle
// only once it has been so for longer than that.
const (
	idleFor = 1100 * time.Millisecond
	look    = 50 * time.Millisecond
)

// Settle implements target.Target. Rows are visible once they are acknowledged;
// what is waited for is the end of compactions of the database's shards.
func (d *database) Settle(ctx context.Context) error {
	since := time.Now()
	for time.Since(since) < idleFor {
		busy, err := d.compacting(ctx)
		if err != nil {
			return fmt.Errorf("settling %s: %w", d.where(), err)
		}
		if busy {
			since = time.Now()
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// compacting reports whether shards of the database are being compacted, or wait
// for that.
func (d *database) compacting(ctx context.Context) (bool, error) {
	shards, err := d.shards(ctx, "tsm1_engine")
	for _, s := range shards {
		for name, value := range s {
			if value != "0" && (strings.HasSuffix(name, "CompactionsActive") || strings.HasSuffix(name, "CompactionQueue")) {
				return true, nil
			}
		}
	}
	return false, err
}

// shards returns what the server tells of each shard of the database but the
// mark's.
func (d *database) shards(ctx context.Context, module string) ([]shown, error) {
	all, err := d.table(ctx, "SHOW STATS FOR '"+module+"'")
	var own []shown
	for _, s := range all {
		if s["database"] == d.settings.database && s["retentionPolicy"] != markMeasurement {
			own = append(own, s)
		}
	}
	return own, err
}

// Footprint implements target.Target: the files of the shards and their
// write-ahead logs. The index of a shard and the database's file of series are
// not among what the server counts.
func (d *database) Footprint(ctx context.Context) (int64, error) {
	shards, err := d.shards(ctx, "shard")
	var total int64
	for _, s := range shards {
		var n int64
		if err == nil {
			n, err = strconv.ParseInt(s["diskBytes"], 10, 64)
		}
		total += n
	}
	if err != nil {
		return -1, fmt.Errorf("measuring the files of %s: %w", d.where(), err)
	}
	return total, nil
}
