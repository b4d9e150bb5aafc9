package influxdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of InfluxDB 1.
func changes() driver.Changes {
	return driver.Changes{
		Delete:  driver.Way{By: "DELETE", Space: "by compactions in the background"},
		Drop:    driver.Way{By: "DROP SHARD, as the retention service does it", Space: "at once, with the files of the shards"},
		Correct: driver.Way{By: "writing the rows again", Space: "by compactions in the background"},
		Again:   driver.Replaces,
	}
}

// DeleteSeries implements driver.DB.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	if err := driver.RefuseNumericTag(t, tag); err != nil {
		return err
	}
	err := d.own.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s = %s", influx.Ident(t.Name), influx.Ident(tag), influx.Text(value)))
	if err != nil {
		return fmt.Errorf("deleting rows of measurement %s: %w", t.Name, err)
	}
	return nil
}

// DropBefore implements driver.DB. A shard that has rows from before and after the time stays, and so do all newer ones.
func (d *database) DropBefore(ctx context.Context, _ *series.Schema, before time.Time) (time.Time, error) {
	shards, err := d.table(ctx, "SHOW SHARDS")
	upTo, ends := before, make([]time.Time, len(shards))
	own := func(shard influx.Shown) bool {
		return shard["database"] == d.settings.database && shard["retention_policy"] != note
	}
	for i, shard := range shards {
		if err != nil || !own(shard) {
			continue
		}
		var start time.Time
		if start, err = time.Parse(time.RFC3339, shard["start_time"]); err == nil {
			ends[i], err = time.Parse(time.RFC3339, shard["end_time"])
		}
		if start.Before(upTo) && ends[i].After(upTo) {
			upTo = start
		}
	}
	for i, shard := range shards {
		if err == nil && own(shard) && !ends[i].After(upTo) {
			err = d.own.Exec(ctx, "DROP SHARD "+shard["id"])
		}
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("dropping shards of %s: %w", d.location(), err)
	}
	return upTo, nil
}
