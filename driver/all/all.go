// Package all lists the kinds of database that tsmark knows to drive.
package all

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/duckdb"
	"github.com/tsmark/tsmark/driver/influxdb"
	"github.com/tsmark/tsmark/driver/null"
	"github.com/tsmark/tsmark/driver/postgres"
	"github.com/tsmark/tsmark/driver/questdb"
	"github.com/tsmark/tsmark/driver/sqlite"
	"github.com/tsmark/tsmark/driver/timescaledb"
)

// Kinds returns every kind, in the order in which users see them.
func Kinds() []driver.Driver {
	return []driver.Driver{
		duckdb.Kind(),
		sqlite.Kind(),
		postgres.Kind(),
		timescaledb.Kind(),
		questdb.Kind(),
		influxdb.Kind(),
		null.Kind(),
	}
}
