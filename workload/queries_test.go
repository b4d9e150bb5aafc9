package workload_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

var update = flag.Bool("update", false, "write testdata/queries.txt instead of comparing with it")

// The stored form of queries must not change: runs of different versions are compared by the
// fingerprints of their queries. Each line of the file has a query type, the fingerprint of its
// first 100 queries, and the JSON of the first.
func TestQueriesStay(t *testing.T) {
	spec := workload.Spec{
		Seed: 123, Scale: 100, Interval: 10 * time.Second,
		Start: time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2016, 1, 4, 0, 0, 0, 0, time.UTC),
	}
	var text strings.Builder
	for _, use := range append(tsbs.Workloads(), iotdb.Workload()) {
		spec.Name = use.Name()
		for _, qt := range use.QueryTypes() {
			queries, err := use.Queries(spec, qt.Name, 100)
			if err != nil {
				t.Fatal(err)
			}
			print, first := query.NewFingerprint(), []byte(nil)
			for q := range queries {
				if err := print.Add(&q); err != nil {
					t.Fatal(err)
				}
				if first == nil {
					if first, err = json.Marshal(&q); err != nil {
						t.Fatal(err)
					}
				}
			}
			fmt.Fprintf(&text, "%s %s %s %s\n", use.Name(), qt.Name, print, first)
		}
	}
	path := filepath.Join("testdata", "queries.txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(text.String(), "\n"), strings.Split(string(known), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("got\n%s\nwant\n%s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d query types, want %d", len(got)-1, len(want)-1)
	}
}
