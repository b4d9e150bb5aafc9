// Package thanos is the driver for Thanos: rows go to its receiver, and queries to its querier. Package
// prometheus does the rest.
package thanos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/prometheus"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/option"
)

// The options with the ports of the receiver.
const (
	optionWrite = "write_port"
	optionStore = "receive_port"
)

// tenantLabel is the label with the tenant (--receive.tenant-label-name and --query.tenant-label-name).
const tenantLabel = "tenant_id"

// Driver describes Thanos.
func Driver() driver.Driver {
	return prometheus.NewVariant(prometheus.Variant{
		Name:   "thanos",
		System: "Thanos",
		Help:   "Thanos, written to its receiver by remote write and queried in PromQL at its querier",
		Options: []driver.Option{
			{Name: optionWrite, Default: "19291", Help: "port of the receiver's remote write", Type: option.Port()},
			{Name: optionStore, Default: "10909", Help: "port of the receiver's metrics (--http-address)", Type: option.Port()},
		},
		Port:      "10902",
		Protocols: []string{metric.RemoteWrite1, metric.OTLP},
		Push:      []string{"/api/v1/receive", "/api/v1/otlp"},
		PushPort:  optionWrite,
		StorePort: optionStore,
		Header:    "THANOS-TENANT",
		Metrics:   "prometheus_tsdb_",
		Semantics: "thanos", // package oracle/promql knows them

		TenantLabel: tenantLabel,
		Begins:      true, // the querier reads a tenant from the time at which the receiver says it begins, once it has looked
		Advice: [][2]string{
			{"out of order", "start the receiver with --tsdb.out-of-order.time-window=100y, or choose a dataset whose rows are not late"},
			{"out of bounds", "start the receiver with --tsdb.out-of-order.time-window=100y"},
			{"too old", "raise --tsdb.out-of-order.time-window of the receiver"},
			{"too many samples", "raise --query.max-samples of the querier"},
			{"exceeded maximum resolution", "no flag of the querier allows more"},
		},
		Tested:   []driver.Tested{{Version: "0.42"}},
		Greet:    greet,
		Settings: settings,
		Inspect:  func(map[string]string) error { return nil },
	})
}

// store is a store that the querier reads.
type store struct {
	LabelSets []map[string]string
}

// receivers returns the receivers that the querier has found.
func receivers(ctx context.Context, get prometheus.Get) ([]store, error) {
	var document struct{ Data map[string][]store }
	text, err := get(ctx, "/api/v1/stores")
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		return nil, fmt.Errorf("its stores cannot be read: %w", err)
	}
	if len(document.Data["receive"]) == 0 {
		return nil, fmt.Errorf("%w: the querier knows no receiver: start it with --endpoint of one, and wait some seconds", driver.ErrUnreachable)
	}
	return document.Data["receive"], nil
}

// flags returns the flags of the querier.
func flags(ctx context.Context, get prometheus.Get) (map[string]string, error) {
	var document struct{ Data map[string]string }
	text, err := get(ctx, "/api/v1/status/flags")
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	return document.Data, err
}

// greet checks that the querier tells tenants apart, and hides the labels that the receiver adds: answers
// have the labels of the rows.
func greet(ctx context.Context, get prometheus.Get) (s prometheus.Server, err error) {
	if _, s.Version, err = prometheus.ReadBuild(ctx, get, "/api/v1/status/buildinfo"); err != nil {
		return s, err
	}
	set, err := flags(ctx, get)
	if err != nil {
		return s, err
	}
	if set["query.enforce-tenancy"] != "true" {
		return s, errors.New("it shows rows of all tenants together: start the querier with --query.enforce-tenancy")
	}
	found, err := receivers(ctx, get)
	if err != nil {
		return s, err
	}
	added := []string{tenantLabel}
	for _, receiver := range found {
		for _, labels := range receiver.LabelSets {
			for name := range labels {
				added = append(added, name)
			}
		}
	}
	hidden := strings.FieldsFunc(set["query.replica-label"], func(c rune) bool { return strings.ContainsRune("[], ", c) })
	for _, name := range added {
		if !slices.Contains(hidden, name) {
			return s, fmt.Errorf("its answers have the label %s, which the receiver adds: start the querier with --query.replica-label=%[1]s", name)
		}
	}
	s.Parameters = url.Values{"dedup": {"true"}, "partial_response": {"false"}, "max_source_resolution": {"0s"}}
	return s, nil
}

// settings returns the flags of the querier that matter.
func settings(ctx context.Context, get prometheus.Get) (map[string]string, error) {
	set, err := flags(ctx, get)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range []string{"query.promql-engine", "query.lookback-delta", "query.timeout", "query.max-concurrent", "query.max-samples", "deduplication.func"} {
		if v := set[name]; v != "" {
			out[name] = v
		}
	}
	return out, nil
}
