package prometheus

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// changes are the Changes of Prometheus. Its retention is a flag, and counts back from its newest sample or from now.
func changes() driver.Changes {
	const space = "by compactions in the background"
	return driver.Changes{
		Delete:  driver.Way{By: "POST /api/v1/admin/tsdb/delete_series", Step: stepClean, Space: space},
		Drop:    driver.Way{By: "POST /api/v1/admin/tsdb/delete_series with an end", Step: stepClean, Space: space},
		Correct: driver.Way{Reason: "Prometheus refuses a second sample of a series and time"},
		Again:   driver.Refuses,
	}
}

// stepClean is the step that removes deleted samples from blocks.
const (
	stepClean     = "clean_tombstones"
	stepCleanHelp = "remove deleted samples from blocks; needs --web.enable-admin-api"
)

// clean is the step clean_tombstones.
func (d *database) clean(ctx context.Context) error { return d.delete(ctx, "clean_tombstones", nil) }

// DeleteSeries implements driver.DB.
func (d *database) DeleteSeries(ctx context.Context, _ *series.Schema, t *series.Table, tag, value string) error {
	if err := d.delete(ctx, "delete_series", url.Values{"match[]": {promql.OfSeries(language{}, t, tag, value)}}); err != nil {
		return err
	}
	return d.checkDeleted(ctx, promql.Everything(language{}, t).WithTag(tag, value), t, metric.Latest)
}

// DropBefore implements driver.DB.
func (d *database) DropBefore(ctx context.Context, s *series.Schema, before time.Time) (time.Time, error) {
	before = before.UTC().Truncate(time.Millisecond)
	end := before.UnixMilli() - 1
	parameters := url.Values{"start": {seconds(metric.Earliest)}, "end": {seconds(end)}}
	for _, t := range s.Tables {
		parameters.Add("match[]", promql.OfTable(language{}, t))
	}
	if err := d.delete(ctx, "delete_series", parameters); err != nil {
		return before, err
	}
	for _, t := range s.Tables {
		if err := d.checkDeleted(ctx, promql.Everything(language{}, t), t, end); err != nil {
			return before, err
		}
	}
	return before, nil
}

// checkDeleted returns an error if rows of a table are left up to a time, in milliseconds. Prometheus's TSDB
// ignores out-of-order samples in memory when it deletes (tsdb/head.go, Head.Delete), and says nothing.
func (d *database) checkDeleted(ctx context.Context, r *promql.Renderer, t *series.Table, end int64) error {
	span := promql.Span{Length: end - metric.Earliest + 1, At: end}
	for _, field := range metric.StoredMetrics(t) {
		left, err := d.own.Figure(ctx, language{}, "sum(count_over_time("+r.Samples([]string{field}, span)+"))")
		if err != nil {
			return fmt.Errorf("looking for rows that were not deleted: %w", err)
		}
		if left.Float > 0 {
			return fmt.Errorf("%w: Prometheus does not delete rows that arrived out of order while they are in memory; %.0f values of %s.%s are left", query.ErrUnsupported, left.Float, t.Name, field)
		}
	}
	return nil
}

// delete calls the API for administrators.
func (d *database) delete(ctx context.Context, what string, parameters url.Values) error {
	err := d.admin(ctx, what, parameters)
	if err != nil && strings.Contains(err.Error(), adminDisabled) {
		return fmt.Errorf("%w: the server was started without --web.enable-admin-api", query.ErrUnsupported)
	}
	return err
}
