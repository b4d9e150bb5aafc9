package sqlite_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/sqlite"
)

// TestConformance runs the suite on the code that is the default.
func TestConformance(t *testing.T) { conformance.Run(t, sqlite.Driver(), nil) }

// TestConformanceGo runs the part of it that tests rows and answers on the translation, where that is
// not the default.
func TestConformanceGo(t *testing.T) {
	d := sqlite.Driver()
	if options, err := d.Resolve(nil); err != nil || options["driver"] == "go" {
		return // TestConformance ran it
	}
	conformance.RunVariant(t, d, map[string]string{"driver": "go"})
}
