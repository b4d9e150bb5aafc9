package server

import (
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/cassandra"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
	"github.com/tsmark/tsmark/driver/db/griddb"
	"github.com/tsmark/tsmark/driver/db/influxdb"
	"github.com/tsmark/tsmark/driver/db/influxdb2"
	"github.com/tsmark/tsmark/driver/db/iotdb"
	"github.com/tsmark/tsmark/driver/db/mysql"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/db/questdb"
	"github.com/tsmark/tsmark/driver/db/tdengine"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/driver/db/victoriametrics"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/servers"
)

// The target of a container is one that its driver takes, at the ports that the container has.
func TestImageTargets(t *testing.T) {
	drivers := []driver.Driver{
		cassandra.Driver(), clickhouse.Driver(), griddb.Driver(), influxdb.Driver(), influxdb2.Driver(), iotdb.Driver(), mysql.Driver(),
		postgres.Driver(), questdb.Driver(), tdengine.Driver(), timescaledb.Driver(), victoriametrics.Driver(),
	}
	images := servers.Images()
	if len(images) != len(drivers) {
		t.Fatalf("%d images and %d drivers", len(images), len(drivers))
	}
	for i, image := range images {
		d := &drivers[i]
		for _, port := range []int{0, 25_000} {
			target, err := experiment.ParseTarget(image.Target(port, "secret"))
			if err != nil || target.Driver != d.Name {
				t.Fatalf("%s: %+v, %v", d.Name, target, err)
			}
			resolved, err := d.Resolve(driver.Options(target.Options))
			if err != nil {
				t.Errorf("%s: %v", d.Name, err)
				continue
			}
			for j, p := range image.Ports {
				want := p.Number
				if port != 0 {
					want = port + j
				}
				if got := resolved[p.Option]; got != strconv.Itoa(want) && (got != "" || port != 0) { // "": PostgreSQL's own
					t.Errorf("%s: option %s is %s, want %d", d.Name, p.Option, resolved[p.Option], want)
				}
			}
		}
		if name, tag, ok := strings.Cut(image.Reference, ":"); !ok || name == "" || tag == "latest" {
			t.Errorf("%s: %s names no version", image.Server, image.Reference)
		}
	}
}
