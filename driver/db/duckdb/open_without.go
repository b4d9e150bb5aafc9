//go:build !cgo || light || !(linux || darwin) || !(amd64 || arm64)

package duckdb

import (
	"context"
	"fmt"

	"github.com/tsmark/tsmark/driver"
)

// missing says why DuckDB is not available.
const missing = "this tsmark was built without it; build again with CGO_ENABLED=1 and a C compiler, and without -tags light, on Linux or macOS (amd64 or arm64)"

func open(context.Context, driver.Env, driver.Options) (driver.DB, error) {
	return driver.DB{}, fmt.Errorf("duckdb %w: %s", driver.ErrUnreachable, missing)
}
