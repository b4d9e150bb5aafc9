package sql_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/all"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The golden files testdata/<target>/<query type>.sql are rendered again by
//
//	go test ./query/sql -update
var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// TestGolden renders the first query of every type, with the parameters that
// TSBS draws for its seed 123.
func TestGolden(t *testing.T) {
	spec := workload.Spec{
		Seed: 123, Scale: 100, Interval: 10 * time.Second,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC),
	}
	for _, use := range []workload.Workload{tsbs.CPUOnly(), tsbs.IoT(), iotdb.Workload()} {
		spec.Name = use.Name()
		dataset, err := use.Dataset(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, queryType := range use.QueryTypes() {
			sequence, err := use.Queries(spec, queryType.Name, 1)
			if err != nil {
				t.Fatal(err)
			}
			queries := slices.Collect(sequence)
			for _, kind := range all.Kinds() {
				options, err := kind.Resolve(nil)
				if err != nil {
					t.Fatal(err)
				}
				if caps := kind.Caps(options); caps.Discards || !caps.Embedded {
					continue // it answers nothing, or keeps its own texts (conformance.Questions)
				}
				t.Run(kind.Name+"/"+queryType.Name, func(t *testing.T) { golden(t, &kind, options, &queries[0], dataset.Schema()) })
			}
		}
	}
}

// golden compares the text of a query with its file.
func golden(t *testing.T, kind *driver.Driver, options driver.Options, q *query.Query, schema *series.Schema) {
	request, err := kind.Render(q, schema, options)
	if errors.Is(err, query.ErrUnsupported) {
		request.Text, err = "n/a: "+err.Error(), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	got := request.Text + "\n"
	path := filepath.Join("testdata", kind.Name, q.Type+".sql")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the new text is right, run the test with -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
