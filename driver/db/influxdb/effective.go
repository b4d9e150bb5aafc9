package influxdb

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
)

// EffectiveOptions implements driver.DB: the duration of shards.
func (d *database) EffectiveOptions(ctx context.Context) ([]driver.EffectiveOption, error) {
	s := d.settings
	if s.shard == "" || d.Tables() == nil {
		return nil, nil
	}
	policies, err := d.table(ctx, "SHOW RETENTION POLICIES ON "+influx.Ident(s.database))
	if err != nil {
		return nil, fmt.Errorf("reading the retention policies of database %s: %w", s.database, err)
	}
	of := "autogen"
	if s.retention != "" {
		of = s.retention
	}
	for _, p := range policies {
		if p["name"] != of {
			continue
		}
		e := driver.EffectiveOption{Option: optionShard, Wanted: s.shard, Setting: "the shard duration of retention policy " + of, Found: p["shardGroupDuration"],
			Remedy: "load again with --replace"}
		if found, err := time.ParseDuration(e.Found); err == nil && found == parseShard(s.shard) {
			e.Found = e.Wanted
		}
		return []driver.EffectiveOption{e}, nil
	}
	return nil, nil
}

// parseShard parses the value of an option: see shardDuration.
func parseShard(shard string) time.Duration {
	n, _ := strconv.Atoi(shard[:len(shard)-1]) // checked by the option's type
	unit := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	return time.Duration(n) * unit[shard[len(shard)-1]]
}
