package influxdb3

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
)

// The texts in testdata/queries.sql are written again by
//
//	go test ./driver/db/influxdb3 -run Queries -update
var update = flag.Bool("update", false, "write the texts of queries instead of comparing with them")

func TestQueries(t *testing.T) { conformance.Queries(t, Driver(), nil, "queries.sql", *update) }
