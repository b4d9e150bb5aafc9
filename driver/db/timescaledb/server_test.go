package timescaledb_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// server returns the options that lead to the server for tests, which they may
// fill and empty: PGlite takes one connection at a time, and no COPY.
func server(t *testing.T, pairs ...string) map[string]string {
	t.Helper()
	options := conformance.TestServer(t, timescaledb.Driver())
	delete(options, "connections")
	if pglite(t, options) {
		options["connections"], options["method"] = "one", "insert"
	}
	for i := 0; i < len(pairs); i += 2 {
		options[pairs[i]] = pairs[i+1]
	}
	return options
}

// pglite reports whether the server is one.
func pglite(t *testing.T, options map[string]string) bool {
	t.Helper()
	d := driver.Driver{Options: pgwire.Options()}
	resolved, err := d.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgwire.NewConfig(connection.NewSettings(resolved))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgwire.Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, conn)
	row, err := sqlkit.QueryRow(t.Context(), conn, "SELECT version()")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(row[0].String(), "emcc")
}

func TestConformance(t *testing.T) {
	options := server(t, "integers", "bigint")
	conformance.Run(t, timescaledb.Driver(), options)
}

func TestConformanceWide(t *testing.T) {
	options := server(t, "integers", "bigint", "layout", "wide")
	conformance.RunLayout(t, timescaledb.Driver(), options)
}

// After the columnstore's step the same rows take less room; the description
// names version and edition.
func TestColumnstore(t *testing.T) {
	for _, layout := range []string{"normalized", "narrow"} {
		options := server(t, "layout", layout)
		var pairs []string
		for name, value := range options {
			pairs = append(pairs, name, value)
		}
		db := conformance.Open(t, timescaledb.Driver(), "", pairs...)
		table := conformance.Table("a", "b")
		conformance.Prepare(t, db, 10, table)
		var b series.Batch
		conformance.Fill(b.Add(table), 20_000, 0, 10)
		conformance.Write(t, db, &b)
		size := func() int64 {
			n, err := db.Footprint(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n.Bytes
		}
		before := size()
		for _, s := range db.Steps {
			if s.Name != "columnstore" {
				continue
			}
			for range 2 { // a second time changes nothing
				if err := s.Do(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		if after := size(); after <= 0 || after > before/2 {
			t.Errorf("%s: %d bytes, before the columnstore %d", layout, after, before)
		}
		if census, err := db.Census(t.Context(), table); err != nil || census.Rows != 20_000 || census.Fields[table.FieldIndex("b")].Count != 20_000 {
			t.Errorf("%s: %+v, %v", layout, census, err)
		}
		if d, err := db.Describe(t.Context()); err != nil || !strings.HasPrefix(d.Version, "2.") || d.Edition == "" || d.Settings["postgresql"] == "" {
			t.Errorf("%+v, %v", d, err)
		}
		conformance.Close(t, db)
	}
}
