// Package all lists the kinds of database that tsmark knows to drive.
package all

import (
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/duckdb"
	"github.com/tsmark/tsmark/target/influxdb"
	"github.com/tsmark/tsmark/target/null"
	"github.com/tsmark/tsmark/target/postgres"
	"github.com/tsmark/tsmark/target/questdb"
	"github.com/tsmark/tsmark/target/sqlite"
	"github.com/tsmark/tsmark/target/timescaledb"
)

// Kinds returns every kind, in the order in which users see them.
func Kinds() []target.Kind {
	return []target.Kind{
		duckdb.Kind(),
		sqlite.Kind(),
		postgres.Kind(),
		timescaledb.Kind(),
		questdb.Kind(),
		influxdb.Kind(),
		null.Kind(),
	}
}
