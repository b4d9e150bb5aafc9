package kairosdb

import (
	"context"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return d.own.Client.ReadClock(ctx, pathVersion)
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(context.Context) (folder string, free int64, err error) {
	return "", -1, driver.Unknown("KairosDB tells nothing of where its datastore is: look at the disk of H2's files, or of Cassandra's nodes, on their hosts")
}

// Advise implements driver.DB. The server does not report its settings; its own metrics show whether it
// counts each query.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	names, err := d.names(ctx)
	if err != nil {
		return nil, err
	}
	var found []driver.Advice
	if own := serverOwn + "http.query_time"; slices.Contains(names, own) {
		found = append(found, driver.Advice{
			Setting: "kairosdb.queries.aggregate_stats", Value: "not set, by its metric " + own,
			Effect: "the server writes points of its own behind each query, into the same datastore",
			Fix:    "set kairosdb.queries.aggregate_stats to true in kairosdb.conf, and restart; or report it",
		})
	}
	return found, driver.Unknown("KairosDB reports no settings: look at kairosdb.conf for what limits queries and queues (kairosdb.query_cache, kairosdb.queue_processor)")
}
