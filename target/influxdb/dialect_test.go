package influxdb

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
)

// The texts in testdata/questions are written again by
//
//	go test ./target/influxdb -update
var update = flag.Bool("update", false, "write the texts of the questions instead of comparing with them")

func TestQuestions(t *testing.T) { targettest.Questions(t, Kind(), "influxql", *update) }
