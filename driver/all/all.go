// Package all lists the databases that tsmark can measure.
package all

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/cassandra"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
	"github.com/tsmark/tsmark/driver/db/cortex"
	"github.com/tsmark/tsmark/driver/db/duckdb"
	"github.com/tsmark/tsmark/driver/db/griddb"
	"github.com/tsmark/tsmark/driver/db/influxdb"
	"github.com/tsmark/tsmark/driver/db/influxdb2"
	"github.com/tsmark/tsmark/driver/db/influxdb3"
	"github.com/tsmark/tsmark/driver/db/iotdb"
	"github.com/tsmark/tsmark/driver/db/kairosdb"
	"github.com/tsmark/tsmark/driver/db/mimir"
	"github.com/tsmark/tsmark/driver/db/mysql"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/opentsdb"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/prometheus"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/db/tdengine"
	"github.com/tsmark/tsmark/driver/db/thanos"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/driver/db/victoriametrics"
)

// Drivers returns every driver, in the order in which users see them.
func Drivers() []driver.Driver {
	return []driver.Driver{
		duckdb.Driver(),
		sqlite.Driver(),
		postgres.Driver(),
		timescaledb.Driver(),
		mysql.Driver(),
		clickhouse.Driver(),
		questdb.Driver(),
		influxdb.Driver(),
		influxdb2.Driver(),
		influxdb3.Driver(),
		victoriametrics.Driver(),
		prometheus.Driver(),
		thanos.Driver(),
		cortex.Driver(),
		mimir.Driver(),
		iotdb.Driver(),
		cassandra.Driver(),
		griddb.Driver(),
		kairosdb.Driver(),
		opentsdb.Driver(),
		tdengine.Driver(),
		null.Driver(),
	}
}
