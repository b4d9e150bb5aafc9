package questdb

import (
	"context"
	"os"
	"path"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// endpoints implements driver.Driver's Endpoints: HTTP, and the other protocols in the options.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	list := []driver.Endpoint{s.wire.Endpoint(connection.Port)}
	if s.tcp {
		lines := s.wire
		lines.Port = s.ilpPort
		e := lines.Endpoint(optionILPPort)
		e.Protocol, e.Opened, e.Secret = "line protocol over TCP", false, false
		list = append(list, e)
	}
	if !s.rest {
		config, err := pgwire.NewConfig(s.pg)
		if err != nil {
			return nil, err
		}
		e := config.Endpoint(optionPGPort)
		e.Queries = true
		list = append(list, e)
	}
	return list, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClock(ctx, time.Microsecond, "SELECT cast(systimestamp() AS long)", d.own.Query)
}

// FreeSpace implements driver.DB. The server's folder is known from the folder for temporary files,
// which by default is inside it, and the data folder is often given relative to it.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	rows, err := d.own.Query(ctx, `SELECT property_path, value FROM (SHOW PARAMETERS)
		WHERE property_path = 'cairo.root' OR property_path = 'cairo.sql.copy.work.root' AND value_source = 'default'`)
	for _, row := range rows {
		switch value := row[1].String(); {
		case !path.IsAbs(value):
		case row[0].String() == "cairo.root":
			return value, -1, nil
		default:
			folder = path.Dir(value)
		}
	}
	return folder, -1, err
}

// concerns are the settings that distort measurements of QuestDB.
var concerns = []driver.Concern{
	{Setting: "cairo.wal.apply.enabled", Wrong: driver.Is("false"), Effect: "rows stay in the write-ahead log and are never seen: a load does not settle", Fix: "set cairo.wal.apply.enabled=true in server.conf, and restart"},
	{Setting: "readonly", Wrong: driver.Is("true"), Effect: "nothing can be loaded", Fix: "set readonly=false in server.conf, and restart"},
	{Setting: "http.security.readonly", Wrong: driver.Is("true"), Effect: "nothing can be loaded over HTTP", Fix: "set http.security.readonly=false in server.conf, and restart"},
	{Setting: "cairo.sql.parallel.filter.enabled", Wrong: driver.Is("false"), Effect: "filters use one thread", Fix: "set it to true, or report that it was switched off"},
	{Setting: "cairo.sql.parallel.groupby.enabled", Wrong: driver.Is("false"), Effect: "GROUP BY uses one thread", Fix: "set it to true, or report that it was switched off"},
	{Setting: "cairo.sql.jit.mode", Wrong: driver.Is("off"), Effect: "filters are not compiled", Fix: "set it to on, or report that it was switched off"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	rows, err := d.own.Query(ctx, "SELECT property_path, value FROM (SHOW PARAMETERS) WHERE NOT sensitive")
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(rows))
	for _, row := range rows {
		values[row[0].String()] = row[1].String()
	}
	return driver.AdviseOn(concerns, values), nil
}
