// Package catalog is everything that tsmark knows by name: workloads, drivers and built-in
// experiments, with the commands that list them.
package catalog

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/servers"
	"github.com/tsmark/tsmark/workload"
)

// Catalog holds everything that this tsmark knows by name.
type Catalog struct {
	Workloads   []workload.Workload
	Drivers     []driver.Driver
	Pulse       func() *pulse.Pulse // detects pauses of tsmark during measurements; nil: no detection
	SampleRows  int                 // see plan.Catalog
	Calibration time.Duration       // likewise
	RowPatience time.Duration       // likewise
	Programs    *external.Programs  // of external drivers; nil: no external drivers
}

// New returns the catalog of workloads and drivers.
func New(w []workload.Workload, k []driver.Driver) Catalog {
	return Catalog{Workloads: w, Drivers: compatible.Extend(k)}
}

// Commands returns the commands that list drivers and experiments on stdout.
func (c Catalog) Commands(stdout io.Writer) []*cobra.Command {
	return []*cobra.Command{c.driversCommand(stdout), c.experimentsCommand(stdout), c.schemaCommand(stdout), c.serveCommand()}
}

// Workload returns the workload that has the name. The error suggests similar names.
func (c Catalog) Workload(name string) (workload.Workload, error) {
	for _, w := range c.Workloads {
		if w.Name() == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("unknown use case %q%s", name, suggest.Names(name, c.WorkloadNames()))
}

// Driver returns the driver that has the name. The error suggests similar names.
func (c Catalog) Driver(name string) (driver.Driver, error) {
	for _, k := range c.Drivers {
		if k.Name == name {
			return k, nil
		}
	}
	return driver.Driver{}, fmt.Errorf("unknown driver %q%s", name, suggest.Names(name, c.DriverNames()))
}

// WorkloadNames lists the names of the workloads.
func (c Catalog) WorkloadNames() []string {
	var names []string
	for _, w := range c.Workloads {
		names = append(names, w.Name())
	}
	return names
}

// DriverNames lists the names of the drivers.
func (c Catalog) DriverNames() []string {
	var names []string
	for _, k := range c.Drivers {
		names = append(names, k.Name)
	}
	return names
}

// PlanCatalog returns the catalog as plans use it.
func (c Catalog) PlanCatalog() plan.Catalog {
	return plan.Catalog{Workload: c.Workload, Driver: c.Driver, Environ: os.Environ(), Pulse: c.Pulse, SampleRows: c.SampleRows, CalibrationTime: c.Calibration, RowPatience: c.RowPatience, Servers: func() (string, error) {
		scripts, err := servers.Unpack()
		return scripts.Folder(), err
	}}
}

// SecretNames lists the secret options of all kinds.
func (c Catalog) SecretNames() []string {
	var names []string
	for _, k := range c.Drivers {
		for _, o := range k.Options {
			if o.Secret {
				names = append(names, o.Name)
			}
		}
	}
	return names
}

// CheckRemote returns an error unless agents can connect to a driver's databases.
func (c Catalog) CheckRemote(name string) error {
	d, err := c.Driver(name)
	if err != nil {
		return err
	}
	if d.Program != nil {
		return fmt.Errorf("%s is a program that agents do not start", name)
	}
	if options, err := d.Resolve(nil); err == nil && d.Caps(options).Embedded {
		return fmt.Errorf("%s is in tsmark's process, where agents open no databases", name)
	}
	return nil
}
