package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// database implements driver.DB.
type database struct {
	sqlkit.Counter
	variant Variant
	options driver.Options
	config  *pgwire.Config
	admin   *pgwire.Link  // for everything but writers and queriers
	meter   *pgwire.Link  // for Metrics, which waits for nobody
	locks   time.Duration // longest wait for others' locks; 0: any

	mu     sync.Mutex // guards what follows
	layout *layout    // of the schema given to Create; nil before
}

// Address implements driver.Server.
func (d *database) Address() string { return d.config.Address() }

// settings are what the description tells of the server's.
var settings = [...]string{
	"shared_buffers", "effective_cache_size", "work_mem", "maintenance_work_mem", "max_wal_size", "checkpoint_timeout", "wal_level", "wal_compression",
	"fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "autovacuum", "jit", "max_parallel_workers_per_gather", "max_connections", "random_page_cost",
	"data_checksums", "default_toast_compression", "server_encoding",
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Location: d.config.Location(), Settings: make(map[string]string, len(settings)), Elsewhere: "database"}
	columns := []string{"current_setting('server_version')"}
	for _, name := range settings {
		columns = append(columns, fmt.Sprintf("current_setting('%s', true)", name))
	}
	err := d.admin.Do(ctx, func(c *pgwire.Conn) error {
		values, err := c.Row(ctx, "SELECT "+strings.Join(columns, ", "))
		if err != nil {
			return err
		}
		out.Version = values[0].String()
		for i, name := range settings {
			if v := values[i+1]; v.Kind != query.Null {
				out.Settings[name] = v.String()
			}
		}
		if d.variant.Describe == nil {
			return nil
		}
		return d.variant.Describe(ctx, c, &out)
	})
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing %s: %w", d.variant.System, err)
	}
	out.Durability = durability(d.options[optionUnlogged] == on, out.Settings)
	return out, nil
}

// durability says when an acknowledged row is on disk.
func durability(unlogged bool, settings map[string]string) string {
	const batch = "each batch is a transaction; "
	switch commit := settings["synchronous_commit"]; {
	case unlogged:
		return "tables are unlogged: a crash of the server empties them"
	case settings["fsync"] != on:
		return batch + "fsync is off: a crash of the machine loses batches and may destroy the database"
	case commit == off:
		return batch + "its commit is acknowledged before the write-ahead log is on disk: a crash of the server loses the last batches"
	case settings["full_page_writes"] != on:
		return batch + "its commit is in the write-ahead log, and forced to disk, before it is acknowledged; " +
			"without full_page_writes a crash of the machine may destroy pages"
	case settings["synchronous_standby_names"] != "" && commit != "local":
		return batch + "its commit is in the write-ahead log, forced to disk, and with the standbys as synchronous_commit " + commit + " says, before it is acknowledged"
	}
	return batch + "its commit is in the write-ahead log, and forced to disk by fsync, before it is acknowledged"
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	q, err := pgwire.NewQuerier(ctx, d.config, pgwire.Protocol(d.options[optionProtocol]))
	if err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", err)
	}
	return q, nil
}

// Footprint implements driver.DB: the tables with their indexes, partitions and
// what is stored apart.
func (d *database) Footprint(ctx context.Context) (int64, error) {
	tables, err := d.made()
	var total int64
	if err == nil {
		size := d.variant.Size
		if size == nil {
			size = sizeOf
		}
		sizes := []string{"0"}
		for _, t := range tables {
			sizes = append(sizes, size(t.Literal()))
		}
		err = d.admin.Do(ctx, func(c *pgwire.Conn) error {
			values, err := c.Row(ctx, fmt.Sprintf("SELECT (%s)::bigint", strings.Join(sizes, " + ")))
			if err == nil {
				total = values[0].Int
			}
			return err
		})
	}
	if err != nil {
		return -1, fmt.Errorf("measuring the tables: %w", err)
	}
	return total, nil
}

// sizeOf returns the expression of the bytes of a table and of its partitions.
func sizeOf(name string) string {
	return fmt.Sprintf("pg_total_relation_size(%s) + coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%[1]s) WHERE parentrelid IS NOT NULL), 0)", name)
}

// Metrics implements driver.Metered.
func (d *database) Metrics(ctx context.Context) (map[string]float64, error) {
	names := []string{"wal_bytes_total", "blocks_read_total", "blocks_hit_total", "temp_bytes_total", "commits_total", "connections"}
	found := make(map[string]float64, len(names))
	if d.options[optionConnections] == connectionsOne {
		return found, nil // it would take a writer's turn
	}
	err := d.meter.Do(ctx, func(c *pgwire.Conn) error {
		values, err := c.Row(ctx, `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8, d.blks_read, d.blks_hit, d.temp_bytes, d.xact_commit, d.numbackends
			FROM pg_stat_database AS d WHERE d.datname = current_database()`)
		if err != nil {
			return err
		}
		for i, name := range names {
			switch v := values[i]; v.Kind {
			case query.Int:
				found[name] = float64(v.Int)
			case query.Float:
				found[name] = v.Float
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the server's statistics: %w", err)
	}
	return found, nil
}

// Close implements driver.DB.
func (d *database) Close() error {
	err := d.admin.Close()
	if other := d.meter.Close(); err == nil {
		err = other
	}
	return err
}
