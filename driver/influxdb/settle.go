package influxdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/influx"
	"github.com/tsmark/tsmark/driver/poll"
)

// The engine looks for compactions to make once a second, so that it is idle
// only once it has been so for longer than that.
const (
	idleFor = 1100 * time.Millisecond
	look    = 50 * time.Millisecond
)

// Settle implements driver.DB. Rows are visible once they are acknowledged;
// what is waited for is the end of compactions of the database's shards.
func (d *database) Settle(ctx context.Context) error {
	idle := func() (time.Time, error) {
		return poll.Idle(ctx, look, idleFor, func() (bool, error) { return d.compacting(ctx) })
	}
	if d.settings.gemini() {
		idle = func() (time.Time, error) { return d.flushGemini(ctx) }
	}
	since, err := idle()
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.where(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.Watcher.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

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
// note's.
func (d *database) shards(ctx context.Context, module string) ([]influx.Shown, error) {
	all, err := d.table(ctx, "SHOW STATS FOR '"+module+"'")
	var own []influx.Shown
	for _, s := range all {
		if s["database"] == d.settings.database && s["retentionPolicy"] != note {
			own = append(own, s)
		}
	}
	return own, err
}

// Footprint implements driver.DB: the files of the shards and their
// write-ahead logs, which the server counts, and the shards' indexes and the
// database's file of series, which it does not, where they can be read here.
func (d *database) Footprint(ctx context.Context) (int64, error) {
	if d.settings.gemini() {
		return -1, nil // it does not tell
	}
	shards, err := d.shards(ctx, "shard")
	var total int64
	var files []influx.Shard
	for _, s := range shards {
		var n int64
		if err == nil {
			n, err = strconv.ParseInt(s["diskBytes"], 10, 64)
		}
		total += n
		files = append(files, influx.Shard{Path: s["path"], WAL: s["walPath"]})
	}
	if err != nil {
		return -1, fmt.Errorf("measuring the files of %s: %w", d.where(), err)
	}
	extra, err := influx.Besides(files, total)
	left := ""
	if err != nil {
		left = "the index and the file of series, which the server does not count: " + err.Error()
	}
	d.leftOut.Store(&left)
	return total + extra, nil
}

// LeftOut implements driver.Incomplete.
func (d *database) LeftOut() string {
	if left := d.leftOut.Load(); left != nil {
		return *left
	}
	return ""
}
