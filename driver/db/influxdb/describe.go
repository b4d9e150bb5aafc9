package influxdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// Describe implements driver.DB. Only a user with all privileges may read the server's settings.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Location: d.Address() + "/" + d.settings.database, Settings: make(map[string]string), Elsewhere: "database"}
	var err error
	if out.Version, out.Edition, err = d.version(ctx); err != nil {
		return driver.Description{}, fmt.Errorf("describing InfluxDB: %w", err)
	}
	show := func(text string) []influx.Shown { // empty for a user without privileges
		rows, err := d.table(ctx, text)
		if err != nil {
			return nil
		}
		return rows
	}
	for _, group := range []string{"data", "coordinator", "httpd"} {
		for _, s := range show("SHOW DIAGNOSTICS FOR 'config-" + group + "'") {
			for name, value := range s {
				if name != influx.SeriesName && !pathSettings[name] {
					out.Settings[group+"."+name] = value
				}
			}
		}
	}
	for _, p := range show("SHOW RETENTION POLICIES ON " + influx.Ident(d.settings.database)) {
		if p["name"] != note {
			out.Settings["retention policy "+p["name"]+" shard duration"] = p["shardGroupDuration"]
		}
	}
	if ctx.Err() != nil {
		return driver.Description{}, fmt.Errorf("describing InfluxDB: %w", context.Cause(ctx))
	}
	if d.settings.gemini() {
		out.System, out.Durability = "openGemini", geminiDurability
		return out, nil
	}
	out.Durability, out.Safety = influx.Durability("wal-fsync-delay", out.Settings["data.wal-fsync-delay"])
	return out, nil
}

// pathSettings are settings with paths of files.
var pathSettings = map[string]bool{"dir": true, "wal-dir": true, "access-log-path": true}
