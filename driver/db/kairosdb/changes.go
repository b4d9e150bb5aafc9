package kairosdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/series"
)

// changes returns the Changes of KairosDB with the datastore of the options. See Drop.
func changes(o driver.Options) driver.Changes {
	way := driver.Way{By: "POST " + pathDelete, Space: "H2 fills the free pages of its file"}
	if o[optionDatastore] == datastoreCassandra {
		way = driver.Way{Reason: "after a deletion of some points in Cassandra, KairosDB does not find points that are written later"}
	}
	return driver.Changes{Delete: way, Drop: way, Correct: driver.Way{By: "writing the points again"}, Again: driver.Replaces}
}

// DeleteSeries implements driver.DB.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	return d.delete(ctx, t, metric.Latest, map[string][]string{tag: {value}})
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	before = before.UTC().Truncate(time.Millisecond)
	for _, t := range s.Tables {
		if err := d.delete(ctx, t, before.UnixMilli()-1, nil); err != nil {
			return time.Time{}, err
		}
	}
	return before, nil
}

// delete deletes points of a table's metrics up to a time, in milliseconds since 1970.
func (d *database) delete(ctx context.Context, t *series.Table, to int64, tags map[string][]string) error {
	r := &request{Start: metric.Earliest, End: to}
	for _, field := range metric.StoredMetrics(t) {
		r.Metrics = append(r.Metrics, subQuery{Name: metric.Name(t, field), Tags: tags})
	}
	if err := remove(ctx, &d.own, r); err != nil {
		return fmt.Errorf("deleting points of table %s: %w", t.Name, err)
	}
	return nil
}
