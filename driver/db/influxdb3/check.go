//go:build !light

package influxdb3

import (
	"context"

	"github.com/tsmark/tsmark/driver"
)

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
