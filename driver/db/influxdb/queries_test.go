package influxdb

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
)

// The texts in testdata/queries.influxql are written again by
//
//	go test ./driver/db/influxdb -update
var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.influxql", *update) }

func TestQueriesOfOpenGemini(t *testing.T) {
	conformance.Queries(t, Driver(), map[string]string{optionServer: geminiServer}, "queries-opengemini.influxql", *update)
}
