// Package mimir is the driver for Grafana Mimir, of one process or behind a gateway. Package prometheus does
// the rest.
package mimir

import (
	"context"
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
	interval  = "blocks_storage.tsdb.head_compaction_interval"
	retention = "blocks_storage.tsdb.retention_period"
	lookback  = "querier.lookback_delta"
	within    = "limits.query_ingesters_within"
)

// Driver describes Mimir.
func Driver() driver.Driver {
	ingester := prometheus.Ingester{Interval: interval, Retention: retention, Within: within}
	return prometheus.NewVariant(prometheus.Variant{
		Name:      "mimir",
		System:    "Mimir",
		Help:      "Grafana Mimir, written by remote write and queried in PromQL",
		Tested:    []driver.Tested{{Version: "3.0"}},
		Prefix:    "/prometheus",
		Port:      "8080",
		Protocols: []string{metric.RemoteWrite1, metric.RemoteWrite2, metric.OTLP},
		Push:      []string{"/api/v1/push", "/api/v1/push", "/otlp/v1/metrics"},
		Header:    "X-Scope-OrgID",
		Metrics:   "cortex_ingester_tsdb_",
		Labels:    29, Limit: "max_label_names_per_series",
		Reparses:    true,
		Starting:    ingester.Starting(),
		Lookback:    query.Lookback, // the query-frontend of version 3.0 ignores a query's
		ResultCache: "results cache of the query-frontend",
		Advice: [][2]string{
			{"out-of-order", "set limits.out_of_order_time_window to 100y, or choose a dataset whose rows are not late"},
			{"err-mimir-sample-timestamp-too-old", "set limits.out_of_order_time_window to 100y"},
			{"err-mimir-max-series-per-user", "raise limits.max_global_series_per_user"},
			{"err-mimir-tenant-max-ingestion-rate", "raise limits.ingestion_rate and ingestion_burst_size, or load at a lower --rate"},
			{"err-mimir-max-label-names-per-series", "raise limits.max_label_names_per_series"},
			{"exceeded maximum resolution", "no setting allows more"},
		},
		Greet: greet,
		Quiet: func(ctx context.Context, get prometheus.Get) (time.Duration, error) {
			set, err := settings(ctx, get)
			return ingester.Quiet(set, 10*time.Second), err
		},
		Settings: settings,
		Inspect:  ingester.Inspect,
	})
}

// greet finds out the version, whether the server is Mimir, and how far it looks back.
func greet(ctx context.Context, get prometheus.Get) (prometheus.Server, error) {
	application, version, err := prometheus.ReadBuild(ctx, get, "/api/v1/status/buildinfo")
	if err == nil && !strings.Contains(application, "Mimir") {
		err = promql.ErrNotFound
	}
	var set map[string]string
	if err == nil {
		set, err = settings(ctx, get)
	}
	if err == nil {
		err = prometheus.CheckLookback(set[lookback])
	}
	return prometheus.Server{Version: version}, err
}

func settings(ctx context.Context, get prometheus.Get) (map[string]string, error) {
	return prometheus.ReadConfig(ctx, get, "/config", interval, retention, within, lookback, "blocks_storage.tsdb.ship_interval", "ingester.ring.replication_factor",
		"limits.out_of_order_time_window", "limits.ingestion_rate", "limits.max_global_series_per_user", "limits.max_label_names_per_series", "querier.query_engine")
}
