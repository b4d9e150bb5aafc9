package influxdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
)

// Describe implements driver.DB. The server's settings are only told to a
// user with all privileges.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Location: d.Address() + "/" + d.settings.database, Settings: make(map[string]string), Elsewhere: "database"}
	var err error
	if out.Version, out.Edition, err = d.version(ctx); err != nil {
		return driver.Description{}, fmt.Errorf("describing InfluxDB: %w", err)
	}
	for _, group := range []string{"data", "coordinator", "httpd"} {
		settings, err := d.table(ctx, "SHOW DIAGNOSTICS FOR 'config-"+group+"'")
		if ctx.Err() != nil {
			return driver.Description{}, fmt.Errorf("describing InfluxDB: %w", err)
		}
		if err != nil {
			break // of a user without privileges
		}
		for _, s := range settings {
			for name, value := range s {
				if !pathSettings[name] {
					out.Settings[group+"."+name] = value
				}
			}
		}
	}
	policies, err := d.table(ctx, "SHOW RETENTION POLICIES ON "+ident(d.settings.database))
	if ctx.Err() != nil {
		return driver.Description{}, fmt.Errorf("describing InfluxDB: %w", err)
	}
	for _, p := range policies {
		if err == nil && p["name"] != note {
			out.Settings["retention policy "+p["name"]+" shard duration"] = p["shardGroupDuration"]
		}
	}
	out.Durability = durability(out.Settings["data.wal-fsync-delay"])
	return out, nil
}

// pathSettings are settings that say where files lie.
var pathSettings = map[string]bool{"dir": true, "wal-dir": true, "access-log-path": true}

// durability says when an acknowledged row is on disk.
func durability(delay string) string {
	const written = "an acknowledged batch is in the write-ahead log"
	switch delay {
	case "":
		return written + "; whether it was forced to disk (wal-fsync-delay) the server tells to users with all privileges only"
	case "0s":
		return written + ", and forced to disk by fsync, before it is acknowledged (wal-fsync-delay=0s)"
	}
	return fmt.Sprintf("%s, and forced to disk by fsync, together with others, before it is acknowledged, at the latest after %s (wal-fsync-delay)", written, delay)
}
