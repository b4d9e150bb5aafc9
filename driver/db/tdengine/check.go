package tdengine

import (
	"context"
	"crypto/tls"
	"path/filepath"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// endpoints implements driver.Driver's Endpoints: taosAdapter has WebSocket and REST on one port.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	c := connection.NewSettings(o)
	e := c.Endpoint()
	e.Protocol = "HTTP"
	e.Probe = func(ctx context.Context) (*tls.ConnectionState, error) {
		return connection.Handshake(ctx, c.Address(), c.Encryption(), c.Timeout)
	}
	return []driver.Endpoint{e}, nil
}

// ReadClock implements driver.DB. A connection without a database has times in milliseconds.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClockBy(ctx, d.admin, time.Millisecond, "SELECT CAST(NOW() AS BIGINT)")
}

// variables returns the settings of a data node by name, or settings that match a pattern. Only root may
// read them.
func (d *database) variables(ctx context.Context, node, like string) (map[string][]string, error) {
	text := "SHOW DNODE " + node + " VARIABLES"
	if like != "" {
		text += " LIKE '" + like + "'"
	}
	rows, err := sqlkit.QueryRows(ctx, d.admin, text)
	values := make(map[string][]string, len(rows))
	for _, row := range rows {
		name := row[1].String()
		values[name] = append(values[name], row[2].String())
	}
	return values, err
}

// FreeSpace implements driver.DB. It returns the first data folder of the first data node; the server
// does not report the free space.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	values, err := d.variables(ctx, "1", "dataDir")
	if err != nil || len(values["dataDir"]) == 0 || !filepath.IsAbs(values["dataDir"][0]) {
		return "", -1, err
	}
	return values["dataDir"][0], -1, nil
}

// concerns are the settings that distort measurements of TDengine.
var concerns = []driver.Concern{
	{Setting: "debugFlag", Wrong: driver.Is("135", "143", "199", "207"), Effect: "the server logs all that it does", Fix: "set debugFlag to 131 in taos.cfg, or ALTER DNODE 1 'debugFlag' '131'"},
	{Setting: "vDebugFlag", Wrong: driver.Is("135", "143", "199", "207"), Effect: "the server logs all that vnodes do, which hold the rows", Fix: "set vDebugFlag to 131 in taos.cfg, or ALTER DNODE 1 'vDebugFlag' '131'"},
	{Setting: "asyncLog", Wrong: driver.Is("0"), Effect: "the server waits for its log to be written", Fix: "set asyncLog to 1 in taos.cfg, and restart"},
	{Setting: "monitor", Wrong: driver.Is("1"), Effect: "the server writes figures of itself through taosKeeper, where one runs", Fix: "set monitor to 0 in taos.cfg, or report that it was run as shipped"},
	{Setting: "queryBufferSize", Wrong: driver.IsNot("-1"), Effect: "the server ends queries that take more memory", Fix: "set queryBufferSize to -1"},
	{Setting: "audit", Wrong: driver.Is("1"), Effect: "in the enterprise edition changes of tables are written to an audit log", Fix: "set audit to 0 in taos.cfg, or report it"},
}

// Advise implements driver.DB: advice on the first data node's settings.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	all, err := d.variables(ctx, "1", "")
	if err != nil {
		return nil, err
	}
	firstValues := make(map[string]string, len(all))
	for name, values := range all {
		firstValues[name] = values[0]
	}
	return driver.AdviseOn(concerns, firstValues), nil
}
