package iotdb

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

func TestCreator(t *testing.T) {
	of := []measurement{{"usage", "DOUBLE"}, {"a-b", "TEXT"}}
	for _, test := range []struct {
		aligned bool
		want    []string
	}{
		{true, []string{"CREATE ALIGNED TIMESERIES root.d.cpu.h(usage DOUBLE COMPRESSOR=ZSTD, `a-b` TEXT COMPRESSOR=ZSTD)"}},
		{false, []string{"CREATE TIMESERIES root.d.cpu.h.usage DOUBLE COMPRESSOR=ZSTD", "CREATE TIMESERIES root.d.cpu.h.`a-b` TEXT COMPRESSOR=ZSTD"}},
	} {
		c := &creator{tree: &tree{aligned: test.aligned, compression: "ZSTD"}}
		c.add("root.d.cpu.h", of)
		if !slices.Equal(c.statements, test.want) {
			t.Errorf("aligned %v: %q", test.aligned, c.statements)
		}
	}
}

// Measurements have the compression that was chosen, also where another writer has
// created them.
func TestCompression(t *testing.T) {
	for _, aligned := range []string{"true", "false"} {
		iotDriver := Driver()
		options := conformance.TestServer(t, iotDriver, "database", "test_compression", "aligned", aligned, "compression", "gzip")
		o, err := iotDriver.Resolve(options)
		if err != nil {
			t.Fatal(err)
		}
		d, err := open(t.Context(), driver.Env{Create: true}, o)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close() // reading only: nothing is lost with the connection
		schema, b := conformance.CPURows(t)
		if err := d.Create(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		for worker := range 2 {
			w, err := d.NewWriter(t.Context(), worker)
			if err == nil {
				_, err = w.Write(t.Context(), b)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := sqlkit.QueryRows(t.Context(), d.admin, "SHOW TIMESERIES "+d.root()+".**")
		if err != nil || len(rows) != 1000 {
			t.Fatalf("%d measurements, error %v", len(rows), err)
		}
		for _, row := range rows {
			if row[5].String() != "GZIP" {
				t.Fatalf("aligned=%s: %s is compressed by %s", aligned, row[0].String(), row[5].String())
			}
		}
		if err := d.admin.Exec(t.Context(), "DELETE DATABASE "+d.root()); err != nil {
			t.Fatal(err)
		}
	}
}
