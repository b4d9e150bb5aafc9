package influxdb2

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/promql"
)

// The engine looks for compactions once a second, so it counts as idle only after a longer time without
// one.
const (
	idleFor = 1100 * time.Millisecond
	look    = 50 * time.Millisecond
)

// figure is a metric of a shard of the bucket.
type figure struct {
	name, id, path, wal string
	value               float64
}

// figures returns the metrics of the bucket's shards, which the server shows to everybody.
func (d *database) figures(ctx context.Context) ([]figure, error) {
	b, err := d.find(ctx)
	if err == nil && b == nil {
		err = fmt.Errorf("there is no such bucket")
	}
	if err != nil {
		return nil, err
	}
	text, err := d.api.Text(ctx, http.MethodGet, "/metrics", nil, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the server's own figures at /metrics: %w", err)
	}
	var own []figure
	of := `bucket="` + b.ID + `"`
	promql.Figures(text, func(name, labels string, value float64) {
		if !strings.Contains(labels, of) {
			return
		}
		own = append(own, figure{name, label(labels, "id"), label(labels, "path"), label(labels, "walPath"), value})
	})
	return own, nil
}

// label returns the value of a label.
func label(labels, name string) string {
	for _, before := range []string{"", ","} {
		begin := before + name + `="`
		at := strings.Index(labels, begin)
		if at < 0 || before == "" && at != 0 {
			continue
		}
		value, _, _ := strings.Cut(labels[at+len(begin):], `"`)
		return value
	}
	return ""
}

// Settle implements driver.DB. Rows are visible once they are acknowledged; Settle waits for the end of
// compactions in the bucket's shards.
func (d *database) Settle(ctx context.Context) error {
	since, err := poll.Idle(ctx, look, idleFor, func() (bool, error) {
		all, err := d.figures(ctx)
		for _, f := range all {
			if f.value != 0 && (f.name == "storage_compactions_active" || f.name == "storage_compactions_queued") {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.location(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// Footprint implements driver.DB: the files of the shards and their write-ahead logs, which the server
// counts, and the shards' indexes and the bucket's series file, which it does not count, if they can be
// read here.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	all, err := d.figures(ctx)
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of %s: %w", d.location(), err)
	}
	var size driver.Footprint
	var files []influx.Shard
	cached := 0.0
	for _, f := range all {
		switch f.name {
		case shardSize:
			size.Bytes += int64(f.value)
			files = append(files, influx.Shard{Path: f.path, WAL: f.wal})
		// Includes a snapshot in progress. storage_cache_disk_bytes is unsuitable: it stays at the size
		// of the latest snapshot.
		case "storage_cache_inuse_bytes":
			cached += f.value
		}
	}
	extra, err := influx.UncountedBytes(files, size.Bytes)
	if err != nil {
		size.Without = influx.Uncounted + err.Error()
	}
	size.Bytes += extra
	size.Pending = influx.Pending(cached)
	return size, nil
}

// shardSize is the name of the metric of a shard's size on disk.
const shardSize = "storage_shard_disk_size"

// FlushMemory implements driver.DB. The server writes the values in a shard's cache to files when an
// operator backs the shard up: tsmark does so for each shard, as of a time at which no file is new, so
// that nothing is transferred.
func (d *database) FlushMemory(ctx context.Context) error {
	all, err := d.figures(ctx)
	for _, f := range all {
		if err == nil && f.name == shardSize {
			_, err = d.api.Text(ctx, http.MethodGet, "/api/v2/backup/shards/"+url.PathEscape(f.id), url.Values{"since": {"9999-01-01T00:00:00Z"}}, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("writing out the caches of %s: %w", d.location(), err)
	}
	return nil
}
