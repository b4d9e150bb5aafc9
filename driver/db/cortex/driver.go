// Package cortex is the driver for Cortex, of one process or behind a gateway. Package prometheus does
// the rest.
package cortex

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/prometheus"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/query"
)

// The settings that are read.
const (
	future    = "querier.max_query_into_future"
	lookback  = "querier.lookback_delta"
	interval  = "blocks_storage.tsdb.head_compaction_interval"
	retention = "blocks_storage.tsdb.retention_period"
	within    = "querier.query_ingesters_within"
)

// Driver describes Cortex.
func Driver() driver.Driver {
	ingester := prometheus.Ingester{Interval: interval, Retention: retention, Within: within}
	return prometheus.NewVariant(prometheus.Variant{
		Name:      "cortex",
		System:    "Cortex",
		Help:      "Cortex, written by remote write and queried in PromQL",
		Tested:    []driver.Tested{{Version: "1.21"}},
		Prefix:    "/prometheus",
		Port:      "80",
		Protocols: []string{metric.RemoteWrite1, metric.RemoteWrite2, metric.OTLP},
		Push:      []string{"/api/v1/push", "/api/v1/push", "/api/v1/otlp/v1/metrics"},
		Header:    "X-Scope-OrgID",
		Metrics:   "cortex_ingester_tsdb_",
		Labels:    29, Limit: "max_label_names_per_series",
		Starting:    ingester.Starting(),
		Lookback:    query.Lookback,
		ResultCache: "results cache of the query-frontend",
		Advice: [][2]string{
			{"out of order sample", "set limits.out_of_order_time_window to 100y, or choose a dataset whose rows are not late"},
			{"out of bounds", "set limits.out_of_order_time_window to 100y"},
			{"too old sample", "raise limits.out_of_order_time_window"},
			{"per-user series limit", "raise limits.max_series_per_user"},
			{"per-metric series limit", "raise limits.max_series_per_metric"},
			{"ingestion rate limit", "raise limits.ingestion_rate and ingestion_burst_size, or load at a lower --rate"},
			{"too many labels", "raise limits.max_label_names_per_series"},
			{"exceeded maximum resolution", "no setting allows more"},
		},
		Greet: greet,
		Quiet: func(ctx context.Context, get prometheus.Get) (time.Duration, error) {
			set, err := settings(ctx, get)
			return ingester.Quiet(set, 0), err
		},
		Settings: settings,
		Inspect:  ingester.Inspect,
	})
}

// greet finds out the version, of a metric of the server's own, and how far it looks back: the query-frontend
// does not pass a query's lookback on to the querier.
func greet(ctx context.Context, get prometheus.Get) (s prometheus.Server, err error) {
	text, err := get(ctx, "/metrics")
	if err != nil {
		return s, err
	}
	promql.Figures(text, func(name, labels string, _ float64) {
		if name == "cortex_build_info" {
			_, rest, _ := strings.Cut(","+labels, `,version="`)
			s.Version, _, _ = strings.Cut(rest, `"`)
		}
	})
	if s.Version == "" {
		return s, promql.ErrNotFound
	}
	set, err := settings(ctx, get)
	if v, ok := set[future]; err == nil && ok && prometheus.Duration(v) != 0 {
		err = fmt.Errorf("it answers no queries about times beyond %s from now, and tsmark looks for rows of any time: start it with -querier.max-query-into-future=0", v)
	}
	if err == nil {
		err = prometheus.CheckLookback(set[lookback])
	}
	return s, err
}

func settings(ctx context.Context, get prometheus.Get) (map[string]string, error) {
	return prometheus.ReadConfig(ctx, get, "/config", interval, retention, within, future, lookback, "blocks_storage.tsdb.ship_interval", "ingester.ring.replication_factor",
		"limits.out_of_order_time_window", "limits.ingestion_rate", "limits.max_series_per_user", "limits.max_series_per_metric", "limits.max_global_series_per_user", "limits.max_label_names_per_series")
}
