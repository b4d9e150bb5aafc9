package kairosdb

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of KairosDB.
func changes() driver.Changes {
	const space = "by compactions of its datastore"
	return driver.Changes{
		Delete:  driver.Way{By: "POST " + pathDelete, Space: space},
		Drop:    driver.Way{By: "POST " + pathDelete, Space: space},
		Correct: driver.Way{By: "writing the points again", Space: space},
		Again:   driver.Replaces,
	}
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
	for _, f := range append([]series.Field{{Name: metric.NullField}}, t.Fields...) {
		r.Metrics = append(r.Metrics, subQuery{Name: metric.Name(t, f.Name), Tags: tags})
	}
	if err := remove(ctx, &d.own, r); err != nil {
		return fmt.Errorf("deleting points of table %s: %w", t.Name, err)
	}
	return nil
}
