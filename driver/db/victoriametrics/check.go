package victoriametrics

import (
	"context"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return d.own.Client.ReadClock(ctx, "/health")
}

// FreeSpace implements driver.DB: a single node reports it, the front end of a cluster does not.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	free = -1
	if d.settings.selekt != "" {
		return "", free, driver.Unknown("a cluster's front does not report where data is: look at the disks of vmstorage")
	}
	err = d.readFigures(ctx, func(name, _ string, value float64) {
		if name == "vm_free_disk_space_bytes" && (free < 0 || int64(value) < free) {
			free = int64(value)
		}
	})
	return "", free, err
}

// concerns are what distorts the figures of VictoriaMetrics; flags with which rows would
// be lost Inspect refuses.
var concerns = []driver.Concern{
	{Setting: "search.disableCache", Wrong: driver.Is("true"), Effect: "no answer comes from a cache, as the server's users do not run it", Fix: "leave the flag out: tsmark keeps single answers out of the cache by itself"},
	{Setting: "search.logSlowQueryDuration", Wrong: driver.Is("1ms"), Effect: "almost each query is written to the log", Fix: "leave the flag out"},
	{Setting: "loggerLevel", Wrong: driver.Is("DEBUG"), Effect: "the server logs all that it does", Fix: "leave the flag out"},
	{Setting: "storage.cacheSizeStorageTSID", Wrong: driver.IsNot("", "0"), Effect: "a cache has another size than by default", Fix: "report it, or leave the flag out"},
	{Setting: "memory.allowedPercent", Wrong: driver.IsNot("", "60"), Effect: "caches may take another share of the memory than by default", Fix: "report it, or leave the flag out"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	if d.settings.selekt != "" {
		return nil, driver.Unknown("a cluster's front reports no settings: look at the flags of vminsert, vmselect and vmstorage")
	}
	flags, err := d.flags(ctx)
	if err != nil {
		return nil, err
	}
	return driver.AdviseOn(concerns, flags), nil
}
