package check

import (
	"context"
	"maps"
	"net"
	"strconv"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
)

// versionSource is the setting with the source of the version, if that is not the server.
const versionSource = "version source"

// Describe is DB.Describe. If a server on this machine does not report its version, Describe uses
// that of its program's package: Debian's build of VictoriaMetrics does not know its own. The error
// also names an option that the server has not accepted.
func Describe(ctx context.Context, db driver.DB) (driver.Description, error) {
	d, err := db.Describe(ctx)
	if err == nil {
		err = driver.Contradiction(ctx, db)
	}
	if err != nil || d.Version != driver.UnknownVersion || db.Address == "" {
		return d, err
	}
	if version := packageVersion(ctx, db.Address); version != "" {
		d.Version, d.Settings = version, maps.Clone(d.Settings)
		if d.Settings == nil {
			d.Settings = map[string]string{}
		}
		d.Settings[versionSource] = "the package of the program; the server does not report one"
	}
	return d, nil
}

// packageVersion returns the version of the package of the server at an address; empty: it runs
// elsewhere, or is not from a package.
func packageVersion(ctx context.Context, address string) string {
	_, text, err := net.SplitHostPort(address)
	port, err1 := strconv.Atoi(text)
	if here, err2 := monitor.CoLocated(ctx, address); err != nil || err1 != nil || err2 != nil || !here {
		return ""
	}
	pids, err := process.ByPort(ctx, port)
	if err != nil || len(pids) != 1 {
		return ""
	}
	return process.PackageVersion(ctx, pids[0])
}
