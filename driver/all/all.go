// Package all lists the databases that tsmark can measure.
package all

import (
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/cassandra"
	"github.com/tsmark/tsmark/driver/clickhouse"
	"github.com/tsmark/tsmark/driver/duckdb"
	"github.com/tsmark/tsmark/driver/griddb"
	"github.com/tsmark/tsmark/driver/influxdb"
	"github.com/tsmark/tsmark/driver/influxdb2"
	"github.com/tsmark/tsmark/driver/influxdb3"
	"github.com/tsmark/tsmark/driver/iotdb"
	"github.com/tsmark/tsmark/driver/kairosdb"
	"github.com/tsmark/tsmark/driver/mysql"
	"github.com/tsmark/tsmark/driver/null"
	"github.com/tsmark/tsmark/driver/opentsdb"
	"github.com/tsmark/tsmark/driver/postgres"
	"github.com/tsmark/tsmark/driver/prometheus"
	"github.com/tsmark/tsmark/driver/questdb"
	"github.com/tsmark/tsmark/driver/sqlite"
	"github.com/tsmark/tsmark/driver/tdengine"
	"github.com/tsmark/tsmark/driver/timescaledb"
	"github.com/tsmark/tsmark/driver/victoriametrics"
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
		iotdb.Driver(),
		cassandra.Driver(),
		griddb.Driver(),
		kairosdb.Driver(),
		opentsdb.Driver(),
		tdengine.Driver(),
		null.Driver(),
	}
}
