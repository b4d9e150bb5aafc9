package tdengine_test

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/tdengine"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// databases counts the databases that tests have created.
var databases atomic.Int64

// server returns options that lead to a database of the test's own. Others may be given
// as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	return conformance.TestServer(t, tdengine.Driver(), append([]string{"database", name}, pairs...)...)
}

// What tsmark check looks at, which no recording has.
func TestCheck(t *testing.T) { conformance.Check(t, tdengine.Driver(), server(t)) }

// Several processes that load beside each other, by each way to write, which no recording has.
func TestJoins(t *testing.T) {
	for _, write := range []string{"rest", "stmt"} {
		t.Run(write, func(t *testing.T) { conformance.Joins(t, tdengine.Driver(), server(t, "write", write)) })
	}
}

// The suite with each precision of times, and each way to write.
func TestConformance(t *testing.T) { conformance.Run(t, tdengine.Driver(), server(t)) }

// The texts of TDengine's fork of TSBS, which no recording has.
func TestTSBSTexts(t *testing.T) {
	conformance.Texts(t, tdengine.Driver(), server(t, "child", "tag"))
}

// Answers as JSON.
func TestConformanceREST(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, tdengine.Driver(), server(t, "read", "rest"))
}

func TestConformanceStatements(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, tdengine.Driver(), server(t, "write", "stmt"))
}

func TestConformanceMicroseconds(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, tdengine.Driver(), server(t, "precision", "us", "vgroups", "2"))
}

func TestConformanceNanoseconds(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, tdengine.Driver(), server(t, "precision", "ns", "vgroups", "1", "cachemodel", "both"))
}

func TestQueries(t *testing.T) {
	conformance.Queries(t, tdengine.Driver(), nil, "queries.sql", *update)
}
