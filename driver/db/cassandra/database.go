package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	*link
	layout  *layout
	version string
	standIn string // see driver.Description

	mu     sync.Mutex     // guards the following fields
	schema *series.Schema // passed to Create or Join; nil before

	idleSince atomic.Pointer[time.Time] // as the last Settle found it; nil before
}

// testCluster is the name of the cluster of servers/cassandra.
const testCluster = "tsmark test setup"

// standIn describes the server that servers/cassandra starts.
const standIn = "Cassandra in tsmark's test setup (one node, 768 MB of heap, quick compiler), not a server set up for figures"

// open connects, and checks that the server supports the options.
func open(ctx context.Context, env driver.Env, o driver.Options) (*database, error) {
	d := &database{link: newLink(o), layout: newLayout(o)}
	if err := d.fits(ctx, env.Create); err != nil {
		_ = d.Close() // return the first error
		return nil, err
	}
	return d, nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := driver.Optional{
		Address:          d.Address(),
		ReadClock:        d.ReadClock,
		FreeSpace:        d.FreeSpace,
		Advise:           d.Advise,
		EffectiveOptions: d.EffectiveOptions,
		Join:             d.Join,
		IdleSince:        d.IdleSince,
		ReadMetrics:      d.ReadMetrics,
		Backlog:          driver.Backlog{Metric: compactionsPending, What: "compactions that wait for a thread, of the connected node"},
		CountRows:        d.CountRows,
		ListSeries:       d.ListSeries,
	}
	if !d.layout.narrow {
		o.DeleteSeries, o.DropBefore = d.DeleteSeries, d.DropBefore
	}
	return driver.DB{Required: d, Optional: o}
}

// fits checks the server's version and abilities.
func (d *database) fits(ctx context.Context, create bool) error {
	rows, err := d.runOwn(ctx, "SELECT release_version, cluster_name FROM system.local")
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("%s tells %d versions", d.Address(), len(rows))
	}
	d.version = rows[0][0].String()
	if rows[0][1].String() == testCluster {
		d.standIn = standIn
	}
	var major, minor int
	if _, err := fmt.Sscanf(d.version, "%d.%d", &major, &minor); err != nil || major < 4 || major == 4 && minor < 1 {
		return fmt.Errorf("%s has Cassandra %s; tsmark needs 4.1 or newer, which group by floor(time, …)", d.Address(), d.version)
	}
	if err := check(d.options, &series.Schema{}); err != nil {
		return err
	}
	_, there, err := d.durable(ctx)
	if err == nil && !there && !create {
		err = fmt.Errorf("there is no keyspace %s at %s; load it first, or give another database: %w", d.layout.keyspace, d.Address(), driver.ErrUnreachable)
	}
	return err
}

func (d *database) place() string {
	return fmt.Sprintf("keyspace %s of Cassandra at %s", d.layout.keyspace, d.Address())
}

// durable reports whether the keyspace has durable_writes, and whether it exists.
func (d *database) durable(ctx context.Context) (durable, there bool, err error) {
	rows, err := d.runOwn(ctx, "SELECT durable_writes FROM system_schema.keyspaces WHERE keyspace_name = ?", d.layout.keyspace)
	if err != nil || len(rows) == 0 {
		return false, false, err
	}
	return rows[0][0].Int != 0, true, nil
}

// reportedSettings are the server settings in reports.
var reportedSettings = []string{"authenticator", "commitlog_sync", "commitlog_sync_period", "commitlog_sync_group_window", "compaction_throughput", "concurrent_compactors",
	"concurrent_reads", "concurrent_writes", "disk_access_mode", "key_cache_size", "memtable_allocation_type", "memtable_heap_space", "memtable_offheap_space",
	"native_transport_timeout", "num_tokens", "partitioner", "read_request_timeout", "row_cache_size", "write_request_timeout"}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Version: d.version, Location: d.Address() + "/" + d.layout.keyspace, Elsewhere: connection.Database, StandIn: d.standIn, Settings: map[string]string{}}
	set, err := d.set(ctx)
	for name, value := range set {
		if slices.Contains(reportedSettings, name) {
			out.Settings[name] = value
		}
	}
	var nodes [][]string
	for _, table := range []string{"local", "peers"} {
		if err == nil {
			found, failed := d.runOwn(ctx, "SELECT data_center, release_version FROM system."+table)
			err = failed
			for _, row := range found {
				nodes = append(nodes, []string{row[0].String(), row[1].String()})
			}
		}
	}
	var durable, there bool
	if err == nil {
		durable, there, err = d.durable(ctx)
	}
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing Cassandra: %w", err)
	}
	out.Settings["nodes"] = fmt.Sprint(len(nodes))
	sync := out.Settings["commitlog_sync"]
	if !there {
		durable = d.options[optionDurableWrites] == "true"
	}
	switch {
	case !durable:
		out.Safety = driver.InMemory
		out.Durability = "an acknowledged batch is in the memtable alone, since the keyspace has durable_writes=false: until it is flushed a kill of the server loses it"
	case sync == "batch" || sync == "group":
		if out.Safety = driver.OnDisk; sync == "group" {
			out.Safety = driver.ByTimer
		}
		out.Durability = fmt.Sprintf("an acknowledged batch is in the commit log, and forced to disk (commitlog_sync=%s)", sync)
	default:
		out.Safety = driver.InFiles
		out.Durability = fmt.Sprintf("an acknowledged batch is in the memtable and written to the commit log, which is forced to disk every %s (commitlog_sync=%s)", out.Settings["commitlog_sync_period"], sync)
	}
	return out, nil
}

// EffectiveOptions implements driver.DB. An existing keyspace keeps its settings.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	durable, there, err := d.durable(ctx)
	if err != nil || !there {
		return nil, err
	}
	if _, err := d.preparedSchema(); err != nil {
		return nil, nil // the keyspace may have been created with other options
	}
	return []driver.EffectiveOption{{
		Option: optionDurableWrites, Wanted: d.options[optionDurableWrites], Setting: "durable_writes", Found: fmt.Sprint(durable),
		Remedy: fmt.Sprintf("run ALTER KEYSPACE %s WITH durable_writes = %s", d.layout.keyspace, d.options[optionDurableWrites]),
	}}, nil
}

// preparedSchema returns the schema passed to Create or Join.
func (d *database) preparedSchema() (*series.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.schema == nil {
		return nil, errors.New("nothing was created through this connection: prepare the database first")
	}
	return d.schema, nil
}

// look is the interval of checks of a node's activity.
const look = 100 * time.Millisecond

// Settle implements driver.DB. Acknowledged rows are visible; the connected node must have no pending
// writes, flushes, compactions or index builds.
func (d *database) Settle(ctx context.Context) error {
	since := time.Now()
	var err error
	if quiet := d.options.Duration(optionQuiet); quiet > 0 {
		since, err = poll.Idle(ctx, look, quiet, func() (bool, error) { return d.busy(ctx) })
	}
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.place(), err)
	}
	d.idleSince.Store(&since)
	return nil
}

// IdleSince implements driver.DB.
func (d *database) IdleSince() time.Time { return *d.idleSince.Load() }

// busy reports whether the node writes, flushes or compacts.
func (d *database) busy(ctx context.Context) (bool, error) {
	rows, err := d.runOwn(ctx, "SELECT name, active_tasks, pending_tasks FROM system_views.thread_pools")
	for _, row := range rows {
		switch strings.ToLower(row[0].String()) {
		case "compactionexecutor", "memtableflushwriter", "memtablepostflush", "mutationstage", "secondaryindexmanagement", "secondaryindexexecutor", "hintsdispatcher":
			if row[1].Int+row[2].Int > 0 {
				return true, nil
			}
		}
	}
	return false, err
}

// compactionsPending is the metric that ReadMetrics returns.
const compactionsPending = "compactions_pending"

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	rows, err := d.runOwn(ctx, "SELECT name, pending_tasks FROM system_views.thread_pools")
	if err != nil {
		return nil, fmt.Errorf("reading the thread pools of %s: %w", d.place(), err)
	}
	out := map[string]float64{}
	for _, row := range rows {
		if strings.EqualFold(row[0].String(), "CompactionExecutor") {
			out[compactionsPending] = float64(row[1].Int)
		}
	}
	return out, nil
}

// Footprint implements driver.DB. CQL has no way to read the size of the rows: system_views.disk_usage
// has whole MiB, of one node, without data in memory.
func (d *database) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}
