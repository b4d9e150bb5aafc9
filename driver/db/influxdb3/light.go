//go:build light

package influxdb3

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
)

// missing says why InfluxDB 3 is not available.
const missing = "this tsmark was built with -tags light, without Arrow Flight; build it again without that tag"

func open(context.Context, driver.Env, driver.Options) (driver.DB, error) {
	return driver.DB{}, fmt.Errorf("influxdb3 %w: %s", driver.ErrUnreachable, missing)
}
