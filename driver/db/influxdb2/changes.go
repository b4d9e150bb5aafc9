package influxdb2

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of InfluxDB 2. The retention of a bucket counts back from now, and is enforced every half
// an hour.
func changes() driver.Changes {
	const space = "by compactions in the background"
	return driver.Changes{
		Delete:  driver.Way{By: "POST /api/v2/delete", Space: space},
		Drop:    driver.Way{By: "POST /api/v2/delete", Space: space},
		Correct: driver.Way{By: "writing the rows again", Space: space},
		Again:   driver.Replaces,
	}
}

// DeleteSeries implements driver.DB.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	if err := driver.RefuseNumericTag(t, tag); err != nil {
		return err
	}
	return d.delete(ctx, t, influx.Last(), " AND "+quote(tag)+"="+quote(value))
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	for _, t := range s.Tables {
		if err := d.delete(ctx, t, before.Add(-1), ""); err != nil { // the end belongs to the range
			return time.Time{}, err
		}
	}
	return before, nil
}

// delete deletes the rows of a measurement up to a time that satisfy a further condition.
func (d *database) delete(ctx context.Context, t *series.Table, to time.Time, condition string) error {
	body := map[string]string{"start": instant(influx.First()), "stop": instant(to), "predicate": "_measurement=" + quote(t.Name) + condition}
	err := d.api.Call(ctx, http.MethodPost, "/api/v2/delete", url.Values{"org": {d.settings.org}, "bucket": {d.settings.bucket}}, body, nil)
	if err != nil {
		return fmt.Errorf("deleting rows of measurement %s: %w", t.Name, err)
	}
	return nil
}

// quote writes a name or a value of a predicate.
func quote(value string) string { return influx.Ident(value) }
