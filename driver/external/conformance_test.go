//go:build !light

package external_test

import (
	"errors"
	"os"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/db/sqlite"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/driver/serve"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
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

// Tables are joined if the schema says that they share their series.
func TestJoins(t *testing.T) {
	d := serveDriver(t, "sqlite")
	tags := []series.Tag{{Key: "symbol"}}
	for shared, own := range map[bool][]series.Tag{true: tags, false: {{Key: "symbol"}}} {
		schema := &series.Schema{Series: 2, Tables: []*series.Table{
			{Name: "trades", Tags: tags, Fields: []series.Field{{Name: "price", Type: series.Float}}},
			{Name: "quotes", Tags: own, Fields: []series.Field{{Name: "bid", Type: series.Float}}},
		}}
		q := &query.Query{Type: "asof", Table: "trades", Shape: query.AsOf{By: "symbol", Fields: []string{"price"}, Right: "quotes", RightFields: []string{"bid"}}}
		if _, err := d.Render(q, schema, driver.Options{}); shared && err != nil || !shared && !errors.Is(err, query.ErrUnsupported) {
			t.Errorf("shared %v: %v", shared, err)
		}
	}
}
