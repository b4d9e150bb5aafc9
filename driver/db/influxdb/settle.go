package influxdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/poll"
)

// The engine looks for compactions once a second, so it counts as idle only after a longer time without
// one.
const (
	idleFor = 1100 * time.Millisecond
	look    = 50 * time.Millisecond
)

// Settle implements driver.DB. Rows are visible once they are acknowledged; Settle waits for the end of
// compactions in the database's shards.
func (d *database) Settle(ctx context.Context) error {
	idle := func() (time.Time, error) {
		return poll.Idle(ctx, look, idleFor, func() (bool, error) { return d.compacting(ctx) })
	}
	if d.settings.gemini() {
		idle = func() (time.Time, error) { return d.flushGemini(ctx) }
	}
	since, err := idle()
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.location(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// compacting reports whether shards of the database are being compacted, or wait for it.
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

// shards returns the server's metrics of each shard of the database, except the note's.
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

// Footprint implements driver.DB: the files of the shards and their write-ahead logs, which the server
// counts, and the shards' indexes and the database's series file, which it does not count, if they can
// be read here.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	if d.settings.gemini() {
		return driver.Footprint{Bytes: -1}, nil // unknown
	}
	size, err := d.measure(ctx)
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of %s: %w", d.location(), err)
	}
	return size, nil
}

func (d *database) measure(ctx context.Context) (size driver.Footprint, err error) {
	shards, err := d.shards(ctx, "shard")
	if err != nil {
		return size, err
	}
	var files []influx.Shard
	for _, s := range shards {
		n, err := strconv.ParseInt(s["diskBytes"], 10, 64)
		if err != nil {
			return size, err
		}
		size.Bytes += n
		files = append(files, influx.Shard{Path: s["path"], WAL: s["walPath"]})
	}
	extra, err := influx.UncountedBytes(files, size.Bytes)
	if err != nil {
		size.Without = influx.Uncounted + err.Error()
	}
	size.Bytes += extra
	cachedBytes, err := d.cachedBytes(ctx)
	size.Pending = influx.Pending(cachedBytes)
	return size, err
}

// cachedBytes returns the bytes of values that are only in memory and in the write-ahead log.
func (d *database) cachedBytes(ctx context.Context) (bytes float64, err error) {
	caches, err := d.shards(ctx, "tsm1_cache")
	for _, c := range caches {
		for _, name := range []string{"memBytes", "diskBytes"} { // the latter: of a snapshot in progress
			n, _ := strconv.ParseFloat(c[name], 64) // servers without it have none
			bytes += n
		}
	}
	return bytes, err
}
