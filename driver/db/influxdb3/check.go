package influxdb3

import (
	"context"
	"os"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints: HTTP and gRPC share a port.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return d.api.Client.ReadClock(ctx, "/ping")
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(context.Context) (folder string, free int64, err error) {
	return "", -1, driver.Unknown("InfluxDB 3 does not report where its object store is: look at the folder or the bucket that the server was started with (--object-store, --data-dir)")
}

// Advise implements driver.DB.
func (d *database) Advise(context.Context) ([]driver.Advice, error) {
	return nil, driver.Unknown("InfluxDB 3 does not report its settings: look at the flags that it was started with, such as --wal-flush-interval, --query-file-limit and --max-http-request-size")
}
