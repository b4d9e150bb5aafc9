//go:build !light

package external_test

import (
	"os"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/serve"
)

// served is the argument by which this test's program becomes the program of a driver.
const served = "serve-driver"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == served {
		name := os.Args[2]
		os.Args = append(os.Args[:1], os.Args[3:]...)
		switch name {
		case "sqlite":
			serve.Main(sqlite.Driver())
		case "null":
			serve.Main(null.Driver())
		default:
			misbehave(name)
		}
	}
	os.Exit(m.Run())
}

// serveDriver returns a driver of tsmark's in a program of its own.
func serveDriver(t testing.TB, name string) driver.Driver {
	t.Helper()
	return programDriver(t, name, new(external.Programs))
}

func programDriver(t testing.TB, name string, programs *external.Programs) driver.Driver {
	t.Helper()
	t.Cleanup(programs.Close)
	d, err := programs.Driver().Program(map[string]string{external.OptionCommand: "'" + os.Args[0] + "' " + served + " " + name})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestConformance runs the suite on SQLite in a program of its own.
func TestConformance(t *testing.T) { conformance.Run(t, serveDriver(t, "sqlite"), nil) }
