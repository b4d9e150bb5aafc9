package prometheus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/poll"
)

const (
	idleFor = 1100 * time.Millisecond // nothing must be compacted for this time
	look    = 50 * time.Millisecond
)

// Settle implements driver.DB: samples are visible immediately; the server is idle once all data that
// can leave its memory is in blocks, and these have been merged.
func (d *database) Settle(ctx context.Context) error {
	if q := d.settings.quirks; q != nil {
		return q.settle(ctx)
	}
	flags, err := d.flags(ctx)
	var since time.Time
	if err == nil {
		before := -1.0
		since, err = poll.Idle(ctx, look, idleFor, func() (bool, error) {
			all, err := d.ReadMetrics(ctx)
			done := all["prometheus_tsdb_compactions_total"]
			span := all["prometheus_tsdb_head_max_time"] - all["prometheus_tsdb_head_min_time"]
			busy := done != before || all["prometheus_tsdb_compaction_populating_block"] > 0 || span > float64(headSpan(flags).Milliseconds())
			before = done
			return busy, err
		})
	}
	if err != nil {
		return fmt.Errorf("settling Prometheus at %s: %w", d.Address(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// figures returns the names of the server's metrics that tsmark reads, as sums over labels.
func figures() []string {
	return []string{
		"prometheus_tsdb_head_min_time", "prometheus_tsdb_head_max_time", headSeries, "prometheus_tsdb_head_chunks",
		"prometheus_tsdb_head_samples_appended_total", "prometheus_tsdb_head_out_of_order_samples_appended_total",
		"prometheus_tsdb_out_of_order_samples_total", "prometheus_tsdb_out_of_bound_samples_total", "prometheus_tsdb_too_old_samples_total",
		"prometheus_tsdb_compactions_total", "prometheus_tsdb_compactions_failed_total", "prometheus_tsdb_compaction_populating_block",
		"prometheus_tsdb_blocks_loaded", blockBytes, chunkBytes, walBytes, "prometheus_tsdb_wal_segment_current",
	}
}

// The metrics that Footprint uses.
const (
	blockBytes = "prometheus_tsdb_storage_blocks_bytes"
	chunkBytes = "prometheus_tsdb_head_chunks_storage_size_bytes"
	headSeries = "prometheus_tsdb_head_series"
	walBytes   = "prometheus_tsdb_wal_storage_size_bytes"
)

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	out, wanted := map[string]float64{}, figures()
	err := d.own.ReadMetrics(ctx, d.settings.prefix+"/metrics", func(name, _ string, value float64) {
		if slices.Contains(wanted, name) {
			out[name] += value
		}
	})
	return out, err
}

// Footprint implements driver.DB: the bytes of all blocks of the server, and the bytes on disk for
// samples in its memory, if the server reports them. Only the step compact makes the server write these to
// blocks: a snapshot of the database is a copy elsewhere. After it, the log and the chunks have no sample
// that the blocks lack.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	if d.settings.quirks != nil {
		return driver.Footprint{Bytes: -1}, nil
	}
	all, err := d.ReadMetrics(ctx)
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of Prometheus at %s: %w", d.Address(), err)
	}
	total, known := all[blockBytes]
	if d.head.empty.Load() && known {
		return driver.Footprint{Bytes: int64(total), Without: "the write-ahead log and the chunks of the newest hours, whose samples are in blocks too"}, nil
	}
	var without []string
	for _, kept := range []struct{ name, what string }{{chunkBytes, "chunks of the samples in memory"}, {walBytes, "the write-ahead log"}} {
		v, ok := all[kept.name]
		if total += v; !ok {
			without = append(without, kept.what)
		}
	}
	if !known {
		return driver.Footprint{Bytes: -1}, nil
	}
	size := driver.Footprint{Bytes: int64(total)}
	if len(without) > 0 {
		size.Without = strings.Join(without, " and ") + ", whose size this version does not report"
	}
	if n := all[headSeries]; n > 0 {
		size.Pending = fmt.Sprintf("the newest samples of %.0f series are in the server's memory and its write-ahead log, and not yet in blocks; --after-load compact writes them there", n)
	}
	return size, nil
}

// config is the part of a server's configuration that tsmark reads.
type config struct {
	Storage struct {
		TSDB struct {
			Late      string `yaml:"out_of_order_time_window"`
			Retention struct {
				Time string `yaml:"time"`
			} `yaml:"retention"`
		} `yaml:"tsdb"`
	} `yaml:"storage"`
	Global struct {
		QueryLog string `yaml:"query_log_file"`
	} `yaml:"global"`
	Scrapes  []any `yaml:"scrape_configs"`
	Rules    []any `yaml:"rule_files"`
	Forwards []any `yaml:"remote_write"`
}

// config reads the server's configuration.
func (d *database) config(ctx context.Context) (config, error) {
	var text struct{ YAML string }
	if err := d.status(ctx, "config", &text); err != nil {
		return config{}, err
	}
	var c config
	if err := yaml.Unmarshal([]byte(text.YAML), &c); err != nil {
		return config{}, fmt.Errorf("its configuration cannot be read: %w", err)
	}
	return c, nil
}

// bounds are how late samples a server accepts, and how long it keeps them; empty: the defaults.
type bounds struct{ late, retention string }

func (d *database) bounds(ctx context.Context, flags map[string]string) (bounds, error) {
	c, err := d.config(ctx)
	if err != nil {
		return bounds{}, err
	}
	l := bounds{late: c.Storage.TSDB.Late, retention: c.Storage.TSDB.Retention.Time}
	for _, name := range []string{"storage.tsdb.retention.time", "storage.tsdb.retention"} {
		if duration(l.retention) == 0 && duration(flags[name]) > 0 {
			l.retention = flags[name]
		}
	}
	return l, nil
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	if d.settings.quirks != nil {
		return driver.Description{Location: d.Address(), Version: driver.UnknownVersion, Elsewhere: "port"}, nil
	}
	out := driver.Description{
		Location: d.Address(), Version: d.server.version, Settings: map[string]string{}, Elsewhere: "port",
		Safety:     driver.InFiles,
		Durability: "an acknowledged batch is in the write-ahead log, in the system's cache, and on disk when a segment of the log is full or the system writes it",
	}
	flags, err := d.flags(ctx)
	var l bounds
	if err == nil {
		l, err = d.bounds(ctx, flags)
	}
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing Prometheus: %w", err)
	}
	for _, name := range []string{"query.max-samples", "query.max-concurrency", "query.lookback-delta", "storage.tsdb.min-block-duration",
		"storage.tsdb.max-block-duration", "storage.tsdb.wal-compression", "enable-feature"} {
		if v := flags[name]; v != "" {
			out.Settings[name] = v
		}
	}
	out.Settings["out_of_order_time_window"], out.Settings["retention"] = l.late, l.retention
	for name, v := range out.Settings {
		if v == "" {
			delete(out.Settings, name)
		}
	}
	return out, nil
}

// Inspect implements driver.DB: the server settings that would refuse rows, or lose them.
func (d *database) Inspect(ctx context.Context) error {
	flags, err := d.flags(ctx)
	var l bounds
	if err == nil {
		l, err = d.bounds(ctx, flags)
	}
	var newest int64
	var filled bool
	if err == nil {
		newest, filled, err = d.newest(ctx)
	}
	if err == nil { // the mark of an empty server is older than all rows
		err = d.settings.check(flags, l, filled && newest > metric.Earliest, time.Now())
	}
	if err != nil {
		return fmt.Errorf("looking at Prometheus at %s: %w", d.Address(), err)
	}
	return nil
}

// check checks which rows a server accepts, depending on whether it has samples in memory.
func (s *settings) check(flags map[string]string, l bounds, filled bool, now time.Time) error {
	if flags["web.enable-remote-write-receiver"] != "true" && !strings.Contains(flags["enable-feature"], "remote-write-receiver") {
		return fmt.Errorf("it takes no remote write: start it with --web.enable-remote-write-receiver")
	}
	if s.protocol == metric.OTLP && flags["web.enable-otlp-receiver"] != "true" {
		return fmt.Errorf("it takes no OTLP: start it with --web.enable-otlp-receiver")
	}
	if s.oldData == oldAny {
		return nil
	}
	age := now.Sub(time.Unix(0, 0))
	if duration(l.retention) < age {
		if l.retention == "" {
			l.retention = "15d"
		}
		return fmt.Errorf("it drops samples that are older than its newest ones by %s: start it with --storage.tsdb.retention.time=100y, or give %s=%s for new rows", l.retention, optionOldData, oldAny)
	}
	if filled && duration(l.late) < age {
		if l.late == "" {
			l.late = "0s"
		}
		return fmt.Errorf("it has newer samples, and refuses samples that are older by more than out_of_order_time_window (%s): set storage.tsdb.out_of_order_time_window to 100y in its configuration, start it on a new --storage.tsdb.path, or give %s=%s for newer rows", l.late, optionOldData, oldAny)
	}
	return nil
}
