package influxdb2

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
)

// The texts in testdata/queries.flux and queries.influxql are written again by
//
//	go test ./driver/db/influxdb2 -update
var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.flux", *update) }

func TestQueriesInfluxQL(t *testing.T) {
	conformance.Queries(t, Driver(), map[string]string{optionLanguage: languageInfluxQL}, "queries.influxql", *update)
}
