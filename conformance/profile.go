package conformance

import (
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
)

// Profile returns the driver that a profile of tsmark's makes of a base driver, the profile's options, and its quirks.
func Profile(t testing.TB, base driver.Driver, name string) (of driver.Driver, options map[string]string, quirks any) {
	t.Helper()
	adapter := *base.Compatible
	base.Compatible = &driver.Adapter{Quirks: adapter.Quirks, Driver: func(c driver.Compatible) (driver.Driver, error) {
		quirks = c.Quirks
		return adapter.Driver(c)
	}}
	base = compatible.Extend([]driver.Driver{base})[0]
	find := func(string) (driver.Driver, error) { return base, nil }
	of, err := compatible.Lookup(find, &experiment.Target{Driver: base.Name, Profile: name})
	if err == nil {
		options, err = of.Choose(name, "", nil)
	}
	if err != nil || quirks == nil {
		t.Fatalf("profile %s: %v", name, err)
	}
	return of, options, quirks
}
