package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/servers"
	"github.com/tsmark/tsmark/workload"
)

// catalog holds everything that this tsmark knows by name.
type catalog struct {
	workloads   []workload.Workload
	drivers     []driver.Driver
	pulse       func() *pulse.Pulse // detects pauses of tsmark during measurements; nil: no detection
	sampleRows  int                 // see plan.Catalog
	calibration time.Duration       // likewise
	rowPatience time.Duration       // likewise
}

func newCatalog(w []workload.Workload, k []driver.Driver) catalog {
	return catalog{workloads: w, drivers: k}
}

// commands returns the commands that list drivers and experiments on stdout.
func (c catalog) commands(stdout io.Writer) []*cobra.Command {
	return []*cobra.Command{c.driversCommand(stdout), c.experimentsCommand(stdout)}
}

func (c catalog) workload(name string) (workload.Workload, error) {
	for _, w := range c.workloads {
		if w.Name() == name {
			return w, nil
		}
	}
	return nil, fmt.Errorf("unknown use case %q%s", name, suggest.Names(name, c.workloadNames()))
}

func (c catalog) driver(name string) (driver.Driver, error) {
	for _, k := range c.drivers {
		if k.Name == name {
			return k, nil
		}
	}
	return driver.Driver{}, fmt.Errorf("unknown driver %q%s", name, suggest.Names(name, c.driverNames()))
}

func (c catalog) workloadNames() []string {
	var names []string
	for _, w := range c.workloads {
		names = append(names, w.Name())
	}
	return names
}

func (c catalog) driverNames() []string {
	var names []string
	for _, k := range c.drivers {
		names = append(names, k.Name)
	}
	return names
}

func (c catalog) forRunner() plan.Catalog {
	return plan.Catalog{Workload: c.workload, Driver: c.driver, Environ: os.Environ(), Pulse: c.pulse, SampleRows: c.sampleRows, CalibrationTime: c.calibration, RowPatience: c.rowPatience, Servers: func() (string, error) {
		scripts, err := servers.Unpack()
		return scripts.Folder(), err
	}}
}

// secretNames lists the secret options of all kinds.
func (c catalog) secretNames() []string {
	var names []string
	for _, k := range c.drivers {
		for _, o := range k.Options {
			if o.Secret {
				names = append(names, o.Name)
			}
		}
	}
	return names
}
